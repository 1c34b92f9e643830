package vectors_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/scenarios"
)

func h64(v uint64) string   { return fmt.Sprintf("%016x", v) }
func h32(v uint32) string   { return fmt.Sprintf("%08x", v) }
func hf64(v float64) string { return h64(math.Float64bits(v)) }
func hf32(v float32) string { return h32(math.Float32bits(v)) }
func hexes(b []byte) string { return hex.EncodeToString(b) }
func words(w [4]uint32) string {
	return h32(w[0]) + " " + h32(w[1]) + " " + h32(w[2]) + " " + h32(w[3])
}

type object map[string]any

func randomKit(t *testing.T) kit {
	var seeds []any
	seedText := ""
	for _, c := range []struct {
		master, tick uint64
		name         string
		number       uint64
	}{{0, 0, "noise", 0}, {42, 1, "noise", 0}, {42, 2, "noise", 0}, {42, 1, "colony_ai", 1<<20 | 3}, {1<<64 - 1, 1 << 40, "genesis.heat", 2}} {
		tick := rng.Seed(c.master).Tick(c.tick)
		s := tick.Stream(c.name, c.number)
		seeds = append(seeds, object{"seed": h64(c.master), "tick": h64(c.tick), "name": c.name, "number": h64(c.number), "tick_seed": hexes(tick[:]), "stream_seed": hexes(s[:])})
		if len(seeds) == 2 {
			seedText = fmt.Sprintf("master seed 42, tick 1, name \"noise\", number 0\ntick seed   %x\nstream seed %x", tick[:], s[:])
		}
	}
	k8, text8 := sequence(rng.ChaCha8)
	k20, text20 := sequence(rng.ChaCha20)
	numberCases, numberText := numbers()
	philoxCases, philoxText := philoxes(t)
	normalCases, normalText := normals()
	genesis, genesisText := genesisCases(t)
	return kit{
		files: map[string][]byte{"random.json": lines(t, []string{"seeds", "draws", "numbers", "philox", "normals", "genesis"},
			seeds, []any{k8, k20}, numberCases, philoxCases, normalCases, genesis)},
		examples: map[string]string{
			"seeds": seedText, "chacha": text8 + text20, "numbers": numberText, "philox": philoxText, "normals": normalText, "genesis": genesisText,
		},
	}
}

// stream42 is the stream of the examples.
func stream42() rng.StreamSeed { return rng.Seed(42).Tick(1).Stream("noise", 0) }

// sequence lists the first 260 draws of a generator.
func sequence(g rng.Generator) (all object, text string) {
	var s rng.Stream
	s.Open(g, stream42())
	var draws []string
	for range 260 {
		draws = append(draws, h64(s.Uint64()))
	}
	text = fmt.Sprintf("%v, key: that stream seed\n", g)
	for _, i := range []int{0, 1, 2, 3, 123, 124, 125, 248} {
		text += fmt.Sprintf("  draw %3d  %s\n", i, draws[i])
	}
	seed := stream42()
	return object{"generator": g.String(), "key": hexes(seed[:]), "draws": draws}, text
}

// numbers calls one function after another on one stream.
func numbers() (cases []any, text string) {
	var s rng.Stream
	s.Open(rng.ChaCha8, stream42())
	add := func(what, result string) {
		cases = append(cases, object{"call": what, "result": result, "draws": s.Draws(), "last": h64(s.Last())})
		text += fmt.Sprintf("  %-28s %-20s draws %d, last value %s\n", what, result, s.Draws(), h64(s.Last()))
	}
	add("Uint64", h64(s.Uint64()))
	add("Below 10", fmt.Sprint(s.Below(10)))
	add("Below 2^63 + 1", fmt.Sprint(s.Below(1<<63+1)))
	add("Below 2^63 + 1", fmt.Sprint(s.Below(1<<63+1)))
	add("Float32", hf32(s.Float32()))
	add("Float64", hf64(s.Float64()))
	add("Fixed", fmt.Sprint(s.Fixed()))
	add("Normal", hf64(s.Normal()))
	list := []byte("abcdef")
	s.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	add("Shuffle abcdef", string(list))
	return cases, "chacha8, key: that stream seed, one call after another; floats as their bits\n" + text
}

// philox10 is the generator by the page.
func philox10(c [4]uint32, k [2]uint32) [4]uint32 {
	for range 10 {
		hp, lp := bits.Mul32(c[0], 0xd2511f53)
		hq, lq := bits.Mul32(c[2], 0xcd9e8d57)
		c = [4]uint32{hq ^ c[1] ^ k[0], lq, hp ^ c[3] ^ k[1], lp}
		k[0], k[1] = k[0]+0x9e3779b9, k[1]+0xbb67ae85
	}
	return c
}

func philoxes(t *testing.T) (cases []any, text string) {
	const all = 1<<32 - 1
	for _, c := range []struct {
		counter, want [4]uint32
		key           [2]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{all, all, all, all}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}, [2]uint32{all, all}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}, [2]uint32{0xa4093822, 0x299f31d0}},
	} {
		if got := philox10(c.counter, c.key); got != c.want {
			t.Errorf("philox of %x is %x, want %x", c.counter, got, c.want)
		}
		key := h32(c.key[0]) + " " + h32(c.key[1])
		cases = append(cases, object{"counter": words(c.counter), "key": key, "words": words(c.want)})
		text += fmt.Sprintf("%s; %s; %s\n", words(c.counter), key, words(c.want))
	}
	seed := stream42()
	bulk := seed.Bulk()
	text += fmt.Sprintf("\nbulk draws of the stream seed of seed 42, tick 1, \"noise\", 0 (key %x %x)\n", seed[:4], seed[4:8])
	for _, index := range []uint64{0, 1, 16383, 1<<20 | 3} {
		w := bulk.Words(index)
		var next []string
		for range 6 {
			next = append(next, h32(w.Uint32()))
		}
		b := bulk.Words(index)
		below := []uint64{b.Below(10), b.Below(10), b.Below(3_000_000_000), b.Below(1 << 32)}
		cases = append(cases, object{"stream_seed": hexes(seed[:]), "index": index, "next_words": next, "float32": hf32(bulk.Float32(index)),
			"normal": hf64(bulk.Normal(index)), "below_10_10_3000000000_4294967296": below})
		text += fmt.Sprintf("  index %-8d words %s %s %s …, Float32 %s, Normal %s, Below(10) %d\n",
			index, next[0], next[1], next[2], hf32(bulk.Float32(index)), hf64(bulk.Normal(index)), bulk.Below(index, 10))
	}
	return cases, text
}

