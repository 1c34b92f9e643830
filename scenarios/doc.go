// Package scenarios reads worlds from YAML.
//
// A [Scenario] says what a world is made of, what is done to it and what is expected
// of it. [Load] reads one from a file, [Open] one of those that come with the
// program, [FromDescriptor] one from a recording. Its World is an [engine.World] at
// genesis; whoever runs it submits [Scenario.CommandsAt] before every step and may
// let a [Checker] look on.
//
// The form is strict. A misspelt key, a wrong type, a number that does not fit or an
// impossible value is an [*Error] that shows the place and suggests what may have
// been meant. scenario.schema.json tells editors the same.
//
// A document becomes a tree of nodes with positions, from YAML or, for descriptors,
// from JSON. A decoder fills structs from the tree, told by their tags what may
// stand where; the encoder of descriptors and the schema read the same tags. So a
// new key is one line in a struct. Components, the propagators and systems that
// scenarios can name, stand in one table, kinds; a new one is a line there, a struct
// with its parameters and a method that makes it.
//
// Beside the library of engine/propagators there are components made for scenarios
// here: fire.go, crystal.go, pin.go and, as systems, predators.go. They use nothing
// but the public contract of package engine.
package scenarios
