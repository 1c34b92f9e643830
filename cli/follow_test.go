package cli

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
)

// TestVerifyFollow: a recording is verified while a process writes it, each tick as soon as it is there, until its planned ticks are, the process
// ends, or a tick does not match, whatever the writer does then.
func TestVerifyFollow(t *testing.T) {
	const ticks = 20
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--ticks", "20", "-o", "whole.murk", "--no-index")
	whole, err := os.ReadFile("whole.murk")
	if err != nil {
		t.Fatal(err)
	}
	begin := len(whole) - ticks*(8+4+8)
	after := func(n int) int { return begin + n*(8+4+8) }
	for _, tt := range []struct {
		what   string
		bytes  func(b []byte) []byte // that the process writes
		status int
		says   string
		lives  bool // the process writes nothing more, and goes on
	}{
		{"all planned ticks", func(b []byte) []byte { return b }, report.StatusOK, "ok  live.murk  20 of 20 planned ticks", true},
		{"the process ends", func(b []byte) []byte { return b[:after(15)] }, report.StatusOK, "ok  live.murk  15 of 20 planned ticks", false},
		{"it is killed within a frame", func(b []byte) []byte { return b[:after(15)+3] }, report.StatusError, "truncated", false},
		{"a tick does not match", func(b []byte) []byte { b[after(12)-1] ^= 1; return b[:after(13)] }, report.StatusDiverged, "DIVERGED  live.murk  tick 12 of 20", true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			b := tt.bytes([]byte(string(whole)))
			f, err := os.Create("live.murk")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			write := func(b []byte) {
				if _, err := f.Write(b); err != nil {
					t.Error(err)
				}
			}
			if err := replay.Lock(f); err != nil {
				t.Fatal(err)
			}
			write(b[:begin/2]) // a part of the header
			said, errs, ended := following(t)
			write(b[begin/2 : after(3)])
			var all strings.Builder
			for n, lines := 1, bufio.NewScanner(said); lines.Scan(); n++ {
				all.WriteString(lines.Text() + "\n")
				switch {
				case n == 3: // what is there is verified
					write(b[after(3):after(7)])
				case n == 7:
					write(b[after(7):])
					if !tt.lives {
						f.Close()
					}
				}
			}
			if status := <-ended; status != tt.status || !strings.Contains(all.String()+errs.String(), tt.says) {
				t.Errorf("%d: %s%s, want %d: %s", status, all.String(), errs.String(), tt.status, tt.says)
			}
		})
	}
}

// TestFollowCut: a recording that is cut while it is followed is an error.
func TestFollowCut(t *testing.T) {
	t.Chdir(t.TempDir())
	done(t, "run", "heat", "--ticks", "20", "-o", "live.murk", "--no-index")
	f, err := os.OpenFile("live.murk", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := replay.Lock(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(info.Size() - 20); err != nil { // so that it is waited for
		t.Fatal(err)
	}
	said, errs, ended := following(t)
	for n, lines := 1, bufio.NewScanner(said); lines.Scan(); n++ {
		if n == 19 {
			if err := f.Truncate(info.Size() / 2); err != nil {
				t.Error(err)
			}
		}
	}
	if status := <-ended; status != report.StatusError || !strings.Contains(errs.String(), "it was cut to ") {
		t.Errorf("%d: %s", status, errs.String())
	}
}

// following verifies live.murk while it is written. It returns what is said of ticks, errors, and the exit status at the end.
func following(t *testing.T) (said io.Reader, errs *saidText, ended <-chan int) {
	said, out := io.Pipe()
	errs, end := new(saidText), make(chan int)
	go func() {
		status := Program{}.run(t.Context(), []string{"verify", "--follow", "--each", "live.murk"}, nil, out, errs)
		out.Close()
		end <- status
	}()
	return said, errs, end
}
