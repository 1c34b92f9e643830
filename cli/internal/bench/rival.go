package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/murksim/murksim/space"
)

//go:embed rival/loop.c
var loopSource []byte

// CompilerFlags are those that the C loop is compiled with.
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

// compiled is the C program, compiled when it is first asked for.
type compiled struct {
	done        bool
	folder, bin string
	err         error
}

// Close removes what was compiled.
func (m *Runner) Close() error {
	if m.loop.folder == "" {
		return nil
	}
	return os.RemoveAll(m.loop.folder)
}

func (c *compiled) program(ctx context.Context) (string, error) {
	if !c.done {
		c.done = true
		c.err = c.compile(ctx)
	}
	return c.bin, c.err
}

// compile makes the program. That a compiler does not work, whatever it does instead, is
// something that this machine lacks.
func (c *compiled) compile(ctx context.Context) (err error) {
	cc := Compiler()
	if cc == "" {
		return missing("no C compiler")
	}
	if c.folder, err = os.MkdirTemp("", "murksim-bench"); err != nil {
		return missing(fmt.Sprintf("nowhere to compile to: %v", err))
	}
	c.bin = filepath.Join(c.folder, "loop")
	said, err := tool(ctx, loopSource, cc, append(CompilerFlags, "-x", "c", "-o", c.bin, "-")...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return missing(fmt.Sprintf("the C compiler fails: %v: %s", err, said))
	}
	if _, err := os.Stat(c.bin); err != nil {
		return missing("the C compiler makes no program")
	}
	return nil
}

// patience is how long a tool may take.
const patience = 30 * time.Second

// tool runs a program that somebody else wrote, and gives the first line of what it said.
func tool(ctx context.Context, in []byte, name string, args ...string) (said string, err error) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(short, name, args...)
	cmd.WaitDelay = time.Second // if something that it started goes on
	cmd.Stdin = bytes.NewReader(in)
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

// A cLoop is the C program at work on one lattice.
type cLoop struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.Reader
	cells int
}

// startLoop starts the C program on a field. Rate is the diffusion's for a tick and a
// neighbour.
func (r *run) startLoop(l *space.Lattice, rate float64, values []float32) (*cLoop, error) {
	bin, err := r.loop.program(r.ctx)
	if err != nil {
		return nil, err
	}
	c := &cLoop{cmd: exec.CommandContext(r.ctx, bin), cells: l.Cells()}
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
	if _, err := c.in.Write(describe(l, rate, values)); err != nil {
		c.stop()
		return nil, fmt.Errorf("the C loop: %w", err)
	}
	return c, nil
}

// describe is the input that rival/loop.c says it reads.
func describe(l *space.Lattice, rate float64, values []float32) []byte {
	var b []byte
	put := func(numbers ...int) {
		for _, n := range numbers {
			b = binary.NativeEndian.AppendUint64(b, uint64(n))
		}
	}
	put(l.Cells(), len(l.Patterns()), len(l.Spans()))
	for _, p := range l.Patterns() {
		put(len(p.Offsets))
		alpha := float32(min(float64(rate*float64(len(p.Offsets))), 1))
		b = binary.NativeEndian.AppendUint32(b, math.Float32bits(alpha))
		put(p.Offsets...)
	}
	for _, s := range l.Spans() {
		put(s.First, s.Count, s.Stride, s.Pattern.ID)
	}
	for _, v := range values {
		b = binary.NativeEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// ticks is a contender: the program times itself.
func (c *cLoop) ticks(n int) (time.Duration, error) {
	var answer [8]byte
	if err := c.ask(n, answer[:]); err != nil {
		return 0, err
	}
	return time.Duration(binary.NativeEndian.Uint64(answer[:])), nil
}

// values are those of the field now.
func (c *cLoop) values() ([]float32, error) {
	b := make([]byte, 4*c.cells)
	if err := c.ask(0, b); err != nil {
		return nil, err
	}
	v := make([]float32, c.cells)
	for i := range v {
		v[i] = math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:]))
	}
	return v, nil
}

func (c *cLoop) ask(order int, answer []byte) error {
	_, err := c.in.Write(binary.NativeEndian.AppendUint64(nil, uint64(order)))
	if err == nil {
		_, err = io.ReadFull(c.out, answer)
	}
	if err != nil {
		return fmt.Errorf("the C loop: %w", err)
	}
	return nil
}

func (c *cLoop) stop() {
	c.in.Close()
	c.cmd.Wait() // what it ends with changes nothing any more
}
