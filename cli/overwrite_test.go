package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/waiting"
)

// TestOverwriting runs the program as people do, onto files that are there already or that
// another process writes to.
func TestOverwriting(t *testing.T) {
	p := build(t)
	t.Run("two runs on one file", p.inFolder(twoRuns))
	t.Run("two runs that save states", p.inFolder(twoSavers))
	t.Run("runs that begin at once", p.inFolder(runsAtOnce))
	t.Run("killed", p.inFolder(killedOverwriting))
	t.Run("failed before the first tick", p.inFolder(failedAtOnce))
	t.Run("interrupted before the first tick", p.inFolder(interruptedAtOnce))
	t.Run("full disk", p.inFolder(fullDisk))
	t.Run("name that is taken", p.inFolder(takenName))
	t.Run("file that appears", p.inFolder(fileAppears))
	t.Run("kinds of files", p.inFolder(kindsOfFiles))
	t.Run("closed standard output", p.inFolder(closedStdout))
	t.Run("index", p.inFolder(indexBeside))
	t.Run("index on a full disk", p.inFolder(indexOnFullDisk))
	t.Run("index beside a full disk", p.inFolder(indexBesideFullDisk))
	t.Run("files of other kinds", p.inFolder(otherKinds))
	t.Run("standard output by another name", p.inFolder(stdoutByName))
	t.Run("rare syncs", p.inFolder(rareSyncs))
}

// inFolder runs a test of the program in a folder of its own.
func (p program) inFolder(test func(*testing.T, program)) func(*testing.T) {
	return func(t *testing.T) { test(t, program{p.path, t.TempDir()}) }
}

// must runs a command that succeeds.
func (p program) must(t *testing.T, args ...string) {
	t.Helper()
	if status, out, errs := p.run(t, p.command(args...)); status != report.StatusOK || errs != "" {
		t.Fatalf("murksim %q = %d\n%s", args, status, out+errs)
	}
}

// fails runs a command that must end with status 1 and a message that matches.
func (p program) fails(t *testing.T, c *exec.Cmd, want string) {
	t.Helper()
	status, _, errs := p.run(t, c)
	if status != report.StatusError || !regexp.MustCompile(want).MatchString(errs) {
		t.Errorf("%q = %d, %q; want status %d and %s", c.Args, status, errs, report.StatusError, want)
	}
}

// failsSoon is fails for a command that must leave an older file as it is. A run puts what it has in
// the place of older files after a tenth of a second: if a busy machine takes so long, all is put back
// for another try.
func (p program) failsSoon(t *testing.T, older, line, want string) {
	t.Helper()
	was := p.read(t, older)
	waiting.For(t, "a run fails before it takes the place of older files", func() bool {
		status, _, errs := p.run(t, p.shell(line))
		if !bytes.Equal(p.read(t, older), was) {
			write(t, p, older, string(was))
			return false
		}
		if status != report.StatusError || !regexp.MustCompile(want).MatchString(errs) {
			t.Errorf("%s = %d, %q; want status %d and %s", line, status, errs, report.StatusError, want)
		}
		return true
	})
}

// start starts a command, which is killed at the end of the test at the latest.
func (p program) start(t *testing.T, c *exec.Cmd) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	errs := new(bytes.Buffer)
	c.Stderr = errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, errs
}

// shell is a command line for a shell, in which $M is the program.
func (p program) shell(line string) *exec.Cmd {
	c := exec.Command("sh", "-c", line)
	c.Dir, c.Env = p.dir, append(os.Environ(), "M="+p.path)
	return c
}

// is checks what a file holds.
func (p program) is(t *testing.T, name string, want []byte) {
	t.Helper()
	if got := p.read(t, name); !bytes.Equal(got, want) {
		t.Errorf("%s has other bytes than before: %d, not %d", name, len(got), len(want))
	}
}

