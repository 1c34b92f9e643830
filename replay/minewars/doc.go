// Package minewars reads and writes the streams of MineWars, a game of mines on a map of
// hexagons or squares: what the spectator and each player learn of a game, tick by tick, in
// one replay file, or one view of it for the network. FORMAT.md specifies every byte.
//
// A [Reader] reads files and network streams frame by frame. A [Writer] writes files of [Update]s; for
// network streams, [AppendStart] begins one, and then an [Encoder] appends the frames of all views, or
// [AppendView] those of one. A [Board] is what a view knows after some messages. [Convert] makes JSON lines of a
// file or stream, and back. Package serve/live says how a world tells of itself in updates.
//
// Input is untrusted: malformed bytes are an [*Error] that says what is wrong and where, and a reader
// never holds more than a file of 132,676 bytes, or one frame of a network stream.
package minewars
