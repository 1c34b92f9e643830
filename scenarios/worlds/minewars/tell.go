package minewars

import (
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	stream "github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/serve/live"
)

// A teller tells what happens in a game: to spectators everything, to each player what he may know. It
// compares what it has told each view with what the columns say that the view knows.
type teller struct {
	*game
	begin  stream.Start
	sorted []int32 // the tiles by row and column, as messages list them
	last   uint64  // tick that was told

	column [columns][]int64 // after the tick
	all    engine.Entities
	before [columns][]int64 // those of kept, at the tick before
	fresh  bool             // nothing has been told yet
	mark   []bool           // by cell, all false between ticks
	spare  []int32          // memory for look
	look   []int32          // the tiles about which there may be something to tell, of sorted

	views   [stream.MaxPlayers + 1]told
	burst   []int32 // where mines exploded in the tick
	cleared []int32 // from where other items went away in it
	changed []int32
	named   []stream.Tile // by the messages of the tick
}

// kept are the columns whose values of the tick before are kept: those in which a tile differs from then when
// there is something to tell of it, or of one beside it, and what else the rules look at that a tick can change.
var (
	kept     = [...]column{colItem, colFuse, colSeen, colOwner, colPlanter, colRoad, colKnown, colHeld, colStanding, colMines, colDecoys}
	compared = kept[:7]
)

// What a view has been told.
type told struct {
	owner   []uint8 // by cell
	item    []uint8 // for a player his own alone
	digit   []int8  // -1: none
	road    []bool
	active  []bool
	city    [stream.MaxCities + 1]toldCity
	stunned [stream.MaxPlayers + 1]int64
	out     [stream.MaxPlayers + 1]bool
}

type toldCity struct {
	known              bool
	making, site, made int64
	local, export      int64
}

// Teller makes a teller of the game in a world; it is a [live.Host].
func (p *gameParams) Teller(b *scenarios.Builder, w *engine.World) (live.Teller, error) {
	g, err := newGame(p, b, "")
	if err != nil {
		return nil, err
	}
	chart := g.draw(w.Column(g.height).Fixed, w.Column(g.luck).Fixed)
	t := &teller{game: g, begin: g.start(chart), sorted: slices.Clone(g.tiles), last: w.Tick(), fresh: true, mark: make([]bool, g.cells)}
	slices.Sort(t.sorted)
	for v := range t.views {
		x := &t.views[v]
		x.owner, x.item, x.digit = make([]uint8, g.cells), make([]uint8, g.cells), make([]int8, g.cells)
		x.road, x.active = make([]bool, g.cells), make([]bool, g.cells)
		for cell := range x.digit {
			x.digit[cell] = -1
			if v == stream.Spectator && chart.mined[cell] {
				x.item[cell] = mine
			}
		}
	}
	t.read(w)
	t.remember()
	return t, nil
}

// Start implements [live.Teller].
func (t *teller) Start() stream.Start { return t.begin }

// at is a [sheet].
func (t *teller) at(k column, i int) int64 { return t.column[k][i] >> 16 }

// was is a [sheet] of the tick before; columns that are not kept are as they are now.
func (t *teller) was(k column, i int) int64 {
	if before := t.before[k]; before != nil {
		return before[i] >> 16
	}
	return t.at(k, i)
}

func (t *teller) read(w *engine.World) {
	for k, id := range t.ids {
		t.column[k] = w.Column(id).Fixed
	}
	t.all = w.Entities()
}

// remember keeps what the next tick is compared with.
func (t *teller) remember() {
	for _, k := range kept {
		t.before[k] = append(t.before[k][:0], t.column[k]...)
	}
}

