package server

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/sweep/cluster"
)

// A server whose disk was full is started again when there is room: at the same address, with what it had stored.
func TestServerGoesOnWhenThereIsRoom(t *testing.T) {
	var mu sync.Mutex
	var said strings.Builder
	c := cluster.ServerConfig{Listen: "127.0.0.1:0", Store: t.TempDir(), Say: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said.WriteString(text + "\n")
	}}
	s, err := begin(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = s.Addr().String()
	ctx, end := context.WithCancel(context.Background())
	r := &running{config: c, end: end, ended: make(chan struct{})}
	go r.keep(ctx, s)
	defer r.Stop()
	conn, err := nats.Connect("nats://"+c.Listen, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := conn.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.AddStream(&nats.StreamConfig{Name: "kept", Subjects: []string{"kept"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish("kept", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := s.ShutdownJetStream(); err != nil { // as it does when it cannot write
		t.Fatal(err)
	}
	if !waiting.Until(func() bool {
		m, err := js.GetMsg("kept", 1)
		return err == nil && string(m.Data) == "one"
	}) {
		t.Fatalf("the server has not gone on; it said\n%s", &said)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := "the server goes on"; !strings.Contains(said.String(), want) {
		t.Errorf("the server said %q, want %q in it", &said, want)
	}
}

// Without room the server says so, and can be stopped all the same.
func TestStopsWithoutRoom(t *testing.T) {
	said := make(chan string, 10)
	r := &running{config: cluster.ServerConfig{Store: t.TempDir() + "/none", Say: func(text string) { said <- text }}}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		if text := <-said; !strings.HasPrefix(text, "nothing can be stored: ") {
			t.Errorf("the server said %q, want that nothing can be stored", text)
		}
	}()
	r.waitForRoom(ctx)
	if ctx.Err() == nil {
		t.Error("there is room in a folder that does not exist")
	}
}
