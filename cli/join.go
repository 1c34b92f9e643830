package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/watch"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/serve"
)

// joinVariable is the variable of the environment that join takes a URL from.
const joinVariable = "MURKSIM_URL"

// A joinJob is one client of a world that is served.
type joinJob struct {
	*app
	output string
	until  uint64
	ca     string
	orders []string
	tokens string
	player int
	watch  bool

	joined bool // the server has said so
	view   atomic.Int32
	plain  bool           // no TLS
	out    *output        // of the stream; nil: it is printed
	pipe   *io.PipeWriter // the stream, to the goroutine that reads it
	done   chan error     // what that came to

	screen *watch.Canvas // with --watch
}

func (a *app) joinCommand() *cobra.Command {
	j := &joinJob{app: a}
	c := &cobra.Command{
		Use:   "join [URL]",
		Short: "Watch a world that another process serves, or play in it",
		Long: `Join connects to a world that murksim serve runs, with one of the URLs that it prints, or
with the file of tokens that both know. Other users of a computer can see the arguments of a
command, so on one that you share give the URL in the variable MURKSIM_URL, or use --tokens.
It prints what the view learns, a line for each message: the tick, then the message as in
replay/minewars/FORMAT.md. It waits a few seconds for a server that is not there yet.

--watch draws a map of what the view knows in place of the messages: the tiles of each
player, cities, items, and mines about to explode (fuse). Dark tiles are free, light ones
are mountains, the rest is water. Orders are typed below it. If there is enough room, as in
80 columns and 46 lines for minewars, it shows a player's digits above 0, the number of each
row on the right, + on column 0 and · on every fifth column.

As a player it takes the player's seat and sends standard input as orders, one JSON object
per line. It prints the receipt of each. The world decides what an order looks like;
docs/SERVE.md shows those of minewars.

-o writes the stream to a file, as it came; murksim inspect --stream reads it.

Exit status: 0 the game ended, or --until was reached, 1 an error, 2 usage.`,
		Example: `  murksim join 'ws://127.0.0.1:4600/stream?token=0123456789abcdef0123456789abcdef'
  murksim join --tokens keys.json --watch
  murksim join --tokens keys.json --until 200 -o game.stream
  murksim join --tokens keys.json --player 1 --order '{"take":[0,3]}'
  export MURKSIM_URL='ws://127.0.0.1:4600/stream?token=0123456789abcdef0123456789abcdef'
  echo '{"produce":"mine","city":2}' | murksim join`,
		Args: arguments(cobra.MaximumNArgs(1), "one URL"),
		RunE: func(c *cobra.Command, args []string) error {
			url := strings.Join(args, "")
			if url == "" && j.tokens == "" {
				url = os.Getenv(joinVariable)
			}
			if err := j.check(c.Flags().Changed, url); err != nil {
				return err
			}
			return j.run(c.Context(), url)
		},
	}
	f := c.Flags()
	f.StringVarP(&j.output, "output", "o", "", "write the stream to a `file` instead of printing it")
	countFlag(f, &j.until, "until", "leave after this tick")
	f.StringVar(&j.tokens, "tokens", "", "take the token from a `file` that serve has written; without a URL the server is that of this computer")
	f.IntVar(&j.player, "player", 0, "with --tokens: play as this one (default: watch)")
	f.StringVar(&j.ca, "tls-ca", "", "certificate of the server or its signer, a PEM `file`, if this computer does not know it")
	f.BoolVar(&j.watch, "watch", false, "draw what the view knows in the terminal, and print no messages")
	f.StringArrayVar(&j.orders, "order", nil, "send an `order`, before those of standard input; can be repeated")
	return c
}

