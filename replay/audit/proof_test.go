package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// TestProofSize holds what is promised of the checker: it is one function of about thirty lines, and its file needs SHA-256 and nothing else.
func TestProofSize(t *testing.T) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "proof.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var imports, functions []string
	for _, x := range f.Imports {
		imports = append(imports, x.Path.Value)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			functions = append(functions, fn.Name.Name)
			if n := files.Position(fn.Body.Rbrace).Line - files.Position(fn.Body.Lbrace).Line - 1; n > 34 {
				t.Errorf("%s has %d lines between its braces; want at most 34", fn.Name.Name, n)
			}
		}
	}
	if want := []string{`"crypto/sha256"`, `"encoding/binary"`}; !slices.Equal(imports, want) || !slices.Equal(functions, []string{"Hash"}) {
		t.Errorf("proof.go imports %v and has the functions %v", imports, functions)
	}
}

// TestProof holds that each tile of a state can be proved, and no other bytes in its place, nor the tile in another place.
func TestProof(t *testing.T) {
	k := record(t, "predators", 10, "ticks=30", "expect=[]")
	l, state := &k.links[20], k.snapshots[2].State
	s, err := engine.ReadState(state)
	if err != nil {
		t.Fatal(err)
	}
	proofs := 0
	for id := range s.Columns {
		c := &s.Columns[id]
		for i := 0; i < c.Len(); i += audit.TileBytes / c.Element.Size() {
			p, err := audit.Prove(l, k.run.Genesis, state, audit.Elements{id, min(i+1, c.Len()-1), 1})
			if err != nil {
				t.Fatal(err)
			}
			if h, ok := p.Hash(); !ok || h != l.Hash {
				t.Fatalf("column %d, element %d: %s, %t; want %s", id, i, h, ok, l.Hash)
			}
			part := &p.Parts[0]
			if begin := part.Tile * audit.TileBytes; len(p.Parts) != 1 || !bytes.Equal(part.Bytes, c.Bytes[begin:begin+len(part.Bytes)]) {
				t.Fatalf("column %d, element %d: other bytes", id, i)
			}
			proofs++
			changedProofs(t, l.Hash, p, c.Bytes)
		}
	}
	if proofs < 100 {
		t.Errorf("only %d proofs", proofs)
	}
	one := audit.Elements{0, 0, 1}
	if p, err := audit.Prove(l, k.run.Genesis, state, one, audit.Elements{0, 255, 2}, audit.Elements{1, 0, 1}, one); err != nil || len(p.Parts) != 3 {
		t.Errorf("%v: elements of three tiles are in %d", err, len(p.Parts))
	}
	if _, err := audit.Prove(&k.links[21], k.run.Genesis, state, one); err == nil {
		t.Error("the state of another tick is taken")
	}
	if _, err := audit.Prove(l, k.run.Genesis[1:], state, one); err == nil {
		t.Error("the genesis of another run is taken")
	}
	n := s.Columns[0].Len()
	for _, x := range []audit.Elements{{len(s.Columns), 0, 1}, {-1, 0, 1}, {0, -1, 1}, {0, n, 1}, {0, n - 1, 2}, {0, 0, 0}} {
		want := fmt.Sprintf("column %d has no elements %d to %d", x.Column, x.First, x.First+x.Count-1)
		if _, err := audit.Prove(l, k.run.Genesis, state, x); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v: %v, want %q", x, err, want)
		}
	}
}

