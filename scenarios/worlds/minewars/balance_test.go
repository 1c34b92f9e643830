//go:build !race

package minewars_test // no goroutines here, and 200,000 ticks would take the race detector minutes

import (
	"strconv"
	"sync"
	"testing"

	stream "github.com/murksim/murksim/replay/minewars"
)

// TestGamesAreGood holds for several seeds that a game has a winner after a good while, that players go out
// one after the other, that all that the rules know of happens, and that several seats can win.
func TestGamesAreGood(t *testing.T) {
	seeds, winners := 20, 4
	if testing.Short() {
		seeds, winners = 3, 1
	}
	var mu sync.Mutex
	wins := map[int]int{}
	t.Run("seeds", func(t *testing.T) {
		for seed := 1; seed <= seeds; seed++ {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				winner := game(t, seed)
				mu.Lock()
				defer mu.Unlock()
				wins[winner]++
			})
		}
	})
	if len(wins) < winners {
		t.Errorf("the wins by seat are %v, want %d winners at least", wins, winners)
	}
}

// game plays a game to its end, and returns the winner.
func game(t *testing.T, seed int) (winner int) {
	p := open(t, "seed="+strconv.Itoa(seed), "expect=[]")
	host := p.host()
	var u stream.Update
	ops := map[stream.Op]int{}
	items := map[stream.Item]int{}
	var out []uint64
	for winner == 0 && p.w.Tick() < 12000 {
		p.step()
		u.Reset(p.w.Tick())
		if err := host.Tell(p.w, &u); err != nil {
			t.Fatal(err)
		}
		for _, m := range u.Views[stream.Spectator] {
			ops[m.Op]++
			switch m.Op {
			case stream.Eliminated:
				out = append(out, p.w.Tick())
			case stream.Placed:
				items[m.Item]++
			}
		}
		for q := 1; len(out) == 5 && q <= 6; q++ {
			if p.at("standing", p.slot(0, q)) == 2 {
				winner = q
			}
		}
	}
	if winner == 0 || p.w.Tick() < 4500 || p.at("standing", p.slot(0, winner)) != 2 {
		t.Fatalf("player %d has won at tick %d, want one to win, from tick 4500 on", winner, p.w.Tick())
	}
	if out[0] < 1500 || out[4]-out[0] < 1500 {
		t.Errorf("players went out at ticks %v, want the first after 1500 and the last 1500 later", out)
	}
	for op, least := range map[stream.Op]int{stream.Activated: 10, stream.Explosion: 10, stream.Stunned: 10, stream.Recovered: 5,
		stream.Removed: 20, stream.Road: 20, stream.Owner: 1000, stream.Production: 100, stream.Resources: 100} {
		if ops[op] < least {
			t.Errorf("%d messages of kind %d, want %d at least", ops[op], op, least)
		}
	}
	if items[stream.Mine] < 20 || items[stream.Decoy] < 10 {
		t.Errorf("%d mines and %d decoys were placed, want 20 and 10 at least", items[stream.Mine], items[stream.Decoy])
	}
	return winner
}
