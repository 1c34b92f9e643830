package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// An Expect is something that must hold while the scenario runs.
type Expect struct {
	Field      FieldRef  `yaml:"field" doc:"What range, total and value are about."`
	Range      []float64 `yaml:"range" doc:"All values lie between these two."`
	Total      *Total    `yaml:"total" doc:"The sum over all cells: a number, or conserved: what it was at the start."`
	Cell       *Cell     `yaml:"cell" doc:"With value: the cell."`
	Value      Value     `yaml:"value" doc:"What the cell holds."`
	Tolerance  float64   `yaml:"tolerance" min:"0" doc:"How far total or value may be off."`
	Population []int     `yaml:"population" doc:"How many entities live, at least and at most."`
	Kind       Kind      `yaml:"kind" doc:"With population: of this kind only."`
	Hash       string    `yaml:"hash" doc:"The hash of the whole state, 16 hexadecimal digits; at the last tick unless tick says otherwise."`
	Tick       uint64    `yaml:"tick" min:"1" doc:"Look at this tick only."`
	Every      uint64    `yaml:"every" default:"1" min:"1" doc:"Look every so many ticks, and at the last."`

	hash  uint64
	last  uint64 // with hash and without tick: the scenario's last tick, as it was read
	value string // Value, for people
	at    *node
}

// A Total is a sum that is expected.
type Total struct {
	Conserved bool // as it was at the start
	Sum       float64
}

func (t *Total) decode(_ *decoder, n *node) (err error) {
	if n.kind == scalarNode && n.raw == "conserved" {
		t.Conserved = true
		return nil
	}
	t.Sum, err = n.float()
	return err
}

func (t Total) appendJSON(b []byte) []byte {
	if t.Conserved {
		return append(b, `"conserved"`...)
	}
	return appendFloat(b, t.Sum)
}

var hashPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (e *Expect) check(d *decoder, n *node) error {
	e.at = n
	kinds := 0
	for _, there := range [...]bool{e.Range != nil, e.Total != nil, e.Value != nil, e.Population != nil, e.Hash != ""} {
		if there {
			kinds++
		}
	}
	ofField := e.Range != nil || e.Total != nil || e.Value != nil
	switch {
	case kinds != 1:
		return n.errorf("an expectation is one of range, total, value, population and hash")
	case ofField != (e.Field != ""):
		return n.errorf("\"field\" goes with range, total and value")
	case ofField && d.s.field(string(e.Field)).Domain == "entities":
		return n.at("field").errorf("field %q belongs to entities; range, total and value are about cells", e.Field)
	case (e.Value != nil) != (e.Cell != nil):
		return n.errorf("\"cell\" and \"value\" go together")
	case e.Value != nil && e.Tick == 0:
		return n.errorf("a value is expected at a tick: add \"tick\"")
	case e.Range != nil && (len(e.Range) != 2 || !(e.Range[0] <= e.Range[1])):
		return n.at("range").errorf("a range is a lowest and a highest value")
	case e.Population != nil && (len(e.Population) != 2 || e.Population[0] > e.Population[1]):
		return n.at("population").errorf("a population is a lowest and a highest number")
	case e.Population != nil && d.s.Entities == nil:
		return n.errorf("the scenario has no \"entities\"")
	case e.Kind != "" && e.Population == nil:
		return n.errorf("\"kind\" goes with population")
	case e.Hash != "" && !hashPattern.MatchString(e.Hash):
		return n.at("hash").errorf("%q is not 16 hexadecimal digits", e.Hash)
	}
	if e.Value != nil {
		e.value = d.s.field(string(e.Field)).show(e.Value)
	}
	if e.Hash != "" {
		hash, err := strconv.ParseUint(e.Hash, 16, 64)
		e.hash = hash
		return err
	}
	return nil
}

// String says what is expected: "total heat 12,000 ±0.1".
func (e *Expect) String() string {
	var b strings.Builder
	switch {
	case e.Range != nil:
		fmt.Fprintf(&b, "%s from %s to %s", e.Field, Number(e.Range[0]), Number(e.Range[1]))
	case e.Total != nil && e.Total.Conserved:
		fmt.Fprintf(&b, "total %s conserved%s", e.Field, e.margin())
	case e.Total != nil:
		fmt.Fprintf(&b, "total %s %s%s", e.Field, Number(e.Total.Sum), e.margin())
	case e.Value != nil:
		fmt.Fprintf(&b, "%s at %v is %s%s", e.Field, e.Cell.Coord, e.value, e.margin())
	case e.Hash != "":
		fmt.Fprintf(&b, "hash %s", e.Hash)
	default:
		who := string(e.Kind)
		if who == "" {
			who = "entities"
		}
		fmt.Fprintf(&b, "%s: %s to %s alive", who, Number(float64(e.Population[0])), Number(float64(e.Population[1])))
	}
	if e.Tick != 0 {
		fmt.Fprintf(&b, " at tick %d", e.Tick)
	}
	return b.String()
}

// margin is the tolerance, if there is one.
func (e *Expect) margin() string {
	if e.Tolerance == 0 {
		return ""
	}
	return " ±" + Number(e.Tolerance)
}

// show writes a value of the field for people: a category by its name.
func (f *Field) show(v Value) string {
	var words []string
	for _, x := range v {
		if f.Values != nil {
			words = append(words, f.Values[int(x)])
			continue
		}
		words = append(words, Number(x))
	}
	if len(words) == 1 {
		return words[0]
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// Number writes a number for people, with a comma between groups of three digits.
func Number(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e15) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	whole, fraction, point := strings.Cut(s, ".")
	sign := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if sign {
		whole = "-" + whole
	}
	if point {
		return whole + "." + fraction
	}
	return whole
}
