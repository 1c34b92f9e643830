package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
)

// TestInterruptedAtPipes: one Ctrl-C ends every command that waits for a pipe, read or written,
// and nothing is left of it.
func TestInterruptedAtPipes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no pipes with names in folders
	}
	p := build(t)
	p = program{p.path, t.TempDir()}
	if status, _, errs := p.run(t, p.shell("mkfifo fifo fifo.yaml")); status != 0 {
		t.Fatal(errs)
	}
	p.must(t, "run", "heat", "--ticks", "2", "-q", "-o", "a.murk")
	p.must(t, "convert", "-q", "a.murk", "a.jsonl")
	const before, none = "heat: interrupted before the first tick\n", "interrupted; there is no new index\n"
	for _, tt := range []struct{ args, want string }{ // want: what is said; nothing where the signal ends the process
		{"run fifo.yaml", ""},
		{"run heat --no-record --state fifo", before},
		{"run heat -o fifo", before},
		{"run heat --no-record --hashes fifo", before},
		{"run heat -o b.murk --hashes b.tsv --save-state fifo", before}, // with files that are open already
		{"check fifo.yaml", ""},
		{"verify fifo", "fifo: interrupted before its first tick was replayed\n"},
		{"verify -", "standard input: interrupted before its first tick was replayed\n"},
		{"verify --hashes fifo a.murk", "a.murk: interrupted before its first tick was replayed\n"},
		{"verify --world fifo a.murk", ""},
		{"inspect fifo", ""},
		{"index -o b.idx fifo", "fifo: " + none},
		{"seek a.murk --tick 1 --save-state fifo", "fifo: interrupted\n"},
		{"convert fifo b.jsonl", ""},
		{"export fifo -o b.npz", "interrupted; b.npz was not written\n"},
		{"convert a.murk fifo", ""},
		{"new mine --force -o fifo", ""},
	} {
		if said := p.interruptAtRest(t, strings.Fields(tt.args)...); said != tt.want {
			t.Errorf("%s says %q, want %q", tt.args, said, tt.want)
		}
	}
	p.onlyFiles(t, "a.jsonl", "a.murk", "fifo", "fifo.yaml")
}

// interruptAtRest sends SIGINT to the program when it waits for something, which never comes, and
// returns what it says before it ends.
func (p program) interruptAtRest(t *testing.T, args ...string) string {
	t.Helper()
	c := p.command(args...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c, errs := p.start(t, c)
	rests(t, c)
	c.Process.Signal(os.Interrupt)
	if err := ends(t, c); c.ProcessState.Success() {
		t.Errorf("%s ends with %v, want a status", args, err)
	}
	return errs.String()
}

// TestInterruptedGolden: a signal while check --golden runs the scenario is no difference, and leaves no recording to be put in
// the place of the one that was kept.
func TestInterruptedGolden(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	p = program{p.path, t.TempDir()}
	write(t, p, "long.yaml", `{murksim: 1, name: long, ticks: 1000000000, space: {kind: ring, length: 8}, fields: [{name: x, initial: 3}]}`)
	p.must(t, "run", "long.yaml", "--until", "3", "-q", "--no-index", "-o", "kept.murk")
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		c := p.command("check", "--golden", "kept.murk", "long.yaml")
		var out bytes.Buffer
		c.Stdout = &out
		c, errs := p.start(t, c)
		waiting.For(t, "the new run is recorded", func() bool {
			names, _ := filepath.Glob(filepath.Join(p.dir, "kept.new-*.murk"))
			return len(names) > 0
		})
		c.Process.Signal(signal)
		ends(t, c)
		got, said := c.ProcessState.ExitCode(), errs.String()
		if got != report.StatusError || said != "long.yaml: interrupted\n" || strings.Contains(out.String(), "DIFFER") {
			t.Errorf("%v: status %d, %q, %q; want that it was interrupted", signal, got, &out, said)
		}
		p.onlyFiles(t, "kept.murk", "long.yaml")
	}
}

