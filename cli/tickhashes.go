package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// fieldHashes returns those of a world.
func fieldHashes(w *engine.World) (list []fieldHash) {
	for i, d := range w.Defs() {
		list = append(list, fieldHash{d.Name, words.Hash16(w.FieldHash(fields.ID(i)))})
	}
	return list
}

// tickHashes are the hashes that a file has, by tick.
type tickHashes struct {
	ticks  []uint64
	hashes []uint64
}

func (t *tickHashes) add(tick, hash uint64) {
	t.ticks, t.hashes = append(t.ticks, tick), append(t.hashes, hash)
}

func (t *tickHashes) hash(tick uint64) (hash uint64, ok bool) {
	i, ok := slices.BinarySearch(t.ticks, tick)
	if !ok {
		return 0, false
	}
	return t.hashes[i], true
}

// tableMark is what every table of hashes begins with: see [replay.NewTableWriter].
const tableMark = "tick\tstate"

// isTable reports whether a file is a table of hashes.
func isTable(name string) bool {
	table, err := files.Begins(name, tableMark)
	return err == nil && table
}

// A hashTable is a table of hashes as run writes it with --hashes, or some of its lines.
type hashTable struct {
	tickHashes
	name string
}

// readTable reads a table of hashes.
func readTable(ctx context.Context, name string) (*hashTable, error) {
	t := &hashTable{name: name}
	err := t.rows(ctx, func(tick uint64, row, _ []string) error {
		if n := len(t.ticks); n > 0 && t.ticks[n-1] >= tick {
			return fmt.Errorf("tick %d stands behind tick %d", tick, t.ticks[n-1])
		}
		hash, err := strconv.ParseUint(row[1], 16, 64)
		t.add(tick, hash)
		return err
	})
	return t, err
}

// rows calls f for each row, until the context ends.
func (t *hashTable) rows(ctx context.Context, f func(tick uint64, row, columns []string) error) error {
	const often = 1 << 12
	in, err := files.Open(ctx, t.name)
	if err == nil {
		defer in.Close()
		n := 0
		err = replay.ReadTable(document.FileName(t.name), in, func(tick uint64, row, columns []string) error {
			if n++; n%often == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return f(tick, row, columns)
		})
	} else {
		err = words.About(t.name, err)
	}
	if ctx.Err() != nil {
		return stopped(t.name)
	}
	return err
}

// fieldsOf returns the hashes of the fields of a tick.
func (t *hashTable) fieldsOf(ctx context.Context, wanted uint64) (list []fieldHash, err error) {
	err = t.rows(ctx, func(tick uint64, row, columns []string) error {
		if tick == wanted {
			for i := 2; i < len(row); i++ {
				list = append(list, fieldHash{columns[i], row[i]})
			}
		}
		return nil
	})
	return list, err
}

// isHash reports whether a text is the 16 hexadecimal digits of a hash.
func isHash(s string) bool { return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == "" }

// recordedHashes reads the hashes of all frames. Damage ends them, such as a frame of another tick
// than the one that is due.
func recordedHashes(ctx context.Context, frames replay.Source) (t tickHashes, damage error) {
	const often = 1 << 12
	frames = replay.InOrder(frames)
	var f replay.Frame
	for n := 1; ; n++ {
		switch err := frames.Next(&f); {
		case err == io.EOF:
			return t, nil
		case err != nil:
			return t, err
		case n%often == 0 && ctx.Err() != nil:
			return t, ctx.Err()
		}
		t.add(f.Tick, f.Hash)
	}
}
