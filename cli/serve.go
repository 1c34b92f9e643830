package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/serve"
)

// A serving is what serve adds to a run. A nil one adds nothing.
type serving struct {
	job     *runJob
	listen  string
	cert    string
	key     string
	tokens  string // a file; "": fresh ones
	origins []string
	wait    int
	linger  time.Duration
	grace   time.Duration
	speed   float64
	fast    bool
	queue   session.Size
	limits  serve.Limits

	names  []string // of the players; nil: they have none
	server *serve.Server
	keys   serve.Tokens
	secure *tls.Config // nil: no TLS
	socket net.Listener
	late   lateness
	ended  chan struct{} // closed when all connections are
	report sync.WaitGroup
	stop   context.CancelFunc // of the report
}

const defaultListen = "127.0.0.1:4600"

// What --speed may be.
const minSpeed, maxSpeed = 0.001, 1000

func (a *app) serveCommand() *cobra.Command {
	j := &runJob{app: a, Run: new(runner.Run), maxMemory: session.DefaultMaxMemory, indexBudget: defaultIndexBudget, refused: tally{}, refusedEvents: tally{}}
	s := &serving{job: j, queue: session.Size{Bytes: 1 << 20, Text: "1MiB"}}
	j.serving, j.stats.every = s, 1 // it has no statistics
	c := &cobra.Command{
		Use:   "serve SCENARIO",
		Short: "Run a world in real time for people who watch and play",
		Long:  aboutServe,
		Example: `  murksim serve minewars
  murksim serve minewars --tokens keys.json --wait 2 -o game.murk
  murksim serve minewars --listen 0.0.0.0:4600 --tls-cert cert.pem --tls-key key.pem
  murksim serve minewars --seed random --speed 4 --linger 1m
  murksim serve minewars --metrics :9090`,
		Args: arguments(cobra.ExactArgs(1), "one scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			given := c.Flags().Changed
			return inTurn(func() error { return j.check(given) }, func() error { return s.check(given) }, func() error { return j.run(c.Context(), args[0]) })
		},
	}
	j.worldFlags(c.Flags())
	s.flags(c.Flags())
	return c
}

func (s *serving) flags(f *pflag.FlagSet) {
	f.StringVar(&s.listen, "listen", defaultListen, "`address` and port to listen on; without an address, as in :4600, only this computer can connect; port 0 is any free port")
	f.StringVar(&s.cert, "tls-cert", "", "certificate for TLS, a PEM `file`")
	f.StringVar(&s.key, "tls-key", "", "its private key, a PEM `file`")
	f.StringVar(&s.tokens, "tokens", "", "read the tokens from a `file`, or write fresh ones there if it does not exist")
	f.StringArrayVar(&s.origins, "origin", nil, "let web pages of an `origin`, such as https://example.org, connect; can be repeated")
	f.IntVar(&s.wait, "wait", 0, "begin when so many `clients` are there")
	f.DurationVar(&s.linger, "linger", 0, "keep connections open for this long after the last tick")
	f.DurationVar(&s.grace, "grace", 10*time.Second, "return a player's seat to the bot this long after the last connection")
	f.Float64Var(&s.speed, "speed", 1, "how many times as fast as the scenario's tick rate")
	f.BoolVar(&s.fast, "fast", false, "compute ticks as fast as possible; clients that cannot follow are dropped")
	f.IntVar(&s.limits.Clients, "max-clients", 4096, "how many `clients` there may be")
	f.IntVar(&s.limits.Newcomers, "max-newcomers", 1024, "how many more `connections` there may be that have shown no token yet")
	f.IntVar(&s.limits.PerAddress, "max-per-address", 256, "how many `connections` there may be from one address, of IPv6 from one /64")
	f.IntVar(&s.limits.Orders, "max-orders", 20, "how many `orders` a second each player may give")
	f.Var(&s.queue, "max-queue", "how much may wait for a client before it is dropped")
	f.DurationVar(&s.limits.Stall, "max-stall", 10*time.Second, "how long a client may read nothing while something waits for it")
	f.DurationVar(&s.limits.Hello, "max-hello", 5*time.Second, "how long a connection may take to show its token")
}

// check looks at the flags.
func (s *serving) check(given func(flag string) bool) error {
	s.job.Realtime, s.job.Speed = true, s.speed
	if s.fast {
		s.job.Speed = math.Inf(1)
	}
	for _, f := range []struct {
		flag  string
		value int
	}{{"max-clients", s.limits.Clients}, {"max-newcomers", s.limits.Newcomers}, {"max-per-address", s.limits.PerAddress}, {"max-orders", s.limits.Orders}} {
		if f.value < 1 || f.value > 1_000_000 {
			return report.Usage("--%s must be 1 to 1,000,000, not %d", f.flag, f.value)
		}
	}
	switch {
	case s.wait < 0 || s.wait > s.limits.Clients:
		return report.Usage("--wait must be 0 to %d, the most clients that there may be, not %d", s.limits.Clients, s.wait)
	case s.linger < 0 || s.grace < 0:
		return report.Usage("--linger and --grace must not be below 0")
	case s.limits.Stall <= 0 || s.limits.Hello <= 0:
		return report.Usage("--max-stall and --max-hello must be above 0")
	case !(s.speed >= minSpeed && s.speed <= maxSpeed):
		return report.Usage("--speed must be %v to %d, not %v", minSpeed, maxSpeed, s.speed)
	case s.fast && given("speed"):
		return report.Usage("--fast and --speed cannot be used together")
	case (s.cert == "") != (s.key == ""):
		return report.Usage("--tls-cert and --tls-key must be used together")
	case s.queue.Bytes < 1<<16 || s.queue.Bytes > 1<<30:
		return report.Usage("--max-queue must be 64KiB to 1GiB, not %s", s.queue.Text)
	}
	s.limits.Queue = int(s.queue.Bytes)
	if err := listenAddress("listen", defaultListen, &s.listen); err != nil {
		return err
	}
	for _, o := range s.origins {
		if !strings.HasPrefix(o, "http://") && !strings.HasPrefix(o, "https://") || strings.Count(o, "/") != 2 {
			return report.Usage("--origin must be like https://example.org, not %q", o)
		}
	}
	if s.job.JSON || s.tokens == "" && !s.job.Quiet { // fresh tokens are said there and nowhere else
		return s.job.stdoutOpen()
	}
	return nil
}

