// Package engine runs worlds: deterministic simulations in fixed timesteps.
//
// A world is a set of columns (fields), some numbers (parameters) and some scheduled
// events on a lattice. [New] builds one from a [Config]; [World.Submit] gives it commands;
// [World.Step] computes a tick, and [World.Run] many. The same configuration, seed and
// commands give the same bits on every machine, for any number of workers.
//
// # A tick
//
// A tick happens entirely or not at all. Tick T is computed from the state after tick
// T-1, in this order:
//
//  1. The inputs that were submitted since the last tick are taken and put in order: by
//     priority, source, sequence number of the source, and arrival. What is submitted from
//     now on is for tick T+1.
//  2. Events that are due at T, which earlier ticks scheduled, join them: of the same
//     priority events come first.
//  3. They are applied one after another to the state at the start of the tick, each to
//     what those before it have left. A command that has expired, or that does not fit, is
//     refused with a reason and changes nothing. Custom commands go to the [Handler] of
//     their type.
//  4. The propagators run in the order of the configuration and carry the fields forward.
//  5. The systems run in their order and work on entities.
//  6. What propagators and systems wrote is checked: every number must be finite, every
//     category one of its field's, every entity on a cell, and no cell may hold more
//     entities than [Config].Occupancy, without those that despawn in step 7. Then numbers are clamped to their field's bounds.
//  7. Events that this tick has scheduled for itself are applied in order, to the state
//     that step 6 left. What they schedule in turn is for later ticks.
//  8. The hash of all state outside fields is written to the column world.rest.
//  9. The [Recorder] is handed the tick, which it may still refuse.
//  10. The tick is published: its state is the world's from now on. Then a recorder that is
//     a [Settler] settles the tick, the functions given to [World.Watch] are called, and
//     Step returns the receipts.
//
// # What sees what
//
// Commands and handlers work on one state, which each of them changes for the next. From
// then on a tick has two generations of every field: the one at the start of the tick,
// commands applied, which stays as it is, and the one that is being written.
//
//	Prev        the start of the tick: the same for all propagators and systems
//	Now         what earlier propagators and systems of this tick wrote, else as Prev
//	Next        the output. Declared Full it holds anything and must be written in
//	            full; declared Incremental it begins as Now
//	Was         what an output that is declared Rewrite was before the Step: what
//	            Incremental begins with, without the copy
//	Parameter   the value that this tick's commands left
//	Entities    the population's columns, as Now
//	Slot, AppendAt, AppendIn, AppendNearest, Population
//	            the entities at the start of the tick, commands applied
//
// A field that nothing writes keeps its values. A [Spec] declares what a propagator or
// system reads and writes; New compares all of them, and any other access fails the tick.
//
// [World.WatchParts] shows the state after each part of a tick, to find the one in which two runs
// begin to differ.
//
// No other part of the tick sees an event that a handler or system schedules, except
// [SystemContext.Cancel]. A recorder and a watcher see the state after the tick.
// Random streams are made anew each tick from the seed, the tick, the name of the part that
// draws, and a number.
//
// Only fields, parameters and events survive a tick: propagators, systems and handlers must
// keep no state of their own. There is no exception: what they keep is in no save, no fork
// and no hash. Scratch memory is [Spec].Scratch, or a slice that a part writes before it reads it.
//
// # Checks for tests
//
// With [Config.Paranoid] the world checks its parts. Every Step of a propagator, every Update
// of a system and every Handle of a handler runs twice from the same state: what it has
// written, scheduled, cancelled and drawn, and its scratch memory must have the same bits, or
// the tick fails with a [*RepeatError]. The first run is taken back, so the world has the bits
// that it has without Paranoid; what a part does outside of the world, such as to print, to count
// or to submit commands, happens twice. A memory shows in the first tick in which it makes a
// difference. One that depends on the tick's number alone does not show, nor does one that is
// set once and then stays: package replay/enginetest finds both.
// Outputs are compared with what the [Spec] declares as well. Recorders and watchers
// run once, because they cannot change a state, and initial values are plain numbers.
//
// A part takes twice as long, and hashes and copies take about 50 ns for each element of
// every column and for each part: a light tick takes a hundred times as long. Each command
// to a handler costs two copies of the state.
//
// # When a tick fails
//
// A tick fails if a propagator, system or recorder returns an error, if one of them or a
// handler panics or ends its goroutine, or if a check of step 6 fails. Then
// Step returns a [*TickError], which names the tick and the part at fault, and the world
// is as it was after tick T-1: fields, parameters, entities, events and arrival numbers.
// The inputs are dropped; receipts of those that had been applied say RolledBack. The next
// Step attempts tick T again, with the inputs submitted since. What ends the goroutine of
// Step itself, as t.FailNow does, ends the tick in the same way, but Step cannot return.
//
// After [Config].MaxFailures failures in a row, and at once after an arithmetic fault
// ([ErrArithmetic]), the world halts: until [World.Reset] every Step returns [ErrHalted].
// A watcher cannot fail a tick, which has happened by then; if it panics, so does Step.
//
// # Between ticks
//
// [World.Submit], [World.SubmitAll] and [World.Stop] may be called at any time from any
// goroutine. Everything else belongs to the goroutine that steps the world. While a tick is
// under way, in a recorder, handler, propagator or system, the world cannot be stepped, reset,
// saved, loaded or forked: each of these fails with [ErrUnderWay]. A watcher may save and fork.
//
// A [Snapshot] keeps a state while the world goes on and may be read from any
// goroutine. [World.Save] encodes the state and [Restore] makes a world of it;
// [World.Fork] makes a second world of the same state; [World.ForkInto] reuses one.
//
// # Engine columns
//
// After the user's fields the engine keeps columns of its own: entity.id, entity.kind and
// entity.cell in a world with entities, and always, last, world.rest: a hash of the
// parameters, the waiting events, the tick's random draws, and the tick's inputs with
// their results. So the snapshot hash covers the whole state.
//
// All this holds under the rules [Murksim]. The rules [Murk019] follow the original Murk
// engine where it differs; docs/FOREIGN.md describes how.
package engine
