package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay/audit"
)

// proofFiles are a proof of a cell whose values stand on several tiles, and one of an entity, with the hashes and the states of their worlds.
func proofFiles(t testing.TB) (files [][]byte, hashes []audit.Hash, states []*engine.State) {
	t.Helper()
	for _, name := range []string{"numbers", "entities"} {
		k, s, _ := recordText(t, provable[name])
		y := layout(s)
		var list []audit.Elements
		subject := audit.Subject{Entity: 1<<20 + 4}
		if y.IDs() >= 0 {
			list = y.Entity(2)
		} else {
			x, err := y.Cell("far", 40)
			if err != nil {
				t.Fatal(err)
			}
			list, subject = append(list, x), audit.Subject{Field: "far", Cell: []int32{1, 7}}
		}
		p, err := audit.Prove(&k.links[2], k.run.Genesis, k.snapshots[2].State, list...)
		if err != nil {
			t.Fatal(err)
		}
		p.Subject = subject
		b, err := p.File()
		if err != nil {
			t.Fatal(err)
		}
		state, err := engine.ReadState(k.snapshots[2].State)
		if err != nil {
			t.Fatal(err)
		}
		files, hashes, states = append(files, b), append(hashes, k.links[2].Hash), append(states, state)
	}
	return files, hashes, states
}

// TestProofFileFlipped flips each byte of what a proof holds in base64 and in hexadecimal: it leads to another hash then, or is not whole.
func TestProofFileFlipped(t *testing.T) {
	files, hashes, _ := proofFiles(t)
	for i, file := range files {
		flips := 0
		for _, text := range bytes.Split(file, []byte{'"'}) {
			at := bytes.Index(file, append(append([]byte{'"'}, text...), '"')) + 1
			decode, encode := hex.DecodeString, hex.EncodeToString
			if len(text) != 64 {
				decode, encode = base64.StdEncoding.DecodeString, base64.StdEncoding.EncodeToString
			}
			value, err := decode(string(text))
			if err != nil || len(value) < 32 {
				continue
			}
			step := max(len(value)/1024, 1) // all bytes, but not all of a long genesis
			for j := 0; j < len(value); j += step {
				value[j] ^= 1 << (j % 8)
				changed := append(append(bytes.Clone(file[:at]), encode(value)...), file[at+len(text):]...)
				value[j] ^= 1 << (j % 8)
				p, err := audit.ReadProof(changed)
				if err != nil {
					t.Fatalf("%d: byte %d of %.20s: %v", i, j, text, err)
				}
				if h, ok := p.Hash(); ok && h == hashes[i] {
					t.Errorf("%d: with another byte %d of %.20s it is a proof, too", i, j, text)
				}
				flips++
			}
		}
		if flips < 2000 {
			t.Errorf("%d: only %d bytes are flipped", i, flips)
		}
	}
}

// TestReadProofRefuses holds that what is no proof is refused, with words that say what is wrong.
func TestReadProofRefuses(t *testing.T) {
	files, _, _ := proofFiles(t)
	text := string(files[0])
	none := regexp.MustCompile(`"state_len":\d+`).ReplaceAllString(text, `"state_len":0`)
	if p, err := audit.ReadProof([]byte(none)); err != nil || p.StateLen != 0 {
		t.Errorf("a proof of an empty state: %v", err) // which no hash comes from
	}
	for _, tt := range []struct{ old, to, want string }{
		{`{"proof":1`, `{"proof":2`, "version 2"},
		{`{"proof":1`, `{"prof":1`, "unknown key"},
		{`"tick":2`, `"tick":-2`, "tick"},
		{`"tick":2`, `"tick":2,"tick":2`, "tick"},
		{`"state_len":`, `"state_len":-`, "state_len must be 0 or more"},
		{`"columns":5`, `"columns":0`, "columns must be 1"},
		{`"columns":5`, `"columns":4294967296`, "columns must be 1"},
		{`"columns":5`, `"columns":2147483648`, "columns must be 1"},
		{`"column":4`, `"column":5`, "part 0: no column has such a tile"},
		{`"column":4`, `"column":-1`, "part 0: no column has such a tile"},
		{`"element":1`, `"element":256`, "element"},
		{`"elements":306900`, `"elements":0`, "no column has such a tile"},
		{`"elements":306900`, `"elements":2147483648`, "no column has such a tile"},
		{`"tile":93`, `"tile":-1`, "no column has such a tile"},
		{`"tile":93`, `"tile":2147483648`, "no column has such a tile"},
		{`"section_digests":["`, `"section_digests":["00","`, "section_digests must be 5, not 6"},
		{`"prev_hash":"`, `"prev_hash":"0`, "is no hash"},
		{`"tile_path":["`, `"tile_path":["0`, "part 0: audit: "},
		{`"field":"far"`, `"field":""`, "about a field and a cell, or about an entity"},
		{`"field":"far"`, `"entity":4,"field":"far"`, "about a field and a cell, or about an entity"},
		{`"cell":[1,7],`, ``, "about a field and a cell, or about an entity"},
		{`"cell":[1,7]`, `"cell":[1,7,99999999999]`, "cell"},
		{"}]}\n", "}]", "has no end"},
		{`"cell":[1,7]`, `"cell":[null,7]`, "null stands for a value"},
		{`"tile":93`, `"tile":null`, "null stands for a value"},
		{`"genesis":"`, `"genesis":"\n`, "a line feed stands in bytes"},
	} {
		bad := strings.Replace(text, tt.old, tt.to, 1)
		if bad == text {
			t.Errorf("%s is not in the file: %.300s", tt.old, text)
			continue
		}
		if _, err := audit.ReadProof([]byte(bad)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s in place of %s: %v, want %q", tt.to, tt.old, err, tt.want)
		}
	}
}

// FuzzReadProof: whatever a file holds, reading and checking it does not panic and takes little memory; and no file leads to the hash of a sample with other
// bytes than that.
func FuzzReadProof(f *testing.F) {
	files, hashes, states := proofFiles(f)
	samples := map[audit.Hash]*engine.State{}
	for i, b := range files {
		f.Add(b)
		samples[hashes[i]] = states[i]
	}
	f.Add([]byte(`{"proof":1,"entity":1,"tick":0,"prev_hash":"","state_len":0,"section_digests":[],"meta":"","genesis":"","columns":1,"parts":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := audit.ReadProof(b)
		if err != nil {
			return
		}
		h, ok := p.Hash()
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+100*len(b)); got > most {
			t.Errorf("%d bytes take %d, want at most %d", len(b), got, most)
		}
		reread(t, p)
		y := audit.LayoutOf(nil, 1, 1)
		_ = y.Check(p)
		y.Slot(p, 5)
		if s := samples[h]; ok && s != nil {
			if p.Tick != s.Tick || !bytes.Equal(p.Meta, s.Sections[0]) || sha256.Sum256(p.Genesis) != s.Descriptor {
				t.Errorf("a proof of another world leads to %s: %+v", h, p)
			}
			for _, x := range p.Parts { // other tiles of the state are as true
				c := &s.Columns[x.Column]
				if lo := x.Tile * audit.TileBytes; x.Elements != c.Len() || !bytes.Equal(x.Bytes, c.Bytes[lo:min(lo+audit.TileBytes, len(c.Bytes))]) {
					t.Errorf("another proof leads to %s: %+v", h, x)
				}
			}
		}
	})
}
