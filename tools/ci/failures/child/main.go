// Command child is the other process of a row, where it is another build: it needs less to be built than the lab.
package main

import (
	"fmt"
	"os"

	"github.com/murksim/murksim/tools/ci/failures/colony"
)

func main() {
	if err := colony.Obey(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
}
