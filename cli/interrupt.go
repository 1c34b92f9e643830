package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
)

// listen catches the signals that end the program; within another program none comes.
func (a *app) listen() chan os.Signal {
	signals := make(chan os.Signal, 1)
	if !a.embedded {
		notify(signals)
	}
	return signals
}

// untilSignal returns a context that ends with the first such signal, so that the present
// work can be finished; if that takes long, the user is told. The second signal ends the program at once.
// Writing to standard output and standard error ends with the context, too, if no process reads them.
func (a *app) untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	const (
		patience = 500 * time.Millisecond
		double   = 100 * time.Millisecond // signals that follow each other sooner are one
	)
	ctx, cancel := context.WithCancel(ctx)
	finished, finish := context.WithCancel(context.Background())
	signals := a.listen()
	outAlways, errsAlways := a.stdout.Until(ctx), a.Errs.Until(ctx)
	known := make(chan struct{}) // whether there was a signal
	go func() {
		select {
		case <-signals:
			a.interrupted.Store(true)
		case <-ctx.Done():
			select {
			case <-signals: // as the work ended
				a.interrupted.Store(true)
			default:
			}
		}
		close(known)
		cancel()
		select {
		case <-finished.Done():
		case <-time.After(double):
		}
		signal.Stop(signals)
		select {
		case <-finished.Done():
		case <-time.After(patience):
			if a.embedded {
				return
			}
			a.Meter(0).Clear()
			a.Warn("waiting for the tick, or what else is under way, to end; another Ctrl-C ends it at once")
		}
	}()
	return ctx, func() {
		if a.metricsLinger > 0 && a.lingering == nil {
			a.lingering = a.listen() // before the other one stops, or a signal between them would end the program
		}
		outAlways()
		errsAlways()
		finish()
		cancel()
		<-known
	}
}

// gaveUp says that after an interrupt the program no longer waited for a database; other errors stay.
func gaveUp(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("it has not answered for %s after the interrupt", report.PartingTime)
	}
	return evidence.Stored(err)
}