// scan finds the tiles about which there may be something to tell: all the first time, then those that have
// changed, and those beside them.
func (t *teller) scan() {
	if t.fresh {
		t.look, t.fresh = t.sorted, false
		return
	}
	for _, k := range compared {
		was, is := t.before[k], t.column[k]
		if slices.Equal(was, is) {
			continue
		}
		for _, cell := range t.sorted {
			if was[cell] != is[cell] {
				t.mark[cell] = true
				for _, by := range t.near {
					t.mark[int(cell)+by] = true
				}
			}
		}
	}
	t.look = t.spare[:0]
	for _, cell := range t.sorted {
		if t.mark[cell] {
			t.look = append(t.look, cell)
		}
	}
	t.spare = t.look
	clear(t.mark)
}

// Tell implements [live.Teller].
func (t *teller) Tell(w *engine.World, u *stream.Update) error {
	if w.Tick() != t.last+1 {
		return fmt.Errorf("minewars: tick %d was told, so the next is %d, not %d", t.last, t.last+1, w.Tick())
	}
	t.last = w.Tick()
	t.read(w)
	t.named, t.burst, t.cleared = t.named[:0], t.burst[:0], t.cleared[:0]
	t.scan()
	for _, at := range t.look {
		cell := int(at)
		was := t.was(colItem, cell)
		switch {
		case was == mine && t.was(colFuse, cell) != 0 && t.at(colFuse, cell) == 0:
			t.burst = append(t.burst, at)
		case was != none && t.at(colItem, cell) == none:
			t.cleared = append(t.cleared, at)
		}
	}
	for v := range t.Players + 1 {
		x := telling{t, &t.views[v], v, &u.Views[v]}
		x.eliminations()
		x.explosions()
		x.owners()
		x.roads()
		x.removals()
		x.items()
		x.digits()
		x.cities()
		x.stuns()
	}
	t.remember()
	return nil
}

// A telling is a tick as one view is told of it.
type telling struct {
	*teller
	told *told
	v    stream.View
	to   *[]stream.Message
}

func (x *telling) say(m stream.Message, tiles ...int) {
	first := len(x.named)
	for _, cell := range tiles {
		x.named = append(x.named, x.tileOf(cell))
	}
	m.Tiles = x.named[first:len(x.named):len(x.named)]
	*x.to = append(*x.to, m)
}

// list says one thing of many tiles, as many at a time as a message can name.
func (x *telling) list(m stream.Message, cells []int32) {
	for part := range slices.Chunk(cells, stream.MaxTiles) {
		first := len(x.named)
		for _, cell := range part {
			x.named = append(x.named, x.tileOf(int(cell)))
		}
		m.Tiles = x.named[first:len(x.named):len(x.named)]
		*x.to = append(*x.to, m)
	}
}

// players calls f for each player and his slot.
func (x *telling) players(f func(p, slot int)) {
	for p := 1; p <= x.Players; p++ {
		if slot := x.slot(kindPlayer, p); slot >= 0 {
			f(p, slot)
		}
	}
}

// slot returns that of a player or a city; -1 if there is none.
func (t *teller) slot(kind, number int) int {
	for slot, id := range t.all.ID {
		if id != 0 && t.all.Kind[slot] == int32(kind) && t.at(colNumber, slot) == int64(number) {
			return slot
		}
	}
	return -1
}

// eliminations tells which players are out; their tiles lose their owner.
func (x *telling) eliminations() {
	x.players(func(p, slot int) {
		if x.at(colStanding, slot) != lost || x.told.out[p] {
			return
		}
		x.told.out[p] = true
		x.say(stream.Message{Op: stream.Eliminated, Player: uint8(p)})
		for _, cell := range x.sorted {
			if x.told.owner[cell] == uint8(p) {
				x.told.owner[cell] = 0
			}
		}
	})
}

