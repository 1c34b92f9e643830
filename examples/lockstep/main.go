// Command lockstep is a game for two over TCP, in which every machine computes the same world. The host writes the recording to a file and to
// all players: what travels is the recording itself, so each player checks every tick, one who comes late catches up, and a bug report is a file.
//
//	lockstep host game.murk :4000      # begins a game, or goes on with one after a crash
//	lockstep join :4000 0              # plays as ada, by looking ahead
//	lockstep verify game.murk          # and seek, diff, bisect, view, export, synctest …
package main

import (
	"fmt"
	"os"

	"github.com/murksim/murksim/cli"

	"example.com/lockstep/arena"
)

func main() {
	args := append(os.Args[1:], "", "", "")
	play := map[string]func(string, string) error{"host": host, "join": join}[args[0]]
	if play == nil {
		cli.Main(cli.Program{Name: "lockstep", Build: arena.Build, Page: "example.com/lockstep/page"})
	} else if err := play(args[1], args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "lockstep:", err)
		os.Exit(1)
	}
}
