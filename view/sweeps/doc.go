// Package sweeps answers a page's questions about a sweep while another process writes its journal: the sweep's
// progress, the rows of its table in any order, its picture, and the recordings it has kept.
//
// A [Sweep] reads each line of the journal once and keeps the numbers of all rows in memory. So neither a page of rows
// nor a picture reads the journal again.
package sweeps
