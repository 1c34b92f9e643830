package fields

// For the test that holds a fast function equal to its plain twin.
var (
	NotFinite      = notFinite
	FirstNotFinite = firstNotFinite
)
