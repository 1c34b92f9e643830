package measure

import (
	"context"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

//go:embed rival
var sources embed.FS

// CompilerFlags are those that the C loops are compiled with.
var CompilerFlags = []string{"-O3", "-march=native", "-ffp-contract=off"}

// Compiler finds a C compiler, or returns "".
func Compiler() string {
	for _, name := range []string{"gcc", "cc"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// compiled holds the C programs, each compiled when it is first asked for.
type compiled struct {
	folder   string // with the sources, and what the compiler leaves behind
	programs map[string]program
	stuck    error // the failure after which the compiler is not asked again
}

// A program is a file that can be run, or the reason why there is none.
type program struct {
	file string
	err  error
}

// Close removes what was compiled.
func (m *Runner) Close() error {
	if m.loops.folder == "" {
		return nil
	}
	return os.RemoveAll(m.loops.folder)
}

// program returns the C program of a family.
func (c *compiled) program(ctx context.Context, family string) (string, error) {
	p, done := c.programs[family]
	if !done {
		p.file, p.err = c.compile(ctx, family)
		if c.programs == nil {
			c.programs = map[string]program{}
		}
		c.programs[family] = p
	}
	return p.file, p.err
}

// compile makes a program. A compiler that does not work, whatever it does instead, is
// something that this machine lacks.
func (c *compiled) compile(ctx context.Context, family string) (file string, err error) {
	cc := Compiler()
	if cc == "" {
		return "", missing("no C compiler")
	}
	if c.stuck != nil {
		return "", c.stuck
	}
	if c.folder == "" {
		if err := c.unpack(); err != nil {
			return "", missing(fmt.Sprintf("nowhere to compile to: %v", err))
		}
	}
	source := filepath.Join(c.folder, family+".c")
	file = filepath.Join(c.folder, family)
	said, err := tool(ctx, c.folder, cc, slices.Concat(CompilerFlags, []string{"-o", file, source})...)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		c.stuck = missing(fmt.Sprintf("the C compiler fails: %v: %s", err, said))
	} else if _, err := os.Stat(file); err != nil {
		c.stuck = missing("the C compiler makes no program")
	}
	return file, c.stuck
}

// unpack writes the sources into a new folder.
func (c *compiled) unpack() (err error) {
	if c.folder, err = os.MkdirTemp("", "murksim-bench"); err != nil {
		return err
	}
	files, err := fs.Sub(sources, "rival")
	if err == nil {
		err = os.CopyFS(c.folder, files)
	}
	return err
}

// patience is how long a tool may take.
const patience = 5 * time.Minute // the machine may be busy with other things

// tool runs another project's program, which keeps its temporary files in a folder, or where it likes if the folder is
// "". It returns the first line of the output.
func tool(ctx context.Context, folder, name string, args ...string) (said string, err error) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(short, name, args...)
	cmd.WaitDelay = time.Second // if something that it started goes on
	if folder != "" {
		cmd.Env = append(os.Environ(), "TMPDIR="+folder)
	}
	var line firstLine
	cmd.Stdout, cmd.Stderr = &line, &line
	if err = cmd.Run(); short.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it takes more than %v", patience)
	}
	return strings.ToValidUTF8(string(line.text), "?"), err
}

// A firstLine keeps the first line that is written to it that is not empty, if short.
type firstLine struct {
	text  []byte
	whole bool
}

func (l *firstLine) Write(b []byte) (int, error) {
	const longest = 120
	for _, c := range b {
		switch {
		case l.whole || len(l.text) == longest:
		case c == '\n' && len(l.text) > 0:
			l.whole = true
		case c >= ' ' && c != 0x7f: // fit for a terminal
			l.text = append(l.text, c)
		}
	}
	return len(b), nil
}

// A cLoop is the C program of a family at work on a world.
type cLoop struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	values int           // of all fields
	most   time.Duration // that an answer may take
}

// startLoop starts the C program of a family on the state of a world. Numbers are the
// family's parameters.
func (r *run) startLoop(family string, w *engine.World, numbers []float32) (*cLoop, error) {
	state := fieldsOf(w)
	return r.startProgram(family, describe(w.Lattice(), state, numbers), len(slices.Concat(state...)))
}

// startProgram starts the C program of a family on an input that has a number of values.
func (r *run) startProgram(family string, input []byte, values int) (*cLoop, error) {
	file, err := r.loops.program(r.ctx, family)
	if err != nil {
		return nil, err
	}
	return r.startCommand(exec.CommandContext(r.ctx, file), input, values)
}

