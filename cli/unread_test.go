package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/murksim/murksim/internal/files"
)

// TestInterruptedWhereNothingReads: one Ctrl-C ends every command whose output is not read any
// more, on standard output or in a pipe with a name.
func TestInterruptedWhereNothingReads(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	p := build(t)
	p = program{p.path, t.TempDir()}
	p.must(t, "run", "heat", "-q", "-o", "a.murk")
	recording := p.read(t, "a.murk")
	for _, args := range []string{
		"run heat --ticks 1000000 -o -",
		"run heat --no-record --save-state -",
		"run heat --no-record --ticks 1000000 --hashes -",
		"run colony --no-record --events --json",
		"seek a.murk --tick 5 --save-state -",
		"verify --each --json a.murk",
		"run heat --ticks 1000000 -o fifo.csv",
		"run heat --no-record --ticks 1000000 --hashes fifo.csv",
		"run heat --no-record --save-state fifo.csv",
		"seek a.murk --tick 5 --save-state fifo.csv",
		"export a.murk -o fifo.csv --force",
		"convert a.murk fifo.csv", // which the signal ends
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			p := program{p.path, t.TempDir()}
			write(t, p, "a.murk", string(recording))
			if status, _, errs := p.run(t, p.shell("mkfifo fifo.csv")); status != 0 {
				t.Fatal(errs)
			}
			fifo, err := os.OpenFile(filepath.Join(p.dir, "fifo.csv"), os.O_RDWR, 0) // a reader that reads nothing
			if err != nil {
				t.Fatal(err)
			}
			defer fifo.Close()
			r, w, err := os.Pipe() // likewise
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c := p.command(strings.Fields(args)...)
			var errs bytes.Buffer
			c.Stdout, c.Stderr = w, &errs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			rests(t, c)
			c.Process.Signal(os.Interrupt)
			ends(t, c)
			if c.ProcessState.Exited() && !strings.Contains(errs.String(), "interrupted") {
				t.Errorf("%v: %s; want that it was interrupted", c.ProcessState, &errs)
			}
		})
	}
}

// TestWriterWaitsForItsReader: what is written after the context has ended is whole if it is
// read, however slowly, and a reader that takes nothing is given up for good.
func TestWriterWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		r, w := io.Pipe()
		defer r.Close() // ends the write that was given up
		p := files.NewPatientWriter(ctx, w, "")
		text := bytes.Repeat([]byte("0123456789"), 30_000)
		got := make([]byte, len(text))
		read := make(chan error, 1)
		go func() {
			for i := 0; i < len(got); i += 10_000 {
				time.Sleep(files.ReaderPatience / 20) // more than readerPatience in all
				if _, err := io.ReadFull(r, got[i:i+10_000]); err != nil {
					read <- err
					return
				}
			}
			read <- nil
		}()
		if n, err := p.Write(text); n != len(text) || err != nil {
			t.Errorf("Write = %d, %v, want %d", n, err, len(text))
		}
		if err := <-read; err != nil || !bytes.Equal(got, text) {
			t.Errorf("it reads something else, %v", err)
		}
		for range 2 {
			if n, err := p.Write(text); n != 0 || !errors.Is(err, files.ErrUnread) {
				t.Errorf("Write = %d, %v, want 0, %v", n, err, files.ErrUnread)
			}
		}
	})
}
