package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/site"
)

// A viewJob serves the viewer.
type viewJob struct {
	visitor
	listen string
	open   bool
	closes []func()
}

func (a *app) viewCommand() *cobra.Command {
	j := &viewJob{visitor: visitor{app: a, maxMemory: defaultMaxMemory}}
	c := &cobra.Command{
		Use:   "view RECORDING [OTHER]",
		Short: "Look at a recording in the browser",
		Long: `View serves a page that shows the world of a recording at any tick, and what a replay finds:
each tick is computed again and compared with what was recorded. It prints the address,
which nobody else can guess, and only this computer can connect to. Ctrl-C ends it.

With two recordings of the same space and fields the page shows them side by side, with what
differs, and the first tick in which they do.

Exit status: 0 it was ended, 1 a file is damaged or cannot be replayed here.`,
		Example: `  murksim view heat.murk
  murksim view heat.murk --open
  murksim view a.murk b.murk`,
		Args: arguments(cobra.RangeArgs(1, 2), "one recording, or two"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := listenAddress(&j.listen); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx, args)
		},
	}
	f := c.Flags()
	f.StringVar(&j.listen, "listen", "127.0.0.1:0", "`address` and port to listen on; port 0 is any that is free")
	f.BoolVar(&j.open, "open", false, "open the page in the browser")
	j.flags(f)
	return c
}

// A viewingObject is what view prints with --json.
type viewingObject struct {
	Event string   `json:"event"` // "viewing"
	Files []string `json:"files"`
	URL   string   `json:"url"`
}

func (j *viewJob) run(ctx context.Context, names []string) error {
	defer func() {
		for _, f := range j.closes {
			f()
		}
	}()
	var list []*view.Recording
	const worlds = 3 // of a recording: what is looked at, a history, and the replay
	for _, name := range names {
		r, err := j.recording(ctx, name, j.maxMemory.share(worlds*uint64(len(names))))
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	if len(list) == 2 {
		if err := list[0].Comparable(list[1]); err != nil {
			return err
		}
	}
	socket, err := net.Listen("tcp", j.listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", j.listen, listenProblem(err))
	}
	defer socket.Close()
	token := rand.Text()
	url := fmt.Sprintf("http://%s/%s/", socket.Addr(), token)
	if err := cmp.Or(j.emit(viewingObject{"viewing", names, url}), j.say("view      %s\n          Ctrl-C ends it", url)); err != nil {
		return err
	}
	if j.open {
		if err := browse(url); err != nil {
			fmt.Fprintf(j.errs, "the browser cannot be opened: %v\n", err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	var sources []view.Source
	for _, r := range list {
		sources = append(sources, r)
	}
	session := view.NewSession(sources...)
	work.Go(func() { session.Run(ctx) })
	server := &http.Server{
		Handler:           site.Handler(site.Config{Session: session, Token: token, Hosts: site.Hosts(socket.Addr())}),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	work.Go(func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = server.Shutdown(end) // waits for answers, which read the file
	})
	err = server.Serve(socket)
	cancel()
	work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// recording opens a recording to be looked at, each of whose worlds may take so much memory.
func (j *viewJob) recording(ctx context.Context, name string, limit bytesFlag) (*view.Recording, error) {
	f, size, err := openSeekable(name)
	if err != nil {
		return nil, j.aboutRecording(name, err)
	}
	j.closes = append(j.closes, func() { f.Close() })
	x, err := j.indexOf(name)
	if err != nil {
		return nil, err
	}
	j.closes = append(j.closes, x.close)
	c := view.Config{Name: name, Recording: f, Size: size, Build: func(h *replay.Header) (*engine.World, *scenarios.Scenario, error) {
		rec := &recording{app: j.app, name: name}
		w, err := rec.builder(ctx, j.workers, limit)(h)
		return w, rec.scenario, err
	}}
	if x != nil {
		c.Index = x.Index
	}
	r, err := view.Open(c)
	if err != nil {
		return nil, j.aboutRecording(name, err)
	}
	return r, nil
}

// browse opens a page in the user's browser.
func browse(url string) error {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", url).Start()
	case "darwin":
		return exec.Command("open", url).Start()
	}
	return exec.Command("xdg-open", url).Start()
}
