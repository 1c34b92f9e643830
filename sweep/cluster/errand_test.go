package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/murksim/murksim/sweep/cluster"
)

// runs starts a worker that carries out errands of the kind "count", and returns what ends it.
func (b *bench) runs(name string, do cluster.Doer) (stop func()) {
	return b.start(cluster.Worker{Registry: registry(b, false, 1), Cores: 2, Name: name, Errands: map[string]cluster.Doer{"count": do}})
}

// counts answers with what was asked and how long the file is.
func counts(_ context.Context, path string, ask []byte) ([]byte, error) {
	data, err := os.ReadFile(path)
	return fmt.Appendf(nil, "%s %d", ask, len(data)), err
}

// files writes n files, whose lengths are their numbers.
func files(t testing.TB, n int) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(paths[i], bytes.Repeat([]byte("x"), i), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// doAll sends an errand for each file, all at the same time, and holds that each answer is the right one.
func doAll(t *testing.T, e *cluster.Errands, paths []string) {
	t.Helper()
	var all sync.WaitGroup
	for i, path := range paths {
		all.Go(func() {
			a, err := e.Do(t.Context(), cluster.Errand{Path: path, Ask: fmt.Appendf(nil, "errand %d:", i)})
			if want := fmt.Sprintf("errand %d: %d", i, i); err != nil || string(a.Text) != want || a.Worker != "good" {
				t.Errorf("Do = %q by %q, %v, want %q by good", a.Text, a.Worker, err, want)
			}
		})
	}
	all.Wait()
}

func (b *bench) errands() *cluster.Errands {
	b.Helper()
	e, err := cluster.OpenErrands(b.Context(), cluster.Options{URL: b.server.URL()}, "count", "sender", b.say("sender"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(e.Close)
	return e
}

// What a worker cannot do, or is ended over, another one does; each answer is that of its file.
func TestErrandsAreDone(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	b.work("without", registry(t, false, 1))
	e := b.errands()
	var tried, begun atomic.Int64
	b.runs("full", func(context.Context, string, []byte) ([]byte, error) {
		tried.Add(1)
		return nil, errors.New("no space left on device")
	})
	stop := b.runs("ended", func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		begun.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	done := make(chan bool)
	go func() {
		doAll(t, e, files(t, 40))
		close(done)
	}()
	for begun.Load() < 2 || tried.Load() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	b.runs("good", counts)
	<-done
	if !b.heard("full: count-") || !b.heard("no space left on device; it is left to others") {
		t.Errorf("the worker whose disk is full said nothing:\n%s", b.said.String())
	}
	if !b.heard("sender: worker full leaves a file to others: no space left on device") {
		t.Errorf("the sender does not say why a worker takes no file:\n%s", b.said.String())
	}
	if !b.heard("is left to others: this program has no such command") {
		t.Errorf("the worker without the command said nothing:\n%s", b.said.String())
	}
	if _, err := e.Do(t.Context(), cluster.Errand{Path: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("Do of a folder = %v", err)
	}
}

// What the servers have lost is sent again.
func TestErrandsAreSentAgain(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	e := b.errands()
	jobs, err := b.jetStream().Stream(t.Context(), "MURKSIM_JOBS")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() {
		doAll(t, e, files(t, 3))
		close(done)
	}()
	for {
		info, err := jobs.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if info.State.Msgs == 3 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := jobs.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.runs("good", counts)
	<-done
	if !b.heard("they are sent again") {
		t.Errorf("the sender said nothing:\n%s", b.said.String())
	}
}
