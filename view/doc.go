// Package view answers what a page asks about recordings: what their worlds held at any tick, what
// happened, and whether a replay finds what was recorded. Of a [Film], a file that only says what happened, it
// answers the same but for the last.
//
// A [Session] takes requests and gives answers as bytes; docs/VIEW.md has both. It knows neither files
// nor networks, so that a server and a page that carries the engine with it give the same answers.
package view
