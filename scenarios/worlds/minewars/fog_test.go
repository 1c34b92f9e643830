package minewars_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	stream "github.com/murksim/murksim/replay/minewars"
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

// secrets returns commands that change what a player cannot see, and says what they do, and to which tile, if
// he may act on it.
func (p *play) secrets(player int, rnd *rand.Rand) (list []commands.Command, what string, tile int) {
	owner, item, planter, fuse := p.column("owner"), p.column("item"), p.column("planter"), p.column("fuse")
	with, without := p.hidden(player)
	other := rnd.IntN(6) + 1
	for other == player || p.slot(0, other) < 0 {
		other = rnd.IntN(6) + 1
	}
	switch kind := rnd.IntN(6); {
	case kind == 0 && len(with) > 0 && len(without) > 0:
		from, to := with[rnd.IntN(len(with))], without[rnd.IntN(len(without))]
		return []commands.Command{p.setCell("item", from, 0), p.setCell("planter", from, 0),
			p.setCell("item", to, item[from]), p.setCell("planter", to, planter[from])}, fmt.Sprintf("an item moves from %d to %d", from, to), -1
	case kind == 1 && len(without) > 0:
		to := without[rnd.IntN(len(without))]
		return []commands.Command{p.setCell("item", to, 1+rnd.IntN(2)), p.setCell("planter", to, other)}, fmt.Sprintf("an item of %d comes to %d", other, to), -1
	case kind == 2: // also beside the player's tiles: the number there is the same
		for _, at := range rnd.Perm(len(item)) {
			if item[at] != 0 && planter[at] != player && fuse[at] == 0 && p.at("city", at) == 0 {
				return []commands.Command{p.setCell("item", at, 3-item[at]), p.setCell("planter", at, other)}, fmt.Sprintf("the item on %d becomes another", at), at
			}
		}
	case kind == 3:
		for _, at := range rnd.Perm(len(owner)) {
			if o := owner[at]; o >= 1 && o <= 6 && p.at("city", at) == 0 && !p.near(player, at, owner, 3*sight) {
				return []commands.Command{p.setCell("owner", at, other), p.setCell("road", at, 1)}, fmt.Sprintf("tile %d, out of sight, goes to %d and has a road", at, other), -1
			}
		}
	case kind == 4:
		slot := p.slot(0, other)
		return []commands.Command{p.setSlot("mines", slot, rnd.IntN(9)), p.setSlot("decoys", slot, rnd.IntN(9)), p.setSlot("ready", slot, rnd.IntN(9999))}, fmt.Sprintf("%d has other things at hand", other), -1
	}
	for c := 1; c <= 12; c++ {
		if slot := p.slot(1, c); slot >= 0 && owner[p.at("entity.cell", slot)] != player {
			list = append(list, p.setSlot("making", slot, 1+rnd.IntN(2)), p.setSlot("progress", slot, rnd.IntN(5000)), p.setSlot("local", slot, rnd.IntN(99)))
		}
	}
	return list, "cities of others make other things", -1
}

// TestPlayersLearnNothingHidden holds that two worlds which differ in what a player cannot see alone give
// him the same messages, all that he knows and what he learns, and that his bot does the same in both.
func TestPlayersLearnNothingHidden(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	p := open(t, "seed=9")
	acted, spectators := 0, 0
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
		secret, what, tile := p.secrets(player, rnd)
		a, b := p.fork(), p.fork()
		a.step(still...)
		b.step(slices.Concat(still, secret)...)
		hosts := [2]stream.Host{a.host(), b.host()}
		for range 3 {
			again := p.setSlot("ready", slot, 0)
			late := [2]stream.Host{a.host(), b.host()}
			a.step(again)
			b.step(again)
			if tile >= 0 && (a.at("item", tile) == 0 || a.at("fuse", tile) != 0 || b.at("item", tile) == 0 || b.at("fuse", tile) != 0) {
				break // he has found out himself
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
	if acted < rounds/3 || spectators < rounds/3 {
		t.Errorf("the bot acted %d times, and the spectator learned of %d secrets in %d rounds; want more", acted, spectators, rounds)
	}
}

// same compares what two Tellers tell a player. It returns 1 if they tell spectators different things.
func same(t *testing.T, a, b *play, hosts [2]stream.Host, player int, what string) (differs int) {
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
