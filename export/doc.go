// Package export writes the states of a world to files of other programs: NumPy arrays, tables,
// pictures and films. docs/EXPORT.md says what each file holds.
//
// A [Plan] says what is taken of each tick and of how many ticks. A [Sink], which [Open] makes
// by the ending of a file's name, is handed these ticks one after another. No sink holds more
// memory the more ticks there are.
package export
