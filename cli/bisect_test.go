package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/worlds"
)

// bisected runs bisect --json, which must find a difference.
func bisected(t *testing.T, args ...string) (r compare.BisectResult) {
	t.Helper()
	status, out, errs := murksim(t, nil, slices.Concat([]string{"bisect", "--json"}, args)...)
	if status != report.StatusDiverged {
		t.Fatalf("bisect %v: status %d, want %d: %s%s", args, status, report.StatusDiverged, out, errs)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// TestBisectAsks holds that a program is asked at most ⌈log2 n⌉ times, and for the last tick,
// and that what comes of it is what a comparison of all ticks finds, wherever the difference is.
func TestBisectAsks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const ticks = 37
	var table strings.Builder
	table.WriteString("tick\tstate\n")
	for tick := 1; tick <= ticks; tick++ {
		table.WriteString(strconv.Itoa(tick) + "\t00000000000000" + strconv.FormatInt(int64(16+tick), 16) + "\n")
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.tsv", table.String())
	lines := strings.SplitAfter(table.String(), "\n")
	for wrong := 1; wrong <= ticks; wrong++ {
		other := slices.Clone(lines)
		for i := wrong; i <= ticks; i++ {
			other[i] = strings.Replace(other[i], "\t0", "\tf", 1)
		}
		write("b.tsv", strings.Join(other, ""))
		linear := bisected(t, "a.tsv", "b.tsv")
		if linear.Tick != uint64(wrong) || !linear.Exact {
			t.Fatalf("tick %d is wrong: two tables give %d", wrong, linear.Tick)
		}
		if wrong%5 != 0 && wrong != 1 && wrong != ticks { // a process for each question
			continue
		}
		r := bisected(t, "a.tsv", "--command", `sh -c 'grep "^{tick}	" b.tsv | cut -f 2'`)
		most := bits.Len(ticks-1) + 1 + compare.Repeats
		if r.Tick != uint64(wrong) || r.EqualTick != uint64(wrong-1) || r.B.Questions > most || r.Exact {
			t.Errorf("tick %d is wrong: %+v after %d questions, at most %d should do", wrong, r, r.B.Questions, most)
		}
	}
}

// An impatient context is interrupted when it was asked a number of times whether it is.
type impatient struct {
	context.Context
	left atomic.Int64
}

func (c *impatient) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestBisectTableInterrupted: Ctrl-C ends bisect while it reads a long table of hashes, after a few
// thousand lines, and the error names the file.
func TestBisectTableInterrupted(t *testing.T) {
	const lines, asked, often = 100_000, 3, 1 << 12
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("tick\tstate\n")
	for tick := 1; tick <= lines; tick++ {
		fmt.Fprintf(&b, "%d\t%016x\n", tick, tick)
	}
	if err := os.WriteFile("t.tsv", []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx := &impatient{Context: t.Context()}
	ctx.left.Store(asked)
	table, err := session.ReadTable(ctx, "t.tsv")
	if n := len(table.Ticks); err == nil || err.Error() != "t.tsv: interrupted" || n == 0 || n > (asked+1)*often {
		t.Errorf("%v after %d lines of %d; want that it is interrupted after %d at most", err, n, lines, (asked+1)*often)
	}
	gone, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out, errs bytes.Buffer
	if status := new(Program).run(gone, []string{"bisect", "t.tsv", "t.tsv"}, nil, &out, &errs); status != report.StatusError || errs.String() != "t.tsv: interrupted\n" || out.Len() > 0 {
		t.Errorf("status %d, %q, %q, want 1 and that it is interrupted", status, out.String(), errs.String())
	}
}

// TestBisectEveryScenario compares two seeds of every scenario part by part; the part that is
// named is the first that seek shows to differ.
func TestBisectEveryScenario(t *testing.T) {
	t.Chdir(t.TempDir())
	compared, before := 0, 0
	for _, s := range worlds.Embedded() {
		for _, seed := range []string{"1", "2"} {
			args := []string{"run", s.Name, "-q", "--ticks", "12", "--set", "expect=[]", "--seed", seed, "-o", seed + ".murk"}
			if status, _, errs := murksim(t, nil, args...); status != report.StatusOK {
				t.Fatalf("%v: status %d, %s", args, status, errs)
			}
		}
		if status, out, errs := murksim(t, nil, "bisect", "--phases", "1.murk", "2.murk"); status != report.StatusDiverged || errs != "" || !strings.HasPrefix(out, "DIFFER ") {
			t.Errorf("%s: status %d, %s%s", s.Name, status, out, errs)
		}
		r := bisected(t, "--phases", "1.murk", "2.murk")
		if r.Status == "header" { // nothing in it is random
			continue
		}
		compared++
		if r.A.Stable == nil || !*r.A.Stable || r.B.Stable == nil || !*r.B.Stable || r.Tick == 0 {
			t.Errorf("%s: %+v, want a tick that is stable", s.Name, r)
			continue
		}
		if r.DifferBefore {
			before++
			if r.Tick != 1 || r.Parts != nil || seekGenesis(t, "1.murk") == seekGenesis(t, "2.murk") {
				t.Errorf("%s: tick %d, parts %+v; want that the worlds differ before tick 1, and no part", s.Name, r.Tick, r.Parts)
			}
			continue
		}
		if r.Tick == 1 && seekGenesis(t, "1.murk") != seekGenesis(t, "2.murk") {
			t.Errorf("%s: the worlds differ before tick 1, which bisect does not say", s.Name)
		}
		x, y := seekParts(t, "1.murk", r.Tick), seekParts(t, "2.murk", r.Tick)
		if len(r.Parts) != 1 {
			t.Errorf("%s: parts %+v, want one", s.Name, r.Parts)
			continue
		}
		p := r.Parts[0]
		for i := range x {
			names := session.OtherFields(x[i].Fields, y[i].Fields)
			if i+1 < p.Index && len(names) > 0 || i+1 == p.Index && (!slices.Equal(names, p.Fields) || x[i].Part != p.Part) {
				t.Errorf("%s: part %d, %s, differs in %q; bisect names %+v", s.Name, i+1, x[i].Part, names, p)
			}
		}
	}
	if compared < 10 || before == 0 || before == compared {
		t.Errorf("%d scenarios differ by their seeds, of which %d before tick 1; want 10 at least, and some of each", compared, before)
	}
}

// seekGenesis returns the hash before the first tick.
func seekGenesis(t *testing.T, name string) string {
	t.Helper()
	status, out, errs := murksim(t, nil, "seek", name, "--tick", "0", "--json")
	var r seekResult
	if err := json.Unmarshal([]byte(out), &r); status != report.StatusOK || err != nil || r.Hash == "" {
		t.Fatalf("seek %s: status %d, %v, %s%s", name, status, err, out, errs)
	}
	return r.Hash
}

// seekParts returns the parts of a tick, of which the last has the hash of the tick.
func seekParts(t *testing.T, name string, tick uint64) []session.PartView {
	t.Helper()
	status, out, errs := murksim(t, nil, "seek", name, "--tick", strconv.FormatUint(tick, 10), "--phases", "--json")
	var r seekResult
	if err := json.Unmarshal([]byte(out), &r); status != report.StatusOK || err != nil || len(r.Parts) < 3 {
		t.Fatalf("seek %s: status %d, %v, %s%s", name, status, err, out, errs)
	}
	if last := r.Parts[len(r.Parts)-1]; last.Hash != r.Hash {
		t.Errorf("tick %d: the last part has the hash %s, the tick %s", tick, last.Hash, r.Hash)
	}
	return r.Parts
}

// TestFirstPart holds what is named if the parts of two ticks are not the same ones.
func TestFirstPart(t *testing.T) {
	part := func(name, hash string) session.PartView {
		return session.PartView{Part: name, Kind: "propagator", Hash: hash, Fields: []session.FieldHash{{Name: "x", Hash: hash}, {Name: "y", Hash: "0"}}}
	}
	a := []session.PartView{part("p", "1"), part("q", "2")}
	for _, tt := range []struct {
		b    []session.PartView
		want *session.PartDifference
	}{
		{a, nil},
		{[]session.PartView{part("p", "1"), part("q", "3")}, &session.PartDifference{Part: "q", Kind: "propagator", Index: 2, Of: 2, Fields: []string{"x"}}},
		{[]session.PartView{part("p", "3"), part("q", "3")}, &session.PartDifference{Part: "p", Kind: "propagator", Index: 1, Of: 2, Fields: []string{"x"}}},
		{[]session.PartView{part("p", "1"), part("r", "2")}, &session.PartDifference{Part: "q", Other: "r", Kind: "propagator", Index: 2, Of: 2}},
		{a[:1], &session.PartDifference{Part: "q", Kind: "propagator", Index: 2, Of: 2}},
		{append(slices.Clone(a), part("r", "2")), &session.PartDifference{Other: "r", Index: 3, Of: 3}},
	} {
		got := session.FirstPart(a, tt.b)
		g, _ := json.Marshal(got)
		if w, _ := json.Marshal(tt.want); string(g) != string(w) {
			t.Errorf("firstPart = %s, want %s", g, w)
		}
	}
}

// TestTraceKeepsValues holds that the values of every field are known after every part, of a
// trace with a base up to the first part that differs.
func TestTraceKeepsValues(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "predators")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	step := func() error {
		_, err := w.Step()
		return err
	}
	for range 3 {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	k := session.KeepTick(w)
	first, err := session.Traced(w, nil, step)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.LoadTick(nil, k.State, k.Rest); err != nil {
		t.Fatal(err)
	}
	second, err := session.Traced(w, first, step)
	if err != nil {
		t.Fatal(err)
	}
	if session.FirstPart(first.Parts, second.Parts) != nil || second.Bytes != 0 {
		t.Errorf("the same tick differs, or was kept twice (%d bytes)", second.Bytes)
	}
	for i, p := range first.Parts {
		for f, want := range p.Fields {
			for _, tr := range []*session.Trace{first, second} {
				c, ok := tr.Column(i, f)
				if got := words.Hash16(columnHash(&c)); !ok || got != want.Hash {
					t.Errorf("part %d, field %s: hash %s (%v), want %s", i, want.Name, got, ok, want.Hash)
				}
			}
		}
	}
}

func columnHash(c *fields.Column) uint64 { return uint64(fields.NewHash().Column(c)) }
