package environment_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/environment"
)

var update = flag.Bool("update", false, "write testdata/trajectories.tsv")

const trajectories = "testdata/trajectories.tsv"

// What agents see and get is a promise, as hashes of states are: the same bits on every machine, from every language.
// Each line of the file has a scenario and an FNV-1a hash of 200 steps in three worlds, master seed 11, next-step autoreset, in which
// agent a of world w takes choice (7·step + 3·w + a) modulo their number in step 0, 1, …; of the observations after the reset, then
// of the observations, rewards, terminated and truncated of each step, all little-endian.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, name := range learning {
		fmt.Fprintf(&b, "%s\t%016x\n", name, trajectory(t, name))
	}
	if *update {
		if err := os.WriteFile(trajectories, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(trajectories)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("trajectories have changed:\n%swant\n%s", b.String(), want)
	}
}

func trajectory(t *testing.T, name string) uint64 {
	r := train(t, environment.Config{Scenario: open(t, name), Worlds: 3, Workers: 2, Seed: 11})
	h := fnv.New64a()
	var bytes []byte
	fold := func(b []byte) { h.Write(b) }
	see := func() {
		bytes = bytes[:0]
		for _, v := range r.Float32 {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
		}
		fold(bytes)
	}
	see()
	for step := range 200 {
		for i := range r.actions {
			r.actions[i] = int64((7*step + 3*(i/r.agents) + i%r.agents) % len(r.Layout().Choices))
		}
		if err := r.StepDiscrete(r.actions); err != nil {
			t.Fatal(err)
		}
		see()
		bytes = bytes[:0]
		for _, v := range r.Rewards {
			bytes = binary.LittleEndian.AppendUint64(bytes, math.Float64bits(v))
		}
		fold(bytes)
		fold(r.Terminated)
		fold(r.Truncated)
	}
	return h.Sum64()
}
