// Command murksim-cluster is murksim with a server of NATS in it, for sweeps on many machines.
package main

import (
	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/sweep/cluster/server"
)

func main() { cli.Main(cli.Program{Name: "murksim-cluster", Server: server.Start}) }
