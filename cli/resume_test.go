package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
)

// TestResumeKeepsWhatIsDamaged: a frame that claims more bytes than there are is no frame that is
// cut short if frames follow it. --resume drops none of them, and recover says where they go on.
func TestResumeKeepsWhatIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.murk")
	if status, _, errs := murksim(t, nil, "run", "heat", "-q", "--ticks", "50", "--until", "40", "-o", path); status != report.StatusOK {
		t.Fatal(errs)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	for range 5 {
		if err := r.Next(&f); err != nil {
			t.Fatal(err)
		}
	}
	const highest = 8 + 1 // a byte of the number of commands
	b[f.Position.Offset+highest] ^= 4
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	const want = "inside frame 5: a frame that claims more bytes than there are, though frames go on at byte "
	for _, args := range [][]string{{"run", "--resume", path}, {"run", "--resume", path, "--until", "45"}} {
		if status, _, errs := murksim(t, nil, args...); status != report.StatusError || !strings.Contains(errs, want) || !strings.Contains(errs, "recover") {
			t.Errorf("%v = %d, %q; want status %d, %q and what recover does", args, status, errs, report.StatusError, want)
		}
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
		t.Errorf("the recording has been changed: %v", err)
	}
	if status, _, errs := murksim(t, nil, "recover", path, "-o", path+".whole"); status != report.StatusDiverged || !strings.Contains(errs, want) {
		t.Errorf("recover = %d, %q", status, errs)
	}
}

// TestResumeOfAChangedRecording: a recording that another program changes after its ticks were compared, and before the
// first one is written, stays as it is: it is neither cut nor written to.
func TestResumeOfAChangedRecording(t *testing.T) {
	p := build(t)
	p.must(t, "run", "heat", "--until", "20", "-q", "-o", "a.murk")
	path := filepath.Join(p.dir, "a.murk")
	begun := append([]byte{21, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 99}, make([]byte, 40)...) // a frame with a payload of 99 bytes
	honest := append(p.read(t, "a.murk"), begun...)
	for name, change := range map[string]func(b []byte) []byte{
		"nothing":         func(b []byte) []byte { return b },
		"a hash":          func(b []byte) []byte { b[len(b)-len(begun)-1] ^= 1; return b },
		"the header":      func(b []byte) []byte { b[7] ^= 1; return b },
		"what is cut off": func(b []byte) []byte { return b[:len(b)-1] },
		"another tick":    func(b []byte) []byte { return append(b, 1) },
	} {
		if err := os.WriteFile(path, honest, 0o666); err != nil {
			t.Fatal(err)
		}
		there, err := Program{}.embed()
		if err != nil {
			t.Fatal(err)
		}
		j := &runJob{app: there, Run: new(runner.Run), maxMemory: session.DefaultMaxMemory, resume: path, output: path}
		if err := j.reopen(t.Context()); err != nil {
			t.Fatal(err)
		}
		changed := change(bytes.Clone(honest))
		if err := os.WriteFile(path, changed, 0o666); err != nil {
			t.Fatal(err)
		}
		err = j.goOn(t.Context())
		abandon(j.outputs)
		got := p.read(t, "a.murk")
		if name == "nothing" {
			cut := p.read(t, filepath.Base(j.resumed.kept))
			if err != nil || len(got) != len(honest)-len(begun) || !bytes.Equal(cut, begun) {
				t.Errorf("%s: %v; %d bytes are left of %d, and %d kept", name, err, len(got), len(honest), len(cut))
			}
		} else if err == nil || !strings.Contains(err.Error(), "another program has changed it") || !bytes.Equal(got, changed) {
			t.Errorf("%s: %v; the file has %d bytes, it had %d", name, err, len(got), len(changed))
		}
	}
}
