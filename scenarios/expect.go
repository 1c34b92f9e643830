package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
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

	hash uint64
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
		fmt.Fprintf(&b, "total %s conserved ±%s", e.Field, Number(e.Tolerance))
	case e.Total != nil:
		fmt.Fprintf(&b, "total %s %s ±%s", e.Field, Number(e.Total.Sum), Number(e.Tolerance))
	case e.Value != nil:
		fmt.Fprintf(&b, "%s at %v is %s ±%s", e.Field, e.Cell.Coord, e.Value.appendJSON(nil), Number(e.Tolerance))
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

// A Result is how an expectation fared.
type Result struct {
	Text string // what was expected, and "ok" or what was found instead
	OK   bool
}

// A Checker looks on while a scenario runs.
type Checker struct {
	s      *Scenario
	states []expecting
	buffer []float32
}

type expecting struct {
	*Expect
	sum    float64 // that the total should be
	looked bool
	failed string // empty while it holds
}

// NewChecker returns a checker for the scenario's world, which must be at genesis.
func NewChecker(s *Scenario, w *engine.World) *Checker {
	c := &Checker{s: s}
	view := w.Snapshot()
	defer view.Release()
	for i := range s.Expect {
		e := expecting{Expect: &s.Expect[i]}
		if e.Total != nil {
			e.sum = e.Total.Sum
			if e.Total.Conserved {
				e.sum = c.total(view, s.id(e.Field))
			}
		}
		c.states = append(c.states, e)
	}
	return c
}

// Observe looks at the world after a tick.
func (c *Checker) Observe(w *engine.World) {
	var view *fields.Snapshot
	for i := range c.states {
		e := &c.states[i]
		if e.failed != "" || !e.looks(w.Tick(), c.s.Ticks) {
			continue
		}
		if view == nil {
			view = w.Snapshot()
			defer view.Release()
		}
		e.looked = true
		if found := c.look(e, view); found != "" {
			e.failed = fmt.Sprintf("tick %d: %s", w.Tick(), found)
		}
	}
}

// looks says whether an expectation is about a tick.
func (e *expecting) looks(tick, last uint64) bool {
	switch {
	case e.Tick != 0:
		return tick == e.Tick
	case e.Hash != "":
		return tick == last
	}
	return tick%e.Every == 0 || tick == last
}

// look compares, and says what it found if that is not what is expected.
func (c *Checker) look(e *expecting, view *fields.Snapshot) string {
	switch {
	case e.Range != nil:
		return c.outside(e, view)
	case e.Total != nil:
		if sum := c.total(view, c.s.id(e.Field)); !(math.Abs(sum-e.sum) <= e.Tolerance) {
			return fmt.Sprintf("the total is %s, not %s", Number(sum), Number(e.sum))
		}
	case e.Value != nil:
		return c.differs(e, view)
	case e.Hash != "":
		if hash := view.Hash(); hash != e.hash {
			return fmt.Sprintf("the hash is %016x", hash)
		}
	default:
		if n := c.population(view, e.Kind); n < e.Population[0] || n > e.Population[1] {
			return fmt.Sprintf("%s are alive", Number(float64(n)))
		}
	}
	return ""
}

// values are a field's values, valid until the next call.
func (c *Checker) values(view *fields.Snapshot, id fields.ID) []float32 {
	if view.Defs()[id].Element == fields.Float32 {
		c.buffer = view.AppendFloat32(c.buffer[:0], id)
		return c.buffer
	}
	c.buffer = c.buffer[:0]
	for i := range view.Len(id) {
		c.buffer = append(c.buffer, float32(view.At(id, i)))
	}
	return c.buffer
}

func (c *Checker) outside(e *expecting, view *fields.Snapshot) string {
	id := c.s.id(e.Field)
	n := view.Defs()[id].Type.Components()
	for i, v := range c.values(view, id) {
		if !(float64(v) >= e.Range[0] && float64(v) <= e.Range[1]) {
			return fmt.Sprintf("it is %s at %v", Number(float64(v)), c.s.lattice.Coord(i/n))
		}
	}
	return ""
}

// total is the sum of all elements in rank order, in float64.
func (c *Checker) total(view *fields.Snapshot, id fields.ID) (sum float64) {
	if view.Defs()[id].Element == fields.Float32 {
		for _, v := range c.values(view, id) {
			sum += float64(v)
		}
		return sum
	}
	for i := range view.Len(id) {
		sum += view.At(id, i)
	}
	return sum
}

func (c *Checker) differs(e *expecting, view *fields.Snapshot) string {
	id := c.s.id(e.Field)
	n := view.Defs()[id].Type.Components()
	rank, _ := c.s.lattice.Rank(e.Cell.Coord)
	for i := range n {
		if v := view.At(id, rank*n+i); !(math.Abs(v-e.Value.component(i)) <= e.Tolerance) {
			return fmt.Sprintf("it is %s", Number(v))
		}
	}
	return ""
}

func (c *Checker) population(view *fields.Snapshot, kind Kind) (n int) {
	idColumn, kindColumn, _ := engine.EntityColumns(len(c.s.Fields))
	want := float64(-1)
	if kind != "" {
		want = float64(c.s.kind(kind))
	}
	for slot := range view.Len(idColumn) {
		if view.At(idColumn, slot) != 0 && (want < 0 || view.At(kindColumn, slot) == want) {
			n++
		}
	}
	return n
}

// Results says how all expectations fared, in the order of the document. One that
// was never looked at, because the run was shorter, is not ok.
func (c *Checker) Results() []Result {
	var results []Result
	for i := range c.states {
		e := &c.states[i]
		switch {
		case e.failed != "":
			results = append(results, Result{Text: e.String() + ": FAILED at " + e.failed})
		case !e.looked:
			results = append(results, Result{Text: e.String() + ": not reached"})
		default:
			results = append(results, Result{Text: e.String() + ": ok", OK: true})
		}
	}
	return results
}
