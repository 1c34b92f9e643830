package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
)

// A program is the built command and a folder to run it in.
type program struct {
	path, dir string
}

// build returns the program in a folder of its own.
func build(t *testing.T) program {
	t.Helper()
	from, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, filepath.Base(from))
	if os.Link(from, path) == nil {
		return program{path, dir}
	}
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(path, b, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return program{path, dir}
}

// built makes the program once for all tests. TestMain removes it.
var built = sync.OnceValues(func() (path string, err error) {
	if builtIn, err = os.MkdirTemp("", "murksim-test"); err != nil {
		return "", err
	}
	path = filepath.Join(builtIn, "murksim")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/murksim").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

var builtIn string // the folder

// tests are the tests, after which the program is removed.
type tests struct{ *testing.M }

// Run implements testscript.TestingM.
func (m tests) Run() int {
	folder, err := os.MkdirTemp("", "murksim-config-")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CONFIG_HOME", folder) // where the key of indexes is
	defer func() { os.RemoveAll(builtIn); os.RemoveAll(folder) }()
	return m.M.Run()
}

func (p program) command(args ...string) *exec.Cmd {
	c := exec.Command(p.path, args...)
	c.Dir = p.dir
	return c
}

// run runs a command to its end and returns its status and what it said.
func (p program) run(t *testing.T, c *exec.Cmd) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &o
	}
	c.Stderr = &e
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), o.String(), e.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, o.String(), e.String()
}

func (p program) read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestProcesses runs the program as people do.
func TestProcesses(t *testing.T) {
	p := build(t)
	for name, test := range map[string]func(program, *testing.T){
		"main job":                             program.mainJob,
		"workers":                              program.workers,
		"interrupted":                          program.interrupted,
		"broken and interrupted":               program.brokenInterrupted,
		"interrupted verify":                   program.interruptedVerify,
		"interrupted export":                   program.interruptedExport,
		"interrupted before the first tick":    program.interruptedMaking,
		"interrupted while the world is built": program.interruptedBuilding,
		"interrupted at the end":               program.interruptedFinish,
		"killed":                               program.killed,
		"killed after a state":                 program.killedAfterState,
		"killed statistics":                    program.killedStats,
		"interrupted tables":                   program.interruptedTables,
		"closed pipe":                          program.closedPipe,
		"full":                                 program.full,
		"served":                               program.served,
		"served, interrupted twice":            program.servedTwice,
		"viewed":                               program.viewed,
		"viewed with a forged index":           program.forgedIndex,
		"measured":                             program.measured,
		"measured audit":                       program.measuredAudit,
		"measured follow":                      program.measuredFollow,
		"measured halt":                        program.measuredHalt,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(program{p.path, t.TempDir()}, t)
		})
	}
}

var verified = regexp.MustCompile(`(?m)^ok  \S+  ([0-9,]+) of ([0-9,]+) planned ticks, hash ([0-9a-f]{16})$`)

// ticks are the verified and the planned ticks that verify tells.
func ticks(t *testing.T, out string) (verifiedTicks, planned int) {
	t.Helper()
	m := verified.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("verify says %q, want %v", out, verified)
	}
	number := func(s string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return number(m[1]), number(m[2])
}

// mainJob: a recording proves itself, alone in another folder.
func (p program) mainJob(t *testing.T) {
	status, out, errs := p.run(t, p.command("run", "heat", "-o", "heat.murk"))
	if status != 0 || errs != "" || !strings.Contains(out, "1,000/1,000 ticks") {
		t.Fatalf("run = %d\n%s", status, out+errs)
	}
	alone := program{p.path, t.TempDir()}
	if err := os.WriteFile(filepath.Join(alone.dir, "heat.murk"), p.read(t, "heat.murk"), 0o666); err != nil {
		t.Fatal(err)
	}
	status, verdict, errs := alone.run(t, alone.command("verify", "heat.murk"))
	if n, planned := ticks(t, verdict); status != 0 || errs != "" || n != 1000 || planned != 1000 {
		t.Errorf("verify = %d\n%s", status, verdict+errs)
	}
	if hash := verified.FindStringSubmatch(verdict)[3]; !strings.Contains(out, "final hash "+hash) {
		t.Errorf("verify ends with hash %s, but the run said\n%s", hash, out)
	}
}

