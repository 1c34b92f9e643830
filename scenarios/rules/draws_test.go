package rules

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

// TestNeedlessDraws: rules in which only some cells, side by side or here and there, need a draw or a function come to the bits of their naive form.
func TestNeedlessDraws(t *testing.T) {
	some := []string{"AXIS < 50", "AXIS >= 500", "AXIS > 100 and AXIS < 290", "state == a", "mod(AXIS, 2) == 0", "AXIS < 1000", "AXIS < 0", "mod(AXIS, 97) == 3", "heat > 6", "lucky"}
	for i, set := range []string{
		"if SOME and chance(0.5) then b else c", "if SOME or chance(0.5) then b else c", "if SOME and not chance(0.5) then b else c", "if not (SOME and chance(beta)) then b else c",
		"if SOME then (if chance(0.5) then a else b) else c", "if SOME then a else if chance(0.5) then b else c", "if SOME then pick(a, b) else pick(b, c)",
		"if chance(if SOME then 0.5 else 0) then b else c", "if chance(if SOME then 0.5 else 1) then b else c", "if SOME and chance(if OTHER then 0.5 else 0) then b else c",
		"if SOME then (if OTHER and chance(0.5) then a else if chance(0.3) then b else state) else if OTHER or chance(0.4) then c else pick(a, b, c)",
		"if SOME and exp(heat) > 1 or cos(heat) > 0 then b else if OTHER and pow(abs(heat), cold) > 1 then a else c", "if SOME then one(state else a) else one(state where OTHER else b)",
		"if SOME and uniform(0, 1) < 0.5 or OTHER and normal() > 0 then b else c", "if (if SOME then chance(0.5) else OTHER) and chance(0.7) then a else c", "if SOME then wish else if lucky then b else c",
		"if any(SOME and lucky) and chance(0.5) then a else if SOME and lucky then b else c",
	} {
		for j, one := range some {
			for k, s := range []space.Space{space.Ring{Length: 1100}, space.Square4{Rows: 3, Cols: 530}, space.Square8{Rows: 3, Cols: 600, Edge: space.Wrap}, space.Square4{Rows: 70, Cols: 3, Edge: space.Clamp}} {
				w := &writer{Rand: rand.New(rand.NewPCG(uint64(i), uint64(j)))}
				l, err := s.Build()
				if err != nil {
					t.Fatal(err)
				}
				fill := strings.NewReplacer("AXIS", fmt.Sprintf("c[%d]", l.Dim()-1))
				other := some[(i+3*j+1)%len(some)]
				w.set = fill.Replace(strings.NewReplacer("SOME", "("+one+")", "OTHER", "("+other+")").Replace(set))
				if (i+j+k)%5 == 0 {
					w.where = fill.Replace(some[(j+5)%len(some)])
				}
				world := w.world(s, 1+(i+j)%2)
				if world == nil {
					t.Fatalf("%s does not compile", w.set)
				}
				for range 2 {
					world.step(t)
				}
			}
		}
	}
}
