package minewars_test

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/serve/live"
)

// order makes the command of an order in JSON.
func (p *play) order(host live.Host, player int, text string) commands.Command {
	p.t.Helper()
	c, err := host.Order(player, []byte(text))
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// seated is a game of persons, who do nothing but what a test says. It returns the slot of player 1 and the
// cell of his city, too.
func seated(t *testing.T) (p *play, host live.Host, slot, city int) {
	t.Helper()
	p = open(t, "seed=3")
	host = p.host()
	var seats []commands.Command
	for q := 1; q <= 6; q++ {
		seats = append(seats, host.Seat(q, true))
	}
	p.step(seats...) // in the first tick, when there is no player yet
	p.step()
	if slot = p.slot(0, 1); p.at("person", slot) != 1 {
		t.Fatal("a seat taken in the first tick is not a person's in the second")
	}
	return p, host, slot, p.at("entity.cell", slot)
}

func (p *play) json(form string, cell int) string {
	at := p.tile(cell)
	return fmt.Sprintf(form, at.Y, at.X)
}

// beside returns the first tile next to the player's own for which want is true.
func (p *play) beside(player int, want func(cell int) bool) int {
	p.t.Helper()
	for cell := range p.w.Lattice().Cells() {
		near := p.w.Lattice().AppendNeighbours(nil, cell)
		if p.at("terrain", cell) >= 3 && p.at("owner", cell) != player && want(cell) &&
			slices.ContainsFunc(near, func(n int32) bool { return p.at("owner", int(n)) == player }) {
			return cell
		}
	}
	p.t.Fatal("there is no such tile")
	return 0
}

// TestOrdersOfPeople holds that what a person orders happens, and what follows from it.
func TestOrdersOfPeople(t *testing.T) {
	p, host, slot, city := seated(t)
	wait := func() {
		for p.at("ready", slot) > int(p.w.Tick()) || p.at("stunned", slot) != 0 {
			p.step()
		}
	}
	do := func(form string, cell int) {
		t.Helper()
		wait()
		if r := p.step(p.order(host, 1, p.json(form, cell))); r[0].Reason != commands.Applied {
			t.Fatalf("%s: %v", p.json(form, cell), r[0].Reason)
		}
	}
	free := p.beside(1, func(cell int) bool { return p.at("item", cell) == 0 })
	do(`{"take": [%d, %d]}`, free)
	if o := p.at("owner", free); o != 1 {
		t.Errorf("the tile that was taken belongs to %d, want 1", o)
	}
	p.step(p.setSlot("mines", slot, 2), p.setSlot("decoys", slot, 1))
	do(`{"place": "mine", "at": [%d, %d]}`, free)
	if i, q, n := p.at("item", free), p.at("planter", free), p.at("mines", slot); i != 1 || q != 1 || n != 1 {
		t.Errorf("item %d of %d was placed, %d are left; want 1 of 1, 1", i, q, n)
	}
	do(`{"remove": [%d, %d]}`, free)
	if i, n := p.at("item", free), p.at("mines", slot); i != 0 || n != 2 {
		t.Errorf("after digging item %d is there and %d mines at hand, want 0 and 2", i, n)
	}

	other := p.beside(1, func(cell int) bool { return p.at("item", cell) == 0 && cell != free })
	p.step(p.setCell("item", other, 1), p.setCell("planter", other, 2))
	do(`{"remove": [%d, %d]}`, other)
	if i, n := p.at("item", other), p.at("mines", slot); i != 0 || n != 2 {
		t.Errorf("after digging beside his tiles item %d is there and %d mines at hand, want 0 and 2", i, n)
	}
	p.step(p.setCell("item", other, 2), p.setCell("planter", other, 2))
	do(`{"take": [%d, %d]}`, other)
	if i, o, busy := p.at("item", other), p.at("owner", other), p.at("ready", slot)-int(p.w.Tick()); i != 0 || o != 1 || busy < 40 {
		t.Errorf("a tile with a decoy has item %d and owner %d, and took %d ticks; want 0, 1, 40 at least", i, o, busy)
	}
	wait()

	mined := p.beside(1, func(cell int) bool { return p.at("item", cell) == 0 && p.at("city", cell) == 0 })
	beside := int(p.w.Lattice().AppendNeighbours(nil, mined)[0])
	p.step(p.setCell("item", mined, 1), p.setCell("planter", mined, 2), p.setCell("item", beside, 1), p.setCell("planter", beside, 2), p.setCell("owner", beside, 3), p.setCell("terrain", beside, 3))
	do(`{"take": [%d, %d]}`, mined)
	if o, fuse := p.at("owner", mined), p.at("fuse", mined); o == 1 || fuse != int(p.w.Tick())+30 {
		t.Errorf("a mined tile has owner %d and fuse %d at tick %d, want not 1, and 30 ticks later", o, fuse, p.w.Tick())
	}
	for p.at("fuse", mined) != 0 {
		p.step()
	}
	if s, o, i := p.at("stunned", slot)-int(p.w.Tick()), p.at("owner", beside), p.at("item", mined); s != 100 || o != 0 || i != 0 {
		t.Errorf("after the explosion he is stunned for %d ticks, the tile beside it is %d's, item %d; want 100, 0, 0", s, o, i)
	}
	if p.at("fuse", beside) != int(p.w.Tick())+8 {
		t.Errorf("the mine beside it explodes at tick %d, want %d", p.at("fuse", beside), p.w.Tick()+8)
	}
	if o := p.at("owner", city); o != 1 {
		t.Errorf("his city belongs to %d, want 1", o)
	}
}

// TestHeldTiles holds that a tile which was taken from another player cannot be taken again for 100 ticks: who saw
// that is refused, and the order of who did not see it waits.
func TestHeldTiles(t *testing.T) {
	p, host, slot, city := seated(t)
	own := -1
	for _, n := range p.w.Lattice().AppendNeighbours(nil, city) {
		if p.at("owner", int(n)) == 1 {
			own = int(n)
		}
	}
	from := int(p.w.Lattice().AppendNeighbours(nil, own)[0])
	p.step(p.setCell("owner", from, 2), p.setCell("terrain", from, 3), p.setCell("city", from, 0))
	p.step(p.order(host, 2, p.json(`{"take": [%d, %d]}`, own)))
	until := p.at("held", own)
	if want := int(p.w.Tick()) + 100; p.at("owner", own) != 2 || until != want {
		t.Fatalf("the tile is %d's and held until tick %d, want 2's, %d", p.at("owner", own), until, want)
	}
	take := p.order(host, 1, p.json(`{"take": [%d, %d]}`, own))
	if r := p.step(take); r[0].Reason != commands.Occupied {
		t.Errorf("taking it back: %v, want %v", r[0].Reason, commands.Occupied)
	}

	blind := p.fork() // where player 1 did not see it
	blind.step(p.setCell("known", own, 0))
	if r := blind.step(take); r[0].Reason != commands.Applied {
		t.Errorf("taking what nobody saw being taken: %v, want %v", r[0].Reason, commands.Applied)
	}
	if o, ready := blind.at("owner", own), blind.at("ready", slot); o != 2 || ready != until {
		t.Errorf("then it is %d's, and he is ready at tick %d; want 2's, %d", o, ready, until)
	}
	for int(blind.w.Tick()) < until {
		blind.step()
	}
	if o, now := blind.at("owner", own), blind.at("held", own); o != 1 || now != until+100 {
		t.Errorf("at tick %d it is %d's, held until tick %d; want 1's, %d", until, o, now, until+100)
	}

	for int(p.w.Tick()) < until-1 {
		p.step()
	}
	if r := p.step(take); r[0].Reason != commands.Applied || p.at("owner", own) != 1 {
		t.Errorf("taking it back at tick %d: %v, and it is %d's; want %v, 1's", until, r[0].Reason, p.at("owner", own), commands.Applied)
	}
}

// TestCitiesBuild holds that cities make what they are told to, and that a road halves the time to take a
// tile beside it.
func TestCitiesBuild(t *testing.T) {
	p, host, slot, home := seated(t)
	number := p.at("city", home) - 1
	city := p.slot(1, number+1)
	p.step(p.order(host, 1, fmt.Sprintf(`{"produce": "decoy", "city": %d}`, number)))
	if got := p.at("making", city); got != 2 {
		t.Errorf("the city makes %d, want 2, a decoy", got)
	}
	for range 1500 {
		p.step()
	}
	if n := p.at("decoys", slot); n < 1 || p.at("mines", slot) != 0 {
		t.Errorf("it has made %d decoys and %d mines, want 1 at least, and 0", n, p.at("mines", slot))
	}
	site := -1
	for _, n := range p.w.Lattice().AppendNeighbours(nil, home) {
		if p.at("owner", int(n)) == 1 {
			site = int(n)
		}
	}
	p.step(p.order(host, 1, p.json(`{"road": [%d, %d]}`, site)))
	if p.at("making", city) != 3 || p.at("site", city) != site {
		t.Errorf("the city makes %d on %d, want a road, 3, on %d", p.at("making", city), p.at("site", city), site)
	}
	for range 500 {
		p.step()
	}
	if p.at("road", site) != 1 || p.at("making", city) != 1 {
		t.Errorf("road %d, and the city makes %d; want 1 and mines, 1", p.at("road", site), p.at("making", city))
	}
	p.step(host.Seat(1, false))
	if p.at("person", slot) != 0 {
		t.Error("a person who left still has the seat")
	}
}

// TestLeavesBeforeTheGame holds that a bot plays for who took a seat before the first tick, and left it
// before that, too.
func TestLeavesBeforeTheGame(t *testing.T) {
	p := open(t)
	host := p.host()
	for _, r := range p.step(host.Seat(1, true), host.Seat(2, true), host.Seat(1, false)) {
		if r.Reason != commands.Applied {
			t.Errorf("before the first tick: %v", r.Reason)
		}
	}
	p.step()
	if a, b := p.at("person", p.slot(0, 1)), p.at("person", p.slot(0, 2)); a != 0 || b != 1 {
		t.Errorf("player 1 left, and is a person: %d; player 2 did not, and is: %d", a, b)
	}
}

// TestOrdersAreRefused holds that what the rules do not allow is refused with the reason that the document
// names, and changes nothing.
func TestOrdersAreRefused(t *testing.T) {
	p, host, slot, city := seated(t)
	p.step(host.Seat(2, false))
	own := -1
	for _, n := range p.w.Lattice().AppendNeighbours(nil, city) {
		if p.at("owner", int(n)) == 1 {
			own = int(n)
		}
	}
	far, wet, high := -1, -1, -1
	for cell := range p.w.Lattice().Cells() {
		if p.at("terrain", cell) >= 3 && p.at("owner", cell) > 1 && p.at("owner", cell) <= 6 {
			far = cell
		}
		switch p.at("terrain", cell) {
		case 1:
			wet = cell
		case 2:
			high = cell
		}
	}
	raw := func(data string) commands.Command {
		b, err := hex.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		return commands.Custom(0x4d57, b)
	}
	for _, tt := range []struct {
		name string
		c    commands.Command
		want commands.Reason
		why  string
	}{
		{"his own tile", p.order(host, 1, p.json(`{"take": [%d, %d]}`, own)), commands.BadValue, "the tile is yours already"},
		{"a tile far away", p.order(host, 1, p.json(`{"take": [%d, %d]}`, far)), commands.BadValue, "the tile is not beside one of yours"},
		{"digging far away", p.order(host, 1, p.json(`{"remove": [%d, %d]}`, far)), commands.BadValue, "the tile is not beside one of yours"},
		{"digging where he has nothing", p.order(host, 1, p.json(`{"remove": [%d, %d]}`, own)), commands.BadValue, "nothing of yours lies there"},
		{"water", p.order(host, 1, p.json(`{"take": [%d, %d]}`, wet)), commands.BadValue, "the tile is water"},
		{"a mountain", p.order(host, 1, p.json(`{"road": [%d, %d]}`, high)), commands.BadValue, "the tile is a mountain"},
		{"a mine that he does not have", p.order(host, 1, p.json(`{"place": "mine", "at": [%d, %d]}`, own)), commands.CapacityFull, "you have no mine at hand"},
		{"a decoy that he does not have", p.order(host, 1, p.json(`{"place": "decoy", "at": [%d, %d]}`, own)), commands.CapacityFull, "you have no decoy at hand"},
		{"a mine on a tile of another", p.order(host, 1, p.json(`{"place": "mine", "at": [%d, %d]}`, far)), commands.BadValue, "the tile is not yours"},
		{"a decoy on a city", p.order(host, 1, p.json(`{"place": "decoy", "at": [%d, %d]}`, city)), commands.BadValue, "mines and decoys cannot lie on a city"},
		{"a road on a city", p.order(host, 1, p.json(`{"road": [%d, %d]}`, city)), commands.Occupied, "a city needs no road"},
		{"a road on a tile of another", p.order(host, 1, p.json(`{"road": [%d, %d]}`, far)), commands.BadValue, "the tile is not yours"},
		{"a city of another", p.order(host, 1, fmt.Sprintf(`{"produce": "mine", "city": %d}`, p.at("city", city)%12)), commands.UnknownEntity, "the city is not yours"},
		{"a player without a person", p.order(host, 2, p.json(`{"take": [%d, %d]}`, own)), commands.UnknownEntity, "nobody has taken your seat"},
		{"outside of the map", raw("01017f7f"), commands.OutsideSpace, "the tile is not on the map"},
		{"no data", raw(""), commands.BadValue, "it is not an order of this game"},
		{"too much data", raw("0101000000"), commands.BadValue, "it is not an order of this game"},
		{"player 0", raw("00010000"), commands.BadValue, "it is not an order of this game"},
		{"player 7", raw("07010000"), commands.BadValue, "it is not an order of this game"},
		{"verb 0", raw("01000000"), commands.BadValue, "it is not an order of this game"},
		{"verb 9", raw("01090000"), commands.BadValue, "it is not an order of this game"},
		{"a road as production", raw("01060200"), commands.BadValue, "it is not an order of this game"},
		{"a seat with more", raw("01070001"), commands.BadValue, "it is not an order of this game"},
	} {
		a, b := p.fork(), p.fork()
		teller := a.host()
		r := a.step(tt.c)
		b.step()
		if why := teller.Explain(a.w, &r[0]); r[0].Reason != tt.want || why != tt.why {
			t.Errorf("%s: %v, %s; want %v, %s", tt.name, r[0].Reason, why, tt.want, tt.why)
		}
		for id := range len(a.w.Defs()) - 1 { // all but world.rest, which has the input
			if x, y := a.w.Column(scenariotest.Column(t, a.w, a.w.Defs()[id].Name)), b.w.Column(scenariotest.Column(t, b.w, b.w.Defs()[id].Name)); !reflect.DeepEqual(x, y) {
				t.Errorf("%s: column %s has changed", tt.name, a.w.Defs()[id].Name)
			}
		}
	}
	refused := func(what string, c commands.Command, want commands.Reason, why string) {
		t.Helper()
		teller := p.host()
		r := p.step(c)
		if got := teller.Explain(p.w, &r[0]); r[0].Reason != want || got != why {
			t.Errorf("%s: %v, %s; want %v, %s", what, r[0].Reason, got, want, why)
		}
	}
	p.step(p.setCell("item", own, 2), p.setCell("planter", own, 1), p.setSlot("mines", slot, 1))
	refused("a mine where an item is", p.order(host, 1, p.json(`{"place": "mine", "at": [%d, %d]}`, own)), commands.Occupied, "a mine or decoy lies there already")
	p.step(p.setCell("fuse", own, int(p.w.Tick())+50), p.setCell("road", own, 1))
	refused("digging where a mine explodes", p.order(host, 1, p.json(`{"remove": [%d, %d]}`, own)), commands.Occupied, "a mine there is about to explode")
	refused("a second road", p.order(host, 1, p.json(`{"road": [%d, %d]}`, own)), commands.Occupied, "there is a road already")
	p.step(p.setSlot("standing", slot, 1))
	refused("the seat of a player who is out", host.Seat(1, true), commands.UnknownEntity, "you are out of the game, or it has ended")
}

// TestExplainsTheTickBefore holds that a receipt is explained by the state in which the order was refused, and not
// by that after the tick; what other commands of the tick have changed is not guessed.
func TestExplainsTheTickBefore(t *testing.T) {
	p := open(t)
	host := p.host()
	r := p.step(p.order(host, 1, `{"take": [0, 0]}`))
	if why := host.Explain(p.w, &r[0]); why != "orders count from tick 2 on" {
		t.Errorf("an order of the first tick: %v, %s", r[0].Reason, why)
	}
	p, _, _, city := seated(t)
	free := p.beside(1, func(cell int) bool { return p.at("item", cell) == 0 && p.at("city", cell) == 0 })
	p.step(p.setCell("item", free, 1), p.setCell("fuse", free, int(p.w.Tick())+2)) // explodes in the tick
	host = p.host()
	r = p.step(p.order(host, 1, p.json(`{"take": [%d, %d]}`, free)))
	if why := host.Explain(p.w, &r[0]); why != "a mine there is about to explode" || p.at("fuse", free) != 0 {
		t.Errorf("a tile whose mine explodes in the tick: %v, %s", r[0].Reason, why)
	}
	host = p.host()
	r = p.step(p.setCell("owner", city, 2), p.order(host, 1, p.json(`{"road": [%d, %d]}`, city)))
	if why := host.Explain(p.w, &r[1]); r[1].Reason != commands.BadValue || why != "" {
		t.Errorf("a tile that a command gives away: %v, %s; want %v and no explanation", r[1].Reason, why, commands.BadValue)
	}
}

// TestOrderErrors holds that an order which is none says what is wrong.
func TestOrderErrors(t *testing.T) {
	host := open(t).host()
	for _, tt := range []struct{ order, want string }{
		{`{}`, `an order is one of {"take": [y, x]}`},
		{`{"take": [0, 0], "remove": [0, 0]}`, `an order is one of`},
		{`[1]`, `the value must be an object, not an array; an order is one of`},
		{`{"take": [0, 0]} 1`, `something follows the value; an order is one of`},
		{`{"fly": [0, 0]}`, `unknown key "fly"; an order is one of`},
		{`{"take": [0]}`, `a tile has two coordinates, [y, x], not 1`},
		{`{"take": [20, 10]}`, `tile [20, 10] is not on the map, whose radius is 17`},
		{`{"take": [300, 0]}`, `tile [300, 0] is not on the map`},
		{`{"take": [1000000000000000000000, 0]}`, `"take" must be a whole number of 64 bits, not 1000000000000000000000; an order is one of`},
		{`{"place": "bomb", "at": [0, 0]}`, `there are mines and decoys, but no "bomb"`},
		{`{"place": "mine"}`, `"at" goes with "place"`},
		{`{"take": [0, 0], "at": [0, 0]}`, `"at" goes with "place"`},
		{`{"produce": "mine"}`, `"city" goes with "produce"`},
		{`{"produce": "road", "city": 1}`, `there are mines and decoys, but no "road"`},
		{`{"produce": "mine", "city": 12}`, `city must be 0 to 11, not 12`},
	} {
		if _, err := host.Order(1, []byte(tt.order)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.order, err, tt.want)
		}
	}
	if _, err := host.Order(7, []byte(`{"take": [0, 0]}`)); err == nil || !strings.Contains(err.Error(), "player must be 1 to 6, not 7") {
		t.Errorf("player 7: %v", err)
	}
	got, err := host.Order(5, []byte(`{"take": [-3, 2]}`))
	if want := commands.Custom(0x4d57, []byte{5, 1, 0xfd, 2}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Order = %v, %v; want %v", got, err, want)
	}
}

// TestOrdersInScenarios holds that a scenario can give the game's commands, and that a descriptor has them.
func TestOrdersInScenarios(t *testing.T) {
	s, err := scenariotest.Open("minewars", `commands=[{tick: 5, custom: {type: 0x4d57, data: "03070000"}}]`)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenariotest.FromDescriptor(s.Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*scenarios.Scenario{s, again} {
		w, err := s.World(1)
		if err != nil {
			t.Fatal(err)
		}
		p := &play{t, s, w}
		for range 6 {
			scenariotest.Step(t, s, w)
		}
		if slot := p.slot(0, 3); p.at("person", slot) != 1 {
			t.Error("the command of the scenario did not take the seat")
		}
	}
}
