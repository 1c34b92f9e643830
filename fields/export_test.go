package fields

// For the tests that hold a fast function equal to its plain twin.
var (
	NotFinite      = notFinite
	FirstNotFinite = firstNotFinite
	SameBits32     = sameBits32
	SameFloat32    = sameFloat32
	Side           = side
	SidePlain      = sidePlain
)

// DeltaOf is a snapshot as a delta, which must not be released.
func DeltaOf(s *Snapshot) *Delta { return &Delta{state: Snapshot{defs: s.defs, buffers: s.buffers}} }
