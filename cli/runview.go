package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/site"
)

// A runViewer shows a run in the browser. A nil one shows nothing.
type runViewer struct {
	job    *runJob
	server viewServer

	live    *view.Live
	session *view.Session
	served  sync.WaitGroup
	err     error // of the server
	end     context.CancelFunc
}

// viewFlags adds --view and what goes with it.
func (j *runJob) viewFlags(f *pflag.FlagSet) {
	j.viewer = &runViewer{job: j, server: viewServer{app: j.app}}
	f.BoolVar(&j.view, "view", false, "show the run in the browser: it begins when the page is open, at its tick rate, and the page can hold it, change parameters and give commands")
	j.viewer.server.flags(f)
}

// checkView looks at the flags of the viewer.
func (j *runJob) checkView(given func(flag string) bool) error {
	if !j.view {
		j.viewer = nil
		for _, flag := range []string{"listen", "open"} {
			if given(flag) && j.serving == nil {
				return report.Usage("--%s needs --view", flag)
			}
		}
		return nil
	}
	switch {
	case j.resume != "":
		return report.Usage("--view and --resume cannot be used together")
	case j.Realtime:
		return report.Usage("--view and --realtime cannot be used together: the page sets the pace")
	}
	return listenAddress("listen", defaultListen, &j.viewer.server.listen)
}

// begin takes the address, before anything is written.
func (l *runViewer) begin() error {
	if l == nil {
		return nil
	}
	if err := session.CheckMemory(l.job.Scenario, l.job.maxMemory.Share(view.WorldsOfSource)); err != nil {
		return err
	}
	return l.server.listens()
}

// record returns the recorder that keeps the run for the page.
func (l *runViewer) record(descriptor []byte) (engine.Settler, error) {
	j := l.job
	l.live = view.NewLive(j.World, true)
	r, err := replay.NewRecorder(l.live, j.World, descriptor)
	if err != nil {
		return nil, err
	}
	if err := r.Flush(); err != nil {
		return nil, err
	}
	l.live.Flush, j.Gate = r.Flush, l.live.Gate
	return r, nil
}

// open serves the page.
func (l *runViewer) open(ctx context.Context) error {
	if l == nil {
		return nil
	}
	j := l.job
	s := j.Scenario
	var state []byte
	if j.began != nil {
		state = j.startState
	}
	if err := l.live.Show(); err != nil {
		return err
	}
	r, err := view.Open(view.Config{Name: s.Name, Live: l.live, Build: func(*replay.Header) (*engine.World, *scenarios.Scenario, error) {
		run, err := runner.New(runner.Config{Scenario: s, Workers: 1, State: state})
		if err != nil {
			return nil, nil, err
		}
		return run.World, s, nil
	}})
	if err != nil {
		return err
	}
	l.session = view.NewSession(r)
	l.session.Memory = j.maxMemory.Bytes
	ctx, l.end = context.WithCancel(ctx)
	l.served.Go(func() {
		if l.err = l.server.serve(ctx, site.Config{Session: l.session}, s.Name); l.err != nil {
			l.live.Stop(fmt.Errorf("the page is not there: %w", l.err))
		}
	})
	return nil
}

// ended says that the run has ended.
func (l *runViewer) ended(err error) {
	if l != nil && l.live != nil {
		l.live.End(err)
	}
}

// stay serves the page until the context ends; at once if the run failed.
func (l *runViewer) stay(ctx context.Context, failed bool) error {
	if l == nil || l.end == nil {
		return nil
	}
	if failed {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second): // in which the page hears why
		}
	} else {
		<-ctx.Done()
	}
	l.end()
	l.served.Wait()
	return l.err
}

// discard gives the address back if the run never began.
func (l *runViewer) discard() {
	if l != nil && l.end == nil && l.server.socket != nil {
		l.server.socket.Close()
	}
}

// recordForView records the run for the page.
func (j *runJob) recordForView() (engine.Settler, error) {
	descriptor, err := j.descriptor()
	if err != nil {
		return nil, err
	}
	return j.viewer.record(descriptor)
}

// resting sets a function to be called before the run pauses for a while.
func (l *runViewer) resting(f func() error) {
	if l != nil {
		l.live.Rest = f
	}
}
