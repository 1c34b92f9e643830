// Package render draws the fields of a world as pictures: for the documents, for exports, and
// for programs that show a world while it runs.
//
// A [Figure] is one picture: a panel for each tick, with a title, a scale and the names of what
// is drawn, or bare. Squares are drawn as they lie, row 0 on top; hexes as cells that every row
// shifts by half a cell; of an fcc12 the slice with one z, each cell two wide, since every
// other point of a slice is none. A line or ring is one row, or a row a tick, the first on top.
// A product of two lines or rings is drawn as a square, the first downward; one of a plane and
// a line or ring as planes side by side.
//
// A [Screen] draws frames as text for a terminal.
//
// The same arguments give the same pixels on every machine. Nothing here reads files or knows
// worlds: a [Frame] holds numbers.
package render
