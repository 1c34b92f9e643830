// Package sweeps answers what a page asks about a sweep, while another process writes its journal: how far it is, the
// rows of its table in any order, its picture, and the recordings that were kept.
//
// A [Sweep] reads each line of the journal once, and keeps the numbers of all rows in memory, so that neither a page of
// rows nor a picture reads the journal again.
package sweeps
