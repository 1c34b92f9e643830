package propagators_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/space"
)

// The lattices on which notations are read.
var (
	torus  = space.Square8{Rows: 60, Cols: 40, Edge: space.Wrap}
	flat   = space.Square8{Rows: 60, Cols: 40}
	cross4 = space.Square4{Rows: 60, Cols: 40, Edge: space.Wrap}
	hexes  = space.Hex{Rows: 60, Cols: 40, Edge: space.Wrap}
	ball   = space.FCC12{W: 4, H: 4, D: 4}
	chain  = space.Line{Length: 9}
)

// mapOfLife is that of Golly's page about QuickLife.
const mapOfLife = "ARYXfhZofugWaH7oaIDogBZofuhogOiAaIDogIAAgAAWaH7oaIDogGiA6ICAAIAAaIDogIAAgACAAIAAAAAAAA"

// TestNotation: a rule in any notation has the spelling that is wanted.
func TestNotation(t *testing.T) {
	for _, tt := range []struct {
		s          space.Space
		rule, want string
	}{
		{torus, "B3/S23", "B3/S23"},
		{torus, "b3/s32", "B3/S32"}, // as descriptors have had it
		{torus, "B2/S345/4", "B2/S345/4"},
		{torus, "B3S23", "B3/S23"},
		{torus, "b3s23", "B3/S23"},
		{torus, "B3_S23", "B3/S23"},
		{torus, "S32/B3", "B3/S23"},
		{torus, "23/3", "B3/S23"},
		{torus, "2/", "B/S2"},
		{torus, "/2/3", "B2/S/3"},
		{torus, "345/2/4", "B2/S345/4"},
		{torus, "s345/b2/4", "B2/S345/4"},
		{torus, "345/2/2", "B2/S345"},
		{torus, "B3/S23:T", "B3/S23"},
		{torus, "23/3:t40,60", "B3/S23"},
		{flat, "B3/S23:P", "B3/S23"},
		{flat, "B3/S23:P40,60", "B3/S23"},
		{space.Square8{Rows: 7, Cols: 7, Edge: space.Wrap}, "B3/S23:T7", "B3/S23"},
		{cross4, "B13/S012V", "B13/S012"},
		{cross4, "012/13/4V", "B13/S012/4"},
		{hexes, "B2/S34H", "B2/S34"},
		{hexes, "B2S34H:T40,60", "B2/S34"},
		{hexes, "34/2/5H", "B2/S34/5"},
		{torus, "B2-a/S12", "B2-a/S12"},
		{torus, "B2cekin/S12", "B2-a/S12"},
		{torus, "b2nic_s", "B2cin/S"},
		{torus, "B4-qjrtwz/S", "B4aceikny/S"},
		{torus, "B2aceikn3/S", "B23/S"},
		{torus, "B2-3/S", "B23/S"},
		{torus, "B2-aceikn3/S", "B3/S"},
		{torus, "B12/S3a3/4", "B12/S3/4"},
		{torus, "B2aa/S", "B2a/S"},
		{torus, "2-a/12/4", "B12/S2-a/4"},
		{torus, "B3-cnqy/S23-k:T40,60", "B3-cnqy/S23-k"},
		{torus, "MAP" + mapOfLife, "B3/S23"},
		{torus, "MAP" + mapOfLife + "==", "B3/S23"},
		{torus, "MAP" + mapOfLife + "/5:T", "B3/S23/5"},
		{torus, "MAP" + mapOfLife[:85] + "B", "B3/S23"}, // bits that are none
		{torus, "MAPQ" + mapOfLife[1:] + "/7", "MAPQ" + mapOfLife[1:] + "/7"},
		{hexes, "MAP//////////////////////", "B0123456/S0123456"},
		{hexes, "MAPAAAAAAAAAAAAAAAAAAAAAE/9", "B/S/9"},
		{cross4, "MAPAAAAAB", "B/S"},
		{cross4, "MAPARYXfg", "MAPARYXfg"},
		{ball, "Bb/S0a", "Bb/S0a"},
		{ball, "BbS0a", "Bb/S0a"},
		{chain, "B1/S", "B1/S"},
	} {
		l := lattice(t, tt.s)
		n, err := propagators.ParseNotation(l, tt.rule)
		if err != nil || n.String() != tt.want {
			t.Errorf("%s on %v: %q, %v, want %q", tt.rule, tt.s, n.String(), err, tt.want)
			continue
		}
		again, err := propagators.ParseNotation(l, tt.want)
		if err != nil || again.String() != tt.want || again.Rule != n.Rule {
			t.Errorf("%s on %v: %q, %v, want itself", tt.want, tt.s, again.String(), err)
		}
	}
}

