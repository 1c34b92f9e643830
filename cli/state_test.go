package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/wire"
)

// TestState holds that a run that continues from a saved state has the same hashes as one
// from genesis, line by line, and that what --state-hash prints is the state's SHA-256.
func TestState(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"--hashes", at("whole.tsv"), "--save-state", at("whole.state")},
		{"--until", "7", "--save-state", at("half.state")},
		{"--state", at("half.state"), "--hashes", at("rest.tsv"), "--save-state", at("rest.state")},
	} {
		args = append([]string{"run", "predators", "--ticks", "20", "--no-record", "--state-hash"}, args...)
		status, out, errs := murksim(t, nil, args...)
		if status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, errs)
		}
		file := read(t, args[len(args)-1])
		state, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
		want := fmt.Sprintf("state hash  %x\n", sha256.Sum256(state))
		if !strings.Contains(out, want) || want != fmt.Sprintf("state hash  %x\n", sum) {
			t.Errorf("%q printed %s, want %s; the file ends in %x", args, out, want, sum)
		}
	}
	whole, rest := bytes.SplitAfter(read(t, at("whole.tsv")), []byte("\n")), bytes.SplitAfter(read(t, at("rest.tsv")), []byte("\n"))
	if want := len(whole) - 7; len(rest) != want {
		t.Fatalf("%d lines after tick 7, want %d", len(rest), want)
	}
	for i, line := range rest[1:] {
		if want := whole[8+i]; !bytes.Equal(line, want) {
			t.Errorf("from the state: %s, from genesis: %s", line, want)
		}
	}
	if !bytes.Equal(read(t, at("whole.state")), read(t, at("rest.state"))) {
		t.Error("the states at the end differ")
	}
}

