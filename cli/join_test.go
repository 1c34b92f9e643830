package cli

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/waiting"
)

// A saidText is what a command has said so far.
type saidText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *saidText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *saidText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// joinObject is an object as a server sends it, with receipts.
func joinObject(text string) string {
	return string(binary.BigEndian.AppendUint32([]byte{'j'}, uint32(len(text)))) + text
}

const (
	joinedPlayer = `{"event":"joined","view":1,"tick":0,"tick_rate":20,"players":2,"orders":true}`
	joinEnded    = `{"event":"end","reason":"the game has ended"}`
)

// joinServer runs join with a server that does what it is told once it has read the hello.
func joinServer(t *testing.T, stdin string, serve func(in *bufio.Reader, out io.Writer), flags ...string) (status int, out, errs string) {
	t.Helper()
	var said, wrong saidText
	return joinServerTo(t, &said, &wrong, stdin, serve, flags...), said.String(), wrong.String()
}

func joinServerTo(t *testing.T, out, errs *saidText, stdin string, serve func(in *bufio.Reader, out io.Writer), flags ...string) int {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	go func() {
		c, err := socket.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		in := bufio.NewReader(c)
		if _, err := in.ReadString('\n'); err == nil {
			serve(in, c)
			_, _ = io.Copy(io.Discard, in) // until the client has read all
		}
	}()
	url := fmt.Sprintf("ws://%s/stream?token=0123456789abcdef", socket.Addr())
	return Program{}.run(t.Context(), append([]string{"join", url}, flags...), strings.NewReader(stdin), out, errs)
}

// sends is a server that sends objects.
func sends(objects ...string) func(*bufio.Reader, io.Writer) {
	return func(_ *bufio.Reader, out io.Writer) {
		for _, o := range objects {
			if _, err := io.WriteString(out, joinObject(o)); err != nil {
				return
			}
		}
	}
}

// TestJoinDisbelieves: a server that is none of ours is told so, and what it says is not printed.
func TestJoinDisbelieves(t *testing.T) {
	joined := func(view string) string { return strings.Replace(joinedPlayer, `"view":1`, `"view":`+view, 1) }
	for _, tt := range []struct {
		name    string
		objects []string
		out     string
		errs    string
	}{
		{"joined twice", []string{joinedPlayer, joinedPlayer, joinEnded}, "joined    as player 1, at tick 0, 20 ticks a second\n", "the server sent joined twice\n"},
		{"a view below", []string{joined("-5"), joinEnded}, "", "the server sent view -5; a game has 0 to 6\n"},
		{"a view above", []string{joined("7"), joinEnded}, "", "the server sent view 7; a game has 0 to 6\n"},
		{"a view far above", []string{joined("4294967296"), joinEnded}, "", ""},
		{"a seat far above", []string{`{"event":"seat","player":4294967296,"tick":1,"taken":true}`, joinEnded}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, out, errs := joinServer(t, "", sends(tt.objects...))
			if tt.errs == "" { // which depends on the size of int
				tt.errs = errs
			}
			if status != report.StatusError || out != tt.out || errs != tt.errs || errs == "" {
				t.Errorf("status %d\n%s%s\nwant %d\n%s%s", status, out, errs, report.StatusError, tt.out, tt.errs)
			}
		})
	}
}

// TestJoinLongOrder: a line that is too long ends the orders, and join says so.
func TestJoinLongOrder(t *testing.T) {
	var out, errs saidText
	const want = "order 2 and those after it are not sent: its line has more than 65536 bytes\n"
	stdin := `{"take":[0,0]}` + "\n" + strings.Repeat(" ", 1<<16) + "{}\n{}\n"
	orders := make(chan string, 1)
	joinServerTo(t, &out, &errs, stdin, func(in *bufio.Reader, to io.Writer) {
		sends(joinedPlayer)(in, to)
		order, _ := in.ReadString('\n')
		orders <- order
		waiting.Until(func() bool { return errs.String() != "" })
		sends(joinEnded)(in, to)
	})
	if !strings.HasPrefix(errs.String(), want) {
		t.Errorf("it says %s\nwant %s", errs.String(), want)
	}
	if got, want := <-orders, `{"id":1,"order":{"take":[0,0]}}`+"\n"; got != want {
		t.Errorf("the order sent is %swant %s", got, want)
	}
}

// TestJoinPlain: neither a server nor a URL steers the terminal.
func TestJoinPlain(t *testing.T) {
	hostile := "{\"event\" : \"other\",\"text\":\"a\xff\u202e\u009b2J\x7f\U000e0001é\"}\r\n"
	const want = `{"event":"other","text":"a` + "\ufffd" + `\u202e\u009b2J\u007f\udb40\udc01é"}` + "\n"
	if _, out, _ := joinServer(t, "", sends(hostile, joinEnded), "--json"); !strings.HasPrefix(out, want) {
		t.Errorf("it prints %q\nwant %q", out, want)
	}
	var errs bytes.Buffer
	Program{}.run(t.Context(), []string{"join", "ws://ev\u009b2Jil.invalid:1/"}, strings.NewReader(""), io.Discard, &errs)
	if got := errs.String(); !strings.Contains(got, "ev·2Jil.invalid") || strings.Contains(got, "\u009b") {
		t.Errorf("of the URL it says %q", got)
	}
}

// TestJoinWithoutTLS: who joins without TLS where the server has it is told what to try.
func TestJoinWithoutTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	j := &joinJob{app: &app{}}
	remote, err := j.dial(t.Context(), "ws://"+l.Addr().String()+"/stream?token=x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	if err := j.receive(remote); err == nil || !strings.HasSuffix(err.Error(), "; if the server has TLS, the URL must begin with wss") {
		t.Errorf("join ends with %v", err)
	}
}