// TestNotationErrors: what is wrong with a rule is said, and what would fit.
func TestNotationErrors(t *testing.T) {
	for _, tt := range []struct {
		s          space.Space
		rule, want string
	}{
		{torus, "Life", `rule "Life": must look like B3/S23`},
		{torus, "B3/S23/2/3", "must look like B3/S23"},
		{torus, "", "must look like B3/S23"},
		{torus, "B3", "must look like B3/S23"},
		{torus, "B3/X23", `"X23" does not begin with S`},
		{torus, "S3/23", `"23" does not begin with B`},
		{torus, "23/B3", `"23" begins with neither B nor S`},
		{torus, "B3/B3", "has B twice"},
		{torus, "B3/S23/", "states are missing"},
		{torus, "23/3/1", `states must be 2 to 65536, not "1"`},
		{torus, "B3/S23/99999999999999999999", "states must be 2 to 65536"},
		{torus, "B3/S2!", `'!' is not a count`},
		{ball, "1a/2", "counts above 9, which are letters, need B and S: B2/S1a"},
		{torus, "B2c9/S", "\"9\" is not a count of neighbours; use 0 to 8"},
		{torus, "B1a/S", `1 neighbours cannot lie as 'a' says; letters of 1 are "ce"`},
		{torus, "B5z/S", `5 neighbours cannot lie as 'z' says`},
		{torus, "B8-c/S", `8 neighbours cannot lie as 'c' says`},
		{torus, "Bc/S", `"c" is not a count of neighbours`},
		{torus, "B2a/S/257", "at most 256 states, not 257"},
		{torus, "MAPARYXfg", "has 6 characters behind MAP; 86, for 9 cells, are needed on square8"},
		{torus, "MAP" + mapOfLife[1:] + "\n", "not base64"},
		{torus, "MAP!" + mapOfLife[1:], "not base64"},
		{torus, "MAP" + mapOfLife + "/", "states are missing"},
		{chain, "MAPARYXfg", "MAP is for squares and hexes, not for line"},
		{flat, "B3/S23:T", ":T is a torus: the space would have to be {kind: square8, rows: 60, cols: 40, edge: wrap}, not square8 60×40 absorb"},
		{torus, "B3/S23:T60,40", ":T60,40 is a torus: the space would have to be {kind: square8, rows: 40, cols: 60, edge: wrap}, not square8 60×40 wrap"},
		{torus, "B3/S23:P", ":P is a plane: the space would have to be {kind: square8, rows: 60, cols: 40, edge: absorb}"},
		{torus, "B3/S23:T0,60", ":T0,60 is endless"},
		{torus, "B3/S23:T40,x", `"x" is neither width nor height`},
		{torus, "B3/S23:T40,60,1", `"60,1" is neither width nor height`},
		{torus, "B3/S23:T40+1,60", "shifts or twists"},
		{torus, "B3/S23:K40*,60", "is a Klein bottle, and murksim has none"},
		{torus, "B3/S23:C40,60", "is a cross-surface, and murksim has none"},
		{torus, "B3/S23:S40", "is a sphere, and murksim has none"},
		{torus, "B3/S23:Q", "is not a topology"},
		{torus, "B3/S23:", "nothing stands behind the colon"},
		{chain, "B1/S:T", "line has none"},
		{torus, "B2/S34H", "would have to be hex, not square8"},
		{torus, "B2/S34V", "would have to be square4, not square8"},
		{hexes, "B2/S34V", "would have to be square4, not hex"},
		{hexes, "B2/S34VH", "both H"},
	} {
		_, err := propagators.ParseNotation(lattice(t, tt.s), tt.rule)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s on %v: %v, want %s", tt.rule, tt.s, err, tt.want)
		}
	}
}

// FuzzNotation: whatever a rule is, it is refused or has a spelling that is read as itself.
func FuzzNotation(f *testing.F) {
	spaces := []space.Space{torus, flat, cross4, hexes, ball, chain}
	for _, rule := range []string{"B3/S23", "23/3", "B2S345H:T40,60", "/2/3", "B13/S012V:P", "Bb/S0a/4", "B2-a3cnq/S12", "2-a/12/4", "MAP" + mapOfLife + "==", "MAPARYXfg/4"} {
		for i := range spaces {
			f.Add(uint8(i), rule)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, rule string) {
		l := lattice(t, spaces[int(which)%len(spaces)])
		n, err := propagators.ParseNotation(l, rule)
		if err != nil {
			return
		}
		again, err := propagators.ParseNotation(l, n.String())
		if err != nil || again.String() != n.String() || again.Rule != n.Rule {
			t.Errorf("%q on %v is %q, which is %q, %v", rule, l.Space(), n.String(), again.String(), err)
		}
	})
}