// changedProofs holds that a proof of one tile with another value somewhere leads to another hash, or is not whole.
func changedProofs(t *testing.T, world audit.Hash, p *audit.Proof, column []byte) {
	t.Helper()
	flipped := func(b []byte) []byte { return append(bytes.Clone(b[:len(b)-1]), b[len(b)-1]^1) }
	for what, change := range map[string]func(*audit.Proof, *audit.Part){
		"bytes":          func(_ *audit.Proof, x *audit.Part) { x.Bytes = flipped(x.Bytes) },
		"fewer bytes":    func(_ *audit.Proof, x *audit.Part) { x.Bytes = x.Bytes[:len(x.Bytes)-1] },
		"another tile":   func(_ *audit.Proof, x *audit.Part) { x.Tile++ },
		"another field":  func(_ *audit.Proof, x *audit.Part) { x.Column++ },
		"no tile":        func(_ *audit.Proof, x *audit.Part) { x.Tile = -1 },
		"element":        func(_ *audit.Proof, x *audit.Part) { x.Element ^= 1 },
		"no element":     func(_ *audit.Proof, x *audit.Part) { x.Element += 4 },
		"elements":       func(_ *audit.Proof, x *audit.Part) { x.Elements++ },
		"columns":        func(p *audit.Proof, _ *audit.Part) { p.Columns *= 3 },
		"no columns":     func(p *audit.Proof, _ *audit.Part) { p.Columns = 0 },
		"tick":           func(p *audit.Proof, _ *audit.Part) { p.Tick++ },
		"before":         func(p *audit.Proof, _ *audit.Part) { p.Prev[0]++ },
		"length":         func(p *audit.Proof, _ *audit.Part) { p.StateLen++ },
		"longer path":    func(_ *audit.Proof, x *audit.Part) { x.Path = append(x.Path, audit.Hash{}) },
		"path":           func(_ *audit.Proof, x *audit.Part) { x.Path = nil },
		"digests":        func(p *audit.Proof, _ *audit.Part) { p.Sections[4][31]++ },
		"genesis":        func(p *audit.Proof, _ *audit.Part) { p.Genesis = flipped(p.Genesis) },
		"no genesis":     func(p *audit.Proof, _ *audit.Part) { p.Genesis = nil },
		"meta":           func(p *audit.Proof, _ *audit.Part) { p.Meta = append([]byte{1}, p.Meta[1:]...) },
		"no meta":        func(p *audit.Proof, _ *audit.Part) { p.Meta = nil },
		"nothing at all": func(p *audit.Proof, _ *audit.Part) { p.Parts = nil },
		"one more part":  func(p *audit.Proof, x *audit.Part) { p.Parts = append(p.Parts, audit.Part{Column: x.Column}) },
	} {
		other := *p
		other.Parts = slices.Clone(p.Parts)
		x := &other.Parts[0]
		change(&other, x)
		begin := x.Tile * audit.TileBytes
		if same := what == "another tile" && begin < len(column) && bytes.HasPrefix(column[begin:], p.Parts[0].Bytes); same {
			continue // which is true
		}
		if h, ok := other.Hash(); ok && h == world {
			t.Fatalf("column %d, tile %d: with another value of %s it is a proof, too", p.Parts[0].Column, p.Parts[0].Tile, what)
		}
	}
}

// TestProofCrafted holds that hashes alone are not enough: of a tree that somebody has made up, whose hashes are all right, a tile is refused that is not in its
// place in a column, and a column that is not in its place in the tree.
func TestProofCrafted(t *testing.T) {
	leaf := func(parts ...[]byte) audit.Hash { return sha256.Sum256(append([]byte{0}, bytes.Join(parts, nil)...)) }
	for _, tt := range []struct {
		what            string
		column, columns int
		element         uint8
		elements, bytes int
		holds           bool
	}{
		{"a tile of 2 elements", 0, 1, 0, 2, 8, true},
		{"of 8 bytes each", 0, 1, 3, 2, 16, true},
		{"the longest tile", 0, 1, 0, 256, 1024, true},
		{"fewer bytes", 0, 1, 0, 2, 4, false},
		{"more bytes", 0, 1, 0, 2, 12, false},
		{"a longer tile", 0, 1, 0, 257, 1028, false},
		{"no element", 0, 1, 0, 0, 0, false},
		{"no such element", 0, 1, 4, 2, 8, false},
		{"no such element, and no bytes", 0, 1, 4, 2, 0, false},
		{"a column behind the last", 1, 1, 0, 2, 8, false},
		{"a column before the first", -1, 1, 0, 2, 8, false},
		{"no column", 0, 0, 0, 2, 8, false},
	} {
		part := audit.Part{Column: tt.column, Element: tt.element, Elements: tt.elements, Bytes: make([]byte, tt.bytes)}
		root := leaf(part.Bytes)
		head := append(binary.LittleEndian.AppendUint32(nil, uint32(tt.column)), tt.element)
		digest := sha256.Sum256(nil)
		p := audit.Proof{Meta: digest[:], Columns: tt.columns, Parts: []audit.Part{part}}
		p.Sections[0], p.Sections[2] = sha256.Sum256(p.Meta), leaf(binary.LittleEndian.AppendUint64(head, uint64(tt.elements)), root[:])
		if _, ok := p.Hash(); ok != tt.holds {
			t.Errorf("%s: %t", tt.what, ok)
		}
	}
}

