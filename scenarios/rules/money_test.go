package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// money is a formula that is a fixed number. Some can fail, mostly where nothing needs them.
func (w *writer) money(depth int) string {
	if depth <= 0 {
		all := []string{"money", "money", "purse[0]", "purse[1]", "now(money)", "now(purse)[1]", "fixed(0.5)", "fixed(beta)", "fixed(rate / 3)", "fixed(heat)", "tithe", "coin", "(if lucky then vast else 1)"}
		if w.near {
			return w.of(append(all, "own(money)", "own(due)[0]", "own(coin)", "fixed(step[0])", "fixed(degree)")...)
		}
		return w.of(append(all, "due[1]")...)
	}
	a, b := w.money(depth-1), w.money(depth-1)
	switch w.IntN(22) {
	case 0, 1, 2:
		return "(" + a + w.of(" + ", " - ") + w.of(b, b, "2.5", "rate") + ")"
	case 3, 4:
		return "(" + a + " * " + w.of(b, "0.75") + ")"
	case 5, 6:
		return "(if abs(" + b + ") > 0.01 then " + w.of(a, "3") + " / " + b + " else " + w.money(depth-2) + ")"
	case 7:
		return w.of("("+a+" / "+b+")", "mod("+a+", "+b+")", "sqrt("+a+")")
	case 8:
		return "mod(" + a + ", " + w.of("7", "abs("+b+") + 1") + ")"
	case 9:
		return w.of("min", "max") + "(" + a + ", " + b + w.of("", ", "+w.money(depth-1), ", 1") + ")"
	case 10:
		return "clamp(" + a + ", " + w.of("-3", b) + ", " + w.of("rate", w.money(depth-1)) + ")"
	case 11:
		return w.of("abs", "floor", "-") + "(" + a + ")"
	case 12:
		return "sqrt(" + w.of("abs("+a+")", "max("+a+", 0)") + ")"
	case 13, 14:
		return "(if " + w.truth(depth-1) + " then " + a + " else " + w.of(b, "1") + ")"
	case 15:
		return "fixed(clamp(" + w.number(depth-1) + ", -9, 9))"
	case 16:
		return w.purse(depth-1) + w.of("[0]", "[1]")
	case 17:
		return w.of("length(", "dot("+w.purse(depth-1)+", ") + w.purse(depth-1) + ")"
	}
	return w.around(depth, w.money, "mean", "sum", "least", "most", "one", "at")
}

// purse is a formula that is a vector of fixed numbers.
func (w *writer) purse(depth int) string {
	if depth <= 0 {
		if !w.near && w.IntN(4) == 0 {
			return "due"
		}
		return w.of("purse", "now(purse)", "[money, 0.1]", "[tithe, rate / 3]", "[1, coin]")
	}
	switch w.IntN(7) {
	case 0:
		return "(" + w.purse(depth-1) + w.of(" + ", " - ") + w.purse(depth-1) + ")"
	case 1:
		return "(" + w.of("0.5", w.money(depth-1)) + " * " + w.purse(depth-1) + ")"
	case 2:
		return "[" + w.money(depth-1) + ", " + w.money(depth-1) + "]"
	case 3:
		return "(" + w.purse(depth-1) + " / " + w.of("3", "(abs("+w.money(depth-1)+") + 1)", w.money(depth-1)) + ")"
	case 4:
		return "(if " + w.truth(depth-1) + " then " + w.purse(depth-1) + " else -" + w.purse(depth-1) + ")"
	}
	return w.around(depth, w.purse, "mean", "sum", "one", "at")
}

// amount draws fixed numbers: in some worlds with zeros, in some with numbers near the limits.
func (w *writer) amount() func() float64 {
	kind := w.IntN(6)
	return func() float64 {
		switch {
		case kind == 0 && w.IntN(50) == 0:
			return 0
		case kind == 1 && w.IntN(50) == 0:
			return float64(w.Int64N(1<<48)) - 1<<47
		case kind < 3:
			return float64(w.IntN(1<<20)-1<<19) / 65536
		}
		return float64(1+w.IntN(1<<19)) / 65536
	}
}