// explosions tells where mines have exploded; the tiles there lose their owner. A spectator who comes
// late is also told of mines that were there at the start and have exploded since.
func (x *telling) explosions() {
	x.changed = append(x.changed[:0], x.burst...)
	if x.v == stream.Spectator {
		for _, at := range x.look {
			if cell := int(at); x.told.item[cell] == mine && x.item(cell) != mine && x.at(colGone, cell) == exploded && !slices.Contains(x.burst, at) {
				x.changed = append(x.changed, at)
			}
		}
		slices.Sort(x.changed)
	}
	for _, at := range x.changed {
		cell := int(at)
		x.told.item[cell], x.told.active[cell] = none, false
		x.free(cell)
		for _, by := range x.near {
			x.free(cell + by)
		}
	}
	x.list(stream.Message{Op: stream.Explosion, Item: stream.Mine}, x.changed)
}

func (x *telling) free(cell int) {
	if x.at(colCity, cell) == 0 {
		x.told.owner[cell] = 0
	}
}

// owner returns who owns a tile as the view knows it.
func (x *telling) owner(cell int) uint8 {
	o := x.at(colOwner, cell)
	if x.v != stream.Spectator {
		o = owned(x.at(colKnown, cell), x.v)
	}
	if o < 0 || o > int64(x.Players) {
		return 0
	}
	return uint8(o)
}

// owners tells which tiles have an owner that the view does not know of.
func (x *telling) owners() {
	var new [stream.MaxPlayers + 1]bool
	for _, cell := range x.look {
		if o := x.owner(int(cell)); o != 0 && o != x.told.owner[cell] {
			new[o] = true
		}
	}
	for p := 1; p <= x.Players; p++ {
		if !new[p] {
			continue
		}
		x.changed = x.changed[:0]
		for _, cell := range x.look {
			if x.owner(int(cell)) == uint8(p) && x.told.owner[cell] != uint8(p) {
				x.changed = append(x.changed, cell)
				x.told.owner[cell] = uint8(p)
				x.told.digit[cell] = -1 // a tile that is new has no number yet
			}
		}
		x.list(stream.Message{Op: stream.Owner, Player: uint8(p)}, x.changed)
	}
}

// roads tells of finished roads that the view learns of.
func (x *telling) roads() {
	x.changed = x.changed[:0]
	for _, cell := range x.look {
		is := x.at(colRoad, int(cell)) != 0
		if x.v != stream.Spectator {
			is = roaded(x.at(colKnown, int(cell)), x.v)
		}
		if is && !x.told.road[cell] {
			x.told.road[cell] = true
			x.changed = append(x.changed, cell)
		}
	}
	x.list(stream.Message{Op: stream.Road}, x.changed)
}

// item returns the item on a tile of which the view knows: for a player his own.
func (x *telling) item(cell int) uint8 {
	if i := x.at(colItem, cell); x.v == stream.Spectator || x.at(colPlanter, cell) == int64(x.v) {
		return uint8(i)
	}
	return none
}

// gone returns the kind of an item that went away, as far as the view hears of it: it knew of the item,
// or saw it go.
func (x *telling) gone(cell int) uint8 {
	if knew := x.told.item[cell]; knew != none && knew != x.item(cell) {
		return knew
	}
	if _, ok := slices.BinarySearch(x.cleared, int32(cell)); ok && x.v != stream.Spectator && sees(x.was(colSeen, cell)|x.at(colSeen, cell), x.v) {
		return uint8(x.was(colItem, cell))
	}
	return none
}

// removals tells which items are gone without an explosion of a mine.
func (x *telling) removals() {
	for _, kind := range [...]uint8{mine, decoy} {
		for _, op := range [...]stream.Op{stream.Explosion, stream.Removed} {
			x.changed = x.changed[:0]
			for _, at := range x.look {
				if x.gone(int(at)) == kind && (x.at(colGone, int(at)) == exploded) == (op == stream.Explosion) {
					x.changed = append(x.changed, at)
				}
			}
			x.list(stream.Message{Op: op, Item: stream.Item(kind - 1)}, x.changed)
		}
	}
}