// workers: neither workers nor processors change a byte of a recording, nor of the
// table of hashes.
func (p program) workers(t *testing.T) {
	const scenario = "predators" // with entities and random draws
	var recording, table []byte
	for _, tt := range []struct{ processors, workers string }{{"1", "1"}, {"2", "1"}, {"1", "3"}, {"4", "8"}} {
		c := p.command("run", scenario, "--ticks", "60", "-o", "w.murk", "--hashes", "w.tsv", "--workers", tt.workers)
		c.Env = append(os.Environ(), "GOMAXPROCS="+tt.processors)
		if status, out, errs := p.run(t, c); status != 0 {
			t.Fatalf("run = %d\n%s", status, out+errs)
		}
		if recording == nil {
			recording, table = p.read(t, "w.murk"), p.read(t, "w.tsv")
		}
		if !bytes.Equal(p.read(t, "w.murk"), recording) || !bytes.Equal(p.read(t, "w.tsv"), table) {
			t.Errorf("GOMAXPROCS=%s, --workers %s: another recording or table than with 1 and 1", tt.processors, tt.workers)
		}
		if status, out, errs := p.run(t, p.command("verify", "w.murk", "--workers", tt.workers, "--hashes", "w.tsv")); status != 0 {
			t.Errorf("verify with %s workers = %d\n%s", tt.workers, status, out+errs)
		}
	}
}

// header is more than the header of the recording of a long run takes, in bytes.
const header = 30_000

// long is the command of a run that would take a day, small enough for its frames
// to be written soon.
func (p program) long(output string) *exec.Cmd {
	return p.command("run", "heat", "--ticks", "1000000000", "-o", output)
}

// grows waits until a file has more than so many bytes.
func (p program) grows(t *testing.T, name string, size int64) {
	t.Helper()
	waiting.For(t, fmt.Sprintf("%s has more than %d bytes", name, size), func() bool {
		info, err := os.Stat(filepath.Join(p.dir, name))
		return err == nil && info.Size() > size
	})
}

// interrupted: Ctrl-C, a termination and a terminal that is closed (SIGHUP) end a run with
// status 0 and a recording that verifies; under nohup it goes on when the terminal closes.
func (p program) interrupted(t *testing.T) {
	for _, s := range endings {
		t.Run(s.String(), func(t *testing.T) { p.interruptedBy(t, s) })
	}
	t.Run("nohup", p.hungUp)
}

func (p program) hungUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no hangups
	}
	c := p.shell(`trap "" HUP; exec "$M" run heat --ticks 1000000000 -q -o nohup.murk`)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.grows(t, "nohup.murk", header)
	c.Process.Signal(hangup)
	p.grows(t, "nohup.murk", 2*int64(len(p.read(t, "nohup.murk"))))
	c.Process.Signal(os.Interrupt)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func (p program) interruptedBy(t *testing.T, s os.Signal) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, s) // under nohup the program would ignore it, as it should
	defer signal.Stop(heard)
	file := fmt.Sprintf("int%d.murk", s)
	c := p.long(file)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.grows(t, file, header) // flushed about once a second
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || errs.Len() > 0 || !strings.Contains(out.String(), "stopped early") {
		t.Fatalf("run = %v after %v, want no error and that it stopped early\n%s", err, s, out.String()+errs.String())
	}
	status, verdict, _ := p.run(t, p.command("verify", file))
	if n, planned := ticks(t, verdict); status != 0 || n == 0 || planned != 1_000_000_000 {
		t.Errorf("verify = %d\n%s", status, verdict)
	}
	if status, _, errs := p.run(t, p.command("verify", "--complete", file)); status != report.StatusDiverged || !strings.HasPrefix(errs, "INCOMPLETE  "+file+"  ") {
		t.Errorf("verify --complete = %d, %s; want %d", status, errs, report.StatusDiverged)
	}
}

