// Package rules holds the language in which a scenario says what becomes of its fields and entities: short formulas over fields, neighbours and draws.
//
// A formula is read by [Parse] into a tree of [Node]s, and written again by [Node.String] in the one spelling that a descriptor holds. An [Error] says
// where in the text a formula is wrong, and what to write instead. docs/spec/rules.md specifies the language.
package rules