// check looks at the flags.
func (j *joinJob) check(given func(flag string) bool, url string) error {
	for _, o := range j.orders {
		if !isObject([]byte(o)) {
			return report.Usage("--order must be a JSON object, not %q", o)
		}
	}
	if j.JSON || j.output == "" && !j.Quiet {
		if err := j.stdoutOpen(); err != nil {
			return err
		}
	}
	switch {
	case j.tokens == "" && url == "":
		return report.Usage("join takes one URL, as an argument or in %s, or --tokens", joinVariable)
	case j.tokens == "" && given("player"):
		return report.Usage("--player needs --tokens")
	case j.player < 0 || j.player > minewars.MaxPlayers:
		return report.Usage("--player must be 1 to %d, not %d", minewars.MaxPlayers, j.player)
	case url != "" && !servedAt(url):
		return report.Usage("the URL must be like ws://%s%s?token=…", defaultListen, serve.Path)
	case slices.Contains(fileEndings, strings.ToLower(filepath.Ext(j.output))):
		return report.Usage("%s would not be what its ending says: -o writes a network stream, such as game.mw1s", document.FileName(j.output))
	}
	return nil
}

// servedAt reports whether a world may be served at a URL.
func servedAt(given string) bool {
	u, err := url.Parse(given)
	return err == nil && u.Port() != "" && (u.Scheme == "ws" || u.Scheme == "wss")
}

// address returns the URL to connect to.
func (j *joinJob) address(given string) (string, error) {
	if j.tokens == "" {
		return given, nil
	}
	t, err := readTokens(j.tokens)
	if err != nil {
		return "", err
	}
	if j.player > len(t.Players) {
		return "", report.Usage("--player must be 1 to %d, not %d", len(t.Players), j.player)
	}
	u := &url.URL{Scheme: "ws", Host: defaultListen, Path: serve.Path}
	if given != "" {
		if u, err = url.Parse(given); err != nil {
			return "", err
		}
	}
	u.RawQuery = url.Values{"token": {t.Of(j.player)}}.Encode()
	return u.String(), nil
}

