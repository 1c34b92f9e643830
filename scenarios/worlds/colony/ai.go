package colony

import (
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

type colonyAI struct {
	colonyClock
	Sight int `yaml:"sight" default:"4" min:"1" max:"32" doc:"How many cells far they see."`
}

func (p *colonyAI) System(b *scenarios.Builder, name string) (engine.System, error) {
	c, err := find(b, name)
	return minds{c, p.colonyClock, p.Sight}, err
}

// minds decide. A colonist that has finished gives every action a score, a whole number, and
// takes the highest; of equals, one draw of the stream with the entity's id as its
// number picks.
type minds struct {
	colony
	colonyClock
	sight int
}

// A need is what a colonist knows when it decides.
type need struct {
	hunger, fatigue, energy                int
	melatonin, oxytocin, dopamine          int
	food, wood, stone, tool                int // carried
	foodHere, woodHere, stoneHere, company int
	wall                                   bool
}

// scores returns what each action is worth, and why one would do it.
//
//	eat     hunger, with food, from 20 on
//	sleep   fatigue + melatonin/2, from 20 on
//	gather  30 + hunger/2 - 6·food for food, 34 - 4·wood for wood
//	mine    33 - 4·stone, and 4 more with a tool
//	craft   48, with wood and stone and without a tool
//	build   44, with two of each, where no wall stands
//	speak   10 + (60 - oxytocin)/2, in company, below 60
//	move    14 + (50 - dopamine)/5; 8 + hunger·2/3 without food if that is more
//	idle    12, and 60 - energy if that is more
func (n *need) scores() (score [actions]int, why [actions]int) {
	score[idle] = max(12, 60-n.energy)
	if n.food > 0 && n.hunger >= 20 {
		score[eat], why[eat] = n.hunger, hungry
	}
	if s := n.fatigue + n.melatonin/2; s >= 20 {
		score[sleep], why[sleep] = s, tired
	}
	score[walk], why[walk] = 14+(50-n.dopamine)/5, curious
	if s := 8 + n.hunger*2/3; n.food == 0 && n.foodHere == 0 && s > score[walk] {
		score[walk], why[walk] = s, needsFood
	}
	if n.foodHere > 0 {
		score[gather], why[gather] = 30+n.hunger/2-6*n.food, needsFood
	}
	if s := 34 - 4*n.wood; n.woodHere > 0 && s > score[gather] {
		score[gather], why[gather] = s, needsWood
	}
	if n.stoneHere > 0 {
		score[mine], why[mine] = 33-4*n.stone+4*min(n.tool, 1), needsStone
	}
	if n.wood > 0 && n.stone > 0 && n.tool == 0 {
		score[craft], why[craft] = 48, needsTool
	}
	if n.wood > 1 && n.stone > 1 && !n.wall {
		score[build], why[build] = 44, wantsWall
	}
	if n.company > 0 && n.oxytocin < 60 {
		score[speak], why[speak] = 10+(60-n.oxytocin)/2, lonely
	}
	return score, why
}

// choose returns the action with the highest score; below(k) picks among k equals.
func choose(score *[actions]int, below func(k uint64) uint64) int {
	best, equals := idle, uint64(1)
	for a := 1; a < actions; a++ {
		switch {
		case score[a] > score[best]:
			best, equals = a, 1
		case score[a] == score[best]:
			equals++
		}
	}
	if equals == 1 {
		return best
	}
	skip := below(equals)
	for a := best; ; a++ {
		if score[a] == score[best] {
			if skip == 0 {
				return a
			}
			skip--
		}
	}
}

// Spec implements [engine.System].
func (x minds) Spec(*space.Lattice) engine.Spec {
	return x.spec(
		engine.Fields(x.energy, x.hunger, x.fatigue, x.hormones, x.carried, x.busy, x.food, x.wood, x.stone, x.built, x.crowd, x.cell),
		engine.Fields(x.action, x.target, x.reason, x.decided))
}

// Update implements [engine.System].
func (x minds) Update(c *engine.SystemContext) error {
	energy, hunger, fatigue := now(c, x.energy), now(c, x.hunger), now(c, x.fatigue)
	levels, carried, busy := now(c, x.hormones), now(c, x.carried), now(c, x.busy)
	food, wood, stone, built, crowd := now(c, x.food), now(c, x.wood), now(c, x.stone), now(c, x.built), now(c, x.crowd)
	action, target, reason, decided := next(c, x.action), next(c, x.target), next(c, x.reason), next(c, x.decided)
	all := c.Entities()
	for slot, id := range all.ID {
		if id == 0 || busy[slot] > 0 {
			continue
		}
		cell := int(all.Cell[slot])
		level, has := levels[slot*hormones:][:hormones], carried[slot*goods:][:goods]
		n := need{
			hunger: whole(hunger[slot]), fatigue: whole(fatigue[slot]), energy: whole(energy[slot]),
			melatonin: whole(level[melatonin]), oxytocin: whole(level[oxytocin]), dopamine: whole(level[dopamine]),
			food: whole(has[carriedFood]), wood: whole(has[carriedWood]), stone: whole(has[carriedStone]), tool: whole(has[carriedTool]),
			foodHere: whole(food[cell]), woodHere: whole(wood[cell]), stoneHere: whole(stone[cell]), wall: built[cell] > 0,
		}
		x.around(cell, 1, func(at int) { n.company += whole(crowd[at]) })
		n.company--
		score, why := n.scores()
		does := choose(&score, func(k uint64) uint64 { return c.Stream(id).Below(k) })
		to := cell
		if does == walk {
			goal, wanted := food, needsFood
			switch {
			case why[walk] == needsFood:
			case n.oxytocin < 30 && n.company == 0:
				goal, wanted = crowd, lonely
			case n.wood < 2:
				goal, wanted = wood, needsWood
			case n.stone < 2:
				goal, wanted = stone, needsStone
			default:
				goal, wanted = nil, curious
			}
			var found bool
			if to, found = x.find(goal, cell); found {
				why[walk] = wanted
			} else {
				to = x.wander(cell, c.Stream(id).Below)
			}
		}
		action[slot], reason[slot], target[slot] = int64(does)*one, int64(why[does])*one, int64(to)*one
		decided[cell*actions+does] += one
	}
	return nil
}

// find returns the nearest cell in sight, but not the own one, where there is one unit of
// something: of equally near ones that with most, of those the first.
func (x minds) find(goal []int64, cell int) (at int, found bool) {
	if goal == nil {
		return cell, false
	}
	best := int64(one - 1)
	for radius := 1; radius <= x.sight; radius++ {
		x.ring(cell, radius, func(near int) {
			if goal[near] > best {
				at, best = near, goal[near]
			}
		})
		if best >= one {
			return at, true
		}
	}
	return cell, false
}

// ring calls f for the cells exactly so many steps away, row by row.
func (x minds) ring(cell, radius int, f func(cell int)) {
	row, col := cell/x.cols, cell%x.cols
	for r := max(row-radius, 0); r <= min(row+radius, x.rows-1); r++ {
		step := 2 * radius
		if r == row-radius || r == row+radius {
			step = 1
		}
		for q := col - radius; q <= col+radius; q += step {
			if q >= 0 && q < x.cols {
				f(r*x.cols + q)
			}
		}
	}
}

// wander returns a cell in sight at random.
func (x minds) wander(cell int, below func(uint64) uint64) int {
	span := uint64(2*x.sight + 1)
	row := cell/x.cols + int(below(span)) - x.sight
	col := cell%x.cols + int(below(span)) - x.sight
	return min(max(row, 0), x.rows-1)*x.cols + min(max(col, 0), x.cols-1)
}
