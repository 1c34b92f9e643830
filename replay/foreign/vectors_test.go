package foreign_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/foreign"
)

const plenty = 1 << 30 // bytes of memory

// A sidecar is what the original engine said of its recording, beside the world.
type sidecar struct {
	Steps []struct {
		Step     int
		Receipts [][4]any
		Error    *struct{ Display string }
		Tick     uint64 `json:"tick_after"`
		Hash     string `json:"snapshot_hash_after"`
		Disabled bool   `json:"tick_disabled"`
	}
	Kind        string
	Hashes      []string
	InitialHash string `json:"initial_hash"`
	FinalHash   string `json:"final_hash"`
	FinalTick   uint64 `json:"final_tick"`
	StepCount   int    `json:"step_count"`
	Checkpoints []struct {
		Tick  uint64
		FNV1a []string `json:"field_fnv1a"`
	}
	FinalFields []struct {
		Field  int
		Offset int    `json:"offset_bytes"`
		Len    int    `json:"len_f32"`
		FNV1a  string `json:"fnv1a"`
	} `json:"final_fields"`
	FinalFile  *string `json:"final_fields_file"`
	ReplayFile string  `json:"replay_file"`
}

// TestVectorsSim replays all recordings of the original engine with 1, 2 and 8
// workers and holds everything that they say to what happens here: the hash of every
// tick, every receipt, which ticks fail, hashes of fields, and all final bytes.
func TestVectorsSim(t *testing.T) {
	dir := vectors.Path("murk/sim")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var total tally
	for _, e := range entries {
		name, isWorld := strings.CutSuffix(e.Name(), ".json")
		if !isWorld {
			if stem := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".murkreplay"), ".bin"); stem == e.Name() {
				t.Errorf("%s is none of a world, a recording and final fields", e.Name())
			} else if _, err := os.Stat(filepath.Join(dir, stem+".json")); err != nil {
				t.Errorf("%s has no world file", e.Name())
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, workers := range []int{1, 2, 8} {
				c := newCheck(t, dir, name, workers)
				c.run()
				if workers == 1 {
					total.add(c.tally)
				}
			}
		})
	}
	if total.recordings == 0 || total.hashes == 0 || total.receipts == 0 || total.bytes == 0 {
		t.Errorf("looked at %+v; want some of each", total)
	}
	t.Logf("%d recordings: %d hashes of ticks, %d of fields, %d receipts, %d failed steps, %d final bytes",
		total.recordings, total.hashes, total.fields, total.receipts, total.failures, total.bytes)
}

type tally struct{ recordings, hashes, fields, receipts, failures, bytes int }

func (a *tally) add(b tally) {
	a.recordings++
	a.hashes += b.hashes
	a.fields += b.fields
	a.receipts += b.receipts
	a.failures += b.failures
	a.bytes += b.bytes
}

// A check compares one recording.
type check struct {
	*testing.T
	tally
	want   sidecar
	player *foreign.Player
	dir    string
}

