package environment_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/environment"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// open reads a scenario that comes with murksim.
func open(t testing.TB, name string, sets ...string) *scenarios.Scenario {
	t.Helper()
	s, err := worlds.Open(worlds.Registry(), name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parse reads a scenario of a test.
func parse(t testing.TB, text string) *scenarios.Scenario {
	t.Helper()
	s, err := yaml.Parse(worlds.Registry(), "test.yaml", nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A trainer is a batch with its tensors.
type trainer struct {
	*environment.Batch
	environment.Tensors
	actions []int64
	numbers []float32
	agents  int
}

func train(t testing.TB, c environment.Config) *trainer {
	t.Helper()
	b, err := environment.New(c)
	if err != nil {
		t.Fatal(err)
	}
	y := b.Layout()
	worlds, agents := b.Worlds(), b.Worlds()*len(y.Agents)
	seen := agents * y.Observation.Len()
	r := &trainer{Batch: b, agents: len(y.Agents), actions: make([]int64, agents), numbers: make([]float32, agents*len(y.Controls))}
	r.Tensors = environment.Tensors{
		Float32: make([]float32, seen), FinalFloat32: make([]float32, seen), Mask: make([]uint8, agents*y.Observation.MaskLen()),
		Rewards: make([]float64, agents), Terminated: make([]uint8, agents), Truncated: make([]uint8, agents), Alive: make([]uint8, agents),
		Began: make([]uint8, worlds), Steps: make([]uint64, worlds), Returns: make([]float64, agents),
	}
	if err := b.Bind(&r.Tensors); err != nil {
		t.Fatal(err)
	}
	if err := b.Reset([]uint64{c.Seed}, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// act chooses by the world's index, the episode and the step in it: what the worlds get does not depend on how
// they are spread over batches.
func (r *trainer) act(t testing.TB, first uint64) {
	t.Helper()
	y := r.Layout()
	for i := range r.Worlds() {
		draws := rng.Seed(77).Tick(r.World(i).Seed()).Stream("test", first+uint64(i)).Bulk()
		for k := range r.agents {
			index := r.World(i).Tick()<<8 | uint64(k)
			if len(y.Choices) > 0 {
				r.actions[i*r.agents+k] = int64(draws.Below(index, uint32(len(y.Choices))))
			}
			for j := range y.Controls {
				r.numbers[(i*r.agents+k)*len(y.Controls)+j] = 2*draws.Float32(index+uint64(j)<<40) - 1
			}
		}
	}
	var err error
	if len(y.Choices) > 0 {
		err = r.StepDiscrete(r.actions)
	} else {
		err = r.StepContinuous(r.numbers)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// trace is what a world does in a step, as bytes that can be compared.
func (r *trainer) trace(i int) string {
	lo, hi := i*r.agents, (i+1)*r.agents
	n, masks := r.Layout().Observation.Len(), r.Layout().Observation.MaskLen()
	return fmt.Sprint(r.World(i).Hash(), r.Float32[lo*n:hi*n], r.Mask[lo*masks:hi*masks], r.Rewards[lo:hi], r.Terminated[lo:hi], r.Truncated[lo:hi],
		r.Alive[lo:hi], r.Began[i], r.Steps[i], r.Returns[lo:hi])
}

// short makes episodes short, so that many end within a test.
var short = []string{"environment.steps=7", "environment.warmup=3"}

// learning are the scenarios that come with murksim in which agents learn.
var learning = []string{"heat_seeker", "crystal_nav", "hex_pursuit", "layered_hex", "hunters"}

func TestTrajectoriesDependOnNothingElse(t *testing.T) {
	for _, name := range learning {
		for _, mode := range []environment.Autoreset{environment.NextStep, environment.SameStep} {
			s := open(t, name, short...)
			const worlds, steps = 5, 30
			all := train(t, environment.Config{Scenario: s, Worlds: worlds, Workers: 1, Seed: 9, Autoreset: mode})
			want := make([][]string, worlds)
			for range steps {
				all.act(t, 0)
				for i := range worlds {
					want[i] = append(want[i], all.trace(i))
				}
			}
			for _, other := range []struct{ first, worlds, workers int }{{0, 5, 2}, {0, 5, 8}, {3, 1, 1}, {1, 3, 2}} {
				part := train(t, environment.Config{Scenario: s, Worlds: other.worlds, First: uint64(other.first), Workers: other.workers, Seed: 9, Autoreset: mode})
				for step := range steps {
					part.act(t, uint64(other.first))
					for i := range other.worlds {
						if got := part.trace(i); got != want[other.first+i][step] {
							t.Fatalf("%s, mode %d: %d worlds from %d on, %d workers: step %d of world %d is\n%s, with 5 worlds\n%s", name, mode,
								other.worlds, other.first, other.workers, step, other.first+i, got, want[other.first+i][step])
						}
					}
				}
			}
		}
	}
}

func TestAutoresetsAgree(t *testing.T) {
	for _, name := range learning {
		for first := range uint64(3) {
			config := environment.Config{Scenario: open(t, name, short...), First: first, Seed: 4}
			next := train(t, config)
			config.Autoreset = environment.SameStep
			same := train(t, config)
			config.Autoreset = environment.Disabled
			manual := train(t, config)
			for range 40 {
				next.act(t, first)
				same.act(t, first)
				manual.act(t, first)
				where := fmt.Sprintf("%s, world %d, step %d", name, first, next.Steps[0])
				if got := same.Rewards; !slices.Equal(next.Rewards, got) || !slices.Equal(manual.Rewards, got) {
					t.Fatalf("%s: rewards %v, %v and %v", where, next.Rewards, got, manual.Rewards)
				}
				if !slices.Equal(next.Float32, manual.Float32) {
					t.Fatalf("%s: observations differ", where)
				}
				if ended := same.Began[0] == 1; !ended {
					if !slices.Equal(next.Float32, same.Float32) {
						t.Fatalf("%s: observations differ", where)
					}
					continue
				}
				if !slices.Equal(next.Float32, same.FinalFloat32) || !slices.Equal(next.Returns, same.Returns) || slices.Contains(next.Alive, 1) {
					t.Fatalf("%s: the end differs; alive %v", where, next.Alive)
				}
				if err := next.step(t); err != nil { // ignored
					t.Fatal(err)
				}
				if err := manual.Reset(nil, []uint8{1}); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(next.Float32, same.Float32) || !slices.Equal(next.Float32, manual.Float32) {
					t.Fatalf("%s: observations at the beginning of the next episode differ", where)
				}
				if want := make([]float64, next.agents); !slices.Equal(next.Rewards, want) || next.Began[0] != 1 || next.Steps[0] != 0 {
					t.Fatalf("%s: the step that begins an episode has rewards %v, began %v", where, next.Rewards, next.Began)
				}
			}
		}
	}
}

// step takes a step in which no agent does anything of note.
func (r *trainer) step(t testing.TB) error {
	t.Helper()
	clear(r.actions)
	clear(r.numbers)
	if len(r.Layout().Choices) > 0 {
		return r.StepDiscrete(r.actions)
	}
	return r.StepContinuous(r.numbers)
}

func TestEpisodesAreRecordings(t *testing.T) {
	for _, name := range learning {
		folder := t.TempDir()
		earlier := filepath.Join(folder, name+"-0-0.murk") // of another training
		if err := os.WriteFile(earlier, []byte("earlier"), 0o666); err != nil {
			t.Fatal(err)
		}
		r := train(t, environment.Config{Scenario: open(t, name, short...), Worlds: 2, Seed: 5, Autoreset: environment.SameStep})
		r.RecordEvery(2, folder)
		for range 25 {
			r.act(t, 0)
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.murk"))
		if err != nil || len(files) < 4 {
			t.Fatalf("%s: %d recordings, %v, want 4 or more", name, len(files), err)
		}
		if b, err := os.ReadFile(earlier); err != nil || string(b) != "earlier" || !slices.Contains(files, filepath.Join(folder, name+"-0-0-2.murk")) {
			t.Errorf("%s: %q, %v; %v", name, b, err, files)
		}
		for _, f := range files {
			if f != earlier {
				verify(t, f)
			}
		}
		var b bytes.Buffer
		if err := r.Record(1, &b); err != nil {
			t.Fatal(err)
		}
		verifyBytes(t, b.Bytes(), r.World(1).Tick(), r.World(1).Hash())
	}
}

// verify replays a recording to its end.
func verify(t testing.TB, path string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	verifyBytes(t, file, 0, 0)
}

func verifyBytes(t testing.TB, b []byte, ticks, hash uint64) {
	t.Helper()
	frames, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	p, err := replay.NewPlayer(frames, func(h *replay.Header) (*engine.World, error) {
		s, err := worlds.Registry().FromDescriptor(h.Descriptor)
		if err != nil {
			return nil, err
		}
		s.Seed = h.Seed
		return s.World(1)
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := p.Verify()
	if err != nil {
		t.Fatal(err)
	}
	if hash != 0 && (n != ticks || p.World.Hash() != hash) {
		t.Errorf("the recording has %d ticks and ends with %016x, want %d, %016x", n, p.World.Hash(), ticks, hash)
	}
}

func TestRunIsAnEpisode(t *testing.T) {
	const script = "environment.policy={script: [1, 0, 3, 2, 4]}"
	s := open(t, "heat_seeker", script)
	r := train(t, environment.Config{Scenario: s, Seed: 12})
	run := open(t, "heat_seeker", script, fmt.Sprintf("seed=%d", environment.EpisodeSeed(12, 0, 0, 0)))
	job, err := runner.New(runner.Config{Scenario: run})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := job.To(t.Context(), r.World(0).Tick()); err != nil {
			t.Fatal(err)
		}
		if got, want := job.World.Hash(), r.World(0).Hash(); got != want {
			t.Fatalf("step %d: the run has hash %016x, the episode %016x", i, got, want)
		}
		if err := r.StepDiscrete([]int64{int64(s.Environment.Policy.Script[i%5])}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefuses(t *testing.T) {
	r := train(t, environment.Config{Scenario: open(t, "heat_seeker"), Worlds: 2})
	before := r.World(1).Hash()
	var shape *environment.ShapeError
	var action *environment.ActionError
	if err := r.StepDiscrete([]int64{0}); !errors.As(err, &shape) || shape.Want != 2 {
		t.Errorf("one action for two worlds: %v", err)
	}
	for _, wrong := range []int64{-1, 5, math.MaxInt64} {
		if err := r.StepDiscrete([]int64{0, wrong}); !errors.As(err, &action) || action.World != 1 {
			t.Errorf("choice %d: %v", wrong, err)
		}
	}
	if err := r.StepContinuous([]float32{0, 0}); err == nil {
		t.Error("numbers for choices are taken")
	}
	t.Log(action)
	if r.World(1).Hash() != before {
		t.Error("a refused action has changed a world")
	}
	if err := r.Bind(&environment.Tensors{}); !errors.As(err, &shape) {
		t.Errorf("no tensors: %v", err)
	}
	if err := r.Reset([]uint64{1, 2, 3}, nil); !errors.As(err, &shape) {
		t.Errorf("three seeds for two worlds: %v", err)
	}
}

// Without autoreset a world whose episode has ended waits.
func TestWaiting(t *testing.T) {
	r := train(t, environment.Config{Scenario: open(t, "heat_seeker", short...), Worlds: 2, Autoreset: environment.Disabled})
	for range 7 {
		r.act(t, 0)
	}
	if !slices.Equal(r.Truncated, []uint8{1, 1}) {
		t.Fatalf("truncated %v", r.Truncated)
	}
	hash, seen := r.World(1).Hash(), slices.Clone(r.Float32[len(r.Float32)/2:])
	if err := r.Reset(nil, []uint8{1, 0}); err != nil {
		t.Fatal(err)
	}
	for step := range uint64(3) {
		r.act(t, 0)
		if r.World(1).Hash() != hash || !slices.Equal(r.Float32[len(r.Float32)/2:], seen) {
			t.Error("the world that waits has changed")
		}
		if !slices.Equal(r.Truncated, []uint8{0, 0}) || !slices.Equal(r.Alive, []uint8{1, 0}) || r.Rewards[1] != 0 || !slices.Equal(r.Steps, []uint64{step + 1, 7}) {
			t.Errorf("truncated %v, alive %v, rewards %v, steps %v", r.Truncated, r.Alive, r.Rewards, r.Steps)
		}
	}
}

// A recording takes the place of regular files only.
func TestSaveOverWhatIsNoFile(t *testing.T) {
	r := train(t, environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 5))})
	folder := t.TempDir()
	link := filepath.Join(folder, "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, link} {
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Save(0, path); err == nil {
			t.Errorf("Save(%s) took its place", path)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s is not what it was: %v", path, err)
		}
	}
}

// A file that is there stays.
func TestSaveOverAFile(t *testing.T) {
	r := train(t, environment.Config{Scenario: parse(t, fmt.Sprintf(corridor, "{constant: 1}", "", 5))})
	path := filepath.Join(t.TempDir(), "played.murk")
	if err := os.WriteFile(path, []byte("what people did"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.Save(0, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "what people did" {
		t.Errorf("it holds %q, %v", b, err)
	}
}
