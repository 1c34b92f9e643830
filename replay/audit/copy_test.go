package audit_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"reflect"
	"testing"

	"github.com/murksim/murksim/replay/audit"
)

// since is what a run has from a tick on.
func (k *kept) since(from uint64) *kept {
	c := &kept{}
	for _, x := range k.inputs {
		if x.Tick >= from {
			c.inputs = append(c.inputs, x)
		}
	}
	for _, x := range k.links {
		if x.Tick >= from {
			c.links = append(c.links, x)
		}
	}
	for _, x := range k.snapshots {
		if x.Tick >= from {
			c.snapshots = append(c.snapshots, x)
		}
	}
	return c
}

// A torn evidence ends with an error in one of its parts.
type torn struct {
	*kept
	part string
}

var errTorn = errors.New("it is torn")

func (e torn) Inputs(ctx context.Context, after uint64) iter.Seq2[*audit.Input, error] {
	return tornAfter(e.kept.Inputs(ctx, after), e.part == "inputs")
}

func (e torn) Links(ctx context.Context, from uint64) iter.Seq2[*audit.Link, error] {
	return tornAfter(e.kept.Links(ctx, from), e.part == "links")
}

func (e torn) Snapshots(ctx context.Context) ([]uint64, error) {
	if e.part == "ticks" {
		return nil, errTorn
	}
	return e.kept.Snapshots(ctx)
}

func (e torn) Snapshot(ctx context.Context, tick uint64) (*audit.Snapshot, error) {
	if e.part == "snapshot" {
		return nil, errTorn
	}
	return e.kept.Snapshot(ctx, tick)
}

// tornAfter is a sequence that ends with an error after its first element, if it is torn.
func tornAfter[T any](all iter.Seq2[T, error], is bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for x, err := range all {
			if !yield(x, err) {
				return
			}
			if is {
				yield(x, errTorn)
				return
			}
		}
	}
}

// TestCopy: what is copied from a tick on is all that the run has from there, in several batches; an error of any part of it is told.
func TestCopy(t *testing.T) {
	k := record(t, "heat", 100, "ticks=1300", "expect=[]")
	for _, from := range []uint64{0, 1, 100, 700, 1300, 1301} {
		c := &kept{}
		if err := audit.Copy(t.Context(), c, k, from); err != nil {
			t.Fatal(err)
		}
		if want := k.since(from); !reflect.DeepEqual(c.inputs, want.inputs) || !reflect.DeepEqual(c.links, want.links) || !reflect.DeepEqual(c.snapshots, want.snapshots) {
			t.Errorf("from tick %d: %d inputs, %d links, %d snapshots; want %d, %d, %d, the same ones", from,
				len(c.inputs), len(c.links), len(c.snapshots), len(want.inputs), len(want.links), len(want.snapshots))
		}
		if from == 0 && c.batches < 2 {
			t.Errorf("1,301 ticks came in %d batch", c.batches)
		}
	}
	for _, part := range []string{"inputs", "links", "ticks", "snapshot"} {
		if err := audit.Copy(t.Context(), &kept{}, torn{k, part}, 0); !errors.Is(err, errTorn) {
			t.Errorf("%s: %v", part, err)
		}
	}
	for _, fails := range []uint64{1, 1300} { // in the first batch, in the last one
		if err := audit.Copy(t.Context(), &kept{fails: fails}, k, 0); !errors.Is(err, errFull) {
			t.Errorf("a store that fails at tick %d: %v", fails, err)
		}
	}
}

// TestBundleChanged: a bundle that is changed after it was opened ends in an error wherever it is read.
func TestBundleChanged(t *testing.T) {
	k := record(t, "heat", 50, "ticks=160", "expect=[]")
	for _, tt := range []struct {
		old, new string
		read     func(*audit.Bundle) error
	}{
		{`"input_hash":"`, `"input_hash":"?`, func(b *audit.Bundle) error { return ended(b.Links(t.Context(), 0)) }},
		{`{"input_event":{`, `{"input_event":?`, func(b *audit.Bundle) error { return ended(b.Inputs(t.Context(), 0)) }},
		{`{"snapshot":{`, `{"snapshot":?`, func(b *audit.Bundle) error {
			ticks := must(b.Snapshots(t.Context()))
			_, err := b.Snapshot(t.Context(), ticks[0])
			return err
		}},
	} {
		text := bundle(t, k)
		b, err := audit.OpenBundle(bytes.NewReader(text), int64(len(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(text, []byte(tt.old))
		if at < 0 {
			t.Fatalf("there is no %s", tt.old)
		}
		copy(text[at:], tt.new)
		if err := tt.read(b); err == nil {
			t.Errorf("%s: no error", tt.new)
		}
	}
}

// ended reads a sequence to its end.
func ended[T any](all iter.Seq2[T, error]) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
