// Package sweep runs one scenario many times: with other seeds, and with other values.
//
// A [Design] says which worlds there are; [Design.Plan] lists them as jobs, always in the same order.
// A [Journal] is a file that holds what came of each job, so that a sweep that was killed goes on where
// it was. [Run] carries the jobs out on the cores of this machine. [Table] writes what there is as CSV
// or Parquet.
//
// Because worlds are deterministic, what one machine computed another can check: a share of the jobs is
// run again, and the final hashes and statistics are compared.
package sweep
