package colony

// The hormones.
const (
	cortisol = iota
	oxytocin
	dopamine
	melatonin
	testosterone
	estrogen
	insulin
	thyroid
	hormones
)

// A bodyState is what the hormones of a body follow.
type bodyState struct {
	hunger, fatigue, age int64 // fixed-point numbers
	others               int   // on the same cell
	night                bool
}

// secrete moves each hormone by a sixteenth of the way toward where it belongs,
// oxytocin by a 128th. Whatever the levels were, they end between 0 and 100.
func (k colonyClock) secrete(level []int64, of *bodyState) {
	goal := k.goals(of, within(level[cortisol]))
	for i := range level {
		slow := 4
		if i == oxytocin {
			slow = 7
		}
		level[i] = within(level[i])
		level[i] = within(level[i] + (within(goal[i])-level[i])>>slow)
	}
}

// goals says where each hormone belongs, for one with so much cortisol:
//
//	cortisol      the worse of hunger and fatigue
//	oxytocin      20 for each other on the cell
//	dopamine      50 - fatigue/4
//	melatonin     80 at night, 0 by day
//	testosterone  60 - cortisol/4, 10 before they are grown up
//	estrogen      30 to 60 - cortisol/4 in waves of three days, 10 before they are grown up
//	insulin       30 - hunger/4
//	thyroid       60 - fatigue/4
func (k colonyClock) goals(of *bodyState, stress int64) (goal [hormones]int64) {
	goal[cortisol] = max(of.hunger, of.fatigue)
	goal[oxytocin] = int64(min(max(of.others, 0), most)) * 20 * one
	goal[dopamine] = 50*one - of.fatigue/4
	if of.night {
		goal[melatonin] = 80 * one
	}
	goal[testosterone], goal[estrogen] = 10*one, 10*one
	if of.age >= adult*one {
		period := 3 * int64(k.Day)
		wave := of.age / one % period * 60 / period // 0 to 59
		goal[testosterone] = 60*one - stress/4
		goal[estrogen] = (30+max(wave-30, 30-wave))*one - stress/4
	}
	goal[insulin] = 30*one - of.hunger/4
	goal[thyroid] = 60*one - of.fatigue/4
	return goal
}
