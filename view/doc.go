// Package view answers a page's questions about recordings: what their worlds hold at any tick, what happened,
// and whether a replay reproduces the recording. A [Film] is a file that only says what happened. Package view
// answers the same about it, but cannot verify it.
//
// A [Session] takes requests and returns answers as bytes; docs/VIEW.md specifies both. It knows
// neither files nor networks, so a server and a page that carries the engine give the same answers.
package view
