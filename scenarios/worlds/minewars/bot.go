package minewars

// A mind is a bot's thoughts about its next act: what follows for the tiles around its own from what
// its player sees and has seen, and from nothing else.
type mind struct {
	*turn
	p       int
	state   [maxCells]uint8 // of the tiles beside its own
	risk    [maxCells]uint8 // in per cent
	edge    [maxCells]int16 // its tiles with others beside them
	edges   int
	targets [16]int // cities of others
	aims    int
	threat  bool   // another player's tile lies beside its own
	known   [8]int // how many tiles each player has, as far as it knows
}

// What a mind thinks of a tile beside its own.
const (
	unknown = iota + 1
	safe
	trapped // it has a hidden item
	closed  // a mine there is about to explode, or it cannot be taken yet
)

// decide returns what a bot does, which may be nothing. Its chances come from the stream of its player.
func (t *turn) decide(p int) (v verb, cell int) {
	m := mind{turn: t, p: p}
	m.survey()
	for range 3 {
		if !m.deduce() {
			break
		}
	}
	m.fear()
	luck := t.c.Stream(uint64(p))
	slot := t.player[p]
	if m.threat && luck.Below(100) < 35 {
		v := verbMine
		if t.at(colDecoys, slot) > 0 && (t.at(colMines, slot) <= 0 || luck.Below(3) == 0) {
			v = verbDecoy
		}
		if v == verbDecoy || t.at(colMines, slot) > 0 {
			if cell, ok := m.trap(luck.Below); ok {
				return v, cell
			}
		}
	}
	return m.choose(luck.Below)
}

// survey looks at the tiles around the bot's own.
func (m *mind) survey() {
	own := int64(m.p)
	m.known = m.held(m.p)
	for _, at := range m.tiles {
		cell := int(at)
		if m.turn.at(colCity, cell) != 0 {
			if m.holder(cell, m.p) != m.p && m.aims < len(m.targets) {
				m.targets[m.aims] = cell
				m.aims++
			}
		}
		if m.turn.at(colOwner, cell) != own {
			continue
		}
		border := false
		for _, by := range m.near {
			near := cell + by
			if m.onMap[near] == 0 || m.turn.at(colTerrain, near) < land || m.turn.at(colOwner, near) == own {
				continue
			}
			border = true
			m.threat = m.threat || m.holder(near, m.p) != 0
			switch {
			case m.turn.at(colFuse, near) != 0:
				m.state[near] = closed
			case m.turn.at(colItem, near) != none && m.turn.at(colPlanter, near) == own:
				m.state[near] = safe
			case m.state[near] == 0:
				m.state[near] = unknown
			}
		}
		if border {
			m.edge[m.edges] = int16(cell)
			m.edges++
		}
	}
}

// digit returns the number that a player reads on his tile: of the hidden items of others beside it.
func (g *game) digit(s sheet, p, cell int) (n int) {
	for _, by := range g.near {
		if s(colItem, cell+by) != none && s(colPlanter, cell+by) != int64(p) && s(colFuse, cell+by) == 0 {
			n++
		}
	}
	return n
}

// rest returns how many hidden items beside a tile the mind has not found yet, and on how many tiles they may be.
func (m *mind) rest(cell int) (items, places int) {
	items = m.digit(m.turn.at, m.p, cell)
	for _, by := range m.near {
		switch m.state[cell+by] {
		case trapped:
			items--
		case unknown:
			places++
		}
	}
	return items, places
}

// deduce finds out more: beside a tile there are no more items, or one on each place that is left. It reports
// whether anything was found.
func (m *mind) deduce() (found bool) {
	for _, cell := range m.edge[:m.edges] {
		items, places := m.rest(int(cell))
		if places == 0 || items > 0 && items < places {
			continue
		}
		is := uint8(safe)
		if items > 0 {
			is = trapped
		}
		for _, by := range m.near {
			if m.state[int(cell)+by] == unknown {
				m.state[int(cell)+by] = is
				found = true
			}
		}
	}
	return found
}

// fear estimates how likely an item is where nothing could be deduced.
func (m *mind) fear() {
	for _, cell := range m.edge[:m.edges] {
		items, places := m.rest(int(cell))
		for _, by := range m.near {
			near := int(cell) + by
			switch m.state[near] {
			case trapped:
				m.risk[near] = 100
			case unknown:
				m.risk[near] = max(m.risk[near], uint8(min(max(100*items/places, 0), 100)))
			}
		}
	}
}