// dial connects, and waits for a server that is not there yet.
func (j *joinJob) dial(ctx context.Context, given string, config *tls.Config) (*serve.Remote, error) {
	const patience = 5 * time.Second
	for began := time.Now(); ; {
		address, err := j.address(given)
		if err == nil {
			j.plain = strings.HasPrefix(address, "ws:")
			var remote *serve.Remote
			if remote, err = serve.Dial(ctx, address, config); err == nil {
				return remote, nil
			}
		}
		absent := errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
		if !absent || ctx.Err() != nil || time.Since(began) > patience {
			return nil, words.NewProblem(words.Clean(words.Bare(err)), err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (j *joinJob) run(ctx context.Context, given string) (err error) {
	if j.watch {
		if j.screen, err = j.canvas(); err != nil {
			return err
		}
	}
	config, err := j.trust()
	if err != nil {
		return err
	}
	ctx, stop := j.untilSignal(ctx)
	defer stop()
	remote, err := j.dial(ctx, given, config)
	if err != nil {
		return err
	}
	defer remote.Close()
	defer context.AfterFunc(ctx, func() { remote.Close() })()
	if err := j.begin(ctx); err != nil {
		return err
	}
	err = j.receive(remote)
	j.pipe.Close()
	if read := <-j.done; read != nil && !errors.Is(read, errLeave) && err == nil {
		err = read
	}
	if ctx.Err() != nil || errors.Is(err, errLeave) {
		err = nil
	}
	if j.out != nil {
		_, ended := j.out.end(true, err != nil)
		err = errors.Join(err, ended)
	}
	return err
}

// trust returns how TLS checks the server.
func (j *joinJob) trust() (*tls.Config, error) {
	if j.ca == "" {
		return nil, nil
	}
	b, err := os.ReadFile(j.ca)
	if err != nil {
		return nil, words.About(j.ca, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s: there is no certificate in it", document.FileName(j.ca))
	}
	return &tls.Config{RootCAs: roots}, nil
}

// begin opens the output, and starts to read the stream.
func (j *joinJob) begin(ctx context.Context) error {
	if j.output != "" {
		if err := j.spareStream(); err != nil {
			return err
		}
		f, err := j.draft(ctx, j.output)
		if err != nil {
			return err
		}
		j.out = &output{Writer: f, file: f, path: j.output}
	}
	if j.screen != nil {
		_, _ = j.screen.Out.Write(j.screen.Split())
	}
	stream, to := io.Pipe()
	j.pipe, j.done = to, make(chan error, 1)
	go func() {
		err := j.read(stream)
		stream.CloseWithError(err)
		j.done <- err
	}()
	return nil
}

// spareStream takes the next free name for the stream if the name is taken: that file may be the only stream of an earlier game, and nothing
// in a stream says that it is one.
func (j *joinJob) spareStream() error {
	if info, err := os.Stat(j.output); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil
	}
	old, ending := j.output, filepath.Ext(j.output)
	for i := 2; ; i++ {
		j.output = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(old, ending), i, ending)
		if _, err := os.Lstat(j.output); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil { // such as a name that is too long
			return words.About(j.output, err)
		}
	}
	return j.Warn("%s exists, so it stays; the stream is written to %s", document.FileName(old), document.FileName(j.output))
}

// errLeave ends a client that has seen enough.
var errLeave = errors.New("seen enough")

// receive takes what the server sends until it ends.
func (j *joinJob) receive(remote *serve.Remote) error {
	for first := true; ; first = false {
		stream, object, err := remote.Next()
		switch {
		case first && j.plain && (err == io.EOF || errors.Is(err, syscall.ECONNRESET)):
			return errors.New("the connection was cut before a word; if the server has TLS, the URL must begin with wss")
		case err == io.EOF:
			return errors.New("the connection was cut")
		case err != nil:
			return err
		case object != nil:
			if end, err := j.hear(remote, object); end || err != nil {
				return err
			}
			continue
		}
		if j.out != nil {
			if _, err := j.out.Write(stream); err != nil {
				return words.About(j.output, err)
			}
		}
		if _, err := j.pipe.Write(stream); err != nil { // what reading it came to
			return err
		}
	}
}

// hear handles an object of the server, and prints it. It reports whether the object is the last.
func (j *joinJob) hear(remote *serve.Remote, object []byte) (end bool, err error) {
	o, err := serve.ParseObject(object)
	if err == nil {
		err = j.believe(o)
	}
	if err == nil {
		err = j.Emit(plainObject(object))
	}
	if err != nil {
		return true, err
	}
	switch o := o.(type) {
	case *serve.ErrorObject:
		return true, errors.New(words.Clean(o.Error))
	case *serve.EndObject:
		if o.Reason != serve.EndGame {
			return true, fmt.Errorf("the connection ended: %s", words.Clean(string(o.Reason)))
		}
		return true, j.Say("%-9s %s", "ended", o.Reason)
	case *serve.JoinedObject:
		if j.view.Store(int32(o.View)); o.Orders {
			go j.send(remote)
		}
		return false, j.Say("%-9s as %s, at tick %s, %d ticks a second", "joined", serve.Name(o.View), words.Number(o.Tick), o.TickRate)
	case *serve.ReceiptObject:
		what := "applied"
		if !o.Applied {
			what = "refused: " + words.Clean(o.Reason)
		}
		if o.Tick > 0 {
			what = "tick " + words.Number(o.Tick) + ": " + what
		}
		return false, j.Say("%-9s order %d, %s", "receipt", *cmp.Or(o.ID, new(uint64)), what)
	case *serve.SeatObject:
		what := map[bool]string{true: "taken", false: "given back"}[o.Taken]
		if o.Reason != "" {
			what = "refused: " + words.Clean(o.Reason)
		}
		return false, j.Say("%-9s of %s, tick %s: %s", "seat", serve.Name(o.Player), words.Number(o.Tick), what)
	}
	return false, nil
}

// plainObject returns a JSON object with escapes for what a terminal may take for a command; all of that is in
// strings.
func plainObject(object []byte) json.RawMessage {
	return jsonlines.Escape(object, func(r rune) bool { return r > '~' && !unicode.IsPrint(r) })
}

// believe returns an error for an object that no server sends: one that joins again, or names a view that
// no game has.
func (j *joinJob) believe(o any) error {
	view := minewars.Spectator
	switch o := o.(type) {
	case *serve.JoinedObject:
		if j.joined {
			return errors.New("the server sent joined twice")
		}
		j.joined, view = true, o.View
	case *serve.SeatObject:
		view = o.Player
	}
	if view < 0 || view > minewars.MaxPlayers {
		return fmt.Errorf("the server sent view %d; a game has 0 to %d", view, minewars.MaxPlayers)
	}
	return nil
}

// A messageObject is a message of the stream, with --json.
type messageObject struct {
	Event string `json:"event"` // "message"
	Tick  uint64 `json:"tick"`
	Text  string `json:"text"`
}

// read prints what the view learns.
func (j *joinJob) read(stream io.Reader) error {
	r, err := minewars.NewStreamReader(stream, minewars.Options{})
	if err != nil {
		return err
	}
	view := int(j.view.Load())
	if players := r.Start().Players; view < 0 || view > players {
		return fmt.Errorf("the server sent view %d of a game of %s", view, words.Count(uint64(players), "player"))
	}
	var drawn *gameMap
	if j.screen != nil {
		if drawn, err = newGameMap(j.screen, r.Start(), view); err != nil {
			return err
		}
		go drawn.run()
		defer drawn.end()
	}
	var f minewars.Frame
	out := map[uint8]bool{}
	for {
		if err := r.Next(&f); err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if j.until > 0 && f.Tick > j.until {
			return errLeave
		}
		if drawn != nil {
			drawn.apply(&f)
		}
		for _, m := range f.For(view) {
			if j.out != nil || drawn != nil {
				continue
			}
			if err := errors.Join(j.Emit(messageObject{"message", f.Tick, m.String()}), j.Say("%-9s %s", words.Number(f.Tick), m)); err != nil {
				return err
			}
		}
		if err := j.tellWinner(r.Start(), out, &f, view); err != nil {
			return err
		}
		if f.Tick == j.until {
			return errLeave
		}
	}
}

// tellWinner notes which players are out, and names the winner when one is left. The tick that it prints is an upper bound: a frame that sums up the
// game so far names a tick that is later.
func (j *joinJob) tellWinner(s minewars.Start, out map[uint8]bool, f *minewars.Frame, view minewars.View) error {
	before := len(out)
	for _, m := range f.For(view) {
		if m.Op == minewars.Eliminated {
			out[m.Player] = true
		}
	}
	if len(out) == before || len(out) != s.Players-1 {
		return nil
	}
	winner := 1
	for out[uint8(winner)] {
		winner++
	}
	o := winnerObject{"winner", winner, "", f.Tick}
	if s.Names != nil {
		o.Name = s.Names[winner-1]
	}
	return errors.Join(j.Emit(o), j.Say("%-9s %s, by tick %s", "winner", numberedName(s.Names, winner), words.Number(f.Tick)))
}

// send sends the orders, of the command line and then of standard input.
func (j *joinJob) send(remote *serve.Remote) {
	lines := bufio.NewScanner(j.In)
	for id := uint64(1); ; id++ {
		var order []byte
		switch {
		case len(j.orders) > 0:
			order, j.orders = []byte(j.orders[0]), j.orders[1:]
		default:
			for len(order) == 0 {
				if !lines.Scan() {
					j.unread(id, lines.Err())
					return
				}
				order = bytes.TrimSpace(lines.Bytes())
			}
		}
		if !isObject(order) {
			j.Warn("order %d is not sent: it must be a JSON object, not %q", id, order)
			continue
		}
		if remote.Order(id, order) != nil {
			return // Next says what it is
		}
	}
}

// unread reports that standard input could not be read on, from an order on.
func (j *joinJob) unread(id uint64, err error) {
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("its line has more than %d bytes", bufio.MaxScanTokenSize)
	}
	if err != nil {
		j.Warn("order %d and those after it are not sent: %v", id, err)
	}
}

func isObject(b []byte) bool {
	return json.Valid(b) && bytes.HasPrefix(bytes.TrimSpace(b), []byte{'{'})
}