// interruptedVerify: Ctrl-C ends a verification with a line that says how far it came.
func (p program) interruptedVerify(t *testing.T) {
	if status, out, errs := p.run(t, p.command("run", "heat", "--ticks", "4", "-o", "v.murk")); status != 0 {
		t.Fatalf("run = %d\n%s", status, out+errs)
	}
	c := p.command("verify", "--each", "-")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := in.Write(p.read(t, "v.murk")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is under way
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](ends(t, c)); !ok || exit.ExitCode() != report.StatusError {
		t.Errorf("verify = %v, want status %d", exit, report.StatusError)
	}
	if said := regexp.MustCompile(`^standard input: interrupted; the [1-4] ticks? before that match\n$`); !said.MatchString(errs.String()) {
		t.Errorf("verify says %q, want %v", errs.String(), said)
	}
}

// interruptedMaking: SIGINT ends a run whose world takes a minute to make, and a synctest of
// it, within seconds, and leaves no file behind.
func (p program) interruptedMaking(t *testing.T) {
	const scenario = "murksim: 1\nname: slow\nspace: {kind: square4, rows: 2000, cols: 2000}\n" +
		"fields: [{name: a, initial: {noise: {from: 0, to: 1, smooth: 1000}}}]\n"
	if err := os.WriteFile(filepath.Join(p.dir, "slow.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"run": "slow: interrupted before the first tick\n", "synctest": "slow: interrupted; 0 ticks are the same\n",
	} {
		c := p.command(command, "slow.yaml")
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		works(t, c, time.Second) // nothing is said until the world is made
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := ends(t, c)
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || errs.String() != want {
			t.Errorf("%s = %v: %s", command, err, errs.String())
		}
		if took := spent(c); took > 8*time.Second {
			t.Errorf("%s ended after %v of processor time, want soon after one second", command, took)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "slow.murk")); err == nil {
		t.Error("it left a recording")
	}
}

// interruptedBuilding: a signal that comes while a large world is built, where no work is
// estimated, is not lost.
func (p program) interruptedBuilding(t *testing.T) {
	const scenario = "murksim: 1\nname: large\nticks: 1000000\nspace: {kind: square4, rows: 6000, cols: 6000}\n" +
		"fields: [{name: a, initial: 1}, {name: b, initial: 2}]\npropagators: [{diffusion: {field: a, rate: 1}}]\n"
	if err := os.WriteFile(filepath.Join(p.dir, "large.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{50, 100, 200, 400} {
		c := p.command("run", "large.yaml", "--no-record")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		works(t, c, after*time.Millisecond)
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		ends(t, c)
	}
}

// interruptedFinish: a signal while the state is written, after the last tick, lets the run
// finish; a second one ends it at once.
func (p program) interruptedFinish(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no pipes with names in folders
	}
	p = program{p.path, t.TempDir()}
	if status, _, errs := p.run(t, p.shell("mkfifo fifo")); status != 0 {
		t.Fatal(errs)
	}
	for _, signals := range []int{1, 2} {
		c, errs := p.start(t, p.command("run", "heat", "--ticks", "2", "--set", "space.rows=256", "--set", "space.cols=256", "-o", "end.murk", "--save-state", "fifo"))
		state, err := os.Open(filepath.Join(p.dir, "fifo"))
		if err != nil {
			t.Fatal(err)
		}
		defer state.Close()
		p.appears(t, "end.murk") // then comes the state, of which a pipe takes a part
		rests(t, c)
		c.Process.Signal(os.Interrupt)
		if signals == 2 { // those of a tenth of a second are one
			waiting.For(t, "another signal ends the run", func() bool {
				c.Process.Signal(os.Interrupt)
				_, running := look(c.Process.Pid)
				return !running
			})
		}
		rests(t, c)
		b, err := io.ReadAll(state)
		c.Wait()
		finished := c.ProcessState.ExitCode() == report.StatusOK && errs.Len() == 0 && len(b) > 256*256
		if killed := c.ProcessState.ExitCode() == -1; err != nil || finished != (signals == 1) || killed != (signals == 2) {
			t.Errorf("%d signals: %v, %s, %d bytes of state, %v", signals, c.ProcessState, errs, len(b), err)
		}
		if signals == 1 {
			p.onlyFiles(t, "end.murk", "fifo")
			os.Remove(filepath.Join(p.dir, "end.murk"))
		}
	}
}

// brokenInterrupted: an expectation that is broken fails a run that is interrupted
// later; one that still holds says how far. The header is there at once.
func (p program) brokenInterrupted(t *testing.T) {
	const scenario = `
murksim: 1
name: broken
tick_rate: 10
ticks: 1000000
space: {kind: ring, length: 8}
fields: [{name: a, initial: 2}]
expect:
  - {field: a, range: [0, 1]}
  - {field: a, range: [0, 2]}
  - {field: a, total: 16, tick: 1}
`
	if err := os.WriteFile(filepath.Join(p.dir, "broken.yaml"), []byte(scenario), 0o666); err != nil {
		t.Fatal(err)
	}
	c := p.command("run", "broken.yaml", "--realtime", "--json")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.grows(t, "broken.murk", 0)
	if status, header, errs := p.run(t, p.command("inspect", "broken.murk")); status != 0 {
		t.Errorf("inspect = %d\n%s", status, header+errs)
	}
	p.grows(t, "broken.murk", int64(len(p.read(t, "broken.murk")))) // by ticks
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](c.Wait()); !ok || exit.ExitCode() != report.StatusError {
		t.Errorf("run = %v, want status %d", exit, report.StatusError)
	}
	for _, want := range []string{
		`"stopped":true`, `{"text":"a from 0 to 1: FAILED at tick 1: it is 2 at [0]","ok":false,"reached":true}`,
		`{"text":"a from 0 to 2: ok to tick `, `{"text":"total a 16 at tick 1: ok","ok":true,"reached":true}`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("run says\n%s\nwithout %s", out.String(), want)
		}
	}
	if want := "broken: 1 of 3 expectations failed\n"; !strings.HasPrefix(errs.String(), want) {
		t.Errorf("run says %q, want %q", errs.String(), want)
	}
}

