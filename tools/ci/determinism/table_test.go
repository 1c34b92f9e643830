package main

import (
	"strings"
	"testing"
)

const whole = "tick\tstate\theat\twall\n1\ta\tb\tc\n2\td\te\tc\n3\tf\tg\tc\n"

// TestCompare holds that every difference is found at its tick and field, and that what
// is missing or too much is one.
func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name, text string
		from       uint64
		want       string
	}{
		{"equal", whole, 0, ""},
		{"equal from a state", "tick\tstate\theat\twall\n3\tf\tg\tc\n", 2, ""},
		{"field", strings.Replace(whole, "d\te", "x\ty", 1), 0, "tick 2, heat: y, want e"},
		{"last field", strings.Replace(whole, "f\tg\tc", "x\tg\ty", 1), 0, "tick 3, wall: y, want c"},
		{"state alone", strings.Replace(whole, "f\tg", "x\tg", 1), 0, "tick 3, state: x, want f"},
		{"tick", strings.Replace(whole, "2\td", "4\td", 1), 0, "tick 2, tick: 4, want 2"},
		{"short", strings.TrimSuffix(whole, "3\tf\tg\tc\n"), 0, "it ends after tick 2, want 3"},
		{"long", whole + "4\ta\tb\tc\n", 0, "it ends after tick 4, want 3"},
		{"all of it from a state", whole, 2, "it ends after tick 5, want 3"},
		{"columns", strings.Replace(whole, "wall", "floor", 1), 0, `the columns are ["tick" "state" "heat" "floor"]`},
	} {
		want, err := parseTable(whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseTable(test.text)
		if err != nil {
			t.Fatal(err)
		}
		if found := compare(want, got, test.from); !strings.HasPrefix(found, test.want) || (found == "") != (test.want == "") {
			t.Errorf("%s: compare = %q, want %q", test.name, found, test.want)
		}
	}
	for _, text := range []string{"", "tick\tstate\theat\n", "tick\tstate\theat\n1\ta\n"} {
		if _, err := parseTable(text); err == nil {
			t.Errorf("parseTable(%q) = nil, want an error", text)
		}
	}
}

// TestNoColumnHasZeroTicks: the foot of the table says what was found where a column is not
// equal, instead of counting no ticks.
func TestNoColumnHasZeroTicks(t *testing.T) {
	for _, tt := range []struct {
		e       *environment
		planted bool
		want    string
	}{
		{&environment{env: []string{"GOARCH=arm64"}, workers: 1, differed: true}, true, "differs, as planted; GOARCH=arm64; workers 1; "},
		{&environment{env: []string{"GOARCH=arm64"}, workers: 1, differed: true}, false, "no scenario is equal; GOARCH=arm64; workers 1; "},
		{&environment{env: []string{"GOARCH=386"}, workers: 2, ticks: 1000, hashes: 3000}, true, "1,000 ticks, 3,000 field hashes; GOARCH=386; workers 2; "},
		{&environment{left: "illegal instruction\nmore"}, false, "left out: this processor cannot run it (illegal instruction)"},
	} {
		if got := tt.e.summary(tt.planted); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestChoose holds which columns a list asks for, and that an unknown one is refused.
func TestChoose(t *testing.T) {
	for list, want := range map[string]string{
		"all":         "amd64 2workers 8workers v3 race 386 arm64 riscv64 s390x ppc64le wasm windows",
		"s390x,arm64": "amd64 2workers 8workers v3 race arm64 s390x",
		"wasm":        "amd64 2workers 8workers v3 race wasm",
	} {
		chosen, err := choose(".", list)
		var names []string
		for _, e := range chosen {
			names = append(names, e.name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("choose(%q) = %q, %v; want %q", list, got, err, want)
		}
	}
	for _, list := range []string{"", "sparc", "arm64,", "v3"} {
		if _, err := choose(".", list); err == nil {
			t.Errorf("choose(%q) = nil, want an error", list)
		}
	}
}

// TestMissing holds that a missing emulator names the package to install.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	chosen, err := choose(".", "s390x,wasm,windows")
	if err != nil {
		t.Fatal(err)
	}
	err = missing(chosen)
	for _, want := range []string{"qemu-s390x-static: apt-get install qemu-user-static", "node: apt-get install nodejs", "wine: apt-get install wine64 wine gcc-mingw-w64-x86-64-win32", "gcc: apt-get install gcc"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing = %v, want %q in it", err, want)
		}
	}
}
