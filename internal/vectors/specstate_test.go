package vectors_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

func fieldID(i int) fields.ID { return fields.ID(i) }

func stateKit(t *testing.T) kit {
	var hashes []any
	for _, n := range []int{0, 1, 3, 4, 7, 8, 31, 32, 33, 63, 64, 100} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(7*i + 3)
		}
		hashes = append(hashes, object{"bytes": hexes(b), "fnv1a": h64(uint64(fields.NewHash().Bytes(b))), "xxh64": h64(xxhash.Sum64(b))})
	}
	if got := xxhash.Sum64String("abc"); got != 0x44bc2cf5ad770999 { // as the page says
		t.Errorf("XXH64 of abc is %x", got)
	}
	if got := xxhash.Sum64String(""); got != 0xef46db3751d8e999 {
		t.Errorf("XXH64 of nothing is %x", got)
	}
	ticks, text := stateWorld(t)
	return kit{
		files:    map[string][]byte{"state.json": lines(t, []string{"hashes", "numbers", "bounds", "ticks"}, hashes, storedNumbers(), boundedNumbers(), ticks)},
		examples: map[string]string{"state": text},
	}
}

// storedNumbers stores numbers in elements.
func storedNumbers() (cases []any) {
	for _, d := range []fields.Def{
		{Name: "float32"}, {Name: "fixed", Element: fields.Fixed}, {Name: "int32", Element: fields.Int32},
		{Name: "categorical(3)", Type: fields.Categorical(3)}, {Name: "categorical(3) fixed", Type: fields.Categorical(3), Element: fields.Fixed},
	} {
		for _, v := range []float64{0, math.Copysign(0, -1), 0.1, 1, 2, 2.5, 3, -1, 1.0 / 131072, 3.0 / 131072, 1e10, 140737488355328, -140737488355328, 3.4e38, 3.5e38, 2147483648} {
			c := object{"in": d.Name, "number": hf64(v), "stored": nil}
			if bits, ok := d.Bits(v); ok {
				c["stored"] = fmt.Sprintf("%0*x", 2*d.Element.Size(), bits)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// boundedNumbers bounds numbers, and at the end of a tick.
func boundedNumbers() (cases []any) {
	for _, e := range []fields.Element{fields.Float32, fields.Fixed} {
		for mode := fields.ClampBound; mode <= fields.WrapBound; mode++ {
			d := fields.Def{Name: "b", Element: e, Bounds: &fields.Bounds{Min: -0.3, Max: 1.7, Mode: mode}}
			for _, v := range []float64{-100, -2.35, -0.5, -0.3, math.Copysign(0, -1), 0.4, 1.7, 1.75, 4.1, 12345.678} {
				bits, _ := d.Bits(v)
				for _, before := range []float64{0.25, -0.3, 1.7} {
					next, was := fields.NewColumn(e, 1), fields.NewColumn(e, 1)
					b, _ := d.Bits(before)
					next.SetBits(0, bits)
					was.SetBits(0, b)
					d.BoundAll(&next, &was)
					cases = append(cases, object{"element": e.String(), "min": -0.3, "max": 1.7, "at_bound": mode.String(), "value": hexed(&d, bits),
						"by_command": hexed(&d, d.Bound(bits)), "before": hexed(&d, b), "at_end": hexed(&d, next.Bits(0))})
				}
			}
		}
	}
	return cases
}

func hexed(d *fields.Def, bits uint64) string { return fmt.Sprintf("%0*x", 2*d.Element.Size(), bits) }

// stateWorld is a tiny world after one tick.
func stateWorld(t *testing.T) (ticks []any, text string) {
	const keys = `"seed":42,"space":{"kind":"line","length":2},"fields":[{"name":"dust"},{"name":"heat","element":"fixed","initial":[{"value":1.5}]},` +
		`{"name":"energy","domain":"entities","initial":[{"value":2}]}],"entities":{"capacity":2,"kinds":["cat","dog"]},` +
		`"parameters":{"gain":{"key":9,"value":0.5}},"propagators":[{"noise@1":{"name":"noise","field":"dust","scale":1}}]`
	r := newRun(t, described(t, keys))
	ticks = append(ticks, r.genesis())
	one := r.step(
		commands.Spawn(space.At(1), commands.FieldValue{Field: 2, Value: 3}, commands.FieldValue{Field: 4, Value: 1}),
		commands.SetField(space.At(7), 0, 1),
	)
	ticks = append(ticks, one)
	text = "columns of tick 1, LE32(id) and the bytes of the elements:\n"
	for i, c := range one.Columns {
		text += fmt.Sprintf("  %02x000000 %-34s %s\n", i, c.Bytes, c.Name)
	}
	text += "\nparameters " + one.Parameters + "\nevents     " + one.Events + "\nrandom     " + one.Random + "\ninputs     " + one.Inputs[:8] + "\n"
	for _, c := range one.Commands {
		text += fmt.Sprintf("           %s %02x\n", c.Bytes, c.Result)
	}
	text += fmt.Sprintf("\nworld.rest = XXH64 of parameters ‖ events ‖ random ‖ inputs = %s (as a number; the column has its bytes, the lowest first)\n", one.Rest)
	text += fmt.Sprintf("state hash = FNV-1a of the columns = %s\ncolumn hash of dust = %s\n\ntick 0: world.rest %s, state hash %s\n",
		one.Hash, one.Columns[0].Hash, ticks[0].(tickCase).Rest, ticks[0].(tickCase).Hash)
	return ticks, text
}
