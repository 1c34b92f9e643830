package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/reasons"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// A planted cause is asked for, and proved: a fork without it comes to what why says there would have been.
type planted struct {
	name  string
	ask   string // the question to why
	cause string // what its text says, as a regular expression
	fork  string // without the cause
}

// An answer is what why says.
type answer struct {
	Tick    uint64
	After   string
	Command string
	Terms   []reasons.Term
	Later   []reasons.Later
	Causes  []answerCause
}

type answerCause struct{ Command, Else string }

// TestPlantedCauses: why names causes of each kind, in a world of rules and in one of parts in Go, and a fork without each proves it.
func TestPlantedCauses(t *testing.T) {
	both := []planted{
		{"command", "--tick 5 --field heat --cell 4,4", `by a command\n  command  set heat at \[4, 4\] to 40 `, "--without ARRIVAL"},
		{"parameter", "--tick 60 --field light --cell 8,8", `^tick 25 .*\n(  terms.*\n( {11}.*\n)*)?  because  set gate to 1  .*else 0`, "--without ARRIVAL"},
		{"wall", "--tick 60 --field wet --cell 20,21", `because  wall at \[20, 21\]  shut → open  else dry`, "--command tick:TICK,set:{field:wall,cell:[20,21],value:shut}"},
		{"neighbour", "--tick 42 --field state --cell 12,15", `because  state at \[12, 14\]  well → ill  else well`, "--command tick:TICK,set:{field:state,cell:[12,14],value:well}"},
		{"birth", "--tick 31 --field food --cell 30,30", `^tick 9 .*\n  because  entity 8388609 +was near +else 1`, "--command tick:TICK,despawn:{entity:8388609}"},
		{"another entity", "--tick 60 --field energy --entity 9437185", `^tick 30 .*→ none, by an event of (hunt|herd)\n  because  grey +was near +else 5[0-9]`, "--command tick:TICK,despawn:{entity:18874369}"},
		{"a step", "--tick 30 --field track --cell 36,7", `because[^,]*\n.*swift  \[36, 6\] → \[36, 7\]  else 0`, "--command tick:TICK,move:{entity:22020097,cell:[36,6]}"},
	}
	for _, x := range []struct {
		scenario string
		more     []planted
	}{
		{"rules", []planted{
			{"draw", "--tick 60 --field spark --cell 62,10", `because  strike +drew numbers  else`, "--command tick:TICK,param:{name:odds,value:0}"},
			{"branch", "--tick 60 --field state --cell 12,15", `terms    any\(state == ill\) +true\n +ill\n`, "--command tick:TICK,set:{field:state,cell:[12,14],value:well}"},
			{"field on its cell", "--tick 52 --field calm --entity mick", `because  set heat at \[2, 50\] to 60 .*else 0`, "--without ARRIVAL"},
		}},
		{"parts", []planted{
			{"draw", "--tick 60 --field spark --cell 62,10", `because  fields +drew numbers  else`, "--command tick:TICK,param:{name:odds,value:0}"},
			{"event scheduled ten ticks ago", "--tick 60 --field age --cell 2,50", `^tick 60 .*by an event\n  event    set age at \[2, 50\] to 7  scheduled in tick 50, by system herd`, "--command tick:50,despawn:{entity:hattie}"},
			{"handler", "--tick 60 --field food --cell 0,9", `because  custom command of type 9 .*else 3`, "--without ARRIVAL"},
		}},
	} {
		t.Run(x.scenario, func(t *testing.T) { testPlanted(t, x.scenario, append(both, x.more...)) })
	}
}

