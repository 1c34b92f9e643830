package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
)

// A Field describes a column.
type Field struct {
	Name       string    `yaml:"name,required" doc:"Letters, digits, _ and -."`
	Type       fieldType `yaml:"type" doc:"scalar, vector(n) or categorical."`
	Values     names     `yaml:"values" doc:"categorical: the names of its values, the first being 0."`
	Element    string    `yaml:"element" enum:"float32,fixed" default:"float32" doc:"How a number is stored; fixed: 64 bits with 16 bits of fraction."`
	Domain     string    `yaml:"domain" enum:"cells,entities" default:"cells" doc:"What the field has values for."`
	Mutability string    `yaml:"mutability" enum:"per_tick,sparse,static" default:"per_tick" doc:"static: set at the start, then never."`
	Unit       string    `yaml:"unit" doc:"For people, such as m, K or m²/s; what a rule adds or compares should have one unit, or there is a warning."`
	Min        *float64  `yaml:"min" doc:"Lower bound."`
	Max        *float64  `yaml:"max" doc:"Upper bound."`
	AtBound    string    `yaml:"at_bound" enum:"clamp,reflect,absorb,wrap" default:"clamp" doc:"What happens to a value beyond a bound."`
	Initial    layers    `yaml:"initial" doc:"The values at the start: a number, a name, or layers laid over each other."`

	at  *document.Node
	def fields.Def // all but Initial
}

func (f *Field) enter(d *decoder) { d.field = f }

// Def returns the engine's definition of the field, without its initial value.
func (f *Field) Def() fields.Def { return f.def }

func (f *Field) check(d *decoder, n *document.Node) error {
	f.at = n
	if len(d.s.Fields) >= maxFields {
		return n.Errorf("more than %d fields", maxFields)
	}
	if err := checkName(n.At("name"), "field", f.Name, nil); err != nil {
		return err
	}
	if d.s.field(f.Name) != nil {
		return n.At("name").Errorf("there is a field %q already", f.Name)
	}
	if err := f.define(n); err != nil {
		return err
	}
	if err := f.def.Check(); err != nil {
		return n.Errorf("field %s", plain(err)).Because(err)
	}
	if f.Domain == "entities" && !f.Initial.constant() {
		return n.At("initial").Errorf("an attribute of entities has one initial value for all")
	}
	return nil
}

// define makes the engine's definition of a field from the document.
func (f *Field) define(n *document.Node) error {
	categorical := f.Type.Kind == fields.CategoricalKind
	switch {
	case categorical && len(f.Values) == 0:
		return n.Errorf("a categorical field needs \"values\", the names of its values")
	case !categorical && f.Values != nil:
		return n.At("values").Errorf("only a categorical field has \"values\"")
	case (f.Min == nil) != (f.Max == nil):
		return n.Errorf("min and max go together: one of them is missing")
	case f.inverted():
		return n.Get("max").Errorf("max must be above min, %v, not %v", *f.Min, *f.Max)
	case f.Min == nil && n.Get("at_bound") != nil:
		return n.At("at_bound").Errorf("at_bound needs min and max")
	}
	f.def = fields.Def{Name: f.Name, Type: f.Type.Type, Unit: f.Unit, Values: f.Values}
	if categorical {
		f.def.Type.N = len(f.Values)
	}
	if f.Element == "fixed" {
		f.def.Element = fields.Fixed
	}
	if f.Domain == "entities" {
		f.def.Domain = fields.Entities
	}
	f.def.Mutability = fields.Mutability(slices.Index([]string{"per_tick", "sparse", "static"}, f.Mutability))
	if f.Min != nil {
		mode := slices.Index([]string{"clamp", "reflect", "absorb", "wrap"}, f.AtBound)
		f.def.Bounds = &fields.Bounds{Min: *f.Min, Max: *f.Max, Mode: fields.BoundMode(mode)}
	}
	return nil
}

// names are the names of a field's values or of kinds of entities, the first being 0.
type names []string

// decode checks the names before anything refers to them.
func (x *names) decode(d *decoder, n *document.Node) error {
	if len(n.Kids) > maxNames { // to look one up takes time
		return n.Errorf("%d names; at most %d are allowed", len(n.Kids), maxNames)
	}
	if err := d.decodeSlice(n, reflect.ValueOf(x).Elem()); err != nil {
		return err
	}
	what := "value"
	if d.s.Entities != nil { // fields are read before entities
		what = "kind"
	}
	if len(*x) == 0 {
		return n.Errorf("no %ss are listed", what)
	}
	for i, name := range *x {
		if err := checkName(n.Kids[i], what, name, (*x)[:i]); err != nil {
			return err
		}
	}
	return nil
}

// sort returns what the field is, in the words of the tag "is".
func (f *Field) sort() string {
	switch {
	case f.Domain == "entities":
		return "an attribute of entities"
	case f.Element != "float32":
		return "a field of fixed-point numbers"
	case f.Type.Kind == fields.VectorKind:
		return fmt.Sprintf("a vector of %d", f.Type.N)
	case f.Type.Kind == fields.CategoricalKind:
		return "a categorical field"
	}
	return "a scalar field"
}

// A fieldType is scalar, vector(n) or categorical; the number of categories is that of
// the field's values.
type fieldType struct{ fields.Type }

var vectorPattern = regexp.MustCompile(`^vector\(([0-9]{1,5})\)$`)

