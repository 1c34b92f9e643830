package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/replay/audit"
)

func bundle(t testing.TB, e audit.Evidence) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := audit.WriteBundle(t.Context(), &b, e); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// opened reads all of a bundle and checks it.
func opened(t testing.TB, b []byte) (*audit.Bundle, error) {
	x, err := audit.OpenBundle(bytes.NewReader(b), int64(len(b)), nil)
	if err == nil {
		var found *audit.Checked
		if found, err = audit.Check(t.Context(), x); err == nil && len(found.Refused) > 0 {
			err = found.Refused[0]
		}
	}
	return x, err
}

// TestBundle holds that a bundle holds all of a run: written again it is the same, and it can be computed again.
func TestBundle(t *testing.T) {
	sets := []string{"ticks=220", "expect=[]", "seed=18446744073709551615"}
	of, first := world(t, "heat", sets...)
	genesis, err := (&audit.Parent{Run: audit.ID{9}}).Describe(of.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	k := recordAs(t, of, first, genesis, 100)
	k.run.Label, k.run.ID, k.run.Parent, k.run.Created = "<ü>", audit.ID{1, 2, 255}, audit.ID{9}, time.Unix(1e9, 5)
	text := bundle(t, k)
	x, err := opened(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if again := bundle(t, x); !bytes.Equal(again, text) {
		t.Error("written again it is another bundle")
	}
	s, w := world(t, "heat", sets...)
	if err := (&audit.Rerun{Evidence: x, World: w, Descriptor: genesis, To: s.Ticks}).Run(t.Context()); err != nil {
		t.Error(err)
	}
	got, head, err := audit.Open(t.Context(), x, 100)
	if err != nil || got.Hash != k.links[100].Hash || head.Hash != got.Hash || head.Events.Seq != k.links[100].InputSeq {
		t.Errorf("snapshot %+v at head %+v, %v", got, head, err)
	}
}

// TestBundleDamaged holds that no cut of a bundle is taken for a whole one, and that changes of single bytes are seen wherever they matter.
func TestBundleDamaged(t *testing.T) {
	k := record(t, "predators", 0, "ticks=6", "expect=[]")
	text := bundle(t, k)
	for n := range text {
		if n > 200 && n < len(text)-200 && n%499 != 0 {
			continue
		}
		if _, err := opened(t, text[:n]); err == nil {
			t.Fatalf("%d of %d bytes are taken for a bundle", n, len(text))
		}
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i := range lines {
		if i > 0 && i < len(lines)-1 && (i%29 == 0 || i > len(lines)-9) {
			if _, err := opened(t, bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil)); err == nil {
				t.Errorf("without line %d it is taken for a bundle", i+1)
			}
		}
	}
	for _, tt := range []struct{ old, new, want string }{
		{`"bundle":1`, `"bundle":2`, "line 1: it is a bundle of version 2"},
		{`"seed":"`, `"seed":"x`, "line 1: "},
		{`"tick":3`, `"tick":3,"tick":3`, "line "},
		{`"world_hash":"`, `"world_hash":"x`, "is no hash of 32 bytes"},
		{`"section_digests":"`, `"section_digests":"AAAA`, "are no digests"},
		{`{"chain_hash":{"tick":2,`, `{"chain_hash":null,"x":{"tick":2,`, "line "},
		{`{"end":`, `{"end":null}` + "\n" + `{"end":`, "null stands for a value"},
		{`{"end":`, `{}` + "\n" + `{"end":`, "it holds nothing"},
	} {
		changed := strings.Replace(string(text), tt.old, tt.new, 1)
		if changed == string(text) {
			t.Fatalf("there is no %s", tt.old)
		}
		if _, err := opened(t, []byte(changed)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.new, err, tt.want)
		}
	}
}

// TestBundleOfAHalt: a halt comes back as it was, with or without a detail; what is none is refused, and so is a second one.
func TestBundleOfAHalt(t *testing.T) {
	k := record(t, "life", 0, "ticks=3", "expect=[]")
	at := time.Unix(1_800_000_000, 1000).UTC()
	for _, halt := range []audit.Halt{{Tick: 3, Code: audit.Panic, At: at}, {Tick: audit.MaxTick, Code: audit.Divergence, Detail: `{"expected":"00"}`, At: at}} {
		k.halt = &halt
		x, err := opened(t, bundle(t, k))
		if err != nil {
			t.Errorf("%+v: %v", halt, err)
		} else if got := must(x.Halt(t.Context())); got == nil || *got != halt {
			t.Errorf("%+v came back as %+v", halt, got)
		}
	}
	for _, halt := range []audit.Halt{{Tick: audit.MaxTick + 1, Code: audit.Panic, At: at}, {Tick: 3, At: at}, {Tick: 3, Code: audit.Panic, Detail: "{", At: at}} {
		k.halt = &halt
		if _, err := opened(t, bundle(t, k)); err == nil || !strings.Contains(err.Error(), "it is no halt") {
			t.Errorf("%+v: %v", halt, err)
		}
	}
	k.halt = &audit.Halt{Tick: 3, Code: audit.Panic, At: at}
	text := string(bundle(t, k))
	mark := strings.Index(text, "{\"halt\":")
	line := text[mark : mark+strings.IndexByte(text[mark:], '\n')+1]
	for _, tt := range []struct{ old, new, want string }{
		{line, line + line, "it is the second halt"},
		{`"halted_at":"2027-`, `"halted_at":"27-`, "line "},
	} {
		if _, err := opened(t, []byte(strings.Replace(text, tt.old, tt.new, 1))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.new, err, tt.want)
		}
	}
}

