package rules

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

// TestHappened: how many are born, die and enter in a tick, of random worlds of entities, is what a count by hand gives, in the compiled way and in the readable one.
func TestHappened(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	l, _ := space.Square4{Rows: 5, Cols: 4}.Build()
	for range 40 {
		s := meadowWith(l)
		state := crowded(r, l, 1+r.IntN(40))
		next := uint64(0)
		var fast, naive [3]*Statement
		for i, text := range []string{"born(sheep where sheep.energy > 0.3) > 0", "died(sheep where sheep.energy > 0.3) > 0", "entered(sheep where sheep.energy > 0.3) > 0"} {
			fast[i], naive[i] = condition(t, s, text), condition(t, s, text)
			naive[i].naive = true
		}
		var before map[uint64]bool // who lived, and whether it was meant
		for tick := range 12 {
			state.Tick = uint64(tick)
			come(r, state, &next, l.Cells())
			for i := range state.Prev[4] {
				state.Prev[4][i] = float32(r.NormFloat64())
			}
			now := map[uint64]bool{}
			for slot, id := range state.living.ids {
				if id > 0 {
					now[id] = state.living.kinds[slot] == 0 && state.Prev[4][slot] > 0.3
				}
			}
			want := happenedTo(before, now)
			for i := range fast {
				for _, x := range []*Statement{fast[i], naive[i]} {
					if before == nil {
						x.Start(state)
					}
					if _, err := x.Value(state); err != nil {
						t.Fatal(err)
					}
					if v := x.values[0].value.f; v != float64(len(want[i])) {
						t.Fatalf("tick %d: %s is %v, want %v", state.Tick, x.totals[0].node, v, want[i])
					}
					if found := x.Found(); len(want[i]) > 0 && !strings.Contains(found, ", first "+s.calls(slices.Min(want[i]))) {
						t.Fatalf("tick %d: %q, want %v", state.Tick, found, want[i])
					}
				}
			}
			before = now
		}
	}
}

// happenedTo are those who were born, died and entered between two states, of which nil is none.
func happenedTo(before, now map[uint64]bool) (list [3][]uint64) {
	if before == nil {
		return list
	}
	for id, is := range now {
		switch was, lived := before[id]; {
		case is && !lived:
			list[0] = append(list[0], id)
		case is && !was:
			list[2] = append(list[2], id)
		}
	}
	for id, was := range before {
		if _, lives := now[id]; was && !lives {
			list[1] = append(list[1], id)
		}
	}
	return list
}

func condition(t *testing.T, s *Scope, text string) *Statement {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	x, err := CheckCondition(s, n)
	if err != nil {
		t.Fatal(text, err)
	}
	return x
}

// TestHappenedNext: a term about a tick has a value only after the tick that follows the last one that was looked at; refused() is what the state says.
func TestHappenedNext(t *testing.T) {
	l, _ := space.Square4{Rows: 5, Cols: 4}.Build()
	s, state := meadowWith(l), crowded(rand.New(rand.NewPCG(43, 2)), l, 5)
	state.Refusal = func() string { return "move anna; no room" }
	born, refused := condition(t, s, "born(anyone) > 0"), condition(t, s, "refused() > 0")
	for _, tt := range []struct {
		start   bool
		tick    uint64
		refused int
		id      uint64 // of who lives now
		born    bool
		err     string
	}{
		{false, 7, 1, 5, false, "born(anyone): nothing is known of the state before this one"},
		{true, 0, 1, 5, false, ""},
		{false, 1, 1, 6, true, ""},
		{true, 7, 1, 5, false, "nothing is known of the state before this one"},
		{false, 8, 0, 6, true, ""},
		{false, 9, 2, 6, false, ""},
		{false, 11, 1, 7, false, "nothing is known of the state before this one"},
		{false, 12, 1, 8, true, ""},
		{true, 12, 1, 8, false, "nothing is known of the state before this one"},
		{false, 13, 1, 9, true, ""},
	} {
		state.Tick, state.Refused = tt.tick, tt.refused
		state.living.ids[2] = tt.id
		state.See(state.living.ids, state.living.kinds, state.living.cells)
		for _, x := range []*Statement{born, refused} {
			if tt.start {
				x.Start(state)
			}
			is, err := x.Holds(state)
			if (err == nil) != (tt.err == "") || err != nil && x == born && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("tick %d: %v, want %q", tt.tick, err, tt.err)
			}
			want := tt.born
			if x == refused {
				want = tt.refused > 0 && !tt.start && tt.err == ""
			}
			if is != want {
				t.Errorf("tick %d: %s is %v", tt.tick, x.totals[0].node, is)
			}
			if x == refused && is && !strings.Contains(x.Found(), ": move anna; no room") {
				t.Errorf("tick %d: %s", tt.tick, x.Found())
			}
		}
	}
}