func normals() (cases []any, text string) {
	for _, u := range []float64{0.5, 0.25, 0.9, 0.925, 0.99, 0x1p-33, 1 - 0x1p-33, 0x1p-53, 1 - 0x1p-53, 1e-20} {
		q := rng.NormalQuantile(u)
		cases = append(cases, object{"u": hf64(u), "q": hf64(q)})
		text += fmt.Sprintf("Q(%v) = %v, bits %s\n", u, q, hf64(q))
	}
	return cases, text
}

// genesisDescriptors hold one field of each kind of initial values.
var genesisDescriptors = []string{
	`"seed":7,"space":{"kind":"square4","rows":4,"cols":5},"fields":[` +
		`{"name":"plain","initial":[{"value":0.1}]},` +
		`{"name":"noisy","type":"vector(2)","initial":[{"noise":{"from":-1,"to":2}}]},` +
		`{"name":"smooth","initial":[{"noise":{"from":0,"to":1,"smooth":2}}]},` +
		`{"name":"exactly","element":"fixed","min":0,"max":1,"initial":[{"noise":{"from":0,"to":1}},{"rect":{"from":[1,1],"to":[2,3]},"value":0.3}]},` +
		`{"name":"kind","type":"categorical","values":["a","b","c"],"initial":[{"choice":{"values":[0,1,2],"weights":[1,2,0.5]}},{"disk":{"center":[0,0],"radius":1},"value":2}]},` +
		`{"name":"drawn","initial":[{"value":-1},{"picture":{"at":[1,2],"rows":["#. ","é#"],"legend":{"#":3,".":0.5,"é":7}}}]},` +
		`{"name":"image","initial":[{"gray":{"at":[2,1],"from":10,"to":20,"rows":2,"cols":2,"samples":"AECA/w=="}}]},` +
		`{"name":"listed","initial":[{"array":{"element":"u1","numbers":"AAECAwQFBgcICQoLDA0ODxAREhM="}}]}]`,
	`"seed":7,"space":{"kind":"hex","rows":3,"cols":4,"edge":"wrap"},"fields":[{"name":"hills","initial":[{"noise":{"from":0,"to":9,"smooth":3}}]},{"name":"energy","domain":"entities","initial":[{"value":2}]}],` +
		`"entities":{"capacity":8,"kinds":["cat","dog"],"spawn":[{"kind":"cat","count":3},{"kind":"dog","rect":{"from":[1,0],"to":[2,1]},"set":{"energy":5}},{"name":"rex","kind":"dog","cells":[[0,2]]}]}`,
}

func genesisCases(t *testing.T) (cases []any, text string) {
	for _, keys := range genesisDescriptors {
		s := described(t, keys)
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		columns := []any{}
		for i := range w.Defs() {
			c := w.Column(fieldID(i))
			columns = append(columns, object{"name": w.Defs()[i].Name, "bytes": hexes(c.AppendBytes(nil))})
		}
		spawns := []any{}
		for _, c := range s.CommandsAt(1) {
			spawns = append(spawns, object{"coord": c.Coord.AppendTo(nil), "command": hexes(c.Append(nil))})
		}
		cases = append(cases, object{"descriptor": json.RawMessage(s.Descriptor()), "columns": columns, "hash": h64(w.Hash()), "spawns": spawns})
	}
	return cases, genesisText(t)
}

func genesisText(t *testing.T) string {
	s := described(t, genesisDescriptors[0])
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	draws := rng.Seed(7).Tick(0).Stream("genesis.noisy", 0).Bulk().Words(0)
	a, b := draws.Float32(), draws.Float32()
	text := fmt.Sprintf("seed 7, field \"noisy\", a vector of 2, noise from -1 to 2: at rank 0 u is %v, then %v\n", a, b)
	text += fmt.Sprintf("  -1 + 3 × u = %v and %v, stored as %v and %v\n", -1+float64(3*float64(a)), -1+float64(3*float64(b)), w.Value(1, 0), w.Value(1, 1))
	return text + crowdText(t)
}

func crowdText(t *testing.T) (text string) {
	s := described(t, genesisDescriptors[1])
	text = "seed 7, hex 4×3, population 0 of three cats anywhere:\n"
	bulk := rng.Seed(7).Tick(0).Stream("genesis.entities", 0).Bulk()
	for n := range uint64(3) {
		text += fmt.Sprintf("  n = %d: word %s, Below(12) = rank %d, coordinate %v\n", n, h32(bulk.Uint32(n)), bulk.Below(n, 12), s.Lattice().Coord(int(bulk.Below(n, 12))))
	}
	return text + "the commands of tick 1 in the order of submission: " + coords(s) + "\n"
}

// coords lists where the first population is spawned.
func coords(s *scenarios.Scenario) (text string) {
	for i, c := range s.CommandsAt(1) {
		if i > 0 {
			text += ", "
		}
		text += c.Coord.String()
	}
	return text
}