// TestInterruptedFilm: one signal to the program alone ends it, and ffmpeg, also if that reads
// nothing; no folder of it stays. A run has its recording.
func TestInterruptedFilm(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // a script is no program there
	}
	p := build(t)
	p = program{p.path, t.TempDir()}
	temp, tools := t.TempDir(), t.TempDir()
	p.must(t, "run", "heat", "--ticks", "300", "-q", "--no-index", "-o", "a.murk")
	for _, tt := range []struct{ ffmpeg, args, want string }{
		{"exec sleep 1000", "export a.murk -o x.mp4 --scale 0..100", "interrupted; x.mp4 was not written\n"},
		{"sleep 1000; :", "export a.murk -o x.mp4 --scale 0..100", "interrupted; x.mp4 was not written\n"},
		{"exec sleep 1000", "export a.murk -o x.mp4 --scale 0..100 --tick 3 --cell 1", "interrupted; x.mp4 was not written\n"}, // all fits into a pipe
		{"exec sleep 1000", "run heat --no-index -o b.murk --export x.mp4 --export-scale 0..100", "heat: interrupted before the first tick\n"},
		{"head -c 10000000 >/dev/null; exec sleep 1000", "run heat --no-index -o b.murk --export x.mp4 --export-scale 0..100",
			"x.mp4: ffmpeg was ended before the film was whole\n  the run ended after tick [1-9][0-9]?; b.murk holds ticks? 1.*\n"},
	} {
		write(t, program{p.path, tools}, "ffmpeg", "#!/bin/sh\n"+tt.ffmpeg)
		if err := os.Chmod(filepath.Join(tools, "ffmpeg"), 0o777); err != nil {
			t.Fatal(err)
		}
		c := p.command(strings.Fields(tt.args)...)
		c.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "TMPDIR="+temp)
		c, errs := p.start(t, c)
		rests(t, c)
		c.Process.Signal(os.Interrupt)
		ends(t, c)
		said := strings.ReplaceAll(errs.String(), "waiting for the tick, or what else is under way, to end; another Ctrl-C ends it at once\n", "")
		if !regexp.MustCompile("^" + tt.want + "$").MatchString(said) {
			t.Errorf("%s: %v, %q, want %q", tt.args, c.ProcessState, said, tt.want)
		}
		if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", tt.args, left)
		}
	}
	p.onlyFiles(t, "a.murk", "b.murk")
	p.must(t, "verify", "b.murk")
}

// TestScenarioFromPipeIsReadOnce: a state of another run is refused, although the scenario,
// which a pipe gave, cannot be read again to find out what differs.
func TestScenarioFromPipeIsReadOnce(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no pipes with names in folders
	}
	p := build(t)
	p.must(t, "new", "heat", "-q", "-o", "mine.yaml")
	p.must(t, "run", "mine.yaml", "--no-record", "--seed", "8", "--until", "2", "-q", "--save-state", "a.state")
	c := p.shell(`mkfifo pipe && { cat mine.yaml >pipe & exec "$M" run pipe --no-record --state a.state; }`)
	defer time.AfterFunc(waiting.Hang, func() { c.Process.Kill() }).Stop()
	p.fails(t, c, "^a.state: it was saved by a run of another scenario, or of this one with other values\n")
}

// waitingForTick is what a program says that was interrupted and has not ended soon after.
const waitingForTick = "waiting for the tick, or what else is under way, to end; another Ctrl-C ends it at once\n"

// TestInterruptedGenesis: Ctrl-C ends a run at once whatever is being done for its first tick,
// and checks of expectations after it; nothing is left behind. Each would take minutes.
func TestInterruptedGenesis(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	p = program{p.path, t.TempDir()}
	const head = "murksim: 1\nname: large\nticks: 9\nspace: {kind: square4, rows: 2048, cols: 2048}\nfields: [{name: a, initial: 1}]\n"
	const region = "disk: {center: [1024, 1024], radius: 1400}"
	for name, rest := range map[string]string{
		"population.yaml": "entities: {capacity: 99, occupancy: 9, kinds: [x], spawn: [" + strings.Repeat("{kind: x, count: 1, "+region+"}, ", 18) + "]}\n",
		"listing.yaml":    "propagators: [{diffusion: {field: a, rate: 0.1, hold: [" + strings.Repeat("{"+region+", value: 1}, ", 40) + "]}}]\n",
		"totals.yaml":     "expect: [" + strings.Repeat("{field: a, total: conserved}, ", 4000) + "]\n",
		"ranges.yaml":     "expect: [" + strings.Repeat("{field: a, range: [0, 9]}, ", 4000) + "]\n",
	} {
		write(t, p, name, head+rest)
		c, errs := p.start(t, p.command("run", name, "--no-record", "-q"))
		const before, limit = time.Second / 2, 12 * time.Second // of the processor
		works(t, c, before)
		c.Process.Signal(os.Interrupt)
		ends(t, c)
		status, want := report.StatusError, "large: interrupted before the first tick\n"
		if name == "ranges.yaml" { // the first tick was computed
			status, want = report.StatusOK, ""
		}
		said := strings.TrimPrefix(errs.String(), waitingForTick) // on a busy machine the first tick takes long, too
		if c.ProcessState.ExitCode() != status || said != want {
			t.Errorf("%s: %v: %q, want %q", name, c.ProcessState, errs, want)
		}
		if took := spent(c); took > limit {
			t.Errorf("%s: it ended after %v of processor time, want soon after %v", name, took, before)
		}
		os.Remove(filepath.Join(p.dir, name))
	}
	p.onlyFiles(t)
}

