package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the rules and the components",
		Example: "  murksim version --json",
		Args:    arguments(cobra.NoArgs, "no argument"),
		RunE:    func(*cobra.Command, []string) error { return a.version() },
	}
}

func (a *app) version() error {
	b := replay.ThisBuild()
	var ids []string
	components := a.Registry.Components()
	for i := range components {
		ids = append(ids, components[i].ID())
	}
	one := slices.Compact(slices.Clone(ids)) // a rule of fields and one of entities have one name
	if err := a.Emit(versionObject{"version", session.ViewBuild(b), scenarios.Rules(), one}); err != nil {
		return err
	}
	if err := a.Say("%s %s\nrules %s", a.Name, session.DescribeBuild(b), strings.Join(scenarios.Rules(), ", ")); err != nil {
		return err
	}
	for i := range ids {
		if err := a.Say("  %-20s %s", ids[i], components[i].About); err != nil {
			return err
		}
	}
	return nil
}
