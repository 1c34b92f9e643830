package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/serve"
)

// aboutServe is the help of serve.
const aboutServe = `Serve computes a world in real time, and streams it to people who watch and play. The
spectator sees everything; each player gets their own view. Clients connect by WebSocket or
plain TCP, on one port. docs/SERVE.md describes both, byte by byte; murksim join is such a
client.

Each view has a token, which opens that view alone and is printed at the start. Give players
theirs, and all others the spectator's. A client with a player's token takes the seat from a
bot and may give orders. When the last connection with that token is gone, the bot takes
over after --grace. --tokens keeps the tokens in a file that only you can read, for scripts
and for the next game.

Only this computer can connect, unless --listen names another address. Without TLS,
everything that is sent there can be read on the way, including tokens.

All input is recorded, and the recording can be verified like that of a run. Ctrl-C ends
serving after the current tick, with a valid recording: clients get what is waiting for
them, and are told. Another Ctrl-C ends it at once.

A client never slows the world or another client. One that does not read, floods or violates
the protocol is dropped; the limits are in docs/SERVE.md.

Exit status: 0 ok, 1 an error or a failed expectation, 2 usage, 5 halted.`

// A servingObject says where clients can connect, with --json.
type servingObject struct {
	Event   string       `json:"event"` // "serving"
	Address string       `json:"address"`
	TLS     bool         `json:"tls"`
	Views   []viewObject `json:"views"`
}

// A viewObject is one of the views.
type viewObject struct {
	View  minewars.View `json:"view"`
	Name  string        `json:"name"`
	Token string        `json:"token"`
	URL   string        `json:"url"`
}

// announce says where clients can connect, and with what.
func (s *serving) announce() error {
	address := s.socket.Addr().String()
	o := servingObject{Event: "serving", Address: address, TLS: s.secure != nil}
	scheme := "ws"
	if s.secure != nil {
		scheme = "wss"
	}
	for v := range len(s.keys.Players) + 1 {
		token := s.keys.Of(v)
		o.Views = append(o.Views, viewObject{v, serve.Name(v), token, fmt.Sprintf("%s://%s%s?token=%s", scheme, reachable(address), serve.Path, token)})
	}
	if err := s.job.Emit(o); err != nil {
		return err
	}
	lines := []string{fmt.Sprintf("%-9s %s, WebSocket and TCP", "serving", reachable(address))}
	for _, v := range o.Views {
		lines = append(lines, fmt.Sprintf("%-9s %s", v.Name, v.URL))
	}
	lines = append(lines, fmt.Sprintf("%-9s %s", "watch", s.hint(o, 0)), fmt.Sprintf("%-9s %s", "play", s.hint(o, 1)))
	if s.wait > 0 {
		lines = append(lines, fmt.Sprintf("%-9s for %s", "waiting", words.Count(uint64(s.wait), "client")))
	}
	if s.secure == nil && !loopback(s.socket.Addr()) && !s.job.Quiet {
		fmt.Fprintf(s.job.Errs, "without TLS, others on the network can read the tokens that clients send to %s, and play in their place; see --tls-cert\n", address)
	}
	return s.job.Say("%s", strings.Join(lines, "\n"))
}

// hint returns a command that joins as one of the views, and hides its token from other users
// of the computer, who can see the arguments of a process.
func (s *serving) hint(o servingObject, v minewars.View) string {
	join := s.job.Name + " join"
	if s.tokens == "" {
		if runtime.GOOS == "windows" { // whose shells set no variable for one command
			return fmt.Sprintf("%s '%s'", join, o.Views[v].URL)
		}
		return fmt.Sprintf("%s='%s' %s", joinVariable, o.Views[v].URL, join)
	}
	join += " --tokens " + words.Argument(s.tokens)
	if v != minewars.Spectator {
		join += fmt.Sprintf(" --player %d", v)
	}
	if url, _, _ := strings.Cut(o.Views[v].URL, "?"); url != "ws://"+defaultListen+serve.Path {
		join += " " + url
	}
	return join
}

// reachable returns an address under which others find this computer.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return address
	}
	name, err := os.Hostname()
	if err != nil {
		return address
	}
	return net.JoinHostPort(name, port)
}

// loopback reports whether an address is of this computer alone.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// findTokens reads the tokens, or makes fresh ones and, if there is a file for them, writes them.
func (s *serving) findTokens(players int) (t serve.Tokens, err error) {
	if s.tokens == "" {
		return serve.NewTokens(players), nil
	}
	t, err = readTokens(s.tokens)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(s.tokens); err == nil {
			return t, fmt.Errorf("%s: it is a link to a file that does not exist", document.FileName(s.tokens))
		}
		t = serve.NewTokens(players)
		if err := writeTokens(s.tokens, t); err != nil {
			if e, ok := errors.AsType[*fs.PathError](err); ok { // of another name, until the file is whole
				err = e.Err
			}
			return t, words.About(s.tokens, err)
		}
		return t, nil
	}
	if err != nil {
		return t, err
	}
	if err := t.Check(players); err != nil {
		return t, fmt.Errorf("%s: %w", document.FileName(s.tokens), err)
	}
	return t, nil
}

