package scenarios

// flowKinds are equations of motion and reaction.
var flowKinds = []kind{}
