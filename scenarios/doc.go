// Package scenarios is the form in which worlds are described: what they are made
// of, what is done to them, and what is expected of them.
//
// A [Scenario] comes from a document by way of a [Registry], which has the
// components that the document may name: [Registry.Decode] reads the tree of a
// document, [Registry.FromDescriptor] the canonical JSON of a recording. The packages
// below do the rest: scenarios/yaml makes the tree of YAML, scenarios/components has
// the propagators and systems of the engine's library, scenarios/worlds the scenarios
// that come with murksim.
//
// [Scenario.World] makes an [engine.World] at genesis. Package runner runs it: it submits
// [Scenario.CommandsAt] when they are due, and lets a [Checker] look on.
//
// The form is strict. A misspelt key, a wrong type, a number that does not fit or an
// impossible value is a [*document.Error] that shows the place and suggests what may
// have been meant.
//
// # Components of your own
//
// A [Component] is a name, a version and a struct of parameters whose tags say what may
// stand in a scenario. The struct makes an [engine.Propagator] or an [engine.System]
// with the help of a [Builder], and may bring handlers of Custom commands along: see [HandlerMaker]. Those that come with murksim are written in this way,
// too; for one with all there is, see diffusion in scenarios/components/fields.go.
//
// # How it is made
//
// decode.go fills structs from a tree, encode.go writes them as canonical JSON, and
// schema.go describes them for editors; all three read the tags of the structs
// (tags.go). So a new key is one line in a struct. registry.go, component.go and
// builder.go are what components see; build.go makes the world, and locate.go finds
// the place of what the engine says about it.
package scenarios
