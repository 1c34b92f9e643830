package scenarios

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

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

// shortest returns the first way to store numbers that holds all of them exactly.
func shortest(n int, at func(int) float64) string {
	fits := 0
	for i := range n {
		v := at(i)
		byteHolds := v >= 0 && v < 256 && v == math.Floor(v) && !math.Signbit(v)
		switch {
		case float64(float32(v)) != v:
			return "f8"
		case !byteHolds:
			fits = 1
		}
	}
	return elements[fits].name
}

// newArray stores numbers.
func newArray(numbers []float64) *array {
	a := &array{Element: shortest(len(numbers), func(i int) float64 { return numbers[i] })}
	a.bytes = make([]byte, 0, len(numbers)*a.size())
	for _, v := range numbers {
		switch a.Element {
		case "u1":
			a.bytes = append(a.bytes, byte(min(max(v, 0), 255)))
		case "f4":
			a.bytes = binary.LittleEndian.AppendUint32(a.bytes, math.Float32bits(float32(v)))
		default:
			a.bytes = binary.LittleEndian.AppendUint64(a.bytes, math.Float64bits(v))
		}
	}
	a.Numbers = base64.StdEncoding.EncodeToString(a.bytes)
	return a
}

// check is for arrays that are read: those of descriptors.
func (a *array) check(d *decoder, n *document.Node) error {
	at := n.Get("numbers")
	var err error
	if a.bytes, err = base64.StdEncoding.Strict().DecodeString(a.Numbers); err != nil {
		return at.Errorf("numbers are not base64: %v", err).Because(err)
	}
	count, parts := d.elements()
	if want := count * int64(a.size()); int64(len(a.bytes)) != want {
		return at.Errorf("numbers have %d bytes; %d of %s need %d", len(a.bytes), count, a.Element, want)
	}
	for i := range int(count) {
		if why := d.field.refuses(a.at(i)); why != "" {
			return at.Errorf("at %v: %s %s", d.s.lattice.Coord(i/parts), Number(a.at(i)), why)
		}
	}
	if best := shortest(int(count), a.at); best != a.Element {
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
func (d *decoder) arrayLayer(n *document.Node, numbers []float64) (layer, error) {
	a := newArray(numbers)
	if d.sampled += len(a.Numbers); d.sampled > commands.MaxPayload {
		return layer{}, n.Errorf("the initial values that are written out take more than %d bytes in all, which no recording can hold", commands.MaxPayload)
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
	numbers := make([]float64, 0, min(count, document.MaxNodes))
	for _, item := range n.Kids {
		var v Value
		if d.field.Type.Kind == fields.VectorKind && item.Kind != document.List {
			return nil, item.Errorf("%s stands where a list of %d components belongs", item.What(), parts)
		}
		if err := v.decode(d, item); err != nil {
			return nil, err
		}
		numbers = append(numbers, v...)
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

// loadNPY turns the layer's file into an array.
func (l *layer) loadNPY(d *decoder, n *document.Node) error {
	at := n.At("file")
	if d.field.Domain != "cells" {
		return at.Errorf("an attribute of entities has one initial value for all")
	}
	b, err := readFile(at)
	if err != nil {
		return err
	}
	numbers, err := d.readNPY(b)
	if err != nil {
		return at.Errorf("%s: %s", at.Raw, plain(err)).Because(err)
	}
	*l, err = d.arrayLayer(at, numbers)
	return err
}

// readNPY returns the numbers of a NumPy file by rank.
func (d *decoder) readNPY(b []byte) ([]float64, error) {
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
	numbers := make([]float64, count)
	for i := range numbers {
		v, err := f.number(place(i))
		if err == nil {
			if why := d.field.refuses(v); why != "" {
				err = fmt.Errorf("%s %s", Number(v), why)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("at %v: %w", d.s.lattice.Coord(i/parts), err)
		}
		numbers[i] = v
	}
	return numbers, nil
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
