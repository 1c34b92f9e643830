package environment_test

import (
	"testing"

	"github.com/murksim/murksim/environment"
)

// mean returns the mean return of the first episodes of many worlds under the scenario's policy.
func mean(t *testing.T, name string, sets ...string) (sum float64) {
	t.Helper()
	const worlds = 24
	r := train(t, environment.Config{Scenario: open(t, name, sets...), Worlds: worlds, Workers: 2, Seed: 8, Autoreset: environment.Disabled})
	done := make([]bool, worlds)
	for left := worlds; left > 0; {
		if err := r.Batch.Policy(r.actions); err != nil {
			t.Fatal(err)
		}
		if err := r.StepDiscrete(r.actions); err != nil {
			t.Fatal(err)
		}
		mask := make([]uint8, worlds)
		for i := range worlds {
			over := true
			for k := range r.agents {
				over = over && r.Alive[i*r.agents+k] == 0
			}
			if !over {
				continue
			}
			mask[i] = 1
			if !done[i] {
				done[i] = true
				left--
				for k := range r.agents {
					sum += r.Returns[i*r.agents+k] / float64(r.agents)
				}
			}
		}
		if err := r.Reset(nil, mask); err != nil {
			t.Fatal(err)
		}
	}
	return sum / worlds
}

// There is something to learn: a policy that looks at the field does much better than chance.
func TestPolicies(t *testing.T) {
	for _, name := range learning {
		random, best := mean(t, name, "environment.policy=random"), mean(t, name)
		t.Logf("%-12s random %7.2f, its own policy %7.2f", name, random, best)
		if s := open(t, name); s.Environment.Policy.Climb != "" && best < random+5 {
			t.Errorf("%s: its policy has a return of %.2f, chance one of %.2f", name, best, random)
		}
	}
}
