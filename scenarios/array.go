package scenarios

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// An array is a number for each element of a field, written out: by the rank of the cells,
// the components of a cell side by side. A list of values and a NumPy file become one.
type array struct {
	Element string `yaml:"element,required" enum:"u1,f4,f8" doc:"How a number is stored: u1, f4 or f8, the first that holds all of them exactly."`
	Numbers string `yaml:"numbers,required" doc:"The numbers in base64, little-endian."`

	bytes []byte
}

// elements are the ways to store the numbers of an array, the shortest first.
var elements = [...]struct {
	name string
	size int
}{{"u1", 1}, {"f4", 4}, {"f8", 8}}

// size returns the bytes of a number.
func (a *array) size() int {
	for _, e := range elements {
		if e.name == a.Element {
			return e.size
		}
	}
	return 0
}

// at returns the i-th number.
func (a *array) at(i int) float64 {
	switch a.Element {
	case "u1":
		return float64(a.bytes[i])
	case "f4":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(a.bytes[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(a.bytes[8*i:]))
}

// holds reports whether an element holds a number exactly.
func holds(element string, v float64) bool {
	switch element {
	case "u1":
		return v >= 0 && v < 256 && v == math.Floor(v) && !math.Signbit(v)
	case "f4":
		return float64(float32(v)) == v
	}
	return true
}

// newArray makes an array without numbers, with room for some.
func newArray(count int64) *array {
	return &array{Element: elements[0].name, bytes: make([]byte, 0, count)}
}

// add appends a number. If the element does not hold it, all get the next one that does.
func (a *array) add(v float64) {
	for next := 1; !holds(a.Element, v); next++ {
		if elements[next].size <= a.size() {
			continue
		}
		wide := &array{Element: elements[next].name, bytes: make([]byte, 0, cap(a.bytes)/a.size()*elements[next].size)}
		for i := range len(a.bytes) / a.size() {
			wide.store(a.at(i))
		}
		*a = *wide
	}
	a.store(v)
}

// store appends a number that the element holds.
func (a *array) store(v float64) {
	switch a.Element {
	case "u1":
		//detcheck:allow floatint the element holds it: a whole number from 0 to 255
		a.bytes = append(a.bytes, byte(v))
	case "f4":
		a.bytes = binary.LittleEndian.AppendUint32(a.bytes, math.Float32bits(float32(v)))
	default:
		a.bytes = binary.LittleEndian.AppendUint64(a.bytes, math.Float64bits(v))
	}
}

// shortest returns the first element that holds all numbers.
func (a *array) shortest() string {
	fits := 0
	for i := range len(a.bytes) / a.size() {
		for !holds(elements[fits].name, a.at(i)) {
			fits++
		}
	}
	return elements[fits].name
}

// check is for arrays that are read: those of descriptors.
func (a *array) check(d *decoder, n *document.Node) error {
	at := n.Get("numbers")
	var err error
	if a.bytes, err = base64.StdEncoding.Strict().DecodeString(a.Numbers); err != nil {
		return at.Errorf("numbers are not base64: %v", err).Because(err)
	}
	count, _ := d.elements()
	if want := count * int64(a.size()); int64(len(a.bytes)) != want {
		return at.Errorf("numbers have %d bytes; %d of %s need %d", len(a.bytes), count, a.Element, want)
	}
	if err := d.accepts(a); err != nil {
		return at.Errorf("%v", err)
	}
	if best := a.shortest(); best != a.Element {
		return n.At("element").Errorf("the numbers are stored as %s; %s holds them", a.Element, best)
	}
	return nil
}

// elements returns how many numbers the field that is being read has, and how many of them
// belong to a cell.
func (d *decoder) elements() (count int64, parts int) {
	parts = max(d.field.Type.Components(), 1)
	return int64(d.s.lattice.Cells()) * int64(parts), parts
}

// arrayLayer makes a layer of numbers.
func (d *decoder) arrayLayer(n *document.Node, a *array) (layer, error) {
	if d.sampled += base64.StdEncoding.EncodedLen(len(a.bytes)); d.sampled > commands.MaxPayload {
		return layer{}, n.Errorf("the initial values that are written out take more than %d bytes in all, which no recording can hold", commands.MaxPayload)
	}
	if a.Numbers == "" {
		a.Numbers = base64.StdEncoding.EncodeToString(a.bytes)
	}
	return layer{Array: a}, nil
}

// list reads a value for each cell, by rank.
func (d *decoder) list(n *document.Node) (layers, error) {
	count, parts := d.elements()
	if cells := d.s.lattice.Cells(); d.field.Domain != "cells" {
		return nil, n.Errorf("an attribute of entities has one initial value for all")
	} else if len(n.Kids) != cells {
		return nil, n.Errorf("%d values are listed for field %q; %v has %d cells", len(n.Kids), d.field.Name, d.s.lattice.Space(), cells)
	}
	numbers := newArray(min(count, document.MaxNodes))
	for _, item := range n.Kids {
		var v Value
		if d.field.Type.Kind == fields.VectorKind && item.Kind != document.List {
			return nil, item.Errorf("%s stands where a list of %d components belongs", item.What(), parts)
		}
		if err := v.decode(d, item); err != nil {
			return nil, err
		}
		for _, x := range v {
			numbers.add(x)
		}
	}
	one, err := d.arrayLayer(n, numbers)
	return layers{one}, err
}

// array lays the numbers over all cells.
func (g *genesis) array(a *array) {
	for i := range g.values {
		g.values[i] = a.at(i)
	}
}

// An npyFile is a NumPy file beside the scenario. Loaded, it becomes an array.
type npyFile struct {
	File string `yaml:"file,required" doc:"Path, from the folder of the scenario."`
}

// A npyArray is what a NumPy file gives to fields with that many numbers a cell. Layers
// that name the same file share it.
type npyArray struct {
	name   string // of the file
	vector bool
	parts  int
	array  *array
}

// loadNPY turns the layer's file into an array. It reads each file only once.
func (l *layer) loadNPY(d *decoder, n *document.Node) error {
	at := n.At("file")
	if d.field.Domain != "cells" {
		return at.Errorf("an attribute of entities has one initial value for all")
	}
	if at.Source.Files == nil {
		_, err := readFile(at)
		return err
	}
	_, parts := d.elements()
	this := npyArray{name: path.Clean(at.Raw), vector: d.field.Type.Kind == fields.VectorKind, parts: parts}
	read := slices.IndexFunc(d.arrays, func(a npyArray) bool {
		return a.name == this.name && a.vector == this.vector && a.parts == this.parts
	})
	var err error
	if read >= 0 {
		this.array = d.arrays[read].array
		err = d.accepts(this.array)
	} else {
		var b []byte
		if b, err = readFile(at); err != nil {
			return err
		}
		if this.array, err = d.readNPY(b); err == nil {
			d.arrays = append(d.arrays, this)
		}
	}
	if err != nil {
		bad := at.Errorf("%s: %s", at.Raw, plain(err)).Because(err)
		if _, ok := errors.AsType[*memoryError](err); ok {
			bad.Hint = "use numbers of fewer bytes, or raise the limit of memory"
		}
		return bad
	}
	*l, err = d.arrayLayer(at, this.array)
	return err
}

// accepts returns an error about the first number that the field does not take.
func (d *decoder) accepts(a *array) error {
	count, parts := d.elements()
	for i := range int(count) {
		if why := d.field.refuses(a.at(i)); why != "" {
			return fmt.Errorf("at %v: %s %s", d.s.lattice.Coord(i/parts), Number(a.at(i)), why)
		}
	}
	return nil
}

// readNPY returns the numbers of a NumPy file by rank.
func (d *decoder) readNPY(b []byte) (*array, error) {
	f, err := parseNPY(b)
	if err != nil {
		return nil, err
	}
	place, err := d.placesOf(&f)
	if err != nil {
		return nil, err
	}
	count, parts := d.elements()
	if want := count * int64(f.size); int64(len(f.data)) != want {
		return nil, fmt.Errorf("has %d bytes of numbers; %d of %s need %d", len(f.data), count, f.descr, want)
	}
	if need := f.memory(count); d.registry.memory > 0 && need > d.registry.memory {
		return nil, &memoryError{count, need, d.registry.memory}
	}
	numbers := newArray(count)
	for i := range int(count) {
		v, err := f.number(place(i))
		if err == nil {
			if why := d.field.refuses(v); why != "" {
				err = fmt.Errorf("%s %s", Number(v), why)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("at %v: %w", d.s.lattice.Coord(i/parts), err)
		}
		numbers.add(v)
	}
	return numbers, nil
}

// A memoryError reports numbers that take more memory to read than is allowed.
type memoryError struct {
	numbers     int64
	need, limit uint64
}

func (e *memoryError) Error() string {
	return fmt.Sprintf("reading its %s numbers takes about %s bytes of memory; the limit is %s",
		Number(float64(e.numbers)), Number(float64(e.need)), Number(float64(e.limit)))
}

// memory estimates the bytes that reading some numbers takes: the file, the numbers as an
// array, that in base64, and what the garbage collector has not taken back.
func (f *npy) memory(count int64) uint64 {
	element := 8
	switch f.descr {
	case "|b1", "|u1":
		element = 1
	case "|i1", "<i2", "<u2", "<f4":
		element = 4
	}
	const garbage = 2
	bytes := count * int64(element)
	return uint64(int64(len(f.data))+bytes+int64(base64.StdEncoding.EncodedLen(int(bytes)))) * garbage
}

// placesOf returns where in the file the i-th number by rank stands. The file has an axis
// for the cells by rank, or one for rows and one for columns, and at the end one for
// the components of a vector.
func (d *decoder) placesOf(f *npy) (place func(i int) int, err error) {
	l := d.s.lattice
	_, parts := d.elements()
	shapes := [][]int{{l.Cells()}}
	y, plane := planar(l)
	if plane {
		shapes = append(shapes, []int{y.Rows, y.Cols})
	}
	for _, cells := range shapes {
		shape := cells
		if d.field.Type.Kind == fields.VectorKind {
			shape = append(cells[:len(cells):len(cells)], parts)
		}
		steps, ok := f.steps(shape)
		if !ok {
			continue
		}
		part := 0 // how far the next component is
		if len(shape) > len(cells) {
			part = steps[len(cells)]
		}
		if len(cells) == 1 {
			return func(i int) int { return i/parts*steps[0] + i%parts*part }, nil
		}
		return func(i int) int {
			_, row, col := y.Place(l.Coord(i / parts))
			return row*steps[0] + col*steps[1] + i%parts*part
		}, nil
	}
	vector := ""
	if d.field.Type.Kind == fields.VectorKind {
		vector = fmt.Sprintf(", and %d components at the end", parts)
	}
	rows := ""
	if plane {
		rows = fmt.Sprintf("%d rows and %d columns, or ", y.Rows, y.Cols)
	}
	return nil, fmt.Errorf("has the shape %s; needed are %s%d cells by rank%s", f.shapeText(), rows, l.Cells(), vector)
}
