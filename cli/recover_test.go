package cli

import (
	"bytes"
	"os"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay/yrep"
)

// TestRecoverJudgesTheCopy: a file that another program changes after recover has judged it is not copied as what was judged.
func TestRecoverJudgesTheCopy(t *testing.T) {
	recording := record(t, "heat", "--ticks", "30")
	match, err := os.ReadFile(yrepFile(t, []yrep.Instruction{{ID: yrep.PlayerRespawn}}, []yrep.Instruction{{ID: yrep.PlayerRespawn}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	j := &recoverJob{app: &app{Session: &session.Session{Printer: &report.Printer{Quiet: true, Errs: new(report.Output)}}}}
	whole := func(now []byte) error {
		end, h, reason := wholePart(t.Context(), bytes.NewReader(recording), int64(len(recording)), j.Meter(0))
		if reason != nil {
			t.Fatal(reason)
		}
		return j.write(t.Context(), "in", bytes.NewReader(now), end, h)
	}
	frames := func(now []byte) error {
		r, err := yrep.NewReader(bytes.NewReader(match), yrep.Options{Dialect: yrep.Narrow})
		if err != nil {
			t.Fatal(err)
		}
		n, err := wholeFrames(t.Context(), r)
		if n != 2 || err != nil {
			t.Fatal(n, err)
		}
		return j.writeYREP(t.Context(), "in", bytes.NewReader(now), r, n, yrep.Options{})
	}
	tick := int64(bytes.LastIndex(recording, []byte{20, 0, 0, 0, 0, 0, 0, 0}))
	for _, tt := range []struct {
		what   string
		copied func(now []byte) error
		was    []byte
		at     int64 // of the byte that changes
	}{
		{"the tick of a frame", whole, recording, tick},
		{"the build", whole, recording, 7},
		{"the length of a recording", whole, recording, -1},
		{"the number of instructions", frames, match, int64(len(match)) / 2},
		{"the length of a match", frames, match, -1},
	} {
		j.output = "same"
		if err := tt.copied(tt.was); err != nil {
			t.Errorf("%s: unchanged it gives %v", tt.what, err)
		} else if got, err := os.ReadFile("same"); err != nil || !bytes.Equal(got, tt.was) {
			t.Errorf("%s: unchanged it is copied as %d bytes, %v", tt.what, len(got), err)
		}
		os.Remove("same")
		now := bytes.Clone(tt.was)
		if tt.at < 0 {
			now = now[:len(now)-1]
		} else {
			now[tt.at] ^= 1
		}
		j.output = "other"
		const want = "in: another program has changed it while it was read; other was not written"
		if err := tt.copied(now); err == nil || err.Error() != want {
			t.Errorf("%s: %v", tt.what, err)
		}
		if _, err := os.Stat("other"); err == nil {
			t.Errorf("%s: there is a copy", tt.what)
			os.Remove("other")
		}
	}
}
