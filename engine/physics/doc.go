// Package physics moves bodies over land in fixed-point numbers: they fall, bounce,
// slide, and come to rest. It computes with whole numbers only, in the order that
// docs/PHYSICS.md specifies, so that every bit can be reproduced.
//
// A [System] works on entities. A body has a position (x eastward, y southward, and
// its height), and a velocity along each, in columns of element fixed. One cell is
// one unit, and the unit of time is the tick: velocities are units a tick, gravity is
// units a tick each tick. No time step is multiplied anywhere, so flight is exact.
//
// The land is a field of heights, one at the centre of each cell, and bilinear
// between the centres. The edges of the world are walls, or, where the lattice wraps,
// lead to the other side.
//
// Three things hold on land that does not change, for any numbers:
//
//   - No body is below the ground after a tick.
//   - A body's energy, v² + 2·g·height, never grows, not even by one unit: no body rises
//     above where it began.
//   - A body at rest keeps its bits for ever.
//
// A number that cannot be represented is an [engine.ErrArithmetic], which halts the world.
package physics