// TestBundleLimit holds that a snapshot may have as many bytes as a state of its genesis, and no more.
func TestBundleLimit(t *testing.T) {
	k := record(t, "heat", 1, "ticks=2", "expect=[]")
	text, state := bundle(t, k), int64(len(k.snapshots[0].State))
	for most, want := range map[int64]string{state: "", state * 4 / 5: "which no such line of this run needs"} {
		_, err := audit.OpenBundle(bytes.NewReader(text), int64(len(text)), func([]byte) int64 { return most })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("snapshots of %d bytes where a state has at most %d: %v", state, most, err)
		}
	}
}

// TestBundleFlood holds that what is sent many times in a bundle is refused where it comes again, and that many snapshots are no more
// work, each, than few.
func TestBundleFlood(t *testing.T) {
	text := bundle(t, record(t, "life", 1, "ticks=3", "expect=[]"))
	lines := bytes.SplitAfter(text, []byte("\n"))
	snapshot := slices.IndexFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"snapshot":`)) })
	end := slices.IndexFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"end":`)) })
	if snapshot < 0 || end < snapshot {
		t.Fatalf("the lines of a snapshot and the end are %d and %d", snapshot, end)
	}
	again := bytes.Join(slices.Insert(slices.Clone(lines), snapshot+1, lines[snapshot]), nil)
	if _, err := opened(t, again); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d: there are two snapshots of tick ", snapshot+2)) {
		t.Errorf("a snapshot that comes twice: %v", err)
	}
	const many = 1 << 17 // compared in pairs, they take minutes
	var flood [][]byte
	for tick := range many {
		flood = append(flood, fmt.Appendf(nil, `{"snapshot":{"tick":%d,"world_hash":"%064d","state":""}}`+"\n", 1000+tick, 0))
	}
	_, err := opened(t, bytes.Join(slices.Insert(slices.Clone(lines), snapshot+1, flood...), nil))
	if err == nil || !strings.Contains(err.Error(), "snapshots; its last line says") {
		t.Errorf("%d snapshots that the run does not have: %v", many, err)
	}
}

func FuzzBundle(f *testing.F) {
	f.Add(bundle(f, record(f, "life", 0, "ticks=2", "expect=[]")))
	f.Add([]byte(`{"bundle":1}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := audit.OpenBundle(bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			return
		}
		for _, tick := range must(x.Snapshots(t.Context())) {
			if _, err := x.Snapshot(t.Context(), tick); err != nil && errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("snapshot %d: %v", tick, err)
			}
		}
		_, _ = audit.Check(t.Context(), x)
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
