// Package environment lets agents learn in the worlds of scenarios that have an
// environment: key. A [Batch] steps many worlds at once, tells what each agent sees and what
// it is rewarded for, and begins new episodes.
//
// An episode is a run of the scenario under a seed of its own, with the agents' actions as
// commands, so each can be recorded, and the recording proves itself. The seed of an episode
// comes from a master seed, the index of the world and the number of the episode alone. So
// what happens in a world depends on these and on the actions of its agents: not on how many
// worlds there are, on the number of workers, or on when other worlds end.
//
// Another goroutine must not use a Batch while one of its methods runs.
package environment
