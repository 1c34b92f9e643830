package scenarios_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/rules"
)

var (
	agentRules = flag.Int("agents", 600, "how many random rules of entities TestRandomAgents looks at")
	firstAgent = flag.Int("from-agent", 0, "the number of the first one")
)

// agentWriter writes random rules of entities.
type agentWriter struct{ *rand.Rand }

func (w agentWriter) of(list ...string) string { return list[w.IntN(len(list))] }

// number writes a number of a certain depth; about says what it may name: o the other, n a cell that is looked at.
func (w agentWriter) number(depth int, about string) string {
	names := []string{"energy", "here.rain", "pull.x", "here.wind[1]", "row", "degree", "speed", "beta", "tick", "dt", "1.5", "0.1", "prev(energy)", "prev(here.rain)", "number(kind)", "number(here.grass)"}
	if strings.Contains(about, "o") {
		names = append(names, "other.energy", "other.energy", "other.col", "other.pull[0]")
	}
	if strings.Contains(about, "n") {
		names = append(names, "near.rain", "near.rain", "near.wind.y", "near.row", "near(kin)", "near(anyone)")
	} else {
		names = append(names, "here(kin)", "here([sheep, wolf])", "here(anyone)", "number(gold)", "let1")
	}
	if depth == 0 {
		return w.of(names...)
	}
	x := func() string { return w.number(depth-1, about) }
	forms := []string{
		"(" + x() + " + " + x() + ")", "(" + x() + " - " + x() + ")", x() + " * " + x(), "-" + w.number(0, about), "min(" + x() + ", " + x() + ", 3)", "max(" + x() + ", " + x() + ")", "abs(" + x() + ")",
		"clamp(" + x() + ", -2, 5)", "mod(" + x() + ", 3)", "cos(" + x() + ")", "floor(" + x() + ")", "(if " + w.condition(depth-1, about) + " then " + x() + " else " + x() + ")", x(), x() + " / 4",
	}
	if about == "" || about == "o" {
		forms = append(forms, "sum("+w.number(depth-1, about+"n")+" + near.rain)", "count(near.grass == green)", "mean(near.rain)", "least(near.wind[0])", "here(kin where other.energy > 3)", "sum(near(sheep))",
			"sum(near.rain where near.rain < "+w.number(0, about+"n")+")", "count(near.grass == green where near.rain > "+w.number(0, about+"n")+")", "sum(near(kin where other.energy > "+w.number(0, "no")+"))")
	}
	if about == "" {
		forms = append(forms, "uniform(0, "+x()+")", "normal()", "pick("+x()+", "+x()+", 2)", "one(near.rain)")
	}
	return w.of(forms...)
}

func (w agentWriter) condition(depth int, about string) string {
	x := func() string { return w.number(depth, about) }
	list := []string{x() + w.of(" < ", " >= ", " == ", " != ") + x(), "here.grass == green", "kind == sheep"}
	if depth > 0 {
		list = append(list, "("+w.condition(depth-1, about)+" and "+w.condition(depth-1, about)+")", "("+w.condition(depth-1, about)+" or "+w.condition(depth-1, about)+")", "not "+w.condition(depth-1, about))
	}
	if about == "" {
		list = append(list, "chance("+w.of("0.5", "beta", x())+")", "any(near.grass == green)", "all(near.rain > "+w.number(0, "n")+")", "any(near.rain > "+w.number(0, "n")+" where near.grass == green)")
	}
	return w.of(list...)
}

// item writes an item.
func (w agentWriter) item(i int) string {
	keys := []string{fmt.Sprintf("name: i%d", i)}
	other := ""
	if w.IntN(3) == 0 {
		other = "o"
		with := "one: " + w.of("kin", "anyone", "wolf", "[sheep, wolf]") + ", at: " + w.of("here", "around") + ", choose: " + w.of("drawn", "first")
		if w.IntN(3) == 0 {
			with += `, where: "other.energy > ` + w.number(0, "o") + `"`
		}
		keys = append(keys, "with: {"+with+"}")
	}
	plain := other
	if other == "" {
		plain = ""
	}
	if w.IntN(2) == 0 {
		keys = append(keys, `when: "`+w.condition(1, plain)+`"`)
	}
	if w.IntN(4) == 0 {
		keys = append(keys, `chance: `+w.of("0.5", "beta"))
	}
	if w.IntN(2) == 0 {
		move := w.of("any", "anywhere", `"most(near.rain + `+w.number(1, "n")+`)"`, `"least(near.rain)"`, `"along([pull.x, here.wind[1]])"`, `"along(here.wind)"`, "to(north)", `"to(`+w.of("1", "-1", "energy - 5")+`, `+w.of("0", "pull.x")+`)"`)
		if other != "" && w.IntN(2) == 0 {
			move = "other"
		}
		keys = append(keys, "move: "+move)
		if w.IntN(3) == 0 {
			keys = append(keys, `onto: "near.rain > `+w.number(0, "n")+`"`)
		}
	}
	var set []string
	for _, target := range []string{"energy", "here.rain", "pull", `"here.wind[0]"`, "here.grass", "gold", "other.energy"} {
		if w.IntN(4) > 0 || strings.HasPrefix(target, "other") && other == "" {
			continue
		}
		formula := w.number(1+w.IntN(2), plain)
		switch {
		case target == "pull":
			formula = "[" + formula + ", " + w.number(0, plain) + "]"
		case target == "here.grass":
			formula = "if " + w.condition(1, plain) + " then bare else here.grass"
		case target == "gold":
			formula = "gold + fixed(" + w.number(0, plain) + ")"
		}
		set = append(set, target+`: "`+formula+`"`)
	}
	if len(set) > 0 {
		keys = append(keys, "set: {"+strings.Join(set, ", ")+"}")
	}
	if w.IntN(5) == 0 {
		keys = append(keys, "take: {from: "+w.of("here.rain", "energy")+", to: "+w.of("pull[0]", `"here.wind[0]"`)+`, amount: "`+w.number(1, plain)+`"}`)
		keys[len(keys)-1] = strings.Replace(keys[len(keys)-1], "pull[0]", `"pull[0]"`, 1)
	}
	if other != "" && w.IntN(6) == 0 {
		keys = append(keys, "kill: other")
	}
	if w.IntN(12) == 0 {
		keys = append(keys, "die: true")
	}
	if w.IntN(6) == 0 {
		birth := "kind: " + w.of("kin", "wolf", "sheep") + ", at: " + w.of("here", "behind", "any", "anywhere")
		if w.IntN(3) == 0 {
			birth += `, onto: "near.rain < 3"`
		}
		keys = append(keys, "birth: {"+birth+`, set: {energy: "`+w.number(0, plain)+`"}}`)
	}
	if w.IntN(12) == 0 {
		keys = append(keys, "become: "+w.of("sheep", "wolf"))
	}
	if len(keys) < 2 || !strings.Contains(strings.Join(keys, ","), "move:") && len(set) == 0 && !strings.Contains(strings.Join(keys, ","), "birth:") {
		keys = append(keys, "set: {}"[:0]+"move: any")
	}
	return "        - {" + strings.Join(keys, ", ") + "}\n"
}

