package replay

// AsIfOf makes the recorder of a new world treat it as one of so large a state.
func (r *Recorder) AsIfOf(stateBytes int) { r.queue.setSize(stateBytes) }

// SizeOf is for the test of it.
var SizeOf = sizeOf

// For tests of what convert cannot reach, and of how far a recorder may be behind.
var NewLineWriter = newLineWriter

const MaxHeldTicks = maxHeldTicks
