package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/report"
)

// movedBench tells users who type bench, which is not a command for them, what measures now.
func movedBench() *cobra.Command {
	return &cobra.Command{
		Use: "bench", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return report.Usage("bench is a tool of those who build murksim: go run github.com/murksim/murksim/tools/bench@latest, or go run ./tools/bench in a checkout")
		},
	}
}

// goneFlag says what replaces a flag that was removed; "" if there never was such a flag.
func goneFlag(c *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	name := unknown.GetSpecifiedName()
	elsewhere := name == "nats" || strings.HasPrefix(name, "nats-") || name == "token-file"
	if name == "source" && c.Name() == "diagnose" {
		return "--source is gone: README.txt in the folder has the commands that check code, such as: go run " + modulePath + "/tools/detcheck ./..."
	}
	if _, command, _ := strings.Cut(c.CommandPath(), " "); elsewhere && (command == "verify" || command == "audit") {
		return "--" + name + " is gone: what another machine says is no proof here; run " + command + " on that machine, as in: ssh HOST " + c.CommandPath() + " --json FILE"
	}
	return ""
}
