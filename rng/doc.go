// Package rng draws the random numbers of a world, the same ones on every machine.
//
//	master [Seed] → [TickSeed] → [StreamSeed] → [Stream] (one draw after another)
//	                                          → [Bulk]   (any index, in any order)
//
// Every subsystem draws from streams of its own name, so that a draw in one never
// changes what another gets. A [Set] opens the streams of a tick and counts their
// draws; nothing of it outlives the tick. Every function here is a promise in all
// bits: bounded and shuffled draws are therefore this package's own, and no library's.
//
// [Fresh] and [FreshID] alone are not reproducible.
package rng
