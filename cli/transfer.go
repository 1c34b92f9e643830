package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios/document"
)

// A transfer makes one file from another. The new file appears when it is complete, under
// its name; until then its bytes stand in a temporary file beside it.
type transfer struct {
	*app
	force   bool
	stream  bool // a game comes without its file's header
	in, out string

	game  *minewars.Conversion // of a game; nil: it was none
	bytes int64                // written
	ended atomic.Bool          // either a signal or the publishing of the new file ends the transfer, not both
}

// flags adds what all transfers have.
func (t *transfer) flags(c *cobra.Command) {
	c.Args = arguments(cobra.ExactArgs(2), "two files, IN and OUT")
	c.Flags().BoolVar(&t.force, "force", false, "overwrite OUT if it exists")
}

// run opens both files and lets work do the rest. If the input turns out to be damaged, the
// frames before that are kept, and the error says so. If there are none, or writing failed,
// there is no new file, and an older file stays as it was; it also stays if reading
// failed, since the frames that follow are then unknown.
func (t *transfer) run(work func(dst io.Writer, src io.Reader) (frames uint64, err error)) error {
	if t.in == "" || t.out == "" {
		return report.Usage("IN and OUT must be files; one is empty")
	}
	t.out = files.Dashed(t.out)
	if t.ontoInput() {
		return report.Usage("%s is the input itself; write to another file", document.FileName(t.out))
	}
	src := t.app.In
	if t.in != "-" {
		f, err := os.Open(t.in)
		if err != nil {
			return words.About(t.in, err)
		}
		defer f.Close()
		src = f
	}
	var signals chan os.Signal
	if !files.IsPipe(t.out) { // its reader may never come
		signals = t.listen() // before there is a file to be left behind
	}
	out, file, err := t.open()
	if file == nil || !file.Regular() {
		signal.Stop(signals)
	} else {
		defer file.Close()
		defer t.closeOnSignal(signals, file)()
	}
	if err != nil {
		return err
	}
	w := report.NewOutput(io.MultiWriter(out, (*counter)(&t.bytes)))
	frames, err := work(w, src)
	switch {
	case w.Failed() != nil:
		return words.About(outputName(t.out), w.Failed())
	case t.bytes == 0:
		return words.About(t.in, err)
	}
	if err != nil && file != nil && file.Regular() && (frames == 0 || file.Older() && !session.Damaged(err)) {
		t.bytes = 0
		return t.unwritten(frames, words.About(t.in, err))
	}
	if file != nil {
		if !t.ended.CompareAndSwap(false, true) {
			select {} // the signal ends the program
		}
		if _, failed := finish(file); failed != nil {
			return words.About(t.out, failed)
		}
		if file.Regular() && !files.Same(session.IndexName(t.out), t.in) {
			removeIndex(t.out)
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\n  %s has what is whole before it: %s", words.About(t.in, err), outputName(t.out), words.Count(frames, "frame"))
}

// unwritten returns an error that left nothing to write, or too little to replace an older file.
func (t *transfer) unwritten(frames uint64, err error) error {
	if frames == 0 {
		return fmt.Errorf("%w\n  no frame before that is whole; %s was not written", err, document.FileName(t.out))
	}
	return fmt.Errorf("%w\n  %s stays as it was; write to another file for what was read before that: %s", err, document.FileName(t.out), words.Count(frames, "frame"))
}

// ontoInput reports whether the output is the file that the input comes from.
func (t *transfer) ontoInput() bool {
	switch {
	case t.in != "-" && t.out != "-":
		return files.Same(t.in, t.out)
	case t.in != "-":
		return files.IsStdout(t.in)
	}
	f, ok := t.app.In.(*os.File)
	if !ok || t.out == "-" {
		return false
	}
	in, err := f.Stat()
	out, missing := os.Stat(t.out)
	return err == nil && missing == nil && out.Mode().IsRegular() && os.SameFile(in, out)
}

func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return document.FileName(name)
}

func outputName(name string) string {
	if name == "-" {
		return "standard output"
	}
	return document.FileName(name)
}

// A counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// open begins the output; nil is standard output, which is then used for nothing else.
func (t *transfer) open() (io.Writer, *draft.File, error) {
	if t.out == "-" {
		out, err := t.takeStdout()
		return out, nil, err
	}
	if info, err := os.Stat(t.out); err == nil && info.Mode().IsRegular() && !t.force {
		return nil, nil, fmt.Errorf("%s exists; overwrite it with --force", document.FileName(t.out))
	}
	f, err := t.draft(context.Background(), t.out)
	if err == nil && f.Older() && !t.force { // it has just come
		return nil, f, fmt.Errorf("%s exists; overwrite it with --force", document.FileName(t.out))
	}
	return f, f, err
}

// closeOnSignal lets a signal that ends the program take the new file with it. While the
// file gets its name, the first signal changes nothing, and the second one ends the program.
func (t *transfer) closeOnSignal(signals chan os.Signal, f *draft.File) (release func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			if !t.ended.CompareAndSwap(false, true) {
				return
			}
			f.Close()
			fmt.Fprintf(t.Errs, "%s: interrupted; %s was not written\n", inputName(t.in), document.FileName(t.out))
			os.Exit(report.StatusError)
		case <-done:
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}