// plantedFaults are commands that each make something become true in the worlds of TestPlantedCauses.
var plantedFaults = []struct {
	only      string // one of the worlds
	commands  string // TICK is when, AFTER five ticks later
	condition string
	from      bool // all commands from twenty ticks before on are looked at
}{
	{"", "{tick: TICK, set: {field: heat, cell: [4, 4], value: 900}}", "most(heat) > 500", false},
	{"", "{tick: TICK, set: {field: heat, cell: [4, 4], value: 900}}, {tick: AFTER, set: {field: heat, cell: [40, 9], value: 900}}", "cell(heat, 4, 4) > 50 and cell(heat, 40, 9) > 500", true},
	{"", "{tick: TICK, param: {name: gate, value: 1}}", "any(light == 5)", false},
	{"", "{tick: TICK, set: {field: state, cell: [30, 30], value: ill}}", "count(state == ill) > 200", false},
	{"", "{tick: TICK, set: {field: wet, cell: [20, 20], value: damp}}", "count(wet == damp) > 100", true},
	{"", "{tick: TICK, spawn: {kind: sheep, cell: [30, 30]}}", "any(food < 1)", false},
	{"", "{tick: TICK, spawn: {kind: runner, cell: [30, 3]}}", "sum(track) > 10", false},
	{"", "{tick: TICK, param: {name: odds, value: 1}}", "count(spark > 0) > 50", false},
	{"", "{tick: 9, spawn: {kind: mouse, cell: [2, 50], name: mick}}, {tick: TICK, despawn: {entity: mick}}", "count(mouse) < 101 and tick > 20", false},
	{"rules", "{tick: TICK, set: {field: heat, cell: [2, 50], value: 900}}, {tick: AFTER, spawn: {kind: mouse, cell: [2, 51]}}", "least(mouse.calm) < 0", true},
	{"parts", "{tick: TICK, custom: {type: 9, data: '09000000'}}", "most(food) > 8", false},
}

// TestPlantedFaults: shrink makes small recordings of faults in long runs with many other commands.
func TestPlantedFaults(t *testing.T) {
	ticks := 300
	if text := os.Getenv("MURKSIM_TEST_TICKS"); text != "" { // as tools/ci/test.sh --long gives it
		var err error
		if ticks, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := filepath.Abs(filepath.Join("testdata", "planted"))
	if err != nil {
		t.Fatal(err)
	}
	for _, world := range []string{"rules", "parts"} {
		text, err := os.ReadFile(filepath.Join(folder, world+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "commands:")
		head = strings.NewReplacer("ticks: 60", fmt.Sprintf("ticks: %d", ticks), "odds: 1", "odds: 0").Replace(head)
		for i, x := range plantedFaults {
			if x.only != "" && x.only != world {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", world, i), func(t *testing.T) {
				t.Chdir(t.TempDir())
				at := ticks/2 + 1009*i%(ticks/3)
				given := strings.NewReplacer("TICK", strconv.Itoa(at), "AFTER", strconv.Itoa(at+5)).Replace(x.commands)
				noise := "{from: 2, every: 10, set: {field: heat, cell: [9, 9], value: 1.5}}"
				if err := os.WriteFile("a.yaml", []byte(head+"commands: ["+noise+", "+given+"]\n"), 0o666); err != nil {
					t.Fatal(err)
				}
				shrinkPlanted(t, at, x.condition, x.from)
			})
		}
	}
}

// shrinkPlanted runs a.yaml and shrinks it.
func shrinkPlanted(t *testing.T, at int, condition string, from bool) {
	run := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := (Program{Components: plantedComponents()}).run(t.Context(), args, nil, &out, &errs); status != report.StatusOK {
			t.Fatalf("%q: status %d, %s%s", args, status, &out, &errs)
		}
		return out.String()
	}
	run("run", "a.yaml", "-q", "-o", "a.murk")
	args := []string{"shrink", "a.murk", condition, "--json", "-o", "small.murk"}
	if from {
		args = append(args, "--from", strconv.Itoa(at-20))
	}
	var r shrinkResult
	if err := json.Unmarshal([]byte(run(args...)), &r); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ticks, %d of %d commands, %d trials", r.To-r.From+1, len(r.Commands), r.Recorded, r.Trials)
	if r.To-r.From >= 50 || len(r.Commands) > 5 || int(r.First) < at {
		t.Errorf("ticks %d to %d, %d commands, first %d", r.From, r.To, len(r.Commands), r.First)
	}
	run("verify", "small.murk")
	if found := run("find", "small.murk", condition); !strings.Contains(found, fmt.Sprintf(", in 1 of %d states", r.To-r.From+2)) {
		t.Errorf("the small recording: %s", found)
	}
}

