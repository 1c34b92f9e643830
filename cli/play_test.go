package cli

import (
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay/yrep"
)

func TestShortNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", -0.0001: "0", 28: "28", 100: "100", -40: "-40", 12.02154541015625: "12.022", 0.5: "0.5", 7.1999: "7.2",
		1e300: "1e+300", math.Inf(-1): "-Inf",
	} {
		if got := shortNumber(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
	if got := shortNumber(math.NaN()); got != "NaN" {
		t.Errorf("NaN is %s", got)
	}
}

// TestNumbersForPeople: play and inspect round what people read, and no JSON.
func TestNumbersForPeople(t *testing.T) {
	const exact, short = "12.02154541015625", "12.022"
	name := yrepFile(t,
		[]yrep.Instruction{{ID: yrep.ItemProjectileSpawn, Tracker: 7, X: 12.02154541015625, Item: "1.23456"}},
		[]yrep.Instruction{{ID: yrep.PearlTeleport, Tracker: 7, Y: 12.02154541015625}, {ID: yrep.EntityPosition, Tracker: 7, Flags: yrep.HasZ, Z: math.NaN()}},
		[]yrep.Instruction{{ID: yrep.EntityDespawn, Tracker: 7}})
	for _, tt := range []struct{ args, want string }{
		{"play", "last at " + short + " 0 NaN"},
		{"play --frame 2", "there  at " + short + " 0 NaN"},
		{"play --frame 2", "y " + short},
		{"play --from 0", "y " + short},
		{"play", "1.23456"},
		{"inspect --commands", "x " + short + "  y 0"},
		{"inspect --commands", `z "0x7ff`},
		{"play --frame 2 --json", `"x":` + exact},
		{"play --frame 2 --json", `"y":` + exact},
		{"inspect --frames --json", `"x":` + exact},
	} {
		status, out, errs := murksim(t, nil, append(strings.Fields(tt.args), name)...)
		if status != report.StatusOK || !strings.Contains(out, tt.want) {
			t.Errorf("%s: status %d, %s%s\nwant %q in it", tt.args, status, out, errs, tt.want)
		}
	}
}

// The name of an item is enough where there is nothing else to say of it.
func TestItemText(t *testing.T) {
	for item, want := range map[string]string{
		`{id:"minecraft:wool",Count:1b,Damage:0s}`:   "wool",
		`{id:"minecraft:wool",Count:12b,Damage:0s}`:  "12 wool",
		`{id:"minecraft:wool",Count:1b,Damage:14s}`:  `{id:"minecraft:wool",Count:1b,Damage:14s}`,
		`{id:"minecraft:wool",Count:1b,Damage:0s,x}`: `{id:"minecraft:wool",Count:1b,Damage:0s,x}`,
	} {
		if got := itemText(item); got != want {
			t.Errorf("%s is %q, want %q", item, got, want)
		}
	}
}
