// Command murksim runs simulations headless, records them, and proves recordings.
package main

import "github.com/murksim/murksim/cli"

func main() { cli.Main(cli.Program{}) }
