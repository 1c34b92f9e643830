package ask

// For the test of them.
var (
	Minimal = minimal[int]
	None    = none
)
