// Package engine runs worlds: deterministic simulations in fixed timesteps.
//
// A world is a set of columns, some numbers and some scheduled events on a lattice.
// [New] builds one from a [Config]; [World.Submit] gives it commands; [World.Step]
// computes a tick, and [World.Run] many:
//
//  1. the inputs submitted and the events due are put in canonical order;
//  2. they are applied to the state at the start of the tick;
//  3. propagators carry the fields forward, then systems work on the entities;
//  4. bounds are applied and values checked;
//  5. what the tick has scheduled for itself is applied;
//  6. the tick is recorded and published.
//
// A tick happens entirely or not at all. The same configuration, seed and commands
// give the same bits on every machine, for any number of workers. Nothing outside
// fields, parameters and events survives a tick: propagators, systems and handlers
// must keep nothing for themselves.
//
// After the user's fields the engine keeps columns of its own: entity.id,
// entity.kind and entity.cell in a world with entities, and always, last,
// world.rest, a hash of all state that is no field and of the tick's inputs with
// their results. So the snapshot hash covers the whole state.
package engine
