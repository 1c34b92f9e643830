// Package server runs a server of NATS with JetStream within this process, alone or as one of a cluster.
package server

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/murksim/murksim/sweep/cluster"
)

// A running is a server that runs. When its store fails, such as on a full disk, it is started again once there is room.
type running struct {
	config cluster.ServerConfig
	url    string
	end    context.CancelFunc
	ended  chan struct{} // closed when it has been stopped
}

// Start starts a server, and returns when clients can connect. One of a cluster may wait for the others
// afterwards.
func Start(c cluster.ServerConfig) (cluster.Server, error) {
	s, err := begin(c)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "nats", Host: s.Addr().String()}
	if c.Cert != "" {
		u.Scheme = "tls"
	}
	c.Listen = u.Host // the same port when it is started again
	if c.Token != "" {
		u.User = url.User(c.Token)
	}
	ctx, end := context.WithCancel(context.Background())
	r := &running{config: c, url: u.String(), end: end, ended: make(chan struct{})}
	go r.keep(ctx, s)
	return r, nil
}

// begin starts a server of NATS.
func begin(c cluster.ServerConfig) (*server.Server, error) {
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Store, 0o700); err != nil {
		return nil, err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	s.SetLoggerV2(&logger{say: c.Say}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("the server cannot listen on %s", c.Listen)
	}
	return s, nil
}

// URL implements [cluster.Server].
func (r *running) URL() string { return r.url }

// Stop implements [cluster.Server].
func (r *running) Stop() {
	r.end()
	<-r.ended
}

// keep starts the server again when it has turned off its store and there is room again, until ctx ends.
func (r *running) keep(ctx context.Context, s *server.Server) {
	defer close(r.ended)
	for {
		select {
		case <-ctx.Done():
		case <-time.After(250 * time.Millisecond):
		}
		on := s != nil && s.JetStreamEnabled()
		if on && ctx.Err() == nil {
			continue
		}
		if s != nil {
			s.Shutdown() // without its store it only blocks the other servers
			s.WaitForShutdown()
		}
		r.waitForRoom(ctx)
		if ctx.Err() != nil {
			return
		}
		var err error
		if s, err = begin(r.config); err != nil {
			r.config.Say(fmt.Sprintf("the server cannot be started again: %v; trying again", err))
			s = nil
			continue
		}
		r.config.Say("something can be stored again; the server goes on")
	}
}

// waitForRoom waits until something can be stored, or ctx ends.
func (r *running) waitForRoom(ctx context.Context) {
	said := false
	for ctx.Err() == nil {
		err := probe(r.config.Store)
		if err == nil {
			return
		}
		if !said {
			said = true
			r.config.Say(fmt.Sprintf("nothing can be stored: %v; the server goes on when it can", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// probe writes some megabytes into a folder, and removes them.
func probe(folder string) (err error) {
	f, err := os.CreateTemp(folder, "probe")
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for range 8 {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// options translates a configuration.
func options(c cluster.ServerConfig) (*server.Options, error) {
	host, port, err := address(c.Listen)
	if err != nil {
		return nil, err
	}
	store, err := filepath.Abs(c.Store)
	if err != nil {
		return nil, err
	}
	o := &server.Options{
		PingInterval: 2 * time.Second, MaxPingsOut: 2, // else a host that was cut off waits half a minute for TCP when it is back
		Host: host, Port: port, NoSigs: true, JetStream: true, StoreDir: store, Authorization: c.Token, DisableJetStreamBanner: true,
		MaxPayload: 1 << 20, MaxPending: 64 << 20, JetStreamMaxStore: 1 << 40, JetStreamMaxMemory: 64 << 20,
		ReconnectErrorReports: 3600, // a server that is away is worth a line, and another one after an hour
	}
	if c.Cert != "" {
		o.TLS, o.TLSTimeout, o.TLSCert, o.TLSKey, o.TLSCaCert, o.TLSVerify = true, 5, c.Cert, c.Key, c.CA, c.CA != ""
		if o.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: c.Cert, KeyFile: c.Key, CaFile: c.CA, Verify: c.CA != "", MinVersion: tls.VersionTLS12}); err != nil {
			return nil, err
		}
	}
	if c.Routes == "" {
		return o, nil
	}
	return o, join(o, c)
}

// join makes the server one of a cluster. Servers of one token trust each other.
func join(o *server.Options, c cluster.ServerConfig) error {
	host, port, err := address(c.Routes)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte("routes " + c.Token))
	o.ServerName = strings.NewReplacer(":", "-", ".", "-").Replace(c.Routes)
	o.Cluster = server.ClusterOpts{Name: "murksim", Host: host, Port: port, Username: "murksim", Password: hex.EncodeToString(sum[:16]), ConnectRetries: 1 << 30, TLSConfig: o.TLSConfig}
	for _, peer := range c.Peers {
		if _, _, err := address(peer); err != nil {
			return err
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", User: url.UserPassword(o.Cluster.Username, o.Cluster.Password), Host: peer})
	}
	return nil
}

// address reads an address and a port; without an address this computer alone can connect.
func address(text string) (host string, port int, err error) {
	host, digits, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", 0, errors.New("a port is a number from 0 to 65535, not " + strconv.Quote(digits))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if n == 0 {
		return host, server.RANDOM_PORT, nil
	}
	return host, int(n), nil
}

// A logger passes on the messages that people must know. A server repeats some of them, once for each connection
// to another server: these it passes on once.
type logger struct {
	say  func(string)
	mu   sync.Mutex
	last string
}

func (l *logger) Noticef(string, ...any) {}
func (l *logger) Debugf(string, ...any)  {}
func (l *logger) Tracef(string, ...any)  {}
func (l *logger) Warnf(string, ...any)   {}

func (l *logger) Errorf(format string, v ...any) { l.pass(fmt.Sprintf(format, v...)) }
func (l *logger) Fatalf(format string, v ...any) { l.pass(fmt.Sprintf(format, v...)) }

func (l *logger) pass(text string) {
	l.mu.Lock()
	again := text == l.last
	l.last = text
	l.mu.Unlock()
	if !again {
		l.say("server: " + text)
	}
}
