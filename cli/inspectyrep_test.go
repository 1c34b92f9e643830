package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/yrep"
)

// yrepFile writes a YREP file of some frames, and returns its path.
func yrepFile(t *testing.T, frames ...[]yrep.Instruction) string {
	t.Helper()
	var b bytes.Buffer
	w, err := yrep.NewWriter(&b, yrep.Header{}, yrep.Narrow)
	for n := 0; err == nil && n < len(frames); n++ {
		err = w.WriteFrame(frames[n])
	}
	name := filepath.Join(t.TempDir(), "a.yrep")
	if err == nil {
		err = os.WriteFile(name, b.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestYREPListsEnd: inspect counts everything that does not fit or happens, and lists the first 1,000 of
// each kind, so that its memory has a bound.
func TestYREPListsEnd(t *testing.T) {
	var list []yrep.Instruction
	for n := range int32(1500) {
		list = append(list, yrep.Instruction{ID: yrep.PlayerChat, Tracker: n, Message: "hi"}, yrep.Instruction{ID: yrep.PlayerRespawn, Tracker: n})
	}
	name := yrepFile(t, list)
	status, out, errs := murksim(t, nil, "inspect", name, "--json")
	var r yrepReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != report.StatusOK {
		t.Fatalf("status %d, %v, %s", status, err, errs)
	}
	if len(r.Happened) != listRows || len(r.Errors) != listRows || len(r.Warnings) != listRows {
		t.Errorf("%d things that happened, %d errors, %d warnings are listed; want %d of each", len(r.Happened), len(r.Errors), len(r.Warnings), listRows)
	}
	if r.Told != 3000 || r.Wrong != 1500 || r.Warned != 1500 {
		t.Errorf("%d things that happened, %d errors, %d warnings are counted; want 3000, 1500, 1500", r.Told, r.Wrong, r.Warned)
	}
	if last := r.Warnings[listRows-1]; last.Index != 2*(listRows-1) {
		t.Errorf("the last warning is that of instruction %d, want %d", last.Index, 2*(listRows-1))
	}
	_, out, _ = murksim(t, nil, "inspect", name)
	for _, want := range []string{"\nhappened  3,000\n", "\nsemantic errors  1,500\n", "\n  … and 2,980 more; --all prints the first 1,000\n", "\nwarnings  1,500\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect prints\n%s\nwant %q in it", out, want)
		}
	}
	if _, out, _ = murksim(t, nil, "inspect", name, "--all"); strings.Count(out, "tracker 499: hi") != 1 || !strings.Contains(out, "\n  … and 2,000 more, which are only counted\n") {
		t.Errorf("inspect --all prints\n%s\nwant the first 1,000 things that happened", out)
	}
}

// TestLives: an entity is said to be there after the frames after which play shows it.
func TestLives(t *testing.T) {
	r := &yrepReport{Frames: 60}
	for _, tt := range []struct {
		lifetimes [][2]int32
		want      string
	}{
		{[][2]int32{{1, 61}}, "from frame 1 on"},
		{[][2]int32{{1, 60}}, "frames 1 to 59"},
		{[][2]int32{{60, 61}}, "from frame 60 on"},
		{[][2]int32{{4, 5}, {5, 5}}, "frame 4, within frame 5"},
		{[][2]int32{{1, 9}, {20, 31}, {40, 41}, {50, 61}}, "frames 1 to 8, frames 20 to 30, 2 times more"},
	} {
		if got := r.lives(tt.lifetimes); got != tt.want {
			t.Errorf("the lifetimes %v are %q, want %q", tt.lifetimes, got, tt.want)
		}
	}
}
