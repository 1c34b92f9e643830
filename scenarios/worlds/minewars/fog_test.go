package minewars_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	stream "github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve/live"
)

// fork makes a second world of the same state.
func (p *play) fork() *play {
	p.t.Helper()
	w, err := p.w.Fork()
	if err != nil {
		p.t.Fatal(err)
	}
	return &play{p.t, p.s, w}
}

// setCell is a command that sets a column of a cell.
func (p *play) setCell(name string, cell, value int) commands.Command {
	return commands.SetField(p.w.Lattice().Coord(cell), uint32(p.id(name)), float32(value))
}

// setSlot is a command that sets an attribute of the entity in a slot.
func (p *play) setSlot(name string, slot, value int) commands.Command {
	return commands.SetField(commands.EntityCoord(p.w.Entities().ID[slot]), uint32(p.id(name)), float32(value))
}

// hidden lists the tiles with and without an item of which a player knows nothing and learns nothing soon:
// they are far from his own, and no mine is about to explode beside them.
func (p *play) hidden(player int) (with, without []int) {
	l := p.w.Lattice()
	owner, planter, fuse := p.column("owner"), p.column("planter"), p.column("fuse")
	for cell := range owner {
		if p.at("terrain", cell) < 3 || p.at("city", cell) != 0 || planter[cell] == player || fuse[cell] != 0 || p.near(player, cell, owner, 6) {
			continue
		}
		if slices.ContainsFunc(l.AppendNeighbours(nil, cell), func(n int32) bool { return fuse[n] != 0 }) {
			continue
		}
		if p.at("item", cell) != 0 {
			with = append(with, cell)
		} else {
			without = append(without, cell)
		}
	}
	return with, without
}

// near reports whether a player has a tile fewer than so many steps from a cell.
func (p *play) near(player, cell int, owner []int, steps float64) bool {
	for from, o := range owner {
		if o == player && p.w.Lattice().Distance(from, cell) < steps {
			return true
		}
	}
	return false
}

// secrets returns commands that change what a player cannot see, says what they do, and has a function, nil if
// there is nothing to find out, that reports whether he has found out by acting there.
func (p *play) secrets(player int, rnd *rand.Rand) (list []commands.Command, what string, found func(a, b *play) bool) {
	owner, item, planter, fuse := p.column("owner"), p.column("item"), p.column("planter"), p.column("fuse")
	with, without := p.hidden(player)
	other := rnd.IntN(6) + 1
	for other == player || p.slot(0, other) < 0 {
		other = rnd.IntN(6) + 1
	}
	switch kind := rnd.IntN(8); {
	case kind == 0 && len(with) > 0 && len(without) > 0:
		from, to := with[rnd.IntN(len(with))], without[rnd.IntN(len(without))]
		return []commands.Command{p.setCell("item", from, 0), p.setCell("planter", from, 0),
			p.setCell("item", to, item[from]), p.setCell("planter", to, planter[from])}, fmt.Sprintf("an item moves from %d to %d", from, to), nil
	case kind == 1 && len(without) > 0:
		to := without[rnd.IntN(len(without))]
		return []commands.Command{p.setCell("item", to, 1+rnd.IntN(2)), p.setCell("planter", to, other)}, fmt.Sprintf("an item of %d comes to %d", other, to), nil
	case kind == 2: // also beside the player's tiles: the number there is the same
		for _, at := range rnd.Perm(len(item)) {
			if item[at] != 0 && planter[at] != player && fuse[at] == 0 && p.at("city", at) == 0 {
				return []commands.Command{p.setCell("item", at, 3-item[at]), p.setCell("planter", at, other)}, fmt.Sprintf("the item on %d becomes another", at),
					func(a, b *play) bool {
						return a.at("item", at) == 0 || a.at("fuse", at) != 0 || b.at("item", at) == 0 || b.at("fuse", at) != 0
					}
			}
		}
	case kind == 3:
		for _, at := range rnd.Perm(len(owner)) {
			if o := owner[at]; o >= 1 && o <= 6 && p.at("city", at) == 0 && !p.near(player, at, owner, 3*sight) {
				return []commands.Command{p.setCell("owner", at, other), p.setCell("road", at, 1)}, fmt.Sprintf("tile %d, out of sight, goes to %d and has a road", at, other), nil
			}
		}
	case kind == 4:
		slot := p.slot(0, other)
		return []commands.Command{p.setSlot("mines", slot, rnd.IntN(9)), p.setSlot("decoys", slot, rnd.IntN(9)), p.setSlot("ready", slot, rnd.IntN(9999))}, fmt.Sprintf("%d has other things at hand", other), nil
	case kind == 5 || kind == 6:
		for _, at := range rnd.Perm(len(owner)) {
			if o := owner[at]; o >= 1 && o <= 6 && o != player && item[at] == 0 && p.near(player, at, owner, 2) && p.at("held", at) == 0 {
				return p.hold(player, at, int(p.w.Tick())+20+rnd.IntN(80))
			}
		}
	}
	for c := 1; c <= 12; c++ {
		if slot := p.slot(1, c); slot >= 0 && owner[p.at("entity.cell", slot)] != player {
			list = append(list, p.setSlot("making", slot, 1+rnd.IntN(2)), p.setSlot("progress", slot, rnd.IntN(5000)), p.setSlot("local", slot, rnd.IntN(99)))
		}
	}
	return list, "cities of others make other things", nil
}