// readTokens reads a file of tokens, which only its owner may read.
func readTokens(path string) (t serve.Tokens, err error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return t, fmt.Errorf("%s: others can read or change it; chmod 600 ends that", document.FileName(path))
	}
	b, err := files.ReadSmall(path, "a file of tokens")
	if err != nil {
		return t, err
	}
	if err := jsonlines.Decode(b, &t); err != nil {
		return t, fmt.Errorf("%s: not a file of tokens: %w", document.FileName(path), err)
	}
	return t, nil
}

// writeTokens writes a file that only its owner can read, and which must not be there yet. It is there
// when it is whole, because a client may wait for it.
func writeTokens(path string, t serve.Tokens) error {
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return draft.WriteSecret(path, append(b, '\n'), false)
}

// A winnerObject says who has won, with --json.
type winnerObject struct {
	Event  string        `json:"event"` // "winner"
	Player minewars.View `json:"player"`
	Name   string        `json:"name,omitempty"`
	Tick   uint64        `json:"tick"`
}

// tellWinner says who has won as soon as that is so, unless the context ends before.
func (s *serving) tellWinner(ctx context.Context) {
	select {
	case <-s.server.Won():
	case <-ctx.Done():
	}
	st := s.server.Stats()
	if st.Winner == 0 {
		return
	}
	o := winnerObject{"winner", st.Winner, "", st.Won}
	if s.names != nil {
		o.Name = s.names[o.Player-1]
	}
	_ = s.job.Emit(o) // the writer keeps its error
	_ = s.job.Say("%-9s %s, at tick %s", "winner", numberedName(s.names, o.Player), words.Number(o.Tick))
}

// A statusObject says every few seconds how the serving goes, and once more at its end.
type statusObject struct {
	Event   string            `json:"event"` // "status", "served"
	Tick    uint64            `json:"tick"`
	Clients int               `json:"clients"`
	Views   []int             `json:"views"`   // clients of each
	Joined  uint64            `json:"joined"`  // so far
	Ended   map[string]uint64 `json:"ended"`   // connections so far, for each reason
	Orders  uint64            `json:"orders"`  // so far
	Refused uint64            `json:"refused"` // so far, of orders
	Bytes   uint64            `json:"bytes"`   // sent so far
	Late    lateObject        `json:"late_ms"` // how late ticks began
}

// status returns the present status, with the lateness of some of the last ticks.
func (s *serving) status(event string, last int) statusObject {
	st := s.server.Stats()
	o := statusObject{
		Event: event, Tick: st.Tick, Clients: st.Total(), Views: st.Clients[:len(s.keys.Players)+1], Joined: st.Joined, Ended: map[string]uint64{},
		Orders: st.Orders, Refused: st.Refused, Bytes: st.Bytes, Late: s.late.of(last),
	}
	for why, n := range st.Ended {
		o.Ended[string(why)] = n
	}
	return o
}

const period = 5 * time.Second // of reports

// reports prints the status every few seconds until the context ends. It has a goroutine of its own, because a
// terminal may keep it waiting.
func (s *serving) reports(ctx context.Context, tick time.Duration) {
	every := time.NewTicker(period)
	defer every.Stop()
	_, terminal := s.job.Errs.Terminal()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		o := s.status("status", int(period/max(tick, 1)))
		_ = s.job.Emit(o) // the writer keeps its error
		if terminal && !s.job.Quiet && !s.job.JSON {
			fmt.Fprintln(s.job.Errs, o.String())
		}
	}
}

// String is the line for people.
func (o statusObject) String() string {
	dropped := uint64(0)
	for _, why := range []serve.End{serve.EndSlow, serve.EndStalled, serve.EndIdle, serve.EndFlood, serve.EndGarbage, serve.EndTooLarge} {
		dropped += o.Ended[string(why)]
	}
	return fmt.Sprintf("tick %s  %s, %s dropped  %s, %s refused  %s sent  ticks late by %.1f ms, 1 in 100 by %.1f", words.Number(o.Tick), words.Count(uint64(o.Clients), "client"), words.Number(dropped),
		words.Count(o.Orders, "order"), words.Number(o.Refused), words.Size(int64(o.Bytes)), o.Late.Median, o.Late.P99)
}

// summary is the report at the end.
func (s *serving) summary() error {
	if s == nil {
		return nil
	}
	o := s.status("served", 0)
	if err := s.job.Emit(o); err != nil {
		return err
	}
	return s.job.Say("%-9s %s, %s, %s; ticks began late by %.1f ms, 1 in 100 by %.1f, at most %.1f", "served", words.Count(o.Joined, "client"), words.Count(o.Orders, "order"), words.Size(int64(o.Bytes)),
		o.Late.Median, o.Late.P99, o.Late.Max)
}
