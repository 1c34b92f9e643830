package scenarios

// agentKinds let agents on cells act on fields.
var agentKinds = []kind{}