// layout returns the layout of a scenario's states.
func layout(s *scenarios.Scenario) *audit.Layout {
	var defs []fields.Def
	for i := range s.Fields {
		defs = append(defs, s.Fields[i].Def())
	}
	if s.Entities == nil {
		return audit.LayoutOf(defs, s.Lattice().Cells(), 0)
	}
	return audit.LayoutOf(defs, s.Lattice().Cells(), s.Entities.Capacity)
}

// provable are scenarios with all kinds of elements, vectors, one cell, and columns of one tile, of many, and that end in the middle of one.
var provable = map[string]string{
	"numbers": `
space: {kind: square4, rows: 31, cols: 33}
fields:
  - {name: plain, initial: 1.5}
  - {name: exact, element: fixed, initial: 2.25}
  - {name: sort, type: categorical, values: [x, y]}
  - {name: wind, type: vector(3), initial: [1, 2, 3]}
  - {name: far, type: vector(300), element: fixed, initial: 4}
`,
	"one cell": `
space: {kind: line, length: 1}
fields:
  - {name: plain, initial: 7}
  - {name: wide, type: vector(700), initial: 1}
`,
	"one column": `
space: {kind: ring, length: 256}
fields: [{name: plain, initial: 7}]
`,
	"entities": `
space: {kind: hex, cols: 5, rows: 5}
fields:
  - {name: energy, domain: entities, initial: 3}
  - {name: velocity, domain: entities, type: vector(3), element: fixed, initial: 0.5}
entities:
  capacity: 300
  kinds: [rabbit, fox]
  spawn: [{kind: fox, count: 200, set: {energy: 5}}]
`,
}

// TestProveCells holds for cells of every field, the first, the last and some between, and for entities, that a proof leads to the hash of its tick and
// has the values of the state, all components, also after it was a file.
func TestProveCells(t *testing.T) {
	for name, text := range provable {
		t.Run(name, func(t *testing.T) {
			k, s, w := recordText(t, text)
			y := layout(s)
			if defs := w.Defs()[:len(w.Defs())-1]; len(defs) != len(y.Defs) {
				t.Fatalf("%d columns, want %d", len(y.Defs), len(defs))
			}
			for id, d := range y.Defs {
				if want := w.Defs()[id]; d.Name != want.Name || d.Element != want.Element || d.Type != want.Type || d.Domain != want.Domain {
					t.Fatalf("column %d is %+v, want %+v", id, d, want)
				}
				c := w.Column(fields.ID(id))
				n := d.Type.Components()
				owners := c.Len() / n
				for _, owner := range []int{0, owners / 3, owners / 2, owners - 1} {
					if d.Domain == fields.Cells {
						x, err := y.Cell(d.Name, owner)
						if err != nil {
							t.Fatal(err)
						}
						checkProved(t, k, y, w, x)
						continue
					}
					checkProved(t, k, y, w, y.Entity(owner)...)
				}
			}
		})
	}
}

