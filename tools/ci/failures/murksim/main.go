// Command murksim is the program with the feast, so that it can audit the lab's worlds. The
// variable FEAST plants a fault in it, as in 61,order: then it is the auditor that is wrong.
package main

import (
	"os"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

func main() { cli.Main(cli.Program{Components: faults.Components(os.Getenv("FEAST"))}) }
