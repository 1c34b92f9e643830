// Package observe turns worlds into what agents see of them: flat tensors.
//
// A [Spec] lists what is seen: fields, attributes or numbers of entities; where; and how the numbers are given.
// [Compile] makes a [Plan] of it for a lattice, and an [Observer] of the plan fills the caller's memory, for one
// agent or many, without allocating. docs/OBSERVE.md describes every part and the binary form.
package observe
