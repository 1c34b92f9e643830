// Package document holds what a scenario is read from: a tree of values, each with
// its place in a text.
//
// [ParseJSON] makes such a tree of JSON, package scenarios/yaml of YAML. A scalar
// stays text until its reader knows which type belongs there, and [Node.Errorf]
// makes an [*Error] that shows the place.
package document