// startNumPy starts a program for NumPy, with a Python that has it.
func (r *run) startNumPy(name string, input []byte) (*cLoop, error) {
	if r.loops.folder == "" {
		if err := r.loops.unpack(); err != nil {
			return nil, missing(fmt.Sprintf("nowhere to put a program: %v", err))
		}
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} { // of which the first may be one without Debian's packages
		if _, err := tool(r.ctx, r.loops.folder, python, "-c", "import numpy"); err == nil {
			return r.startCommand(exec.CommandContext(r.ctx, python, filepath.Join(r.loops.folder, name)), input, 0)
		}
	}
	return nil, missing("no Python with NumPy")
}

// startCommand starts a rival.
func (r *run) startCommand(cmd *exec.Cmd, input []byte, values int) (_ *cLoop, err error) {
	c := &cLoop{cmd: cmd, values: values, most: patience + time.Duration(10*r.Seconds*float64(time.Second))}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		if r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		return nil, missing(fmt.Sprintf("the C loop cannot be run: %v", err)) // made for another machine, or in a folder of data only
	}
	if err := c.talk(input, nil); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// fieldsOf returns the values of each field of cells of a world.
func fieldsOf(w *engine.World) [][]float32 {
	s := w.Snapshot()
	defer s.Release()
	var all [][]float32
	for id := range w.Defs() {
		if v := s.AppendFloat32(nil, fields.ID(id)); len(v) > 0 { // the last one is the engine's own
			all = append(all, v)
		}
	}
	return all
}

// describe is the input that rival/rival.h says it reads.
func describe(l *space.Lattice, state [][]float32, numbers []float32) []byte {
	var b []byte
	put := func(numbers ...int) {
		for _, n := range numbers {
			b = binary.NativeEndian.AppendUint64(b, uint64(n))
		}
	}
	floats := func(v []float32) {
		for _, x := range v {
			b = binary.NativeEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	columns := int(l.Coord(l.Cells()-1).At(l.Dim()-1)) + 1
	put(l.Cells(), columns, len(l.Patterns()), len(l.Spans()), len(state), len(numbers))
	for _, p := range l.Patterns() {
		put(len(p.Offsets))
		put(p.Offsets...)
	}
	for _, s := range l.Spans() {
		put(s.First, s.Count, s.Stride, s.Pattern.ID)
	}
	for _, f := range state {
		put(len(f) / l.Cells())
		floats(f)
	}
	floats(numbers)
	return b
}

// ticks is a contender: the program times itself. It has one thread, which never sleeps.
func (c *cLoop) ticks(n int) (cost, error) {
	var answer [16]byte
	if err := c.ask(n, answer[:]); err != nil {
		return cost{}, err
	}
	wall, cpu := time.Duration(binary.NativeEndian.Uint64(answer[:])), time.Duration(binary.NativeEndian.Uint64(answer[8:]))
	return cost{wall: wall, cpu: cpu, waited: max(0, wall-cpu)}, nil
}

// state returns the values of all fields, one after the other, as they are now.
func (c *cLoop) state() ([]float32, error) {
	b := make([]byte, 4*c.values)
	if err := c.ask(0, b); err != nil {
		return nil, err
	}
	v := make([]float32, c.values)
	for i := range v {
		v[i] = math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:]))
	}
	return v, nil
}

func (c *cLoop) ask(order int, answer []byte) error {
	return c.talk(binary.NativeEndian.AppendUint64(nil, uint64(order)), answer)
}

// talk writes to the program and reads its answer. A program that dies or does not answer is something that this machine
// lacks.
func (c *cLoop) talk(text, answer []byte) error {
	alarm := c.alarm()
	_, err := c.in.Write(text)
	if err == nil {
		_, err = io.ReadFull(c.out, answer)
	}
	if !alarm.Stop() {
		return missing(fmt.Sprintf("the C loop does not answer within %v", c.most))
	}
	if err != nil {
		return missing(fmt.Sprintf("the C loop ended: %v", err))
	}
	return nil
}

func (c *cLoop) stop() {
	alarm := c.alarm()
	defer alarm.Stop()
	c.in.Close()
	c.cmd.Wait() // what it ends with changes nothing any more
}

// alarm kills the program if it is not stopped in time.
func (c *cLoop) alarm() *time.Timer { return time.AfterFunc(c.most, func() { c.cmd.Process.Kill() }) }