func (t *fieldType) decode(_ *decoder, n *document.Node) error {
	word, err := n.Text()
	if err != nil {
		return err
	}
	switch m := vectorPattern.FindStringSubmatch(word); {
	case word == "scalar":
		t.Type = fields.Scalar
	case word == "categorical":
		t.Type = fields.Type{Kind: fields.CategoricalKind}
	case m != nil:
		size, err := strconv.Atoi(m[1])
		if err != nil || size < 1 {
			return n.Errorf("a vector has 1 component at least")
		}
		t.Type = fields.Vector(size)
	default:
		return n.Errorf("type %q is unknown%s", word, document.Suggestion(word, []string{"scalar", "vector(2)", "categorical"}))
	}
	return nil
}

func (t fieldType) appendJSON(b []byte) []byte {
	if t.Kind == fields.CategoricalKind {
		return append(b, `"categorical"`...)
	}
	return document.AppendText(b, t.Type.String())
}

// A Value is the value of an element of a field: one number for all components,
// or one for each. It is written as a number, the name of a category, or a list.
type Value []float64

func (v *Value) decode(d *decoder, n *document.Node) error {
	f := d.field
	if f == nil {
		return n.Errorf("no value belongs here")
	}
	*v = nil
	if n.Kind == document.List && f.Type.Kind == fields.VectorKind {
		if len(n.Kids) != f.Type.N {
			return n.Errorf("field %q has %d components; this list has %d", f.Name, f.Type.N, len(n.Kids))
		}
		for _, item := range n.Kids {
			x, err := f.number(item)
			if err != nil {
				return err
			}
			*v = append(*v, x)
		}
		return nil
	}
	x, err := f.number(n)
	*v = Value{x}
	return err
}

func (v Value) appendJSON(b []byte) []byte {
	if len(v) == 1 {
		return document.AppendFloat(b, v[0])
	}
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = document.AppendFloat(b, x)
	}
	return append(b, ']')
}

// inverted reports whether the bounds leave no room, which is their own fault and not
// that of the values between them.
func (f *Field) inverted() bool { return f.Min != nil && f.Max != nil && !(*f.Min < *f.Max) }

// component returns the value of component i.
func (v Value) component(i int) float64 {
	if len(v) == 1 {
		return v[0]
	}
	return v[i]
}

// number reads a value that one element of the field can hold.
func (f *Field) number(n *document.Node) (float64, error) {
	if f.Type.Kind == fields.CategoricalKind {
		return f.category(n)
	}
	x, err := n.Float()
	if err != nil {
		return 0, err
	}
	if why := f.refuses(x); why != "" {
		return 0, n.Errorf("%s %s", n.What(), why)
	}
	return x, nil
}

// refuses says why no element of the field can have a value; "" if it can.
func (f *Field) refuses(x float64) string {
	categorical := f.Type.Kind == fields.CategoricalKind
	switch {
	case x-x != 0: // NaN for NaN and infinities
		return "is not finite"
	case categorical && !(x >= 0 && x < float64(len(f.Values)) && x == math.Floor(x)):
		return fmt.Sprintf("is not one of the %d values of %q, counted from 0", len(f.Values), f.Name)
	case f.inverted():
	case f.Min != nil && x < *f.Min:
		return fmt.Sprintf("is below the minimum of %q, %v", f.Name, *f.Min)
	case f.Max != nil && x > *f.Max:
		return fmt.Sprintf("is above the maximum of %q, %v", f.Name, *f.Max)
	}
	if f.Element == "fixed" && math.Abs(x) >= 1<<47 || f.Element == "float32" && math.IsInf(float64(float32(x)), 0) {
		return fmt.Sprintf("is more than field %q can hold (%s)", f.Name, f.Element)
	}
	return ""
}

// uncarried says why no command can set a value of the field, which is one of its; "" if one can: a command carries a float32.
func (f *Field) uncarried(x float64) string {
	if f.Element != "fixed" {
		return "" // else the field is float32, too, or has whole numbers that are small
	}
	d, carried := f.Def(), float32(x)
	want, _ := d.Bits(x)
	if got, ok := d.Bits(float64(carried)); ok && got == want {
		return ""
	}
	for _, near := range []float32{carried, math.Nextafter32(carried, 0), math.Nextafter32(carried, float32(math.Copysign(math.MaxFloat32, x)))} {
		if f.refuses(float64(near)) == "" {
			return "is no float32, which is what a command carries; the nearest that it can carry is " + strconv.FormatFloat(float64(near), 'f', -1, 64)
		}
	}
	return "is no float32, which is what a command carries"
}

// carried returns an error if no command can set a value of the field.
func (f *Field) carried(n *document.Node, v Value) error {
	for i, x := range v {
		at := n
		if n.Kind == document.List {
			at = n.Kids[i]
		}
		if why := f.uncarried(x); why != "" {
			return at.Errorf("%s %s", at.What(), why)
		}
	}
	return nil
}

func (f *Field) category(n *document.Node) (float64, error) {
	if n.IsInteger() {
		i, err := n.Int(0, int64(len(f.Values)-1))
		return float64(i), err
	}
	if n.Kind != document.Scalar || n.IsNull() {
		return 0, n.Errorf("%s stands where a value of %q belongs", n.What(), f.Name)
	}
	i := slices.Index(f.Values, n.Raw)
	if i < 0 {
		return 0, n.Errorf("field %q has no value %q%s", f.Name, n.Raw, document.Suggestion(n.Raw, f.Values))
	}
	return float64(i), nil
}