// recordText runs a scenario of so many keys, for 3 ticks.
func recordText(t testing.TB, text string) (*kept, *scenarios.Scenario, *engine.World) {
	t.Helper()
	s, err := yaml.Parse(worlds.Registry(), "a.yaml", nil, []byte("murksim: 1\nname: a\nticks: 3\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	return recordWorld(t, s, w, 1), s, w
}

// checkProved proves elements of the last tick, and holds the proof against the world.
func checkProved(t *testing.T, k *kept, y *audit.Layout, w *engine.World, list ...audit.Elements) {
	t.Helper()
	l := &k.links[len(k.links)-1]
	p, err := audit.Prove(l, k.run.Genesis, k.snapshots[len(k.snapshots)-1].State, list...)
	if err != nil {
		t.Fatal(err)
	}
	p.Subject = audit.Subject{Entity: 1}
	if p = reread(t, p); t.Failed() {
		return
	}
	if h, ok := p.Hash(); !ok || h != l.Hash {
		t.Fatalf("%v: it leads to %s, %t; want %s", list, h, ok, l.Hash)
	}
	if err := y.Check(p); err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		bits, ok := p.Bits(x)
		if !ok || len(bits) != x.Count {
			t.Fatalf("%v: %d elements, %t", x, len(bits), ok)
		}
		for i, b := range bits {
			if want := w.Column(fields.ID(x.Column)).Bits(x.First + i); b != want {
				t.Fatalf("%v: element %d is %x, want %x", x, i, b, want)
			}
		}
	}
	last := list[len(list)-1]
	if _, ok := p.Bits(audit.Elements{last.Column, w.Column(fields.ID(last.Column)).Len() + audit.TileBytes, 1}); ok {
		t.Error("it has elements that are not in it")
	}
}

// reread writes a proof and reads it.
func reread(t testing.TB, p *audit.Proof) *audit.Proof {
	t.Helper()
	b, err := p.File()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b, []byte(audit.ProofMark)) {
		t.Fatalf("it begins with %.20s", b)
	}
	again, err := audit.ReadProof(b)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := again.File(); err != nil || !bytes.Equal(b, c) {
		t.Fatalf("it is written otherwise the second time (%v):\n%s\n%s", err, b, c)
	}
	return again
}

// TestProveEntity holds that an entity is found where it is and as long as it lives, and nowhere before it is born or after it has died.
func TestProveEntity(t *testing.T) {
	k := record(t, "predators", 1, "ticks=60", "expect=[]")
	s, _ := world(t, "predators")
	y := layout(s)
	born, died := 0, 0
	var before []uint64
	for tick := range k.links {
		st, err := engine.ReadState(k.snapshots[tick].State)
		if err != nil {
			t.Fatal(err)
		}
		ids := st.Columns[y.IDs()].Column()
		for slot, id := range ids.Uint64 {
			if before == nil || before[slot] == id {
				continue
			}
			p, err := audit.Prove(&k.links[tick], k.run.Genesis, k.snapshots[tick].State, y.Entity(slot)...)
			if err != nil {
				t.Fatal(err)
			}
			if h, ok := p.Hash(); !ok || h != k.links[tick].Hash {
				t.Fatalf("tick %d, slot %d: not whole", tick, slot)
			}
			if id != 0 {
				born++
				if got, ok := y.Slot(p, id); !ok || got != slot {
					t.Errorf("tick %d: entity %d is in slot %d, %t; want %d", tick, id, got, ok, slot)
				}
			}
			if before[slot] != 0 && !slices.Contains(ids.Uint64, before[slot]) {
				died++
				if got, ok := y.Slot(p, before[slot]); ok {
					t.Errorf("tick %d: entity %d has died, and is in slot %d", tick, before[slot], got)
				}
			}
			if _, ok := y.Slot(p, 0); ok {
				t.Error("a free slot is an entity")
			}
		}
		before = ids.Uint64
	}
	if born < 100 || died < 10 {
		t.Errorf("only %d were born, and %d died", born, died)
	}
}

