package replay

// AsIfOf makes the recorder of a new world treat it as one of so large a state.
func (r *Recorder) AsIfOf(stateBytes int) { r.queue.setSize(stateBytes) }

// SizeOf is for the test of it.
var SizeOf = sizeOf

// For tests of headers that Convert cannot meet, and of inputs of a size.
var NewReaderSize = newReaderSize

// Beyond is for the test of what it finds.
var Beyond = beyond

// Torn is for the test of a large recording without writing it.
var Torn = torn

// CheckInputs is for the test of the largest frame, of 1 GiB, without writing it.
var CheckInputs = checkInputs

// MaxHeldTicks is how far a recorder may be behind.
const MaxHeldTicks = maxHeldTicks