// hold lets a tile be held until a tick, of which a player knows nothing. He finds out only if he tries to take it:
// then he is busy until that tick, where he takes it otherwise.
func (p *play) hold(player, cell, until int) (list []commands.Command, what string, found func(a, b *play) bool) {
	what = fmt.Sprintf("tile %d is held until tick %d", cell, until)
	return []commands.Command{p.setCell("held", cell, until)}, what, func(a, b *play) bool {
		if a.at("owner", cell) != player {
			return false
		}
		if ready := b.at("ready", b.slot(0, player)); ready != until || b.at("owner", cell) == player {
			p.t.Fatalf("tick %d, player %d: %s; he takes it if it is not, else he is ready at tick %d", a.w.Tick(), player, what, ready)
		}
		return true
	}
}

// sameReceipts gives a person with a player's seat all orders about his tiles and those beside them, in forks of
// two worlds, and compares the receipts.
func sameReceipts(t *testing.T, a, b *play, player int, what string) {
	t.Helper()
	host := a.host()
	list := []commands.Command{host.Seat(player, true)}
	owner := a.column("owner")
	for cell := range owner {
		if a.at("terrain", cell) == 0 || !a.near(player, cell, owner, 2) {
			continue
		}
		for _, form := range []string{`{"take": [%d, %d]}`, `{"remove": [%d, %d]}`, `{"place": "mine", "at": [%d, %d]}`, `{"place": "decoy", "at": [%d, %d]}`, `{"road": [%d, %d]}`} {
			list = append(list, a.order(host, player, a.json(form, cell)))
		}
	}
	forks := [2]*play{a.fork(), b.fork()}
	hosts := [2]live.Host{forks[0].host(), forks[1].host()}
	x, y := forks[0].step(list...), forks[1].step(list...)
	for i := range x {
		if x[i].Reason != y[i].Reason {
			t.Fatalf("tick %d, player %d: %s; his order %x gives %v and %v", a.w.Tick(), player, what, list[i].Data, x[i].Reason, y[i].Reason)
		}
		if x[i].Reason == commands.Applied {
			continue
		}
		why, other := hosts[0].Explain(forks[0].w, &x[i]), hosts[1].Explain(forks[1].w, &y[i])
		if why == "" || why != other {
			t.Fatalf("tick %d, player %d: %s; his order %x is refused with %q and %q", a.w.Tick(), player, what, list[i].Data, why, other)
		}
	}
}

// TestPlayersLearnNothingHidden holds that two worlds which differ in what a player cannot see alone give
// him the same messages, all that he knows and what he learns, and the same receipts, and that his bot does the same in both.
func TestPlayersLearnNothingHidden(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	p := open(t, "seed=9", "space.cols=45", "space.rows=45") // large, so that there is much to hide
	acted, spectators, learned := 0, 0, 0
	for range rounds {
		for range 20 + rnd.IntN(40) {
			p.step()
		}
		player := rnd.IntN(6) + 1
		slot := p.slot(0, player)
		if slot < 0 || p.at("standing", slot) != 0 {
			continue
		}
		host := p.host()
		var still []commands.Command // so that no other bot acts on what it sees
		for q := 1; q <= 6; q++ {
			if q != player {
				still = append(still, host.Seat(q, true))
			}
		}
		still = append(still, p.setSlot("ready", slot, 0), p.setSlot("stunned", slot, 0))
		secret, what, found := p.secrets(player, rnd)
		a, b := p.fork(), p.fork()
		a.step(still...)
		b.step(slices.Concat(still, secret)...)
		if found != nil && found(a, b) {
			learned++
			continue
		}
		sameReceipts(t, a, b, player, what)
		hosts := [2]live.Host{a.host(), b.host()}
		for range 3 {
			again := p.setSlot("ready", slot, 0)
			late := [2]live.Host{a.host(), b.host()}
			a.step(again)
			b.step(again)
			if found != nil && found(a, b) {
				learned++
				break
			}
			same(t, a, b, late, player, what)
			spectators += same(t, a, b, hosts, player, what)
			for _, name := range []string{"ready", "mines", "decoys", "stunned", "standing", "entity.cell"} {
				if x, y := a.at(name, slot), b.at(name, slot); x != y {
					t.Fatalf("tick %d, player %d: %s; then %s is %d and %d", a.w.Tick(), player, what, name, x, y)
				}
			}
			if a.at("ready", slot) != 0 {
				acted++
			}
		}
	}
	if acted < rounds/3 || spectators < rounds/3 || learned == 0 && !testing.Short() { // which is rare
		t.Errorf("the bot acted %d times and found out %d secrets, and the spectator learned of %d in %d rounds; want more", acted, learned, spectators, rounds)
	}
}

// same compares what two Tellers tell a player. It returns 1 if they tell spectators different things.
func same(t *testing.T, a, b *play, hosts [2]live.Host, player int, what string) (differs int) {
	t.Helper()
	var u [2]stream.Update
	for i, p := range []*play{a, b} {
		u[i].Reset(p.w.Tick())
		if err := hosts[i].Tell(p.w, &u[i]); err != nil {
			t.Fatal(err)
		}
	}
	x, y := u[0].Views[player], u[1].Views[player]
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || !reflect.DeepEqual(x[i], y[i]) {
			t.Fatalf("tick %d, player %d: %s; he is told %d and %d messages, from number %d on\n%v\nand\n%v",
				a.w.Tick(), player, what, len(x), len(y), i, x[i:min(i+1, len(x))], y[i:min(i+1, len(y))])
		}
	}
	if !reflect.DeepEqual(u[0].Views[stream.Spectator], u[1].Views[stream.Spectator]) {
		return 1
	}
	return 0
}