// killed: whatever SIGKILL leaves, its whole frames verify, and a state that it was to
// replace is as it was.
func (p program) killed(t *testing.T) {
	if status, _, errs := p.run(t, p.command("run", "heat", "--until", "3", "--no-record", "--save-state", "kill.state")); status != 0 {
		t.Fatal(errs)
	}
	state := p.read(t, "kill.state")
	c := p.long("kill.murk")
	c.Args = append(c.Args, "--save-state", "kill.state")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.grows(t, "kill.murk", header)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("a killed run succeeds")
	}
	if !bytes.Equal(p.read(t, "kill.state"), state) {
		t.Error("the state saved by an earlier run is gone")
	}
	status, out, errs := p.run(t, p.command("verify", "kill.murk"))
	whole := status == 0 && verified.MatchString(out)
	cut := status == report.StatusError && strings.Contains(errs, "truncated at byte") && strings.Contains(errs, "before it match")
	if !whole && !cut {
		t.Errorf("verify = %d\n%s", status, out+errs)
	}
}

// killedAfterState: a run that continues from a state and is killed can be continued, and ends
// with the bytes of one that was not.
func (p program) killedAfterState(t *testing.T) {
	args := []string{"run", "heat", "-q", "--ticks", "3000"}
	p.must(t, append(args, "--until", "100", "--no-record", "--save-state", "after.state")...)
	p.must(t, append(args, "--state", "after.state", "-o", "after.murk")...)
	whole := p.read(t, "after.murk")
	const header = 176 << 10                                                                               // with the state in it
	c := p.command(append(args, "--state", "after.state", "--sync=1", "--realtime", "-o", "dead.murk")...) // for minutes
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.grows(t, "dead.murk", header)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("a killed run succeeds")
	}
	left := p.read(t, "dead.murk")
	if !bytes.HasPrefix(whole, left) || len(left) == len(whole) {
		t.Errorf("%d bytes are left, want a true prefix of %d", len(left), len(whole))
	}
	status, out, errs := p.run(t, p.command("run", "--resume", "dead.murk"))
	if status != 0 || !strings.Contains(out, "\nfrom      tick 101 on, from the state with the SHA-256 ") {
		t.Fatalf("run --resume = %d\n%s", status, out+errs)
	}
	if !bytes.Equal(p.read(t, "dead.murk"), whole) {
		t.Error("the recording at the end is not that of a run that was not killed")
	}
	p.must(t, "verify", "--complete", "dead.murk")
}