// TestInterruptInALongTick: where the tick takes long, Ctrl-C says that it is waited for, and
// that a second one ends the program at once, which it does.
func TestInterruptInALongTick(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	p = program{p.path, t.TempDir()}
	write(t, p, "long.yaml", "murksim: 1\nname: long\nticks: 9\nspace: {kind: square4, rows: 230, cols: 230}\n"+
		"fields: [{name: a, initial: 1}, {name: b}]\npropagators: [sight: {viewer: a, visible: b, radius: 16384}]\n")
	p.must(t, "run", "long.yaml", "--set", "propagators.sight.radius=1", "--ticks", "1", "-q", "-o", "short.murk")
	c, errs := p.command("run", "long.yaml", "--no-record", "-q"), new(saidText)
	c.Stderr = errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	works(t, c, 500*time.Millisecond)
	c.Process.Signal(os.Interrupt)
	const want = waitingForTick
	waiting.For(t, "the run says that it waits for its tick", func() bool { return strings.HasSuffix(errs.String(), want) })
	c.Process.Signal(os.Interrupt)
	ends(t, c)
	if errs.String() != want || c.ProcessState.ExitCode() != -1 {
		t.Errorf("%v: %q, want %q and an end by the second signal", c.ProcessState, errs, want)
	}
}

// TestTooMuchSightIsRefused: what would take minutes for each tick is refused with its place, by
// check and run when the world is built, and by verify, too; at the tick if viewers come later.
func TestTooMuchSightIsRefused(t *testing.T) {
	t.Parallel()
	p := build(t)
	p = program{p.path, t.TempDir()}
	const (
		head  = "murksim: 1\nname: far\nticks: 9\nspace: {kind: square4, rows: 2000, cols: 2000}\n"
		world = "fields: [{name: a, initial: 1}, {name: b}]\npropagators:\n  - sight: {viewer: a, visible: b, radius: 16384}\n"
		some  = "4000000 viewers that may see 4000000 cells each are more work than a tick may have (34359738368 steps); lower radius, or have fewer viewers"
		late  = "commands: [{tick: 1, set: {field: a, rect: {from: [0, 0], to: [63, 63]}, value: 1}}]\n"
		pass  = "  - morphology: {field: a, output: b, op: dilate, threshold: 0.5, radius: 9000}\n"
	)
	write(t, p, "far.yaml", head+world)
	write(t, p, "late.yaml", head+strings.Replace(world, ", initial: 1", "", 1)+late)
	write(t, p, "pass.yaml", head+"fields: [{name: a}, {name: b}]\npropagators:\n"+pass)
	p.must(t, "run", "far.yaml", "--set", "propagators.sight.radius=1", "--ticks", "1", "-q", "--no-index", "-o", "near.murk")
	p.must(t, "convert", "-q", "near.murk", "near.jsonl")
	lines := strings.Replace(string(p.read(t, "near.jsonl")), `"radius\":1}`, `"radius\":16384}`, 1)
	write(t, p, "far.jsonl", strings.Replace(lines, "b3d2ec4aa522b144", "d89eb78c99bd54f3", 1)) // the config hash
	for _, tt := range []struct{ args, want string }{
		{"check far.yaml", "far.yaml:7:44: sight: " + some},
		{"run far.yaml --no-record", "far.yaml:7:44: sight: " + some},
		{"check pass.yaml", "pass.yaml:7:75: morphology: a radius of 9000 may be more work than a tick may have (34359738368 steps); lower it to 1717"},
		{"check late.yaml", ""},
		{"run late.yaml --no-record", strings.Replace(some, "4000000", "4096", 1)},
		{"verify far.jsonl", "far.jsonl: the world is too much work for this program: descriptor:1:247: sight: " + some},
	} {
		c := p.command(strings.Fields(tt.args)...)
		_, _, errs := p.run(t, c)
		if !strings.Contains(errs, tt.want) || (tt.want == "") != (errs == "") {
			t.Errorf("%s: %s, want %s", tt.args, errs, tt.want)
		}
		if took := spent(c); took > 20*time.Second {
			t.Errorf("%s: it took %v of processor time; what is refused takes minutes", tt.args, took)
		}
	}
}
