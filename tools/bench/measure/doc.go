// Package bench measures murksim on the machine that it runs on, against rivals that
// run there, too, in the same minute: a loop in C of the same arithmetic for each
// propagator, a copy of the same bytes, the byte-serial hash.
//
// What is timed is [engine.World.Step] with all its checks. The contenders of a row
// take turns, round after round; a round gives a ratio, and the row is judged by the
// median of them. So a machine that is busy or changes its clock disturbs all alike. If
// other programs take too much of it, the row is [Starved] and not judged.
package measure