// bank is a world of one rule of fixed numbers and floats, on 300 cells.
func bank(t *testing.T, workers int, where string, set ...string) *engine.World {
	t.Helper()
	s := space.Square4{Rows: 3, Cols: 100}
	l, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	scope := &Scope{Lattice: l, World: []string{"rate"}, Fields: []Field{{Name: "money", Fixed: true}, {Name: "debt", Fixed: true}, {Name: "heat"}, {Name: "purse", Fixed: true, N: 2}}}
	parse := func(text string) *Node {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	scope.Lets = []Let{{"share", parse("money / debt")}, {"part", parse("share * 0.5")}, {"pair", parse("[share, 1]")}, {"scaled", parse("1 / debt * purse")}}
	var condition *Node
	if where != "" {
		condition = parse(where)
	}
	var list []Assignment
	for _, text := range set {
		field, formula, _ := strings.Cut(text, ": ")
		list = append(list, Assignment{slices.IndexFunc(scope.Fields, func(f Field) bool { return f.Name == field }), -1, parse(formula)})
	}
	r, err := Check(scope, condition, list)
	if err != nil {
		t.Fatal(err)
	}
	debt := make([]float64, l.Cells())
	for i := range debt {
		debt[i] = float64(i % 150) // none in cells 0 and 150
	}
	w, err := engine.New(engine.Config{
		Space: s, Timestep: 1, Workers: workers, MaxFailures: -1, Parameters: []engine.Parameter{{Key: 0, Name: "rate", Value: 2}},
		Fields: []fields.Def{
			{Name: "money", Element: fields.Fixed, Initial: fields.Fill(10)}, {Name: "debt", Element: fields.Fixed, Initial: fields.Values(debt)},
			{Name: "heat", Initial: fields.Fill(1)}, {Name: "purse", Type: fields.Vector(2), Element: fields.Fixed, Initial: fields.Fill(1)},
		},
		Propagators: []engine.Propagator{New(Binding{Name: "bank", Fields: []fields.ID{0, 1, 2, 3}, World: []uint32{0}}, scope, r, list)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFaults: a fault fails the tick if its operation is evaluated, and the error is that of the first cell and assignment.
func TestFaults(t *testing.T) {
	const div = "money / debt: fixed: div(10, 0): division by zero"
	for _, tt := range []struct {
		where string
		set   []string
		want  string // "": the tick does not fail
	}{
		{"", []string{"money: money / debt"}, "bank: cell [0, 0]: set money: " + div},
		{"", []string{"money: if debt == 0 then 1 else money / debt"}, ""},
		{"", []string{"money: if debt > 0 then part else 1"}, ""},
		{"", []string{"money: if row == 1 then part else 1"}, "bank: cell [1, 50]: set money: " + div},
		{"debt > 0", []string{"money: part"}, ""},
		{"debt > 0 and share > 1", []string{"money: part"}, ""},
		{"share > 1", []string{"money: 1"}, "bank: cell [0, 0]: set money: " + div},
		{"1 / (now(money) - 10) >= 0", []string{"money: now(money) + 1"}, "bank: cell [0, 0]: set money: 1 / (now(money) - 10): fixed: div(1, 0): division by zero"},
		{"debt == 0 or share > 0", []string{"money: 1"}, ""},
		{"row == 1", []string{"money: 1", "debt: part"}, "bank: cell [1, 50]: set debt: " + div},
		{"", []string{"debt: if col > 3 then share else 1", "money: if row == 0 then share else 1"}, "bank: cell [0, 0]: set money: " + div},
		{"", []string{"money: pair[1]"}, "bank: cell [0, 0]: set money: " + div},
		{"", []string{"heat: if col > 0 and row == 1 then 1 / number(debt) else number(share > 1)"}, "bank: cell [0, 0]: set heat: " + div},
		{"", []string{"money: sum(1 / debt)"}, "bank: cell [0, 1]: set money: 1 / debt: fixed: div(1, 0): division by zero"},
		{"", []string{"money: sum(1 / debt where debt > 0)"}, ""},
		{"", []string{"money: if any(debt == 0 or 1 / debt < 1) then fixed(1) else 0"}, ""},
		{"", []string{"money: mean(100000000000000 * money where row == 0 else 1)"}, "bank: cell [0, 0]: set money: 100000000000000 * money: fixed: mul(100000000000000, 10): overflow"},
		{"", []string{"money: sum(100000000000000 + money * 0)"}, "bank: cell [0, 0]: set money: sum(100000000000000 + money * 0): fixed: add(100000000000000, 100000000000000): overflow"},
		{"", []string{"money: at(1 / debt, 0, -1 else share)"}, "bank: cell [0, 0]: set money: " + div},
		{"", []string{"money: at(1, 0, 1 else if col == 0 then share else 2)"}, ""},
		{"", []string{"money: at(1 / debt, 0, 60 else 1)"}, ""}, // what is missing is looked for at the cell itself
		{"", []string{"money: at(1, 0, 60 else money / debt)"}, "bank: cell [1, 50]: set money: " + div},
		{"", []string{"money: least(money where debt == 1 else money / (debt - 2))"}, ""},
		{"", []string{"money: least(money where debt == 9 else money / debt)"}, "bank: cell [0, 0]: set money: " + div},
		{"", []string{"money: sum((if row > 5 then scaled[0] else 0) + scaled[1])"}, "bank: cell [0, 1]: set money: 1 / debt: fixed: div(1, 0): division by zero"},
		{"", []string{"money: sum(if debt > 0 then scaled[0] + scaled[1] else 1)"}, ""},
		{"", []string{"money: if rate > 3 then fixed(rate * 1e20) else 1"}, ""},
		{"", []string{"money: if row == 2 and rate == 2 then fixed(rate * 1e20) else 1"}, "bank: cell [2, 0]: set money: fixed(rate * 100000000000000000000): fixed: 2e+20: overflow"},
		{"", []string{"money: now(money) + 1", "debt: 1 / (now(money) - 10)"}, "bank: cell [0, 0]: set debt: 1 / (now(money) - 10): fixed: div(1, 0): division by zero"},
		{"", []string{"heat: now(heat) + 1", "money: fixed(1 / (now(heat) - 1))"}, "bank: cell [0, 0]: set money: fixed(1 / (now(heat) - 1)): fixed: +Inf: overflow"},
	} {
		for workers := 1; workers <= 3; workers++ {
			_, err := bank(t, workers, tt.where, tt.set...).Step()
			if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.HasSuffix(got, tt.want)) {
				t.Errorf("where %q, %q, %d workers: %s; want %q", tt.where, tt.set, workers, got, tt.want)
			}
		}
	}
}

// TestFixedAllocates: a tick of a rule of fixed numbers allocates nothing, also where a fault is in a branch that is not taken.
func TestFixedAllocates(t *testing.T) {
	w := bank(t, 1, "col > 1 or debt == 0 or share >= 0", "money: if debt > 0 then part + mean(money) * 0.5 else least(money where debt > 0 else 3)",
		"purse: if debt > 0 then pair / debt + [1, sqrt(money)] else at(purse / debt, 0, 1 else [7, share])", "debt: now(debt) * 1",
		"heat: number(sum(debt where debt > 0 and 1 / debt > 0.5)) + (if money > 100 then number(money * 100000000000000) else 0)")
	if n := testing.AllocsPerRun(20, func() {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a tick allocates %v times", n)
	}
}
