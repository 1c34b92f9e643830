// Package export writes the states of a world to files of other programs: arrays, tables,
// messages, charts, pictures and films. docs/EXPORT.md says what each file holds.
//
// A [Plan] says what is taken of each tick. [FormatOf] finds the format by the ending of a
// file's name, and [Format.Open] makes a [Sink], which is handed the ticks one after another.
// No sink holds more memory the more ticks there are, but for a picture of them all.
package export
