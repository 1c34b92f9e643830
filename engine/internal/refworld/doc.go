// Package refworld is a second world, written to be obviously right: its tests hold
// the engine to it, hash by hash.
//
// Values lie in maps by coordinate, neighbours are found by stepping from a
// coordinate, a tick works on a copy of the whole state and a failed one throws the
// copy away. There are no ranks but where a column stores them, no spans, no
// generations, no workers. With the engine it shares the vocabulary alone:
// coordinates and descriptions of spaces, definitions of fields, commands and their
// reasons, the random generators and package exact. How cells are ordered and
// joined, how numbers are rounded and bounded, how commands are sorted, applied and
// encoded, what is hashed: all that is said here a second time.
package refworld