// world writes a scenario.
func (w agentWriter) world() string {
	space := w.of("{kind: square8, rows: 6, cols: 7, edge: wrap}", "{kind: square8, rows: 5, cols: 4}", "{kind: square4, rows: 6, cols: 5, edge: clamp}", "{kind: square4, rows: 7, cols: 1, edge: wrap}")
	occupancy := w.of("", "  occupancy: 1\n", "  occupancy: 2\n")
	text := "murksim: 1\nname: random\nticks: 5\nseed: " + fmt.Sprint(w.IntN(1000)) + "\nspace: " + space + `
fields:
  - {name: grass, type: categorical, values: [bare, green], initial: {choice: {values: [0, 1]}}}
  - {name: rain, initial: {noise: {from: 0, to: 4}}, min: -1e6, max: 1e6}
  - {name: wind, type: vector(2), initial: {noise: {from: -1, to: 1}}, min: -1e6, max: 1e6}
  - {name: energy, domain: entities, initial: 5, min: -1e6, max: 1e6}
  - {name: pull, domain: entities, type: vector(2), initial: 0.5, min: -1e6, max: 1e6}
  - {name: gold, domain: entities, element: fixed, initial: 3, min: -1000, max: 1000}
entities:
  capacity: 30
` + occupancy + `  kinds: [sheep, wolf]
  spawn: [{kind: sheep, count: 5}, {kind: wolf, count: 2}]
parameters: {speed: 0.5}
systems:
`
	for i := range 1 + w.IntN(2) {
		text += fmt.Sprintf("  - rule:\n      name: r%d\n      for: %s\n      order: %s\n      parameters: {beta: 0.7}\n      let: {let1: \"%s\", used: beta}\n      do:\n", i, w.of("sheep", "wolf", "[sheep, wolf]"), w.of("id", "random", "random"),
			w.of("energy * speed", "uniform(0, 3)", "sum(near.rain)", "here(anyone)"))
		for k := range 1 + w.IntN(4) {
			text += w.item(k)
		}
	}
	return text
}

// TestRandomAgents: random rules of entities come to the same when their formulas are walked, term by term, and fail where they fail.
func TestRandomAgents(t *testing.T) {
	count, ticks, failed, refused := *agentRules, 0, 0, map[string]int{}
	if testing.Short() {
		count /= 6
	}
	for n := *firstAgent; n < *firstAgent+count; n++ {
		text := agentWriter{rand.New(rand.NewPCG(uint64(n), 11))}.world()
		s, err := scenariotest.Parse("a.yaml", text)
		if err != nil {
			line, _, _ := strings.Cut(err.Error(), "\n")
			refused[line[strings.LastIndex(line, ": ")+2:]]++
			continue
		}
		again, err := scenariotest.FromDescriptor(s.Descriptor())
		if err != nil {
			t.Fatalf("rule %d:\n%s%v", n, text, err)
		}
		var worlds [2]*engine.World
		for i := range worlds {
			c, err := again.Config(1)
			if err != nil {
				t.Fatalf("rule %d:\n%s%v", n, text, err)
			}
			for k := range c.Systems {
				if x, ok := c.Systems[k].(*rules.System); ok && i == 1 {
					c.Systems[k] = x.Walked()
				}
			}
			if worlds[i], err = engine.New(c); err != nil {
				t.Fatalf("rule %d:\n%s%v", n, text, err)
			}
			for _, c := range s.CommandsAt(1) {
				if _, err := worlds[i].Submit(c); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 5 {
			_, one := worlds[0].Step()
			_, two := worlds[1].Step()
			if fmt.Sprint(one) != fmt.Sprint(two) || worlds[0].Hash() != worlds[1].Hash() {
				t.Fatalf("rule %d, tick %d:\n%s%v, hash %016x; walked %v, %016x", n, worlds[1].Tick(), text, one, worlds[0].Hash(), two, worlds[1].Hash())
			}
			if one != nil {
				failed++
				break
			}
			ticks++
		}
	}
	t.Logf("%d rules, %d ticks, %d failures, refused: %v", count, ticks, failed, refused)
	if ticks < count || failed > count/2 {
		t.Errorf("only %d ticks of %d rules, %d failures", ticks, count, failed)
	}
}