func write(t *testing.T, p program, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// twoRuns: a file that a run writes cannot be written by another command, by any name, which
// says who writes it; it can be read. When the run is killed the next one can write it.
func twoRuns(t *testing.T, p program) {
	const all = 1000000000
	first, _ := p.start(t, p.command("run", "heat", "--ticks", fmt.Sprint(all), "-o", "a.murk", "--hashes", "a.tsv", "--save-state", "a.state"))
	p.grows(t, "a.murk", header)
	p.must(t, "run", "heat", "--ticks", "3", "-q", "-o", "other.murk")
	busy := func(name string) string {
		return fmt.Sprintf(`^%s: process %d on "[^"]+" has been writing to it since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: `+
			`"murksim(.exe)? run"\n  write to another file, or wait until it ends\n$`, name, first.Process.Pid)
	}
	p.fails(t, p.command("run", "heat", "--ticks", "3", "-o", "a.murk"), busy("a.murk"))
	p.fails(t, p.command("run", "heat", "--ticks", "3", "-o", "./a.murk"), busy("./a.murk"))
	p.fails(t, p.command("run", "heat", "--ticks", "3", "--no-record", "--hashes", "a.tsv"), busy("a.tsv"))
	p.fails(t, p.command("run", "heat", "--ticks", "3", "-o", "new.murk", "--save-state", "a.state"), busy("a.state"))
	p.fails(t, p.command("convert", "--force", "other.murk", "a.murk"), busy("a.murk"))
	p.fails(t, p.command("upgrade", "--force", "other.murk", "a.murk"), busy("a.murk"))
	p.fails(t, p.command("new", "mine", "--force", "-o", "a.murk"), busy("a.murk"))
	if os.Symlink("a.murk", filepath.Join(p.dir, "link")) == nil {
		p.fails(t, p.command("run", "heat", "--ticks", "3", "-o", "link"), busy("link"))
	}
	for _, reader := range []string{"verify", "inspect"} {
		status, _, errs := p.run(t, p.command(reader, "a.murk"))
		if status != report.StatusOK && !strings.Contains(errs, "truncated at byte") { // it may have read half a frame
			t.Errorf("%s of a recording that grows = %d, %s", reader, status, errs)
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	p.must(t, "run", "heat", "--ticks", "3", "-q", "-o", "a.murk", "--hashes", "a.tsv", "--save-state", "a.state")
	p.must(t, "verify", "--complete", "-q", "a.murk")
	os.Remove(filepath.Join(p.dir, "link"))
	p.onlyFiles(t, "a.murk", "a.state", "a.tsv", "other.murk")
}

// twoSavers: the states that a run writes along the way are written by no other run until it
// ends, also where the first ones are there already, or neither is recorded.
func twoSavers(t *testing.T, p program) {
	const saves = "--save-every"
	first, _ := p.start(t, p.command("run", "heat", "--realtime", "--ticks", "1000000", "--seed", "1", "--no-record", saves, "5"))
	p.appears(t, "heat-5.state")
	state := p.read(t, "heat-5.state")
	busy := fmt.Sprintf(`^heat-N.state: process %d on "[^"]+" has been writing to it since [^\n]*\n  write to another file, or wait until it ends\n$`, first.Process.Pid)
	p.fails(t, p.command("run", "heat", "--ticks", "10", "--seed", "2", "--no-record", saves, "5"), busy)
	p.fails(t, p.command("run", "heat", "--ticks", "10", "--seed", "2", "-o", "heat.murk", saves, "2"), busy)
	p.is(t, "heat-5.state", state)
	p.must(t, "run", "heat", "--ticks", "10", "-q", "-o", "other.murk", saves, "5")
	p.must(t, "run", "heat", "--ticks", "10", "-q", "--no-record")
	first.Process.Kill()
	first.Wait()
	p.must(t, "run", "heat", "--ticks", "6", "--seed", "1000", "-q", "--no-record", "--force", saves, "5")
	if got := p.read(t, "heat-5.state"); bytes.Equal(got, state) {
		t.Error("the states of a run that was killed stay for ever")
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, "*-N.state")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// runsAtOnce: of several runs that begin at once on a file that does not exist, one goes on.
func runsAtOnce(t *testing.T, p program) {
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	const runs = 5
	type run struct {
		*exec.Cmd
		errs *bytes.Buffer
	}
	started, ended := make([]run, runs), make(chan run, runs)
	for i := range started {
		c, errs := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "-o", "a.murk"))
		started[i] = run{c, errs}
		go func() { c.Wait(); ended <- started[i] }()
	}
	for range runs - 1 {
		select {
		case r := <-ended:
			if says := r.errs.String(); r.ProcessState.ExitCode() != report.StatusError || !strings.HasPrefix(says, "a.murk: ") ||
				!strings.HasSuffix(says, "\n  write to another file, or wait until it ends\n") {
				t.Errorf("run = %v, %s", r.ProcessState, says)
			}
		case <-time.After(waiting.Hang):
			t.Fatal("several runs write one file")
		}
	}
	p.grows(t, "a.murk", header)
	for _, r := range started {
		r.Process.Signal(os.Interrupt) // most have ended
	}
	if r := <-ended; r.ProcessState.ExitCode() != report.StatusOK {
		t.Errorf("run = %v, %s", r.ProcessState, r.errs)
	}
	p.must(t, "verify", "-q", "a.murk")
	p.onlyFiles(t, "a.murk")
}

// killedOverwriting: a run that is killed before its first tick leaves the older recording,
// one that is killed later its own ticks under that name.
func killedOverwriting(t *testing.T, p program) {
	p.must(t, "run", "heat", "--ticks", "5", "-q", "-o", "a.murk")
	older := p.read(t, "a.murk")
	if runtime.GOOS != "windows" {
		if status, _, errs := p.run(t, p.shell("mkfifo fifo")); status != 0 {
			t.Fatal(errs)
		}
		early, _ := p.start(t, p.command("run", "heat", "-o", "a.murk", "--hashes", "fifo")) // waits for a reader
		p.appears(t, ".a.murk.lock")
		early.Process.Kill()
		early.Wait()
		p.is(t, "a.murk", older)
		if probe := fmt.Sprintf(".a.murk.new-%d", early.Process.Pid); len(p.readIfThere(t, probe)) > 0 { // with which it tries whether it can make a file
			t.Errorf("%s is not empty", probe)
		} else {
			os.Remove(filepath.Join(p.dir, probe))
		}
		os.Remove(filepath.Join(p.dir, "fifo"))
	}

	c, _ := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "-o", "a.murk"))
	p.grows(t, "a.murk", header)
	c.Process.Kill()
	c.Wait()
	if status, out, errs := p.run(t, p.command("verify", "a.murk")); !verified.MatchString(out) && !strings.Contains(errs, "before it match") {
		t.Errorf("verify = %d\n%s", status, out+errs)
	}
	p.onlyFiles(t, ".a.murk.lock", "a.murk") // which stops no other run
	p.must(t, "run", "heat", "--ticks", "5", "-q", "-o", "a.murk")
	p.is(t, "a.murk", older)
	p.onlyFiles(t, "a.murk")
}

