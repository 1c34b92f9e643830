package environment_test

import (
	"fmt"
	"testing"

	"github.com/murksim/murksim/environment"
)

// field64 is 64² cells with 4 agents that see 5×5 cells of two fields; propagators are given.
const field64 = `
murksim: 1
name: bench
tick_rate: 20
space: {kind: square4, rows: 64, cols: 64, edge: wrap}
fields:
  - {name: heat, initial: {rect: {from: [10, 10], to: [20, 20], value: 5}}}
  - {name: wall, mutability: static, initial: {rect: {from: [30, 0], to: [30, 40], value: 1}}}
entities:
  capacity: 4
  kinds: [walker]
  spawn: [{kind: walker, count: 4}]
%s
environment:
  agents: {kind: walker}
  actions: {moves: true}
  observation:
    - {field: heat, around: {rect: [2, 2]}}
    - {field: wall, around: {rect: [2, 2]}}
  reward: [{field: heat}]
  steps: 500
`

// BenchmarkStep takes steps in many worlds on one core; an environment step is a step of one
// world with its four agents.
func BenchmarkStep(b *testing.B) {
	for _, x := range []struct{ name, propagators string }{
		{"walk", ""},
		{"heat", "propagators: [{diffusion: {field: heat, rate: 1}}]"},
	} {
		for _, n := range []int{1, 64, 1000} {
			b.Run(fmt.Sprintf("%s/worlds=%d", x.name, n), func(b *testing.B) {
				r := train(b, environment.Config{Scenario: parse(b, fmt.Sprintf(field64, x.propagators)), Worlds: n, Seed: 1, Autoreset: environment.SameStep})
				for i := range r.actions {
					r.actions[i] = int64(i * 7 % 5)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := r.StepDiscrete(r.actions); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
			})
		}
	}
}
