// Package sweep runs one scenario many times: with other seeds, and with other values.
//
// A [Design] says which worlds there are; [Design.Plan] lists them as jobs, always in the same order. A
// [Journal] is a file with the result of each job, so that a killed sweep can continue. [Run] carries
// the jobs out on the cores of this machine. [Table] writes the results so far as CSV or Parquet.
//
// Because worlds are deterministic, one machine can check another's results: a share of the jobs is run
// again, and the final hashes and statistics are compared.
package sweep
