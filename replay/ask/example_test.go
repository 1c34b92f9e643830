package ask_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/space"
)

// A ring of six cells whose heat spreads gets 60 in cell 4, at tick 10. Why is cell 3 warm then, which command made it so, and what is the smallest recording that shows it?
func Example() {
	folder, err := os.MkdirTemp("", "pond")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "pond.murk")
	if err := recordPond(path); err != nil {
		panic(err)
	}
	c, err := replay.OpenFile(path, pond)
	if err != nil {
		panic(err)
	}
	defer c.Close()

	change, err := ask.NewWhy(c).Latest(context.Background(), ask.Place{Field: pondHeat, Cell: 3}, 11)
	if err != nil {
		panic(err)
	}
	fmt.Printf("tick %d: %.2f -> %.2f by %s\n", change.Tick, change.Before.Value, change.After.Value, change.Steps[0].Part)
	for _, x := range change.Causes {
		fmt.Printf("  because cell %d went from %.2f to %.2f, else %.2f\n", x.Cell, x.Before.Value, x.After.Value, x.Else.Value)
	}

	runs := ask.Runs{Cursor: c, Worker: func() (*engine.World, func(*engine.World, bool) bool, error) {
		w, err := pond(c.Head())
		return w, func(w *engine.World, _ bool) bool { return w.Column(pondHeat).Float32[3] > 20 }, err
	}}
	remover := ask.Remover{Runs: runs}
	list, numbers, err := remover.Each(context.Background(), 1, 20, 11)
	if err != nil {
		panic(err)
	}
	for _, x := range list {
		fmt.Printf("without command %d of tick %d, %d of %d numbers are others; the condition would be otherwise: %v\n", x.Arrival, x.Tick, x.Differ, numbers, x.Otherwise)
	}

	small, err := (&ask.Shrinking{Runs: runs}).From(context.Background(), 0, 11)
	if err != nil {
		panic(err)
	}
	fmt.Printf("from the state of tick %d to tick %d it takes %d of %d commands\n", small.World.Tick(), small.Last, len(small.Commands), small.Recorded)
	// Output:
	// tick 11: 25.28 -> 30.48 by spread
	//   because cell 3 went from 4.45 to 25.28, else 17.46
	//   because cell 4 went from 4.94 to 39.13, else 17.65
	// without command 1 of tick 5, 6 of 6 numbers are others; the condition would be otherwise: false
	// without command 2 of tick 10, 3 of 6 numbers are others; the condition would be otherwise: true
	// from the state of tick 9 to tick 10 it takes 1 of 2 commands
}

// recordPond records 20 ticks.
func recordPond(path string) error {
	w, err := pond(nil)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	recorder, err := replay.NewRecorder(f, w, pondDescriptor)
	if err != nil {
		return err
	}
	w.Record(recorder)
	for w.Tick() < 20 {
		switch w.Tick() + 1 {
		case 5:
			_, err = w.Submit(commands.SetField(space.At(0), pondHeat, 7))
		case 10:
			_, err = w.Submit(commands.SetField(space.At(4), pondHeat, 60))
		}
		if err != nil {
			return err
		}
		if _, err := w.Step(); err != nil {
			return err
		}
	}
	return recorder.Flush()
}