// readIfThere returns what a file holds.
func (p program) readIfThere(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

// appears waits until a file is there.
func (p program) appears(t *testing.T, name string) {
	t.Helper()
	p.grows(t, name, -1)
}

// falling is a world whose first tick fails.
const falling = `
murksim: 1
name: falling
ticks: 2000
space: {kind: square4, rows: 2, cols: 2}
fields:
  - {name: ground, element: fixed}
  - {name: x, domain: entities, element: fixed}
  - {name: y, domain: entities, element: fixed}
  - {name: height, domain: entities, element: fixed, initial: 140737488355327}
  - {name: vx, domain: entities, element: fixed}
  - {name: vy, domain: entities, element: fixed}
  - {name: vz, domain: entities, element: fixed, initial: 1024}
entities:
  capacity: 1
  kinds: [rocket]
  spawn: [{kind: rocket, count: 1}]
systems:
  - bodies: {x: x, y: y, height: height, vx: vx, vy: vy, vz: vz, ground: ground}
`

// failedAtOnce: a run whose first tick fails leaves older files as they are, and makes none
// where there was none.
func failedAtOnce(t *testing.T, p program) {
	write(t, p, "falling.yaml", falling)
	run := func(args ...string) (errs string) {
		t.Helper()
		status, _, errs := p.run(t, p.command(append([]string{"run", "falling.yaml"}, args...)...))
		if status != report.StatusHalted {
			t.Fatalf("run = %d, %s, want %d", status, errs, report.StatusHalted)
		}
		return errs
	}
	if errs, want := run("-o", "a.murk", "--hashes", "a.tsv"), "\n  the run ended after tick 0; no tick was recorded\n"; !strings.HasSuffix(errs, want) {
		t.Errorf("run says %q, want %q", errs, want)
	}
	p.onlyFiles(t, "falling.yaml")
	p.must(t, "run", "heat", "--ticks", "5", "-q", "-o", "a.murk", "--hashes", "a.tsv")
	recording, table := p.read(t, "a.murk"), p.read(t, "a.tsv")
	want := "\n  the run ended after tick 0; no tick was recorded; a.murk is still the older recording\n"
	if errs := run("-o", "a.murk", "--hashes", "a.tsv"); !strings.HasSuffix(errs, want) {
		t.Errorf("run says %q, want %q", errs, want)
	}
	p.is(t, "a.murk", recording)
	p.is(t, "a.tsv", table)
	p.onlyFiles(t, "a.murk", "a.tsv", "falling.yaml")
}

// interruptedAtOnce: Ctrl-C before the first tick leaves the older recording, and the run
// does not say that it recorded anything.
func interruptedAtOnce(t *testing.T, p program) {
	p.must(t, "run", "heat", "--ticks", "5", "-q", "-o", "a.murk")
	older := p.read(t, "a.murk")
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out, errs bytes.Buffer
	status := Program{}.run(ctx, []string{"run", "heat", "-o", filepath.Join(p.dir, "a.murk")}, nil, &out, &errs)
	if status != report.StatusError || errs.String() != "heat: interrupted before the first tick\n" || out.Len() > 0 {
		t.Errorf("run = %d\n%s%s", status, &out, &errs)
	}
	p.is(t, "a.murk", older)
	p.onlyFiles(t, "a.murk")
}

// quick is a world that writes much in little time.
const quick = `
murksim: 1
name: quick
ticks: 5000
space: {kind: line, length: 4}
fields: [{name: heat, initial: {noise: {from: 0, to: 1}}}]
propagators: [{diffusion: {field: heat, rate: 1}}]
`

// fullDisk: what cannot be written whole leaves the older file as it is. Ticks that are whole
// lie beside an older recording, or under its name if there was none.
func fullDisk(t *testing.T, p program) {
	if runtime.GOOS == "windows" {
		return // it has no such limit
	}
	p.fails(t, p.shell(`ulimit -f 8; exec "$M" run heat --no-record --ticks 3 --save-state a.state`), "^a.state: file too large\n$")
	p.fails(t, p.shell(`ulimit -f 8; exec "$M" run heat --ticks 300 --no-index -o a.murk --hashes a.tsv`), "^a.tsv: file too large\n(  a.murk: file too large\n)?  the run ended after tick [0-9]+; a.murk holds (ticks 1 to|the ticks before tick) [0-9,]+\n$") // a slow run writes more often
	p.must(t, "verify", "-q", "a.murk")
	p.onlyFiles(t, "a.murk", "a.tsv")

	p.fails(t, p.shell(`ulimit -f 0; exec "$M" run heat --no-record -q --hashes none.tsv`), "^none.tsv: file too large\n")
	p.onlyFiles(t, "a.murk", "a.tsv") // a table without a line is none

	write(t, p, "quick.yaml", quick)
	p.must(t, "run", "quick.yaml", "-q", "--force", "-o", "a.murk", "--hashes", "a.tsv", "--save-state", "a.state")
	p.must(t, "convert", "-q", "a.murk", "a.jsonl")
	was := map[string][]byte{}
	for _, name := range []string{"a.murk", "a.tsv", "a.state", "a.jsonl"} {
		was[name] = p.read(t, name)
	}
	p.fails(t, p.shell(`ulimit -f 8; exec "$M" run heat --no-record --ticks 3 --save-state a.state`), "^a.state: file too large\n$")
	p.failsSoon(t, "a.tsv", `ulimit -f 8; exec "$M" run quick.yaml --no-record --hashes a.tsv`, "^a.tsv: file too large\n")
	p.fails(t, p.shell(`ulimit -f 8; exec "$M" convert --force a.murk a.jsonl`), "^a.jsonl: file too large\n$")
	p.fails(t, p.shell(`ulimit -f 8; exec "$M" convert --force a.jsonl a.murk`), "^a.murk: file too large\n$")
	p.failsSoon(t, "a.murk", `ulimit -f 0; exec "$M" run quick.yaml --no-index -o a.murk`,
		"^a.murk: file too large\n  the run ended after tick [0-9,]+; no tick was recorded; a.murk is still the older recording\n$")
	p.onlyFiles(t, "a.jsonl", "a.murk", "a.state", "a.tsv", "quick.yaml")
	p.failsSoon(t, "a.murk", `ulimit -f 8; exec "$M" run quick.yaml --no-index -o a.murk`,
		"^a.murk: file too large\n  the run ended after tick [0-9,]+; .a.murk.new-[0-9]+ holds the ticks before tick [0-9]+; a.murk is still the older recording\n$")
	for name, want := range was {
		p.is(t, name, want)
	}
	beside, err := filepath.Glob(filepath.Join(p.dir, ".a.murk.new-*"))
	if err != nil || len(beside) != 1 {
		t.Fatalf("%q lie beside the older recording, %v", beside, err)
	}
	p.must(t, "verify", "-q", beside[0])
}

// takenName: a recording that cannot get its name gets it as soon as it can, and else lies
// beside it; the error says where.
func takenName(t *testing.T, p program) {
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	for _, free := range []bool{true, false} {
		c, errs := p.start(t, p.shell(`exec "$M" run heat --ticks 1000000000 -o a.murk > out`))
		p.grows(t, "out", 0) // it has begun
		if err := os.Mkdir(filepath.Join(p.dir, "a.murk"), 0o777); err != nil {
			t.Fatal(err)
		}
		beside, want := fmt.Sprintf(".a.murk.new-%d", c.Process.Pid), ""
		p.grows(t, beside, header)
		if size := len(p.read(t, beside)); free {
			os.Remove(filepath.Join(p.dir, "a.murk"))
			p.grows(t, "a.murk", int64(size))
			beside = "a.murk"
		} else {
			want = "^a.murk: it cannot be put in its place \\([a-z ]+\\); it lies in " + beside + "\n" +
				"  the run ended after tick [0-9,]+; " + beside + " holds ticks 1 to [0-9,]+\n$"
		}
		c.Process.Signal(os.Interrupt)
		c.Wait()
		if (c.ProcessState.ExitCode() == report.StatusOK) != free || !regexp.MustCompile(want).MatchString(errs.String()) {
			t.Errorf("run = %v, %s; want %s", c.ProcessState, errs, want)
		}
		p.must(t, "verify", "-q", beside)
		os.Remove(filepath.Join(p.dir, beside))
		os.Remove(filepath.Join(p.dir, "out"))
	}
	p.onlyFiles(t, "a.murk")
}

// fileAppears: a file that appears during a run, or takes the place of the older one, is not
// overwritten, and the error says where what the run wrote lies.
func fileAppears(t *testing.T, p program) {
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	for _, older := range []bool{false, true} {
		if older {
			p.must(t, "run", "heat", "--until", "3", "-q", "--no-record", "--save-state", "st.state")
		}
		c, errs := p.start(t, p.command("run", "heat", "--ticks", "1000000000", "-o", "a.murk", "--save-state", "st.state"))
		p.grows(t, "a.murk", header)
		write(t, p, "notes", "notes")
		if err := os.Rename(filepath.Join(p.dir, "notes"), filepath.Join(p.dir, "st.state")); err != nil {
			t.Fatal(err)
		}
		c.Process.Signal(os.Interrupt)
		c.Wait()
		beside := fmt.Sprintf(".st.state.new-%d", c.Process.Pid)
		want := "st.state: it cannot be put in its place (another program has written there meanwhile); it lies in " + beside + "\n"
		if c.ProcessState.ExitCode() != report.StatusError || !strings.HasPrefix(errs.String(), want) {
			t.Errorf("run = %v, %q; want %q", c.ProcessState, errs, want)
		}
		p.is(t, "st.state", []byte("notes"))
		if b := p.read(t, beside); !bytes.HasPrefix(b, []byte(session.StateMark)) {
			t.Errorf("%s holds %.20q, want the state", beside, b)
		}
		for _, name := range []string{beside, "st.state", "a.murk"} {
			os.Remove(filepath.Join(p.dir, name))
		}
	}
	p.onlyFiles(t)
}

// kindsOfFiles: links stay links, modes stay, pipes and devices are written as they go, and
// of a file with two names the other keeps the older recording.
func kindsOfFiles(t *testing.T, p program) {
	run := func(name string, more ...string) {
		t.Helper()
		p.must(t, append([]string{"run", "heat", "--ticks", "3", "-q", "-o", name}, more...)...)
	}
	run("plain.murk")
	want := p.read(t, "plain.murk")
	run(os.DevNull)
	if runtime.GOOS == "windows" {
		return
	}
	older := want[:len(want)-20] // without its last tick
	write(t, p, "a.murk", string(older))
	at := func(name string) string { return filepath.Join(p.dir, name) }
	for name, err := range map[string]error{
		"chmod": os.Chmod(at("a.murk"), 0o640), "link": os.Symlink("a.murk", at("link")), "new": os.Symlink("not/../b.murk", at("new")),
		"folder": os.Mkdir(at("not"), 0o777), "second": os.Link(at("a.murk"), at("second.murk")), "fifo": p.shell("mkfifo fifo").Run(),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	run("link")
	run("new")
	run(strings.Repeat("n", 255), "--no-index") // whose name would be too long
	for _, name := range []string{"a.murk", "b.murk", strings.Repeat("n", 255)} {
		p.is(t, name, want)
	}
	p.is(t, "second.murk", older)
	for _, name := range []string{"link", "new"} {
		if _, err := os.Readlink(at(name)); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(at("a.murk")); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v, %v; want 0640", info.Mode(), err)
	}
	status, got, errs := p.run(t, p.shell(`"$M" run heat --ticks 3 -q -o fifo & cat fifo; wait $!`))
	if status != 0 || got != string(want) {
		t.Errorf("%d bytes came through the pipe, want %d; status %d, %s", len(got), len(want), status, errs)
	}
	p.onlyFiles(t, "a.murk", "b.murk", "fifo", "link", "new", strings.Repeat("n", 255), "not", "plain.murk", "second.murk")
}

// closedStdout: data for a standard output that is closed are an error, and reports and texts are
// not. A null device that is opened for reading and writing looks the same.
func closedStdout(t *testing.T, p program) {
	if runtime.GOOS == "windows" {
		return // its shell cannot close it
	}
	p.must(t, "run", "heat", "--ticks", "3", "-q", "-o", "a.murk")
	if err := os.Symlink("/dev/../dev/stdout", filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"run heat --ticks 3 -o -", "run heat --ticks 3 --json -o -", "run heat --ticks 3 -q -o -", "run heat --ticks 3 --hashes -",
		"run heat --ticks 3 --no-record --save-state -", "convert a.murk -", "upgrade a.murk -", "new mine -o -",
		"run heat --ticks 3 -o /dev/stdout", "run heat --ticks 3 -q -o /dev/fd/1", "run heat --ticks 3 --no-record --hashes /dev/stdout",
		"run heat --ticks 3 --no-record -q --save-state link", "convert a.murk /dev/stdout --force", "new mine --force -o /dev/stdout",
		"seek a.murk --tick 2 -q --save-state /dev/stdout", "serve minewars", "serve minewars --tokens keys --json", "join ws://127.0.0.1:1", "join -q --json ws://127.0.0.1:1",
	} {
		for _, to := range []string{" >&-", " 1<>/dev/null"} {
			p.fails(t, p.shell(`exec "$M" `+args+to), "^standard output: it is closed, or the null device opened for reading and writing; to drop the data, write to /dev/null\n$")
		}
	}
	p.onlyFiles(t, "a.murk", "link")
	for _, args := range []string{"scenarios", "scenarios show heat", "scenarios show heat -q", "schema", "version", "help run", "verify a.murk", "seek a.murk --tick 2", "run heat --ticks 3 -o /dev/null"} {
		for _, to := range []string{" >&-", " 1<>/dev/null"} {
			if status, _, errs := p.run(t, p.shell(`exec "$M" `+args+to)); status != report.StatusOK {
				t.Errorf("murksim %s = %d, %s", args+to, status, errs)
			}
		}
	}
	for _, args := range []string{"verify --json a.murk >&-", "verify -q --json a.murk >&-", "run heat --ticks 3 -o /dev/null >&-", "run heat --ticks 3 -q -o /dev/stdout >/dev/null",
		"run heat --ticks 3 -o b.murk >&-", "run heat --ticks 3 -o - >/dev/null", "verify a.murk >&-"} {
		if status, _, errs := p.run(t, p.shell(`exec "$M" `+args)); status != report.StatusOK {
			t.Errorf("murksim %s = %d, %s", args, status, errs)
		}
	}
}