// closedPipe: when the reader of a recording goes away the run fails, in words.
func (p program) closedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := p.long("-")
	c.Stdout = w
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	head := make([]byte, 1000)
	if n, err := r.Read(head); n == 0 || err != nil || !bytes.HasPrefix(head, []byte("MURK")) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	r.Close()
	err = c.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != report.StatusError {
		t.Errorf("run = %v, want status %d", err, report.StatusError)
	}
	if got := errs.String(); !strings.Contains(got, "standard output: "+syscall.EPIPE.Error()) || strings.Contains(got, "goroutine") {
		t.Errorf("run says\n%s", got)
	}
}

// full: whatever cannot be printed fails the command.
func (p program) full(t *testing.T) {
	sink, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Logf("this system has no full file: %v", err)
		return
	}
	defer sink.Close()
	p.must(t, "run", "heat", "--ticks", "3", "-q", "-o", "full.murk")
	for _, line := range []string{
		"--help", "help run", "version", "version --json", "completion bash", "scenarios", "scenarios list --json", "scenarios show heat",
		"run heat --ticks 3 --no-record", "run heat --ticks 3 --no-record --json", "run heat --ticks 3 --no-record --json --state-hash",
		"run colony --ticks 3 --no-record --events", "run heat --ticks 3 -q -o -", "run heat --ticks 3 -q --no-record --hashes -",
		"run heat --ticks 3 -q --no-record --save-state -", "verify full.murk", "verify --json full.murk", "verify --each full.murk",
		"verify --each --json full.murk", "inspect full.murk", "inspect --json full.murk", "inspect --frames full.murk",
		"inspect --commands full.murk", "convert full.murk -", "convert full.murk full.jsonl --force", "new x -o -", "new x --force",
	} {
		args := strings.Fields(line)
		c := p.command(args...)
		c.Stdout = sink
		status, _, errs := p.run(t, c)
		if want := "standard output: " + syscall.ENOSPC.Error() + "\n"; status != report.StatusError || errs != want {
			t.Errorf("murksim %v = %d, %q; want %d, %q", args, status, errs, report.StatusError, want)
		}
	}
	for _, ending := range []string{"csv", "parquet", "gif", "mcap", "npy", "npz"} {
		if err := os.Symlink("/dev/full", filepath.Join(p.dir, "x."+ending)); err != nil {
			t.Fatal(err)
		}
		args := []string{"run", "heat", "-q", "--ticks", "30", "-o", "whole.murk", "--export", "x." + ending}
		if ending == "gif" {
			args = append(args, "--export-scale", "0..1")
		}
		status, _, errs := p.run(t, p.command(args...))
		if want := "x." + ending + ": " + syscall.ENOSPC.Error() + "\n"; status != report.StatusError || !strings.HasPrefix(errs, want) || strings.Count(errs, want) != 1 {
			t.Errorf("run --export x.%s to a full device = %d, %q; want %q once", ending, status, errs, want)
		}
	}
	status, _, errs := p.run(t, p.command("run", "heat", "--ticks", "3", "-o", "/dev/full"))
	if want := "/dev/full: " + syscall.ENOSPC.Error() + "\n  no tick was recorded\n"; status != report.StatusError || errs != want {
		t.Errorf("run -o /dev/full = %d, %q; want %d, %q", status, errs, report.StatusError, want)
	}
}