// testPlanted asks for each cause, and forks without it.
func testPlanted(t *testing.T, scenario string, cases []planted) {
	file, err := filepath.Abs(filepath.Join("testdata", "planted", scenario+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	run := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := (Program{Components: plantedComponents()}).run(t.Context(), args, nil, &out, &errs); status != report.StatusOK {
			t.Fatalf("%q: status %d, %s%s", args, status, &out, &errs)
		}
		return out.String()
	}
	ask := func(file string, question []string) (r answer) {
		t.Helper()
		if err := json.Unmarshal([]byte(run(append([]string{"why", file, "--json"}, question...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	run("run", file, "-q", "-o", "a.murk")
	for _, x := range cases {
		question := strings.Fields(x.ask)
		text := run(append([]string{"why", "a.murk"}, question...)...)
		if !regexp.MustCompile(x.cause).MatchString(text) {
			t.Errorf("%s: why %s says\n%s", x.name, x.ask, text)
			continue
		}
		was := ask("a.murk", question)
		if n := len(was.Terms); n > 0 && len(was.Later) == 0 && was.Terms[n-1].Value != was.After {
			t.Errorf("%s: the formula comes to %s, and the number is %s", x.name, was.Terms[n-1].Value, was.After)
		}
		question[1] = strconv.FormatUint(was.Tick, 10)
		fork := strings.NewReplacer("TICK", question[1], "ARRIVAL", arrivalOf(&was)).Replace(x.fork)
		flag, value, _ := strings.Cut(fork, " ")
		run("fork", "a.murk", flag, strings.NewReplacer(":", ": ", ",", ", ").Replace(value), "-o", "b.murk", "--force")
		is := ask("b.murk", question)
		otherwise := slices.ContainsFunc(was.Causes, func(c answerCause) bool { return c.Else == is.After })
		if is.After == was.After || !otherwise && x.proves() {
			t.Errorf("%s: with %s it is %s; why says\n%s", x.name, fork, is.After, text)
		}
	}
}

// proves reports whether the fork comes to what why says there would have been without the cause: a draw would have been any other, and of a command that sets a
// number why does not say it.
func (p *planted) proves() bool {
	return p.name != "draw" && !strings.Contains(p.cause, "by a command") && !strings.Contains(p.cause, "by an event")
}

// arrivalOf is the number of the command that why names.
func arrivalOf(r *answer) string {
	text := r.Command
	for i := range r.Causes {
		text += r.Causes[i].Command
	}
	_, arrival, _ := strings.Cut(text, "arrival ")
	return strings.TrimRight(arrival, " ")
}

// plantedComponents do in Go what the rules of rules.yaml do.
func plantedComponents() []scenarios.Component {
	return []scenarios.Component{
		{Name: "plantedfields", Version: 1, About: "Fields.", Params: func() any { return new(plantedFields) }},
		{Name: "plantedherd", Version: 1, About: "A herd.", Params: func() any { return new(plantedHerd) }},
	}
}

// plantedIDs are the fields of the scenario.
type plantedIDs struct {
	name                                                                      string
	heat, light, state, wall, age, wet, spark, food, track, energy, calm, due fields.ID
}

func (p *plantedIDs) find(b *scenarios.Builder, name string) {
	p.name = name
	for _, x := range []struct {
		id   *fields.ID
		name scenarios.FieldRef
	}{
		{&p.heat, "heat"}, {&p.light, "light"}, {&p.state, "state"}, {&p.wall, "wall"}, {&p.age, "age"}, {&p.wet, "wet"}, {&p.spark, "spark"}, {&p.food, "food"},
		{&p.track, "track"}, {&p.energy, "energy"}, {&p.calm, "calm"}, {&p.due, "due"},
	} {
		*x.id = b.Field(x.name)
	}
}

type plantedFields struct{ plantedIDs }

// Propagator implements [scenarios.PropagatorMaker].
func (p *plantedFields) Propagator(b *scenarios.Builder, name string) (engine.Propagator, error) {
	p.find(b, name)
	return p, nil
}

// Handlers implements [scenarios.HandlerMaker].
func (p *plantedFields) Handlers(*scenarios.Builder) ([]engine.Handler, error) {
	return []engine.Handler{p}, nil
}

// Type implements [engine.Handler].
func (p *plantedFields) Type() uint32 { return 9 }

// Handle implements [engine.Handler].
func (p *plantedFields) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	return c.Set(p.food, int(binary.LittleEndian.Uint32(data)), 9)
}

// Spec implements [engine.Propagator].
func (p *plantedFields) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Prev: engine.Fields(p.state, p.wall, p.wet), Incremental: engine.Fields(p.light, p.state, p.wall, p.age, p.wet, p.spark)}
}

// Step implements [engine.Propagator].
func (p *plantedFields) Step(c *engine.Context) error {
	l := c.Lattice()
	light, state, wall, age, wet, spark := c.Next(p.light), c.Next(p.state), c.Next(p.wall), c.Next(p.age), c.Next(p.wet), c.Next(p.spark)
	ill, open, damp := c.Prev(p.state), c.Prev(p.wall), c.Prev(p.wet)
	var near []int32
	for cell := range l.Cells() {
		if age[cell] > 20 {
			wall[cell] = 1
		}
		age[cell]++
		if ill[cell] != 1 && damp[cell] != 1 {
			continue
		}
		near = l.AppendNeighbours(near[:0], cell)
		for _, n := range near {
			if ill[cell] == 1 {
				state[n] = 1
			}
			if damp[cell] == 1 && open[n] == 1 {
				wet[n] = 1
			}
		}
	}
	for col := range int32(64) {
		if cell, _ := l.Rank(space.At(8, col)); c.Parameter(0) > 0 {
			light[cell] = 5
		}
		for row := int32(61); row < 64; row++ {
			if cell, _ := l.Rank(space.At(row, col)); float64(c.Stream(0).Uint64()%1000) < 50*c.Parameter(1) {
				spark[cell] = float32(c.Tick())
			}
		}
	}
	return nil
}

type plantedHerd struct{ plantedIDs }

// System implements [scenarios.SystemMaker].
func (p *plantedHerd) System(b *scenarios.Builder, name string) (engine.System, error) {
	p.find(b, name)
	return p, nil
}

// Spec implements [engine.System].
func (p *plantedHerd) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: p.name, Now: engine.Fields(p.due), Incremental: engine.Fields(p.food, p.track, p.energy)}
}

// Update implements [engine.System].
func (p *plantedHerd) Update(c *engine.SystemContext) (err error) {
	const sheep, wolf, runner, hen = 0, 1, 3, 4
	schedule := func(due uint64, x commands.Command) {
		if err == nil {
			_, err = c.Schedule(due, x)
		}
	}
	l, all, food, track, energy := c.Lattice(), c.Entities(), c.Next(p.food), c.Next(p.track), c.Next(p.energy)
	for slot, id := range all.Live() {
		cell := int(all.Cell[slot])
		switch all.Kind[slot] {
		case sheep:
			if food[cell] > 0 {
				food[cell]--
				energy[slot]++
			}
			if c.Tick() == uint64(c.Now(p.due)[slot]) {
				schedule(c.Tick(), commands.Spawn(l.Coord(cell)))
				schedule(c.Tick(), commands.Despawn(id))
			}
		case wolf:
			for other, prey := range all.Live() {
				if c.Tick() == 30 && all.Kind[other] == sheep && slices.Contains(l.AppendNeighbours(nil, cell), all.Cell[other]) {
					schedule(30, commands.Despawn(prey))
				}
			}
		case runner:
			track[cell]++
			schedule(c.Tick(), commands.Move(id, l.Coord((cell+1)%l.Cells())))
		case hen:
			if c.Tick() == 50 {
				schedule(60, commands.SetField(space.At(2, 50), uint32(p.age), 7))
			}
		}
	}
	return err
}