// listenAddress checks the value of --listen, or of another flag. Without an address it is this computer's own.
func listenAddress(flag, such string, listen *string) error {
	host, port, err := net.SplitHostPort(*listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return report.Usage("--%s must be an address and a port, 0 to 65535, such as %s, not %q", flag, such, *listen)
	}
	*listen = net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port)
	return nil
}

// begin makes the server, before anything is written.
func (s *serving) begin(j *runJob) error {
	if s == nil {
		return nil
	}
	tells, err := teller(j.Scenario, j.World)
	if err != nil {
		return err
	}
	if s.cert != "" {
		pair, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
		s.secure = &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}
	}
	if s.socket, err = net.Listen("tcp", s.listen); err != nil { // before fresh tokens are written
		return fmt.Errorf("cannot listen on %s: %w", s.listen, listenProblem(err))
	}
	s.names = tells.Start().Names
	if s.keys, err = s.findTokens(tells.Start().Players); err == nil {
		s.server, err = serve.New(serve.Config{
			World: j.World, Teller: tells, Tokens: s.keys, Limits: s.limits, TLS: s.secure, Origins: s.origins, Grace: s.grace,
		})
	}
	if err != nil {
		s.socket.Close()
		return err
	}
	j.Watchers = append(j.Watchers, s.server)
	return nil
}

// listenProblem leaves the operation and the address out, which have been said.
func listenProblem(err error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err
	}
	return err
}

// open lets clients in, says where, and waits for as many as --wait asks for.
func (s *serving) open(ctx context.Context) error {
	if s == nil {
		return nil
	}
	s.server.Listen(s.socket)
	if err := s.announce(); err != nil {
		return err
	}
	ctx, s.stop = context.WithCancel(ctx)
	tick := time.Duration(s.job.World.Dt() / s.job.Speed * float64(time.Second))
	s.report.Go(func() { s.reports(ctx, tick) })
	s.report.Go(func() { s.tellWinner(ctx) })
	if s.wait > 0 {
		_ = s.server.Wait(ctx, s.wait) // after an interrupt there is no tick
	}
	return nil
}

// receipts hands receipts on to the players.
func (s *serving) receipts(tick uint64, list []commands.Receipt) {
	if s != nil {
		s.server.Receipts(tick, list)
	}
}

// note notes how late a tick began.
func (s *serving) note(late time.Duration) {
	if s != nil {
		s.late.add(late)
	}
}

// drainTime is how long clients may take to read the rest at the end.
const drainTime = 2 * time.Second

// part ends the connections while the outputs are finished, unless they are to stay for a while.
func (s *serving) part(ctx context.Context, failed error) {
	if s == nil || s.ended != nil || s.linger > 0 && ctx.Err() == nil && failed == nil {
		return
	}
	why := serve.EndServer
	if failed == nil && ctx.Err() == nil {
		why = serve.EndGame
	}
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		drain, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		_ = s.server.Close(drain, why) // then clients that read too slowly lose the rest
	}()
}

// close waits until the connections have ended. Those that stay for a while end now, or when the
// context does.
func (s *serving) close(ctx context.Context, failed bool) {
	if s == nil {
		return
	}
	if s.ended == nil && !failed {
		select {
		case <-ctx.Done():
		case <-time.After(s.linger):
		}
	}
	s.linger = 0
	s.part(ctx, nil)
	<-s.ended
	s.socket.Close() // open still if the run failed before open
	if s.stop != nil {
		s.stop()
	}
	s.report.Wait()
}

// discard ends a serving that never began.
func (s *serving) discard() {
	if s != nil && s.server != nil {
		s.socket.Close()
		_ = s.server.Close(context.Background(), serve.EndServer)
	}
}

// lateness is how late the last ticks began, those of about the last hour.
type lateness struct {
	mu   sync.Mutex
	last []time.Duration // used as a ring
	n    int
}

const keptLateness = 1 << 16 // ticks

func (l *lateness) add(late time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) < keptLateness {
		l.last = append(l.last, late)
	} else {
		l.last[l.n%keptLateness] = late
	}
	l.n++
}

// A lateObject says how late ticks began, in milliseconds.
type lateObject struct {
	Median float64 `json:"p50"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// of returns how late the last n ticks were; 0: all that are kept.
func (l *lateness) of(last int) (o lateObject) {
	l.mu.Lock()
	known := len(l.last)
	if last > 0 {
		known = min(known, last)
	}
	list := make([]time.Duration, known)
	for i := range list {
		list[i] = l.last[(l.n-known+i)%keptLateness]
	}
	l.mu.Unlock()
	if len(list) == 0 {
		return o
	}
	slices.Sort(list)
	at := func(share float64) float64 {
		d := list[int(share*float64(len(list)-1))]
		return math.Round(d.Seconds()*1e5) / 100
	}
	return lateObject{at(0.5), at(0.99), at(1)}
}