// TestHappenedFault: a condition that has no value in one state leaves the term without one there and after the next tick, and no longer.
func TestHappenedFault(t *testing.T) {
	l, _ := space.Square4{Rows: 5, Cols: 4}.Build()
	s, state := meadowWith(l), crowded(rand.New(rand.NewPCG(43, 3)), l, 5)
	both := condition(t, s, "if count(wolf) > 0 then born(sheep where fixed(sheep.energy) >= 0) > 0 else born(sheep) > 0")
	for tick := range uint64(12) {
		state.Tick = tick
		for slot := range state.living.ids {
			state.living.ids[slot], state.living.kinds[slot], state.Prev[4][slot] = 100*tick+uint64(slot)+1, 0, 1
		}
		if tick == 4 {
			state.Prev[4][2] = 1e30 // which is no fixed number
		}
		state.See(state.living.ids, state.living.kinds, state.living.cells)
		if tick == 0 || tick == 8 {
			both.Start(state)
		}
		is, err := both.Holds(state)
		if want := tick > 0 && tick != 8; err == nil != (tick != 8) || is != want {
			t.Errorf("tick %d: %v, %v", tick, is, err)
		}
		first := both.values[1] // of sheep with a purse that has a value
		if unknown := tick == 4 || tick == 5 || tick == 8; unknown != (first.err != nil) || !unknown && tick > 0 && first.value.f != 5 {
			t.Errorf("tick %d: %v, %v", tick, first.value.f, first.err)
		}
	}
}

// TestHappenedWrong: what a formula about a tick cannot say, and where it cannot stand.
func TestHappenedWrong(t *testing.T) {
	l, _ := space.Square4{Rows: 5, Cols: 4}.Build()
	s := meadowWith(l)
	for text, want := range map[string]string{
		"born(cow) > 0":          "born takes a kind of entities, such as sheep",
		"born() > 0":             "born takes a kind of entities, such as sheep",
		"died(sheep else 1) > 0": "died of nothing is 0; leave out else",
		strings.Repeat("refused() > 0 or ", 8) + "refused() > 1": "a condition asks at most 8 times what happened in a tick",
		"refused(sheep) > 0":                     "refused() takes nothing; it is how many commands a tick refused",
		"count(heat > born(sheep)) > 0":          "born(sheep) is of the whole world, and stands within a term that is computed for each cell or entity",
		"born(sheep where wolf.energy > 1) > 0":  "a term is over one kind; wolf.energy is of another one than sheep. Write a term for each",
		"count(sheep where wolf.energy > 1) > 0": "a term is over one kind; wolf.energy is of another one than sheep. Write a term for each",
		"born(sheep where energy > 0) > 0":       "energy is an attribute of entities; write whose, as in mean(sheep.energy)",
		"entered(sheep where chance(1)) > 0":     "chance(1) draws, and what is only looked at draws nothing",
	} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = CheckCondition(s, n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	n, _ := Parse("born(sheep) > 0")
	if _, err := CheckStatement(s, n); err == nil || !strings.Contains(err.Error(), "this looks at states; find, shrink and the viewer look for it") {
		t.Error(err)
	}
}
