package vectors_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/murksim/murksim/exact"
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
	normalCases, normalText := normals(t)
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

var coefficients = map[byte][8]float64{
	'A': {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
	'B': {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3},
	'C': {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
	'D': {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9},
	'E': {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
	'F': {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15},
}

func horner(name byte, r float64) float64 {
	c := coefficients[name]
	p := c[7]
	for k := 6; k >= 0; k-- {
		p = float64(p*r) + c[k]
	}
	return p
}

// quantile is Q by the page.
func quantile(u float64) float64 {
	q := u - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * horner('A', r) / horner('B', r)
	}
	r := u
	if q > 0 {
		r = 1 - u
	}
	r = math.Sqrt(-exact.Log(r))
	var z float64
	if r <= 5 {
		z = horner('C', r-1.6) / horner('D', r-1.6)
	} else {
		z = horner('E', r-5) / horner('F', r-5)
	}
	if q < 0 {
		return -z
	}
	return z
}

func normals(t *testing.T) (cases []any, text string) {
	bulk := stream42().Bulk()
	for index := range uint64(5000) {
		want := bulk.Normal(index)
		if got := quantile((float64(bulk.Uint32(index)) + 0.5) * 0x1p-32); got != want {
			t.Fatalf("Q of index %d is %v, want %v", index, got, want)
		}
	}
	for _, u := range []float64{0.5, 0.25, 0.9, 0.925, 0.99, 0x1p-33, 1 - 0x1p-33, 0x1p-53, 1 - 0x1p-53, 1e-20} {
		cases = append(cases, object{"u": hf64(u), "q": hf64(quantile(u))})
		text += fmt.Sprintf("Q(%v) = %v, bits %s\n", u, quantile(u), hf64(quantile(u)))
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
