package space

// A Fault says what is wrong with a space or a region, and is its own
// sentinel: errors.Is(err, space.ErrBounds).
type Fault string

func (f Fault) Error() string { return string(f) }

// The faults that an [*Error] can have.
const (
	ErrSize      Fault = "size out of range"          // a size below 1 or above 2^31-1
	ErrCells     Fault = "too many cells"             // more than 2^31-1 cells in all
	ErrEmpty     Fault = "empty product"              // a product without parts, or with a nil part; a nil space
	ErrNesting   Fault = "nested too deeply"          // products in products beyond the limit
	ErrEdge      Fault = "unknown edge"               // not absorb, clamp, or wrap
	ErrDimension Fault = "wrong number of dimensions" // too many, or not as many as the space has
	ErrParity    Fault = "wrong parity"               // an fcc12 coordinate with an odd sum; a wrapped fcc12 of odd size
	ErrBounds    Fault = "out of bounds"              // a coordinate outside the space
	ErrOrder     Fault = "min above max"              // a rectangle whose min is above its max
	ErrRadius    Fault = "negative radius"            // a disk or neighbourhood of negative size
	ErrLimit     Fault = "layout too large"           // a hex disk whose box would be far larger than the lattice
)

// An Error says which argument of which space or region is wrong, and why:
//
//	space: square4: rows must be at least 1, not 0
type Error struct {
	Fault  Fault
	Where  string // "square4", "product: part 2: line", "disk"
	Arg    string // the argument's name; may be empty
	Detail string // what is wrong with it
}

func (e *Error) Error() string {
	s := "space: " + e.Where + ": "
	if e.Arg != "" {
		s += e.Arg + " "
	}
	return s + e.Detail
}

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Fault }
