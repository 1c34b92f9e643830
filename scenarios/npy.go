package scenarios

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An npy is what a NumPy file holds.
type npy struct {
	descr   string // such as "<f4"
	size    int    // of a number, in bytes
	fortran bool   // the first axis varies fastest
	shape   []int
	data    []byte
}

// descrPattern are the types of numbers that a field can take, little-endian.
var descrPattern = regexp.MustCompile(`^(<[fiu]8|<[fiu]4|<[iu]2|\|[iub]1)$`)

// parseNPY reads a NumPy file: "\x93NUMPY", the version 1.0, 2.0 or 3.0, the length of
// the header, the header, and the numbers. See numpy.lib.format.
func parseNPY(b []byte) (npy, error) {
	const mark = "\x93NUMPY"
	f := npy{}
	if len(b) < len(mark)+2 || string(b[:len(mark)]) != mark {
		return f, errors.New("is not a NumPy file (.npy)")
	}
	major, minor := b[len(mark)], b[len(mark)+1]
	if major < 1 || major > 3 || minor != 0 {
		return f, fmt.Errorf("is of version %d.%d of the format; 1.0, 2.0 and 3.0 are known", major, minor)
	}
	b = b[len(mark)+2:]
	width := 2
	if major > 1 {
		width = 4
	}
	if len(b) < width {
		return f, errors.New("ends in its header")
	}
	length := uint64(binary.LittleEndian.Uint16(b))
	if width == 4 {
		length = uint64(binary.LittleEndian.Uint32(b))
	}
	if b = b[width:]; length > uint64(len(b)) {
		return f, errors.New("ends in its header")
	}
	const most = 64 << 10 // what NumPy writes has some hundred bytes
	if length > most {
		return f, fmt.Errorf("has a header of %d bytes; at most %d are allowed", length, most)
	}
	f.data = b[length:]
	if err := f.header(string(b[:length])); err != nil {
		return f, fmt.Errorf("the header of the NumPy file %w", err)
	}
	return f, nil
}

// The entries of a header, in Python.
var (
	descrEntry   = regexp.MustCompile(`^'descr': *'([^'\\]*)' *`)
	fortranEntry = regexp.MustCompile(`^'fortran_order': *(True|False) *`)
	shapeEntry   = regexp.MustCompile(`^'shape': *\(((?:(?: *[0-9]{1,10} *,)+(?: *[0-9]{1,10})? *)?)\) *`)
)

// header reads a dictionary that has each of three keys once, and blanks after it.
func (f *npy) header(s string) error {
	rest, ok := strings.CutPrefix(strings.TrimRight(s, " \n"), "{")
	if rest, ok = cutLast(rest, "}", ok); !ok {
		return errors.New("is not a dictionary")
	}
	seen := make([]string, 0, 3)
	for rest = strings.TrimLeft(rest, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var m []string
		switch key, _, _ := strings.Cut(rest, ":"); key {
		case "'descr'":
			if m = descrEntry.FindStringSubmatch(rest); m != nil {
				f.descr = m[1]
			}
		case "'fortran_order'":
			if m = fortranEntry.FindStringSubmatch(rest); m != nil {
				f.fortran = m[1] == "True"
			}
		case "'shape'":
			if m = shapeEntry.FindStringSubmatch(rest); m != nil {
				f.setShape(m[1])
			}
		}
		if m == nil {
			return errors.New("must have the keys descr, fortran_order and shape, for numbers of one type")
		}
		key, _, _ := strings.Cut(rest, ":")
		seen = append(seen, key)
		rest = rest[len(m[0]):]
		if after, ok := strings.CutPrefix(rest, ","); ok {
			rest = after
		} else if rest != "" {
			return errors.New("lacks a comma")
		}
	}
	slices.Sort(seen)
	if !slices.Equal(seen, []string{"'descr'", "'fortran_order'", "'shape'"}) {
		return errors.New("must have the keys descr, fortran_order and shape, each once")
	}
	if !descrPattern.MatchString(f.descr) {
		return fmt.Errorf("says that its numbers are %q; <f4, <f8, <i2 to <i8, <u2 to <u8, |i1, |u1 and |b1 can be read", f.descr)
	}
	f.size = int(f.descr[2] - '0')
	return nil
}

// cutLast cuts a suffix off, if all has been well before.
func cutLast(s, suffix string, well bool) (string, bool) {
	s, ok := strings.CutSuffix(s, suffix)
	return s, ok && well
}

// setShape reads the inside of a tuple. A number that is too large fits no space.
func (f *npy) setShape(s string) {
	f.shape = []int{}
	for _, one := range strings.Split(s, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue // after the last comma
		}
		n, err := strconv.ParseInt(one, 10, 32)
		if err != nil {
			n = math.MaxInt32
		}
		f.shape = append(f.shape, int(n))
	}
}

// shapeText returns the shape as Python writes it.
func (f *npy) shapeText() string {
	var b []string
	for _, n := range f.shape {
		b = append(b, strconv.Itoa(n))
	}
	if len(b) == 1 {
		return "(" + b[0] + ",)"
	}
	return "(" + strings.Join(b, ", ") + ")"
}

// steps returns, if the file has a shape, how far apart along each axis numbers stand.
func (f *npy) steps(shape []int) (steps []int, ok bool) {
	if !slices.Equal(f.shape, shape) {
		return nil, false
	}
	steps, step := make([]int, len(shape)), 1
	for i := range shape {
		axis := i
		if !f.fortran {
			axis = len(shape) - 1 - i
		}
		steps[axis] = step
		step *= shape[axis]
	}
	return steps, true
}

// number returns the i-th number of the file. One that a float64 cannot hold is an error.
func (f *npy) number(i int) (float64, error) {
	b := f.data[i*f.size:]
	var bits uint64
	for k := range f.size {
		bits |= uint64(b[k]) << (8 * k)
	}
	const most = 1 << 53 // beyond, a float64 does not hold every whole number
	switch f.descr[1] {
	case 'f':
		if f.size == 4 {
			return float64(math.Float32frombits(uint32(bits))), nil
		}
		return math.Float64frombits(bits), nil
	case 'i':
		unused := 64 - 8*f.size
		v := int64(bits<<unused) >> unused
		if v < -most || v > most {
			return 0, fmt.Errorf("%d is beyond 2^53 and may not be exact", v)
		}
		return float64(v), nil
	case 'b':
		if bits > 1 {
			return 0, fmt.Errorf("%d is neither true nor false", bits)
		}
	}
	if bits > most {
		return 0, fmt.Errorf("%d is beyond 2^53 and may not be exact", bits)
	}
	return float64(bits), nil
}
