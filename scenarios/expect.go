package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/rules"
)

// An Expect is something that must hold while the scenario runs.
type Expect struct {
	Field      FieldRef  `yaml:"field" doc:"What range, total, sum, shares and value are about."`
	Range      []float64 `yaml:"range" doc:"All values lie between these two; for an attribute, the values of all living entities."`
	Sum        []float64 `yaml:"sum" doc:"The sum over all cells lies between these two."`
	Shares     []float64 `yaml:"shares" doc:"Of a vector: the share that each component has in the sum of all lies between these two."`
	Component  *int      `yaml:"component" min:"0" doc:"With range and sum: this component of a vector only, the first being 0."`
	Total      *total    `yaml:"total" doc:"The sum over all cells: a number, or conserved: what it was at the start."`
	Cell       *Cell     `yaml:"cell" doc:"With value: the cell."`
	Entity     entityRef `yaml:"entity" doc:"With value, and range of an attribute: the entity, by its name or id."`
	Value      Value     `yaml:"value" doc:"What the cell or the entity holds."`
	Tolerance  float64   `yaml:"tolerance" min:"0" doc:"The tolerance of total or value."`
	That       formula   `yaml:"that" doc:"A formula that must be true of the whole world, such as count(state == ill) < 100; see docs/start/rules.md."`
	Population []int     `yaml:"population" hint:"write \"population: [LEAST, MOST]\"" doc:"How many entities live, at least and at most."`
	Kind       Kind      `yaml:"kind" doc:"With population, and range of an attribute: of this kind only."`
	Hash       string    `yaml:"hash" doc:"The hash of the whole state, 16 hexadecimal digits; at the last tick unless tick says otherwise."`
	Digest     string    `yaml:"digest" doc:"The digest of the run from its first tick on, 64 hexadecimal digits; up to the last tick unless tick says otherwise."`
	Tick       uint64    `yaml:"tick" min:"1" doc:"Look at this tick only."`
	From       uint64    `yaml:"from" min:"1" doc:"Do not look before this tick."`
	Every      uint64    `yaml:"every" default:"1" min:"1" doc:"Look every so many ticks, and at the last."`
	Seed       *uint64   `yaml:"seed" doc:"Expected under this master seed only."`

	hash  uint64
	last  uint64 // with hash and without tick: the scenario's last tick, as it was read
	value string // Value, for people
	at    *document.Node
	that  *statement
}

// A total is a sum that is expected.
type total struct {
	Conserved bool // as it was at the start
	Sum       float64
}

func (t *total) decode(_ *decoder, n *document.Node) (err error) {
	if n.Kind == document.Scalar && n.Raw == "conserved" {
		t.Conserved = true
		return nil
	}
	t.Sum, err = n.Float()
	return err
}

func (t total) appendJSON(b []byte) []byte {
	if t.Conserved {
		return append(b, `"conserved"`...)
	}
	return document.AppendFloat(b, t.Sum)
}

