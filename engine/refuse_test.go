package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A gate lets those in who send more than its parameter says.
type gate struct{}

// Type implements [engine.Handler].
func (gate) Type() uint32 { return 7 }

// Handle implements [engine.Handler].
func (gate) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	if least := c.Parameter(3); float64(len(data)) <= least {
		return c.Refuse("player %d sends %d bytes of %d cells; more than %v are needed", c.Sender().Source, len(data), c.Lattice().Cells(), least)
	}
	for slot, id := range c.Entities().Live() { // which finds the only one
		if c.Entities().Kind[slot] == 4 {
			_, reason := c.Apply(commands.SetAttribute(id, 0, float32(len(data))))
			return reason
		}
	}
	return c.Refuse("there is nobody")
}

// TestHandlerRefuses: a handler sees who sent a command, the parameters and the lattice, and what it says to a command that it refuses stands in
// the receipt, also when it is asked twice, and not in that of the next command.
func TestHandlerRefuses(t *testing.T) {
	for _, paranoid := range []bool{false, true} {
		w, err := engine.New(engine.Config{
			Space: space.Line{Length: 5}, Capacity: 2, Fields: []fields.Def{{Name: "energy", Domain: fields.Entities}},
			Handlers: []engine.Handler{gate{}}, Parameters: []engine.Parameter{{Key: 3, Name: "least", Value: 2}}, Paranoid: paranoid,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Submit(w.SpawnKind(4, space.At(2), commands.Set(0, 1.5))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.SubmitAll([]commands.Command{commands.Custom(7, []byte("ab")).From(6, 1), commands.Custom(7, []byte("abc")).From(6, 2), commands.Custom(8, nil)}); err != nil {
			t.Fatal(err)
		}
		receipts, err := w.Step()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range receipts {
			got = append(got, fmt.Sprintf("%v: %s", receipts[i].Reason, receipts[i].Detail))
		}
		slices.Sort(got)
		if want := []string{"applied: ", "refused: player 6 sends 2 bytes of 5 cells; more than 2 are needed", "unsupported: "}; !slices.Equal(got, want) {
			t.Errorf("receipts %q, want %q", got, want)
		}
		for slot, id := range w.Entities().Live() {
			if id != 1<<20|1 || w.Entities().Kind[slot] != 4 || w.Column(0).Float32[slot] != 3 {
				t.Errorf("entity %d of kind %d with %v", id, w.Entities().Kind[slot], w.Column(0).Float32[slot])
			}
		}
	}
}