// trap returns a tile for an item of the bot's own: beside a tile of another player.
func (m *mind) trap(below func(uint64) uint64) (cell int, ok bool) {
	best := 0
	for _, at := range m.edge[:m.edges] {
		here := int(at)
		if m.turn.at(colItem, here) != none || m.turn.at(colCity, here) != 0 {
			continue
		}
		worth := 0
		for _, by := range m.near {
			if o := m.holder(here+by, m.p); o != 0 && o != m.p {
				worth += 4
			}
			if m.turn.at(colOwner, here+by) == int64(m.p) && m.turn.at(colItem, here+by) == mine {
				worth -= 6
			}
		}
		if worth <= 0 {
			continue
		}
		if worth += int(below(8)); worth > best {
			cell, best, ok = here, worth, true
		}
	}
	return cell, ok
}

// choose returns the tile that is best taken, or dug at, for the time that it takes. Now and then a bot is
// in too great a hurry to think of mines.
func (m *mind) choose(below func(uint64) uint64) (v verb, cell int) {
	best := 0
	hasty := below(14) == 0
	for _, at := range m.edge[:m.edges] {
		for _, by := range m.near {
			near := int(at) + by
			is := m.state[near]
			if is == 0 || is == closed || m.barred(m.turn.at, m.tick, m.p, near) {
				continue
			}
			m.state[near] = 0 // it is looked at once
			owner := m.holder(near, m.p)
			worth := 100*m.worth(near) + int(below(4000))
			ticks, risk := m.cost(m.p, near, owner, m.known[m.p], m.known[owner]), int(m.risk[near])
			if hasty {
				is, risk = safe, 0
			}
			if bold := worth / (ticks + risk*(m.Stun+m.Warning+120)/100); is != trapped && bold > best {
				v, cell, best = verbTake, near, bold
			}
			if careful := 2 * worth / (ticks + digTicks); is == trapped && careful > best {
				v, cell, best = verbDig, near, careful
			}
		}
	}
	return v, cell
}

// worth returns what a tile is worth to the bot.
func (m *mind) worth(cell int) int {
	worth, away := 100, 3*m.radius
	for _, city := range m.targets[:m.aims] {
		away = min(away, m.steps(cell, city))
	}
	worth -= 4 * away
	if m.turn.at(colTerrain, cell) == fertile {
		worth += 8
	}
	if m.turn.at(colCity, cell) != 0 {
		worth += 400
	}
	for _, by := range m.near {
		if m.turn.at(colOwner, cell+by) == int64(m.p) {
			worth += 3
			if m.turn.at(colCity, cell+by) != 0 {
				worth += 30 // it is beside a city of its own
			}
		}
	}
	if m.holder(cell, m.p) != 0 {
		worth += 20
	}
	return max(worth, 5)
}

// plan decides what a city of a bot makes next.
func (t *turn) plan(p, c int) {
	luck := t.c.Stream(uint64(p))
	slot := t.city[c]
	draw := luck.Below(100)
	if draw < 40 {
		if site, ok := t.route(p, c, luck.Below); ok {
			t.set(colMaking, slot, road)
			t.set(colSite, slot, int64(site))
			return
		}
	}
	switch hands := t.player[p]; {
	case draw < 60 && t.at(colDecoys, hands) < mostItems || t.at(colMines, hands) >= mostItems:
		t.set(colMaking, slot, decoy)
	default:
		t.set(colMaking, slot, mine)
	}
}

// route returns where a city's next road goes: on a tile of its player beside a road or city of his, toward
// the nearest other city.
func (t *turn) route(p, c int, below func(uint64) uint64) (site int, ok bool) {
	goal, away := 0, 4*t.radius
	for d := 1; d <= t.Cities; d++ {
		if d == c || t.city[d] < 0 {
			continue
		}
		if s := t.steps(t.place[c], t.place[d]); s < away {
			goal, away = d, s
		}
	}
	if goal == 0 {
		return 0, false
	}
	best := 1 << 20
	for _, at := range t.tiles {
		cell := int(at)
		if t.at(colOwner, cell) != int64(p) || t.at(colRoad, cell) != 0 || t.at(colCity, cell) != 0 || t.steps(cell, t.place[c]) > away {
			continue
		}
		for _, by := range t.near {
			if near := cell + by; t.at(colOwner, near) == int64(p) && (t.at(colRoad, near) != 0 || near == t.place[c]) {
				if far := 16*t.steps(cell, t.place[goal]) + int(below(16)); far < best {
					site, best, ok = cell, far, true
				}
				break
			}
		}
	}
	return site, ok
}
