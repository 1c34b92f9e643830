package cluster_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/sweep/cluster"
	"github.com/murksim/murksim/sweep/cluster/server"
)

// free returns addresses of ports that are free.
func free(t testing.TB, n int) (list []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		list = append(list, l.Addr().String())
	}
	return list
}

// A several is the servers of a cluster. Its URL is that of one of them.
type several struct {
	configs []cluster.ServerConfig
	running []cluster.Server
}

func (s *several) URL() string { return s.running[0].URL() }

// Stop stops those that run.
func (s *several) Stop() {
	for _, r := range s.running {
		if r != nil {
			r.Stop()
		}
	}
}

// newThree starts three servers, and does not wait until they know each other.
func newThree(t testing.TB) (*bench, *several) {
	t.Helper()
	b, s := &bench{TB: t}, &several{}
	addresses := free(t, 6)
	for i := range 3 {
		c := cluster.ServerConfig{Listen: addresses[i], Store: t.TempDir(), Routes: addresses[3+i], Say: b.say(fmt.Sprint("server ", i))}
		for j := range 3 {
			if j != i {
				c.Peers = append(c.Peers, addresses[3+j])
			}
		}
		r, err := server.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		s.configs, s.running = append(s.configs, c), append(s.running, r)
	}
	b.server = s
	t.Cleanup(s.Stop)
	return b, s
}

// leader returns which server leads a stream, and on how many the stream is.
func (s *several) leader(t testing.TB, stream string) (index, replicas int) {
	t.Helper()
	for _, r := range s.running {
		conn, err := nats.Connect(r.URL())
		if err != nil {
			continue
		}
		defer conn.Close()
		js, err := conn.JetStream(nats.MaxWait(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		info, err := js.StreamInfo(stream)
		if err != nil || info.Cluster == nil {
			continue
		}
		for i, c := range s.configs {
			if info.Cluster.Leader == strings.NewReplacer(":", "-", ".", "-").Replace(c.Routes) {
				return i, info.Config.Replicas
			}
		}
	}
	return -1, 0
}

// Workers and the coordinator know one server of three, and begin before these have a leader. The streams are on all three
// nevertheless, and the loss of the server that leads the jobs loses nothing.
func TestThreeServersLoseOne(t *testing.T) {
	b, s := newThree(t)
	const seeds = 1500
	want := b.local(seeds)
	b.work("one", registry(t, false, 1))
	b.work("two", registry(t, false, 1))
	c, j := b.sweep(seeds)
	done := make(chan error, 1)
	go func() { done <- cluster.Run(t.Context(), c) }()
	index, replicas := -1, 0
	waiting.Until(func() bool {
		index, replicas = s.leader(t, "MURKSIM_JOBS")
		return index >= 0
	})
	if index < 0 || replicas != 3 {
		t.Fatalf("the jobs are on %d servers, want 3\n%s", replicas, b.said.String())
	}
	s.running[index].Stop()
	time.Sleep(time.Second)
	again, err := server.Start(s.configs[index])
	if err != nil {
		t.Fatal(err)
	}
	s.running[index] = again
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%v\n%s", err, b.said.String())
		}
	case <-time.After(waiting.Hang):
		b.mu.Lock()
		defer b.mu.Unlock()
		t.Fatalf("the sweep does not end\n%s", b.said.String())
	}
	if got := table(t, j); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
}
