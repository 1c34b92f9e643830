package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay"
)

// TestResumeKeepsWhatIsDamaged: a frame that claims more bytes than there are is no frame that is
// cut short if frames follow it. --resume drops none of them, and recover says where they go on.
func TestResumeKeepsWhatIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.murk")
	if status, _, errs := murksim(t, nil, "run", "heat", "-q", "--ticks", "50", "--until", "40", "-o", path); status != statusOK {
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
		if status, _, errs := murksim(t, nil, args...); status != statusError || !strings.Contains(errs, want) || !strings.Contains(errs, "recover") {
			t.Errorf("%v = %d, %q; want status %d, %q and what recover does", args, status, errs, statusError, want)
		}
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
		t.Errorf("the recording has been changed: %v", err)
	}
	if status, _, errs := murksim(t, nil, "recover", path, "-o", path+".whole"); status != statusDiverged || !strings.Contains(errs, want) {
		t.Errorf("recover = %d, %q", status, errs)
	}
}
