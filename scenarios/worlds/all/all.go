// Package all lists the components that come with murksim, for programs that read no YAML.
package all

import (
	"slices"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/components"
	"github.com/murksim/murksim/scenarios/worlds/colony"
	"github.com/murksim/murksim/scenarios/worlds/crystal"
	"github.com/murksim/murksim/scenarios/worlds/fire"
	"github.com/murksim/murksim/scenarios/worlds/minewars"
	"github.com/murksim/murksim/scenarios/worlds/predators"
)

// Components lists the components of the library, then those of the worlds.
func Components() []scenarios.Component {
	return slices.Concat(components.All(), fire.Components(), crystal.Components(), predators.Components(), colony.Components(), minewars.Components())
}
