package minewars_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	stream "github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/serve/live"
)

// A play is a game under test, with its columns by name.
type play struct {
	t testing.TB
	s *scenarios.Scenario
	w *engine.World
}

func open(t testing.TB, sets ...string) *play {
	t.Helper()
	s, err := scenariotest.Open("minewars", sets...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	return &play{t, s, w}
}

func (p *play) id(name string) fields.ID { return scenariotest.Column(p.t, p.w, name) }

// at returns an element of a column.
func (p *play) at(name string, i int) int { return int(p.w.Value(p.id(name), i)) }

// column copies a column.
func (p *play) column(name string) []int {
	list := make([]int, 0, p.w.Lattice().Cells())
	for _, v := range p.w.Column(p.id(name)).Fixed {
		list = append(list, int(v>>16))
	}
	return list
}

// slot returns that of a player (kind 0) or a city (1); -1 if there is none.
func (p *play) slot(kind int32, number int) int {
	all := p.w.Entities()
	for slot, id := range all.ID {
		if id != 0 && all.Kind[slot] == kind && p.at("number", slot) == number {
			return slot
		}
	}
	return -1
}

func (p *play) radius() int { return (p.w.Lattice().Axes()[0].Extent - 3) / 2 }

func (p *play) tile(cell int) stream.Tile {
	c := p.w.Lattice().Coord(cell)
	return stream.Tile{Y: int8(int(c.At(1)) - p.radius() - 1), X: int8(int(c.At(0)) - p.radius() - 1)}
}

// host makes a Teller of the world.
func (p *play) host() live.Host {
	p.t.Helper()
	type maker interface {
		Teller(b *scenarios.Builder, w *engine.World) (live.Teller, error)
	}
	for m, b := range scenarios.Parts[maker](p.s) {
		t, err := m.Teller(b, p.w)
		if err != nil {
			p.t.Fatal(err)
		}
		return t.(live.Host)
	}
	p.t.Fatal("no part of the scenario makes a Teller")
	return nil
}

func (p *play) step(list ...commands.Command) []commands.Receipt {
	p.t.Helper()
	for _, c := range list {
		if _, err := p.w.Submit(c); err != nil {
			p.t.Fatal(err)
		}
	}
	r, err := p.w.Step()
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// A knowledge is what a view knows.
type knowledge struct {
	Owner, Item, Digit map[stream.Tile]int
	Road, Active       map[stream.Tile]bool
	Stunned, Out       map[int]bool
	City               map[int]cityKnowledge
}

type cityKnowledge struct {
	making, local, export int
	site                  stream.Tile
}

func newKnowledge() *knowledge {
	return &knowledge{map[stream.Tile]int{}, map[stream.Tile]int{}, map[stream.Tile]int{}, map[stream.Tile]bool{}, map[stream.Tile]bool{},
		map[int]bool{}, map[int]bool{}, map[int]cityKnowledge{}}
}

func around(t stream.Tile) []stream.Tile {
	return []stream.Tile{t, {Y: t.Y, X: t.X + 1}, {Y: t.Y - 1, X: t.X + 1}, {Y: t.Y - 1, X: t.X}, {Y: t.Y, X: t.X - 1}, {Y: t.Y + 1, X: t.X - 1}, {Y: t.Y + 1, X: t.X}}
}

// fold takes in a message as the documents say that a viewer does.
func (k *knowledge) fold(m *stream.Message, v stream.View, start stream.Start) error {
	lose := func(t stream.Tile) {
		if i := slices.Index(start.Cities, t); i >= 0 && v != stream.Spectator && k.Owner[t] == v {
			k.keepCity(i, cityKnowledge{local: k.City[i].local, export: k.City[i].export})
		}
		delete(k.Owner, t)
		delete(k.Digit, t)
	}
	switch m.Op {
	case stream.Activated:
		k.Active[m.Tiles[0]] = true
	case stream.Digit:
		k.Digit[m.Tiles[0]] = int(m.Number)
	case stream.Eliminated:
		k.Out[int(m.Player)] = true
		delete(k.Stunned, int(m.Player))
		for t, o := range k.Owner {
			if o == int(m.Player) {
				lose(t)
			}
		}
	case stream.Road:
		for _, t := range m.Tiles {
			k.Road[t] = true
		}
	case stream.Explosion:
		for _, at := range m.Tiles {
			delete(k.Item, at)
			if m.Item != stream.Mine {
				continue
			}
			delete(k.Active, at)
			for _, t := range around(at) {
				if !slices.Contains(start.Cities, t) {
					lose(t)
				}
			}
		}
	case stream.Removed:
		for _, t := range m.Tiles {
			delete(k.Item, t)
		}
	case stream.Placed:
		k.Item[m.Tiles[0]] = int(m.Item) + 1
	case stream.Owner:
		for _, t := range m.Tiles {
			if k.Owner[t] == int(m.Player) {
				return fmt.Errorf("tile %v is told to be %d's twice", t, m.Player)
			}
			lose(t)
			k.Owner[t] = int(m.Player)
		}
	case stream.Stunned:
		k.Stunned[int(m.Player)] = true
	case stream.Recovered:
		delete(k.Stunned, int(m.Player))
	default:
		k.foldCity(m)
	}
	return nil
}

func (k *knowledge) foldCity(m *stream.Message) {
	c := k.City[int(m.City)]
	if m.Op == stream.Resources {
		c.local += int(m.Local)
		c.export += int(m.Export)
	} else {
		roads := m.Tiles
		if m.Finished == stream.RoadItem {
			k.Road[roads[0]] = true
			roads = roads[1:]
		}
		c.making, c.site = int(m.Started)+1, stream.Tile{}
		if m.Started == stream.RoadItem {
			c.site = roads[0]
		}
	}
	k.keepCity(int(m.City), c)
}

// keepCity keeps what is known of a city. A city that is lost is known until its resources are taken back.
func (k *knowledge) keepCity(number int, c cityKnowledge) {
	if k.City[number] = c; c == (cityKnowledge{}) {
		delete(k.City, number)
	}
}

// A truth is what the views must know, computed from the columns of one tick after the other.
type truth struct {
	*play
	start  stream.Start
	before map[string][]int
	seen   [stream.MaxPlayers + 1]map[int]bool
	views  [stream.MaxPlayers + 1]*knowledge
	within [][]bool // whether a cell is in sight of another
}

const sight = 3

func (p *play) truth(start stream.Start) *truth {
	t := &truth{play: p, start: start, before: map[string][]int{}}
	for v := range t.views {
		t.views[v], t.seen[v] = newKnowledge(), map[int]bool{}
	}
	l := p.w.Lattice()
	for cell := range l.Cells() {
		t.within = append(t.within, make([]bool, l.Cells()))
		for other := range l.Cells() {
			t.within[cell][other] = l.Distance(cell, other) <= sight
		}
	}
	return t
}

// look computes what the views know after a tick.
func (t *truth) look() {
	now := map[string][]int{}
	for _, name := range []string{"owner", "item", "planter", "fuse", "road"} {
		now[name] = t.column(name)
	}
	slots := map[int]int{}
	for q := 1; q <= t.start.Players; q++ {
		slots[q] = t.slot(0, q)
	}
	for v := range t.start.Players + 1 {
		k := t.views[v]
		seen := map[int]bool{}
		for cell, o := range now["owner"] {
			if o == v && v != stream.Spectator {
				for other := range t.w.Lattice().Cells() {
					if t.within[cell][other] {
						seen[other] = true
					}
				}
			}
		}
		t.lose(k, now, slots)
		for cell, o := range now["owner"] {
			at := t.tile(cell)
			sees := seen[cell] || t.seen[v][cell] || v == stream.Spectator
			if sees && o >= 1 && o <= 6 {
				k.Owner[at] = o
			}
			if sees && now["road"][cell] != 0 {
				k.Road[at] = true
			}
			if delete(k.Item, at); now["item"][cell] != 0 && (v == stream.Spectator || now["planter"][cell] == v) {
				k.Item[at] = now["item"][cell]
			}
			if now["fuse"][cell] == 0 {
				delete(k.Active, at)
			} else if sees {
				k.Active[at] = true
			}
			if delete(k.Digit, at); v != stream.Spectator && o == v {
				k.Digit[at] = t.digit(now, v, cell)
			}
		}
		t.cities(k, v, now)
		clear(k.Stunned)
		for q, slot := range slots {
			if slot >= 0 && t.at("stunned", slot) != 0 {
				k.Stunned[q] = true
			}
		}
		t.seen[v] = seen
	}
	t.before = now
}

// lose takes away what has become nobody's.
func (t *truth) lose(k *knowledge, now map[string][]int, slots map[int]int) {
	for cell, fuse := range t.before["fuse"] {
		if fuse == 0 || now["fuse"][cell] != 0 {
			continue
		}
		for _, at := range around(t.tile(cell)) {
			if !slices.Contains(t.start.Cities, at) {
				delete(k.Owner, at)
			}
		}
	}
	for q, slot := range slots {
		if slot < 0 || t.at("standing", slot) != 1 || k.Out[q] {
			continue
		}
		k.Out[q] = true
		for at, o := range k.Owner {
			if o == q {
				delete(k.Owner, at)
			}
		}
	}
}

func (t *truth) digit(now map[string][]int, v, cell int) (n int) {
	for _, near := range t.w.Lattice().AppendNeighbours(nil, cell) {
		if now["item"][near] != 0 && now["planter"][near] != v && now["fuse"][near] == 0 {
			n++
		}
	}
	return n
}

func (t *truth) cities(k *knowledge, v int, now map[string][]int) {
	clear(k.City)
	for i := range t.start.Cities {
		slot := t.slot(1, i+1)
		if slot < 0 {
			continue
		}
		cell := t.at("entity.cell", slot)
		if v != stream.Spectator && now["owner"][cell] != v {
			continue
		}
		c := cityKnowledge{t.at("making", slot), t.at("local", slot), t.at("export", slot), stream.Tile{}}
		if c.making == 3 {
			c.site = t.tile(t.at("site", slot))
		}
		k.City[i] = c
	}
}

// compare compares what views have been told with what they must know.
func (t *truth) compare(told []*knowledge) {
	t.t.Helper()
	for v := range t.start.Players + 1 {
		got, want := reflect.ValueOf(told[v]).Elem(), reflect.ValueOf(t.views[v]).Elem()
		for i := range want.NumField() {
			g, w := got.Field(i), want.Field(i)
			if reflect.DeepEqual(g.Interface(), w.Interface()) {
				continue
			}
			t.t.Fatalf("tick %d, view %d, %s: told %s", t.w.Tick(), v, want.Type().Field(i).Name, difference(g, w))
		}
	}
}

// difference shows where two maps differ.
func difference(got, want reflect.Value) (text string) {
	for _, k := range got.MapKeys() {
		if w := want.MapIndex(k); !w.IsValid() {
			text += fmt.Sprintf(" +%v:%v", k, got.MapIndex(k))
		} else if fmt.Sprint(w) != fmt.Sprint(got.MapIndex(k)) {
			text += fmt.Sprintf(" %v:%v≠%v", k, got.MapIndex(k), w)
		}
	}
	for _, k := range want.MapKeys() {
		if !got.MapIndex(k).IsValid() {
			text += fmt.Sprintf(" -%v:%v", k, want.MapIndex(k))
		}
	}
	return text
}

// begin returns what the views know before the first tick.
func begin(start stream.Start) []*knowledge {
	var told []*knowledge
	for v := range stream.MaxPlayers + 1 {
		told = append(told, newKnowledge())
		if v == stream.Spectator {
			for i, t := range start.Map {
				if t == stream.Mined {
					told[v].Item[ring(int(start.Radius))[i]] = 1
				}
			}
		}
	}
	return told
}

// ring lists the tiles of a map in ring order.
func ring(radius int) []stream.Tile {
	list := []stream.Tile{{}}
	for k := 1; k <= radius; k++ {
		y, x := -k, 0
		for _, d := range [][2]int{{0, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, 0}, {-1, 1}} {
			for range k {
				list = append(list, stream.Tile{Y: int8(y), X: int8(x)})
				y, x = y+d[0], x+d[1]
			}
		}
	}
	return list
}

// tell lets a Teller tell of the tick just computed, and folds what it says.
func (p *play) tell(host live.Host, told []*knowledge, u *stream.Update) {
	p.t.Helper()
	u.Reset(p.w.Tick())
	if err := host.Tell(p.w, u); err != nil {
		p.t.Fatal(err)
	}
	start := host.Start()
	for v, list := range u.Views {
		for i := range list {
			for _, t := range list[i].Tiles {
				y, x, r := int(t.Y), int(t.X), p.radius()
				if max(y, -y, x, -x, y+x, -y-x) > r {
					p.t.Fatalf("tick %d, view %d: message %d names tile %v, which is not on the map", p.w.Tick(), v, i, t)
				}
			}
			if v == stream.Spectator && list[i].Op == stream.Digit {
				p.t.Fatalf("tick %d: the spectator is told a digit", p.w.Tick())
			}
			if err := told[v].fold(&list[i], v, start); err != nil {
				p.t.Fatalf("tick %d, view %d: %v", p.w.Tick(), v, err)
			}
		}
	}
}

// believe takes in what the spectator learns, all of which must be possible.
func (p *play) believe(b *stream.Board, u *stream.Update) {
	p.t.Helper()
	for _, m := range u.Views[stream.Spectator] {
		if why := b.Doubt(&m); why != "" {
			p.t.Fatalf("tick %d: %v cannot be true: %s", u.Tick, m, why)
		}
		b.Apply(u.Tick, []stream.Message{m})
	}
}

// TestTellerTellsWhatViewsKnow holds that what a view has been told is what it should know, at each tick,
// by a Teller made at genesis and by others made later, and that no message of a whole game can be doubted.
func TestTellerTellsWhatViewsKnow(t *testing.T) {
	ticks := uint64(3600)
	if testing.Short() {
		ticks = 800
	}
	p := open(t, "space.cols=27", "space.rows=27", "systems.0.minewars.players=4", "systems.0.minewars.cities=8", "seed=5")
	first := p.host()
	truth := p.truth(first.Start())
	tellers := []live.Host{first}
	views := [][]*knowledge{begin(first.Start())}
	boards := []*stream.Board{stream.NewBoard(first.Start(), stream.Spectator)}
	var u stream.Update
	ops := map[stream.Op]int{}
	for p.w.Tick() < ticks {
		p.step()
		truth.look()
		for i := range tellers {
			p.tell(tellers[i], views[i], &u)
			p.believe(boards[i], &u)
			for _, list := range u.Views {
				for _, m := range list {
					ops[m.Op]++
				}
			}
			truth.compare(views[i])
		}
		if p.w.Tick()%(ticks/4) == 0 {
			late := p.host()
			if !reflect.DeepEqual(late.Start(), first.Start()) {
				t.Fatalf("tick %d: a Teller made late starts with another map", p.w.Tick())
			}
			tellers, views = append(tellers, late), append(views, begin(late.Start()))
			boards = append(boards, stream.NewBoard(late.Start(), stream.Spectator))
		}
	}
	for op := stream.Activated; op <= stream.Owner; op++ {
		if ops[op] == 0 && !testing.Short() {
			t.Errorf("no message of kind %d was told in %d ticks", op, ticks)
		}
	}
}

// TestBoardsOfCities holds that at each tick the Board of every view has the resources that the columns have for
// the cities of the view, and none for the others, also when a city is lost and taken again.
func TestBoardsOfCities(t *testing.T) {
	p, host, _, home := seated(t)
	number := p.at("city", home)
	start := host.Start()
	var boards [stream.MaxPlayers + 1]*stream.Board
	for v := range boards {
		boards[v] = stream.NewBoard(start, v)
	}
	host = p.host() // tells all in its first tick
	var u stream.Update
	lost := false
	for tick := range 200 {
		var list []commands.Command
		switch tick {
		case 50, 130:
			list = append(list, p.setCell("owner", home, 2))
		case 90, 170:
			list = append(list, p.setCell("owner", home, 1))
		case 30: // so that player 1 is not out
			list = append(list, p.setCell("owner", p.at("entity.cell", p.slot(1, number%6+1)), 1))
		}
		p.step(list...)
		u.Reset(p.w.Tick())
		if err := host.Tell(p.w, &u); err != nil {
			t.Fatal(err)
		}
		for v, b := range boards {
			b.Apply(u.Tick, u.Views[v])
			for c := range start.Cities {
				slot := p.slot(1, c+1)
				local, export := p.at("local", slot), p.at("export", slot)
				if v != stream.Spectator && p.at("owner", p.at("entity.cell", slot)) != v {
					lost = lost || v == 1 && c+1 == number
					local, export = 0, 0
				}
				if got := b.Cities[c]; int(got.Local) != local || int(got.Export) != export {
					t.Fatalf("tick %d, view %d: city %d has %d and %d, want %d and %d", u.Tick, v, c, got.Local, got.Export, local, export)
				}
			}
		}
	}
	if !lost {
		t.Error("player 1 has not lost his city")
	}
}

// TestStoryNamesAsMessagesDo: the story names tiles and cities as messages and orders do.
func TestStoryNamesAsMessagesDo(t *testing.T) {
	p := open(t)
	cities := p.host().Start().Cities
	story := p.s.Story(p.w)
	p.step()
	list := story.Observe(p.w)
	for _, h := range list {
		var c int
		if _, err := fmt.Sscanf(h.What, "begins with city %d", &c); err != nil {
			t.Fatalf("in tick 1 the story has %v", h)
		}
		if want := fmt.Sprintf("[%d, %d]", cities[c].Y, cities[c].X); h.Where != want {
			t.Errorf("%v, want city %d at %s", h, c, want)
		}
	}
	if len(list) != 6 {
		t.Errorf("in tick 1 the story has %d lines, want one for each player", len(list))
	}
}
