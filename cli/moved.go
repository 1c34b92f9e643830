package cli

import (
	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
)

// movedBench answers those who type bench, which is no command of users, with what measures now.
func movedBench() *cobra.Command {
	return &cobra.Command{
		Use: "bench", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return report.Usage("bench is a tool of those who build murksim: go run github.com/murksim/murksim/tools/bench@latest, or go run ./tools/bench in a checkout")
		},
	}
}
