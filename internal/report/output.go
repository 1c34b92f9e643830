package report

import (
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/murksim/murksim/internal/files"
)

// An Output is standard output, or standard error, which several goroutines may write to.
// It keeps the first error, also for callers that drop it.
type Output struct {
	w       io.Writer
	patient atomic.Pointer[files.PatientWriter] // from when signals are caught; nil: w is written to
	mu      sync.Mutex
	err     error
}

// NewOutput returns an output that writes to w.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Failed returns the first error of writing.
func (o *Output) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// WritesTo reports whether it is w that is written to.
func (o *Output) WritesTo(w io.Writer) bool { return o.w == w }

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.w
	if patient := o.patient.Load(); patient != nil {
		w = patient
	}
	n, err := w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Until makes writing end with a context, if it may wait for ever. Unless the context has ended
// when the function that it returns is called, writing then waits for ever again.
func (o *Output) Until(ctx context.Context) (always func()) {
	if !files.Waits(o.w) {
		return func() {}
	}
	patient := files.NewPatientWriter(ctx, o.w, "")
	o.patient.Store(patient)
	return func() {
		if ctx.Err() == nil {
			o.patient.CompareAndSwap(patient, nil)
		}
	}
}

// Terminal returns the file that is written to, if it is a terminal.
func (o *Output) Terminal() (f *os.File, ok bool) {
	f, ok = o.w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}
