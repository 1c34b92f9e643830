package fields

// For the tests that hold a fast function equal to its plain twin.
var (
	NotFinite      = notFinite
	FirstNotFinite = firstNotFinite
	SameBits32     = sameBits32
	SameFloat32    = sameFloat32
)