// TestStateFileRefused holds that a run starts from no part of the file of a state, and
// from none with any bit flipped, and says that it is truncated or damaged.
func TestStateFileRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const scenario = "murksim: 1\nname: drop\nticks: 4\nspace: {kind: ring, length: 3}\nfields: [{name: a, initial: 1}]\n"
	if err := os.WriteFile(at("drop.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := murksim(t, nil, "run", at("drop.yaml"), "--no-record", "--until", "2", "--save-state", at("whole")); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	whole := read(t, at("whole"))
	refused := func(what string, b []byte, words ...string) {
		t.Helper()
		if err := os.WriteFile(at("bad"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errs := murksim(t, nil, "run", at("drop.yaml"), "--no-record", "--state", at("bad"))
		if status != 1 || out != "" || !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(errs, at("bad")+": "+w) }) {
			t.Fatalf("%s: status %d, %s%s, want status 1 and %q", what, status, out, errs, words)
		}
	}
	for n := range whole {
		refused(fmt.Sprintf("%d of %d bytes", n, len(whole)), whole[:n], "truncated: ")
	}
	for bit := range 8 * len(whole) {
		bad := bytes.Clone(whole)
		bad[bit/8] ^= 1 << (bit % 8)
		refused(fmt.Sprintf("bit %d", bit), bad, "not a saved state", "truncated: ", "damaged: its SHA-256 does not match (byte ")
	}
	refused("one byte more", append(bytes.Clone(whole), 0), "damaged: its SHA-256 does not match (byte ")
}

// TestStateResealed holds that a state that was edited and has a SHA-256 that fits is still
// looked at: what differs is named, and a hint is given only where it helps.
func TestStateResealed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if status, _, errs := murksim(t, nil, "run", "heat", "--no-record", "--until", "2", "--save-state", at("whole")); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	state := read(t, at("whole"))
	state = state[:len(state)-sha256.Size]
	parts, err := engine.ReadState(state)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.Index(state, parts.Columns[0].Bytes)
	for _, tt := range []struct {
		at   int
		new  []byte
		want string
	}{
		{20, []byte{1}, "it was saved by a run of another scenario, or of this one with other values\n  a run goes on with the scenario"},
		{36, []byte{9}, fmt.Sprintf("its rules have version 9; this program's have %d\n", engine.RulesVersion)},
		{first, []byte{0, 0, 0xc0, 0x7f}, `damaged: field "heat": NaN is not a valid value of a scalar (byte `},
	} {
		bad := bytes.Clone(state)
		copy(bad[tt.at:], tt.new)
		if err := os.WriteFile(at("bad"), engine.Seal(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, errs := murksim(t, nil, "run", "heat", "--no-record", "--state", at("bad"))
		if want := at("bad") + ": " + tt.want; status != 1 || !strings.HasPrefix(errs, want) || strings.Contains(errs, "a run goes on") != strings.Contains(want, "a run goes on") {
			t.Errorf("status %d: %s, want %s", status, errs, want)
		}
	}
}

// TestHugeStateFileIsNotRead holds that a file is refused by its first bytes, or by its size,
// before gigabytes of it are read.
func TestHugeStateFileIsNotRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if status, _, errs := murksim(t, nil, "run", "heat", "--no-record", "--until", "2", "--save-state", at("good")); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	const huge = "space.rows=30000" // of which a state may have 3 GB
	for _, tt := range []struct{ name, head, size, want string }{
		{"zeros", "", "space.rows=128", "not a saved state: at byte 0, where "},
		{"state", string(read(t, at("good"))), "space.rows=128", "it has 3 GB; a state of heat takes "},
		{"mark", "MSS2", huge, "damaged: 0 sections; a state has 5 (byte 12)\n"},
		{"meta", string(read(t, at("good"))[:14]), huge, "damaged: section 0 stands where section 1 belongs (byte 14)\n"},
	} {
		errs, allocated := refuseHuge(t, at(tt.name), tt.head, 3e9, tt.size)
		if want := at(tt.name) + ": " + tt.want; !strings.HasPrefix(errs, want) {
			t.Errorf("%s, want %s", errs, want)
		}
		if allocated > 32<<20 {
			t.Errorf("%s: %d MiB allocated, want 32 MiB at most", tt.name, allocated>>20)
		}
	}
}

// TestLargeStateFileIsReadOnce holds that the file of a state that may be as large is read into
// memory of its size.
func TestLargeStateFileIsReadOnce(t *testing.T) {
	const size = 1200 << 20
	head := "MSS2" + strings.Repeat("\x00", 8) + "\x05\x00" + "\x01\x00\xff\xff\xff\xff" // a section of 4 GiB
	path := filepath.Join(t.TempDir(), "state")
	errs, allocated := refuseHuge(t, path, head, size, "space.rows=30000")
	if want := path + ": truncated: "; !strings.HasPrefix(errs, want) {
		t.Errorf("%s, want %s", errs, want)
	}
	if allocated > size*6/5 {
		t.Errorf("%d MiB allocated, want %d MiB at most", allocated>>20, size*6/5>>20)
	}
}

// refuseHuge runs heat, of 30,000 columns, from a file that has only a head, and returns what is
// said and how many bytes of memory it took.
func refuseHuge(t *testing.T, path, head string, size int64, set string) (errs string, allocated uint64) {
	t.Helper()
	if err := os.WriteFile(path, []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil { // takes no room on the disk
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, _, errs := murksim(t, nil, "run", "heat", "--no-record", "--set", set, "--set", "space.cols=30000", "--max-memory", "1TB", "--state", path)
	runtime.ReadMemStats(&after)
	if status != 1 {
		t.Errorf("status %d", status)
	}
	return errs, after.TotalAlloc - before.TotalAlloc
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStateOfOtherParts: a state that has the scenario's digest and seed, but not its parameters,
// fields or random streams, says in what it differs, and not that it has another seed.
func TestStateOfOtherParts(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if status, _, errs := murksim(t, nil, "run", "heat", "--no-record", "--until", "2", "--save-state", at("whole")); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	whole := read(t, at("whole"))
	state, err := engine.ReadState(whole[:len(whole)-sha256.Size])
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		section       int
		bytes, differ string
	}{
		{2, "\x01\x00\x00\x00" + strings.Repeat("\x00", 12) + "\x01\x00\x00\x00\x00\x00\x00\x00", "1 parameters; the world has 0"},
		{3, "\x00\x00\x00\x00", fmt.Sprintf("0 fields; the world has %d", len(state.Columns))},
		{5, "\x01\x00\x00\x00\x01\x00\x00\x00x" + strings.Repeat("\x01\x00\x00\x00\x00\x00\x00\x00", 3), `the random stream "x", 1 is of no part of the world`},
		{1, string(state.Sections[0][:8]) + "\x00\x00\x00\x00\x00\x00\xf0\x3f" + string(state.Sections[0][16:]), ""}, // another time step
	} {
		bad := bytes.Clone(whole[:14]) // before the sections
		for i, section := range state.Sections {
			if i == tt.section-1 {
				section = []byte(tt.bytes)
			}
			bad = binary.LittleEndian.AppendUint16(bad, uint16(i+1))
			bad = wire.AppendBytes(bad, section)
		}
		if err := os.WriteFile(at("bad"), engine.Seal(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		want := "it names this scenario, but is not a state of it: " + tt.differ + "\n"
		if tt.differ == "" {
			want = "it was saved by a run of another scenario, or of this one with other values\n"
		}
		status, out, errs := murksim(t, nil, "run", "heat", "--no-record", "--state", at("bad"))
		if status != 1 || out != "" || !strings.HasPrefix(errs, at("bad")+": "+want) {
			t.Errorf("section %d: status %d, %s%s, want %s", tt.section, status, out, errs, want)
		}
	}
}