// TestLayoutCheck holds that columns which are not those of the genesis are refused, though the hash is right: who signs a tree of another shape has two
// values in one place.
func TestLayoutCheck(t *testing.T) {
	k, s, _ := recordText(t, provable["numbers"])
	y := layout(s)
	if _, err := y.Cell("none", 0); err == nil {
		t.Error("there is a field none")
	}
	if _, err := y.Cell("plain", 31*33); err == nil {
		t.Error("there is a cell behind the last")
	}
	x, err := y.Cell("plain", 5)
	if err != nil {
		t.Fatal(err)
	}
	p, err := audit.Prove(&k.links[0], k.run.Genesis, k.snapshots[0].State, x)
	if err != nil {
		t.Fatal(err)
	}
	more := *p
	more.Columns++
	if h, ok := more.Hash(); !ok || h != k.links[0].Hash {
		t.Fatal("the path of another number of columns has another shape here: choose another column")
	}
	for what, tt := range map[string]struct {
		change func(*audit.Proof)
		want   string
	}{
		"columns":  {func(p *audit.Proof) { p.Columns++ }, fmt.Sprintf("it has %d columns; those of its genesis are %d", p.Columns+1, p.Columns)},
		"element":  {func(p *audit.Proof) { p.Parts[0].Element = 2 }, "of kind 2; its genesis has"},
		"elements": {func(p *audit.Proof) { p.Parts[0].Elements-- }, fmt.Sprintf("part 0 has %d elements", p.Parts[0].Elements-1)},
		"column":   {func(p *audit.Proof) { p.Parts[0].Column = 6 }, "part 0 "},
		"no such":  {func(p *audit.Proof) { p.Parts[0].Column = -1 }, fmt.Sprintf("part 0 is of column -1; the last is %d", p.Columns-1)},
	} {
		other := *p
		other.Parts = slices.Clone(p.Parts)
		tt.change(&other)
		if err := y.Check(&other); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("with other %s: %v, want %q", what, err, tt.want)
		}
	}
	for slots, want := range []int{1, 4, 4} {
		if got := len(audit.LayoutOf(make([]fields.Def, 1), 9, slots).Defs); got != want {
			t.Errorf("a field and %d slots are %d columns, want %d", slots, got, want)
		}
	}
	entities := layout(func() *scenarios.Scenario { _, s, _ := recordText(t, provable["entities"]); return s }())
	if _, err := entities.Cell("energy", 0); err == nil || !strings.Contains(err.Error(), "attribute of entities") {
		t.Errorf("energy of a cell: %v", err)
	}
}

// TestProofOfFork holds that the proof of a fork has the genesis that names its parent.
func TestProofOfFork(t *testing.T) {
	k, s, w := recordText(t, provable["numbers"])
	parent := audit.Parent{Run: audit.ID{7}, Tick: 3, Hash: k.links[3].Hash}
	genesis, err := parent.Describe(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	state, err := w.Save(genesis)
	if err != nil {
		t.Fatal(err)
	}
	l, err := audit.NewLink(audit.Hash{}, state)
	if err != nil {
		t.Fatal(err)
	}
	x := audit.Elements{0, 0, 1}
	p, err := audit.Prove(l, genesis, state, x)
	if err != nil {
		t.Fatal(err)
	}
	if h, ok := p.Hash(); !ok || h != l.Hash {
		t.Error("the proof is not whole")
	}
	if _, of, err := audit.SplitGenesis(p.Genesis); err != nil || *of != parent {
		t.Errorf("the parent is %v, %v", of, err)
	}
	if _, err := audit.Prove(l, s.Descriptor(), state, x); err == nil {
		t.Error("the genesis of the parent is taken")
	}
	p.Genesis = s.Descriptor()
	if _, ok := p.Hash(); ok {
		t.Error("the proof holds with the genesis of the parent")
	}
}