func newCheck(t *testing.T, dir, name string, workers int) *check {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &check{T: t, dir: dir}
	if err := json.Unmarshal(data, &c.want); err != nil {
		t.Fatal(err)
	}
	f, err := foreign.Parse(name+".json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile(filepath.Join(dir, c.want.ReplayFile))
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	if c.player, err = foreign.NewPlayer(f, r, workers, plenty); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *check) run() {
	c.hash("before the first step", c.player.World.Hash(), c.want.InitialHash)
	next, successes := 0, 0
	for step := 1; ; step++ {
		err := c.player.Step()
		if err == io.EOF {
			if step-1 != c.want.StepCount {
				c.Errorf("%d steps, want %d", step-1, c.want.StepCount)
			}
			break
		}
		if err != nil {
			c.Fatalf("step %d: %v", step, err)
		}
		if c.player.Failed == nil {
			c.hash(fmt.Sprintf("step %d", step), c.player.World.Hash(), c.want.Hashes[successes])
			successes++
			c.checkpoint()
		}
		if next < len(c.want.Steps) && c.want.Steps[next].Step == step {
			c.step(next)
			next++
		} else if n := len(c.player.Receipts); n != 0 {
			c.Errorf("step %d: %d receipts, want none", step, n)
		}
	}
	if n := len(c.want.Checkpoints); n > 0 {
		c.Errorf("%d checkpoints were not met, the first of tick %d", n, c.want.Checkpoints[0].Tick)
	}
	if successes != len(c.want.Hashes) || next != len(c.want.Steps) {
		c.Errorf("%d hashes and %d steps, want %d and %d", successes, next, len(c.want.Hashes), len(c.want.Steps))
	}
	c.hash("at the end", c.player.World.Hash(), c.want.FinalHash)
	if got := c.player.World.Tick(); got != c.want.FinalTick {
		c.Errorf("final tick %d, want %d", got, c.want.FinalTick)
	}
	c.finalFields()
}

func (c *check) hash(when string, got uint64, want string) {
	c.Helper()
	c.hashes++
	if s := fmt.Sprintf("0x%016x", got); s != want {
		c.Errorf("%s: hash %s, want %s", when, s, want)
	}
}

// step compares what the sidecar says of one step.
func (c *check) step(i int) {
	c.Helper()
	want := &c.want.Steps[i]
	if got := c.player.World.Tick(); got != want.Tick {
		c.Errorf("step %d: tick %d after it, want %d", want.Step, got, want.Tick)
	}
	c.receipts += len(want.Receipts)
	if got := receiptRows(c.player.Receipts); !slices.Equal(got, receiptRows(want.Receipts)) {
		c.Errorf("step %d: receipts\n%v, want\n%v", want.Step, got, receiptRows(want.Receipts))
	}
	if (c.player.Failed != nil) != (want.Error != nil) {
		c.Errorf("step %d: failed with %v, want %v", want.Step, c.player.Failed, want.Error)
	}
	if want.Error == nil {
		return
	}
	c.failures++
	if _, planned, ok := strings.Cut(want.Error.Display, "execution failed: "); ok && !strings.HasSuffix(c.player.Failed.Error(), planned) {
		c.Errorf("step %d: failed with %v, want %s", want.Step, c.player.Failed, planned)
	}
	// The original's second failed tick in a row writes into the snapshot that it has
	// already published, as the hash of that shows. A published state does not change
	// here: it is still what it was after the first.
	hash := want.Hash
	if c.want.Kind == "reference_bug" && i > 0 && c.want.Steps[i-1].Error != nil {
		hash = c.want.Steps[i-1].Hash
	}
	c.hash(fmt.Sprintf("failed step %d", want.Step), c.player.World.Hash(), hash)
}

// receiptRows are receipts as a sidecar writes them: index, accepted, tick, reason.
func receiptRows[R [4]any | foreign.Receipt](receipts []R) []string {
	var rows []string
	for _, r := range receipts {
		switch r := any(r).(type) {
		case [4]any:
			rows = append(rows, fmt.Sprint(r[:]))
		case foreign.Receipt:
			row := []any{r.Command, 0, nil, nil}
			if r.Accepted {
				row[1] = 1
			}
			if r.Tick > 0 {
				row[2] = r.Tick
			}
			if r.Reason != "" {
				row[3] = r.Reason
			}
			rows = append(rows, fmt.Sprint(row))
		}
	}
	return rows
}

// checkpoint compares the fields if the next checkpoint is of this tick. After a
// reset the ticks of the checkpoints begin again, too.
func (c *check) checkpoint() {
	c.Helper()
	if len(c.want.Checkpoints) == 0 || c.want.Checkpoints[0].Tick != c.player.World.Tick() {
		return
	}
	for id, want := range c.want.Checkpoints[0].FNV1a {
		c.fields++
		if got := fmt.Sprintf("0x%016x", c.player.World.FieldHash(fields.ID(id))); got != want {
			c.Errorf("tick %d: field %d has hash %s, want %s", c.want.Checkpoints[0].Tick, id, got, want)
		}
	}
	c.want.Checkpoints = c.want.Checkpoints[1:]
}

// finalFields compares every bit of the last state.
func (c *check) finalFields() {
	if c.want.FinalFile == nil {
		return
	}
	want, err := os.ReadFile(filepath.Join(c.dir, *c.want.FinalFile))
	if err != nil {
		c.Fatal(err)
	}
	s := c.player.World.Snapshot()
	defer s.Release()
	for _, f := range c.want.FinalFields {
		column := s.Column(fields.ID(f.Field))
		if column.Len() != f.Len {
			c.Fatalf("field %d has %d elements, want %d", f.Field, column.Len(), f.Len)
		}
		for i, v := range column.Float32 {
			at := f.Offset + 4*i
			w := uint32(want[at]) | uint32(want[at+1])<<8 | uint32(want[at+2])<<16 | uint32(want[at+3])<<24
			if got := math.Float32bits(v); got != w {
				c.Fatalf("field %d, element %d: %08x at the end, want %08x", f.Field, i, got, w)
			}
			c.bytes += 4
		}
	}
	if c.bytes != len(want) {
		c.Errorf("%d final bytes are compared, the file has %d", c.bytes, len(want))
	}
}