var (
	hashPattern   = regexp.MustCompile(`^[0-9a-f]{16}$`)
	digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

func (e *Expect) check(d *decoder, n *document.Node) error {
	e.at = n
	kinds := 0
	for _, there := range [...]bool{e.Range != nil, e.Sum != nil, e.Shares != nil, e.Total != nil, e.Value != nil, e.That.text != "", e.Population != nil, e.Hash != "", e.Digest != ""} {
		if there {
			kinds++
		}
	}
	ofField := e.Range != nil || e.Sum != nil || e.Shares != nil || e.Total != nil || e.Value != nil
	ofEntities := e.Field != "" && d.s.field(string(e.Field)).Domain == "entities"
	switch {
	case kinds != 1:
		return n.Errorf("an expectation is one of range, total, sum, shares, value, that, population, hash and digest")
	case ofField != (e.Field != ""):
		return n.Errorf("\"field\" goes with range, total, sum, shares and value")
	case ofEntities && e.Range == nil && e.Value == nil:
		return n.At("field").Errorf("field %q belongs to entities; of those there are range and value only", e.Field)
	case e.Entity.given() && !ofEntities:
		return n.At("entity").Errorf("\"entity\" goes with value and range of a field of entities")
	case e.Entity.given() && e.Kind != "":
		return n.At("kind").Errorf("\"kind\" does not go with entity")
	case ofEntities && e.Value != nil && (!e.Entity.given() || e.Cell != nil):
		return n.Errorf("field %q belongs to entities: with value goes \"entity\", and not cell", e.Field)
	case !ofEntities && (e.Value != nil) != (e.Cell != nil):
		return n.Errorf("\"cell\" and \"value\" go together")
	case e.Value != nil && e.Tick == 0:
		return n.Errorf("a value is expected at a tick: add \"tick\"")
	case e.Range != nil && (len(e.Range) != 2 || !(e.Range[0] <= e.Range[1])):
		return n.At("range").Errorf("a range is a lowest and a highest value")
	case e.Sum != nil && (len(e.Sum) != 2 || !(e.Sum[0] <= e.Sum[1])):
		return n.At("sum").Errorf("sum is a lowest and a highest value")
	case e.Shares != nil && (len(e.Shares) != 2 || !(e.Shares[0] <= e.Shares[1])):
		return n.At("shares").Errorf("shares is a lowest and a highest share")
	case e.Component != nil && e.Range == nil && e.Sum == nil:
		return n.Errorf("\"component\" goes with range and sum")
	case e.Component != nil && *e.Component >= d.s.field(string(e.Field)).def.Type.Components():
		return n.At("component").Errorf("field %q has no component %d; the first is 0", e.Field, *e.Component)
	case e.Population != nil && (len(e.Population) != 2 || e.Population[0] > e.Population[1]):
		return n.At("population").Errorf("a population is a lowest and a highest number")
	case e.Population != nil && d.s.Entities == nil:
		return n.Errorf("the scenario has no \"entities\"")
	case e.Kind != "" && e.Population == nil && !(ofEntities && e.Range != nil):
		return n.Errorf("\"kind\" goes with population, and with range of an attribute")
	case e.From != 0 && e.Tick != 0:
		return n.At("from").Errorf("\"from\" does not go with tick")
	case e.Hash != "" && !hashPattern.MatchString(e.Hash):
		return n.At("hash").Errorf("%q is not 16 lower-case hexadecimal digits", e.Hash)
	case e.Digest != "" && !digestPattern.MatchString(e.Digest):
		return n.At("digest").Errorf("%q is not 64 lower-case hexadecimal digits", e.Digest)
	}
	if e.That.text != "" {
		var err error
		if e.that, err = d.statement(&e.That, rules.CheckStatement); err != nil {
			return err
		}
		if err := d.spendOn(&e.That, e.that); err != nil {
			return err
		}
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

// text returns what is expected: "total heat 12,000 ±0.1".
func (e *Expect) text() string {
	var b strings.Builder
	switch {
	case e.Range != nil:
		fmt.Fprintf(&b, "%s from %s to %s", e.what(), Number(e.Range[0]), Number(e.Range[1]))
	case e.Sum != nil:
		fmt.Fprintf(&b, "sum of %s from %s to %s", e.what(), Number(e.Sum[0]), Number(e.Sum[1]))
	case e.Shares != nil:
		fmt.Fprintf(&b, "shares of %s from %s to %s", e.Field, Number(e.Shares[0]), Number(e.Shares[1]))
	case e.Total != nil && e.Total.Conserved:
		fmt.Fprintf(&b, "total %s conserved%s", e.Field, e.margin())
	case e.Total != nil:
		fmt.Fprintf(&b, "total %s %s%s", e.Field, Number(e.Total.Sum), e.margin())
	case e.Value != nil:
		where := "of " + e.Entity.text()
		if e.Cell != nil {
			where = fmt.Sprintf("at %v", e.Cell.Coord)
		}
		fmt.Fprintf(&b, "%s %s is %s%s", e.Field, where, e.value, e.margin())
	case e.that != nil:
		b.WriteString(e.That.node.String())
	case e.Hash != "":
		fmt.Fprintf(&b, "hash %s", e.Hash)
	case e.Digest != "":
		fmt.Fprintf(&b, "digest %s…", e.Digest[:16])
	default:
		who := string(e.Kind)
		if who == "" {
			who = "entities"
		}
		fmt.Fprintf(&b, "%s: %s to %s alive", who, Number(float64(e.Population[0])), Number(float64(e.Population[1])))
	}
	if e.Tick != 0 {
		fmt.Fprintf(&b, " at tick %s", Number(float64(e.Tick)))
	}
	if e.Seed != nil {
		fmt.Fprintf(&b, " under seed %d", *e.Seed)
	}
	return b.String()
}

// what names the values that are looked at.
func (e *Expect) what() string {
	text := string(e.Field)
	if e.Component != nil {
		text = fmt.Sprintf("%s[%d]", text, *e.Component)
	}
	switch {
	case e.Kind != "":
		text += " of " + string(e.Kind)
	case e.Entity.given():
		text += " of " + e.Entity.text()
	}
	return text
}

// margin returns the tolerance, if there is one.
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
			//detcheck:allow floatint a category counts the names, and the column holds no others
			words = append(words, f.Values[int(x)])
			continue
		}
		words = append(words, written(&f.def, x))
	}
	if len(words) == 1 {
		return words[0]
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// Number writes a number for people, with a comma between groups of three digits.
func Number(v float64) string { return number(v, 64) }

// written is a value of a field as [Number] writes it, with the digits that tell it from others of its kind.
func written(d *fields.Def, v float64) string {
	if d.Element == fields.Float32 {
		return number(v, 32)
	}
	return number(v, 64)
}

func number(v float64, bits int) string {
	s := strconv.FormatFloat(v, 'f', -1, bits)
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e15) {
		return strconv.FormatFloat(v, 'g', -1, bits)
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
