package session

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

// FieldHashes returns those of a world.
func FieldHashes(w *engine.World) (list []FieldHash) {
	for i, d := range w.Defs() {
		list = append(list, FieldHash{d.Name, words.Hash16(w.FieldHash(fields.ID(i)))})
	}
	return list
}

// TickHashes are the hashes that a file has, by tick.
type TickHashes struct {
	Ticks  []uint64
	hashes []uint64
}

func (t *TickHashes) add(tick, hash uint64) {
	t.Ticks, t.hashes = append(t.Ticks, tick), append(t.hashes, hash)
}

// Hash returns that of a tick, if the file has it.
func (t *TickHashes) Hash(tick uint64) (hash uint64, ok bool) {
	i, ok := slices.BinarySearch(t.Ticks, tick)
	if !ok {
		return 0, false
	}
	return t.hashes[i], true
}

// TableMark is what every table of hashes begins with: see [replay.NewTableWriter].
const TableMark = "tick\tstate"

// IsTable reports whether a file is a table of hashes.
func IsTable(name string) bool {
	table, err := files.Begins(name, TableMark)
	return err == nil && table
}

// A HashTable is a table of hashes as run writes it with --hashes, or some of its lines.
type HashTable struct {
	TickHashes
	name string
}

// ReadTable reads a table of hashes.
func ReadTable(ctx context.Context, name string) (*HashTable, error) {
	t := &HashTable{name: name}
	err := t.rows(ctx, func(tick uint64, row, _ []string) error {
		if n := len(t.Ticks); n > 0 && t.Ticks[n-1] >= tick {
			return fmt.Errorf("tick %d stands behind tick %d", tick, t.Ticks[n-1])
		}
		hash, err := strconv.ParseUint(row[1], 16, 64)
		t.add(tick, hash)
		return err
	})
	return t, err
}

// rows calls f for each row, until the context ends.
func (t *HashTable) rows(ctx context.Context, f func(tick uint64, row, columns []string) error) error {
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
		return Interrupted(t.name)
	}
	return err
}

// FieldsOf returns the hashes of the fields of a tick.
func (t *HashTable) FieldsOf(ctx context.Context, wanted uint64) (list []FieldHash, err error) {
	err = t.rows(ctx, func(tick uint64, row, columns []string) error {
		if tick == wanted {
			for i := 2; i < len(row); i++ {
				list = append(list, FieldHash{columns[i], row[i]})
			}
		}
		return nil
	})
	return list, err
}

// IsHash reports whether a text is the 16 hexadecimal digits of a hash.
func IsHash(s string) bool { return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == "" }

// RecordedHashes reads the hashes of all frames. Damage ends them, such as a frame of another tick
// than the one that is due.
func RecordedHashes(ctx context.Context, frames replay.Source) (t TickHashes, damage error) {
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
