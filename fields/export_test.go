package fields

// For the tests that hold a fast function equal to its plain twin.
var (
	NotFinite      = notFinite
	FirstNotFinite = firstNotFinite
)
