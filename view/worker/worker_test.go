package worker

import (
	"bytes"
	"strings"
	"testing"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/view"
)

// TestMemory: a header that asks for a world of more memory than a page has is refused in words, before the world is built; one that asks for as much as
// there is builds it.
func TestMemory(t *testing.T) {
	registry := worlds.Registry()
	s, err := worlds.Open(registry, "heat")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	recorder, err := replay.NewRecorder(&b, w, s.Descriptor())
	if err == nil {
		err = recorder.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	head := *r.Head()
	forged := head
	forged.CellCount = 16384 * 16384
	forged.Descriptor = bytes.Replace(head.Descriptor, []byte(`"rows":128,"cols":128`), []byte(`"rows":16384,"cols":16384`), 1)
	setup := fields.Setup{Seed: head.Seed, Dt: w.Dt(), Fields: head.FieldCount, Cells: forged.CellCount, Descriptor: forged.Descriptor}
	if forged.ConfigHash = setup.Hash(); bytes.Equal(forged.Descriptor, head.Descriptor) {
		t.Fatalf("the descriptor is %s", head.Descriptor)
	}
	need, err := s.Memory()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what  string
		h     *replay.Header
		limit uint64
		want  string
	}{
		{"a forged header", &forged, view.PageMemory, " MiB of memory, the limit is 1024 MiB"},
		{"as much as there is", &head, view.WorldsOfSource * need, ""},
		{"a little more", &head, view.WorldsOfSource*need - 1, "MiB of memory, the limit is "},
	} {
		w, _, err := new(Program).builder(registry, tt.limit)(tt.h)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.want)
		}
		if err == nil {
			w.Stop()
		}
	}
}
