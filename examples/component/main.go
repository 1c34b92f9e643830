// Command component is murksim with two components of its own, which scenarios name beside those that come with murksim:
//
//	component run moths.yaml
//	component verify moths.murk        # and check, sweep, bisect, synctest, view, export …
package main

import (
	"github.com/murksim/murksim/cli"

	"example.com/component/moths"
)

func main() {
	cli.Main(cli.Program{Name: "component", Components: moths.Components(), Page: "example.com/component/page"})
}