// items tells which mines are active now, and where the view has items that it has not been told of.
func (x *telling) items() {
	for _, at := range x.look {
		cell := int(at)
		active := x.at(colFuse, cell) != 0 && (x.v == stream.Spectator || warned(x.at(colKnown, cell), x.v))
		if active && !x.told.active[cell] {
			x.say(stream.Message{Op: stream.Activated}, cell)
		}
		x.told.active[cell] = active
		is := x.item(cell)
		if is != none && is != x.told.item[cell] {
			x.say(stream.Message{Op: stream.Placed, Item: stream.Item(is - 1)}, cell)
		}
		x.told.item[cell] = is
	}
}

// digits tells a player the numbers on his tiles that have changed.
func (x *telling) digits() {
	if x.v == stream.Spectator {
		return
	}
	for _, at := range x.look {
		cell, digit := int(at), int8(-1)
		if x.at(colOwner, cell) == int64(x.v) {
			digit = int8(x.digit(x.teller.at, x.v, cell))
		}
		if digit >= 0 && digit != x.told.digit[cell] {
			x.say(stream.Message{Op: stream.Digit, Number: uint8(digit)}, cell)
		}
		x.told.digit[cell] = digit
	}
}

// cities tells of the cities of the view's player, and spectators of all. A city that is lost brings nothing.
func (x *telling) cities() {
	for c := 1; c <= x.Cities; c++ {
		slot, cell := x.slot(kindCity, c), x.cellAt(x.begin.Cities[c-1])
		if slot < 0 || x.v != stream.Spectator && x.at(colOwner, cell) != int64(x.v) {
			x.resources(c, 0, 0)
			x.told.city[c] = toldCity{}
			continue
		}
		x.production(c, slot)
		x.resources(c, x.at(colLocal, slot), x.at(colExport, slot))
	}
}

// production tells what a city has finished and makes next.
func (x *telling) production(c, slot int) {
	old := &x.told.city[c]
	now := toldCity{known: true, making: x.at(colMaking, slot), site: x.at(colSite, slot), made: x.at(colMade, slot), local: old.local, export: old.export}
	was := *old
	*old = now
	if was == now || now.making == none {
		return
	}
	m := stream.Message{Op: stream.Production, City: uint8(c - 1), Finished: stream.Cancelled, Started: stream.Item(now.making - 1)}
	var roads [2]int
	n := 0
	if last := x.at(colLast, slot); was.known && was.made != now.made && last != none {
		m.Finished = stream.Item(last - 1)
		if place := x.at(colPlace, slot); last == road && x.isCell(place) {
			roads[n] = int(place)
			n++
		} else if last == road {
			m.Finished = stream.Cancelled
		}
	}
	if now.making == road {
		if !x.isCell(now.site) {
			return
		}
		roads[n] = int(now.site)
		n++
	}
	x.say(m, roads[:n]...)
}

// resources tells by how much those of a city have changed.
func (x *telling) resources(c int, local, export int64) {
	old := &x.told.city[c]
	const most = 20_000 // more than the largest map gives; a command may have written anything
	local, export = min(max(local, -most), most), min(max(export, -most), most)
	for old.local != local || old.export != export {
		l := min(max(local-old.local, math.MinInt8), math.MaxInt8)
		e := min(max(export-old.export, math.MinInt8), math.MaxInt8)
		old.local += l
		old.export += e
		x.say(stream.Message{Op: stream.Resources, City: uint8(c - 1), Local: int8(l), Export: int8(e)})
	}
}

// stuns tells who is stunned, and who has recovered.
func (x *telling) stuns() {
	x.players(func(p, slot int) {
		until := x.at(colStunned, slot)
		switch {
		case until == x.told.stunned[p]:
		case until == 0 && !x.told.out[p]:
			x.say(stream.Message{Op: stream.Recovered, Player: uint8(p)})
		case until > int64(x.last):
			x.say(stream.Message{Op: stream.Stunned, Player: uint8(p), Ticks: uint16(min(until-int64(x.last), math.MaxUint16))})
		}
		x.told.stunned[p] = until
	})
}
