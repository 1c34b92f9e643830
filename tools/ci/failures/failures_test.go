package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/murksim/murksim/tools/ci/failures/colony"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

// TestMain lets the test's program be the other process of a row.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-child" {
		if err := colony.Obey(os.Args[2]); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	}
	code := 1
	if dir, err := os.MkdirTemp("", "failures"); err == nil {
		program = filepath.Join(dir, "murksim")
		code = m.Run()
		if l, err := theLab(); err == nil {
			l.desk.close()
		}
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

var program string // murksim with the feast

var theLab = sync.OnceValues(func() (*lab, error) {
	if out, err := exec.Command("go", "build", "-o", program, "./murksim").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return newLab(program)
})

func aLab(t *testing.T) *lab {
	t.Helper()
	l, err := theLab()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// slowRows start hundreds of processes, or other builds, or the checker; the script runs them.
var slowRows = []string{
	"restored at every tick, each in a new process", "GOMAXPROCS 1, 2 and 8; race detector; 386",
	"a slow machine: delays in every system",
}

// TestRows holds that every row is seen as it must be, and that it fails without its fault
// and without eyes; of rows with other processes the script's self-test holds that.
func TestRows(t *testing.T) {
	l := aLab(t)
	t.Chdir("../../..")
	for i, r := range rows() {
		if testing.Short() && i%4 != 0 || slices.Contains(slowRows, r.provoked) {
			continue
		}
		if v := l.try(&r, false); !v.OK {
			t.Errorf("row %d, %s: %s", r.number, r.provoked, v.Report)
		}
		if r.number >= 15 && r.number <= 18 {
			continue
		}
		if v := l.try(&r, true); !v.OK {
			t.Errorf("row %d, %s: self-test: %s", r.number, r.provoked, v.Report)
		}
	}
}

// TestEachDetector holds that no detector hides behind another: without any one of them a
// row fails, and says which.
func TestEachDetector(t *testing.T) {
	l := aLab(t)
	for blind, want := range map[blindness]string{
		toAll: "no tick differs", toReplay: "a replay of the recording differs at tick 0, not 61",
	} {
		_, err := (&lab{control: l.control, desk: l.desk, blind: blind}).nudge("nudge", true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("blind %d: %v, want %q", blind, err, want)
		}
	}
	_, err := (&lab{control: l.control, desk: l.desk, blind: toRepeats}).clock()
	if err == nil || !strings.Contains(err.Error(), "stable true") {
		t.Errorf("blind to repeats: %v, want an unstable step", err)
	}
}

// TestWrongTick holds that what shows at another tick than the fault's, or not at all, is
// not taken for caught.
func TestWrongTick(t *testing.T) {
	l := aLab(t)
	feasting := *l.control
	feasting.Setup.Feast = true // from tick 1 on
	for _, tt := range []struct {
		control *run
		fault   faults.Fault
		want    string
	}{
		{&feasting, faults.Fault{Name: "skip", Tick: planted}, "it shows at tick 0, not 61"},
		{l.control, faults.Fault{Name: "slow", Tick: planted}, "no tick differs"},
		{l.control, faults.Fault{Name: "magic", Tick: planted}, `there is no fault "magic"`},
	} {
		if _, err := l.differs(tt.control, tt.fault); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %q", tt.fault.Name, err, tt.want)
		}
	}
}

func TestJSON(t *testing.T) {
	aLab(t)
	var b bytes.Buffer
	if err := all(&b, program, 4, true, false); err != nil {
		t.Fatal(err)
	}
	var got line
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v", b.Bytes(), err)
	}
	if got.Row != 4 || !got.OK || got.Tick != planted || !strings.HasSuffix(got.Report, "sub-threshold") {
		t.Errorf("%+v, want row 4 at tick %d, sub-threshold", got, planted)
	}
}
