// Package worlds has the scenarios that come with murksim and lists the components
// that they are made of.
//
// A world of components of its own has a package of its own, with its YAML, its code
// and its tests; each is written as one of another module would be. The other
// worlds are YAML alone.
package worlds

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds/all"
	"github.com/murksim/murksim/scenarios/yaml"
)

// paths are the worlds of their own, the best to begin with first.
var paths = []string{
	"heat.yaml", "waves.yaml", "predators/predators.yaml", "colony/colony.yaml",
	"minewars/minewars.yaml", "bodies.yaml", "fire/fire.yaml", "crystal/crystal.yaml", "life.yaml",
	"learning/heat_seeker.yaml", "learning/crystal_nav.yaml", "learning/hex_pursuit.yaml", "learning/layered_hex.yaml", "learning/hunters.yaml",
}

// folder has the scenarios that show one propagator each.
const folder = "propagators"

//go:embed *.yaml learning/*.yaml colony/*.yaml crystal/*.yaml fire/*.yaml minewars/*.yaml predators/*.yaml propagators/*.yaml
var files embed.FS

//go:embed starter/starter.yaml
var starter string

// Components lists the components that come with murksim: those of the library, then
// those of the worlds.
func Components() []scenarios.Component { return all.Components() }

// Registry returns the registry of [Components].
func Registry() *scenarios.Registry {
	r, err := scenarios.NewRegistry(Components()...)
	if err != nil {
		panic("worlds: " + err.Error()) // a test makes it
	}
	return r
}

// An Info describes a scenario in a list.
type Info struct {
	Name, About string
	Shows       string // the propagator that it shows; "" for a world of its own
	Source      []byte // the YAML
}

// Embedded lists the scenarios that come with murksim: the worlds, then by name those
// that show a propagator each and are named after it.
func Embedded() []Info {
	var list []Info
	r := Registry()
	for _, path := range embedded() {
		text := read(path)
		s, err := yaml.Parse(r, path, nil, text)
		if err != nil {
			panic("worlds: " + err.Error()) // a test opens them all
		}
		info := Info{Name: s.Name, About: s.About, Source: text}
		if strings.HasPrefix(path, folder+"/") {
			info.Shows = s.Name
		}
		list = append(list, info)
	}
	return list
}

// An UnknownError reports a name that no scenario of this package has.
type UnknownError struct {
	Name, Near string // Near is the name that may have been meant, if there is one
}

// Error implements error.
func (e *UnknownError) Error() string {
	if e.Near == "" {
		return fmt.Sprintf("there is no scenario %q", e.Name)
	}
	return fmt.Sprintf("there is no scenario %q; did you mean %q?", e.Name, e.Near)
}

// IsEmbedded reports whether a scenario of this name comes with murksim.
func IsEmbedded(name string) bool { return find(name) != "" }

// Open reads a scenario that comes with murksim, by its name; the registry must have
// [Components]. Sets are those of [yaml.Parse].
func Open(r *scenarios.Registry, name string, sets ...string) (*scenarios.Scenario, error) {
	t, err := Template(r, name)
	if err != nil {
		return nil, err
	}
	return t.With(sets...)
}

// Template is Open for several scenarios of one name.
func Template(r *scenarios.Registry, name string) (*yaml.Template, error) {
	path := find(name)
	if path == "" {
		var names []string
		for _, path := range embedded() {
			names = append(names, nameOf(path))
		}
		return nil, &UnknownError{name, document.Nearest(name, names)}
	}
	return yaml.NewTemplate(r, name+" (built in)", nil, read(path))
}

// Starter returns a scenario with comments to begin from, under a name of its own. It
// returns an error for a name that a scenario cannot have.
func Starter(name string) ([]byte, error) {
	if err := scenarios.CheckName(name); err != nil {
		return nil, err
	}
	return []byte(strings.Replace(starter, "name: starter", "name: "+name, 1)), nil
}

// embedded lists the files of all scenarios.
func embedded() []string {
	all := slices.Clone(paths)
	list, err := files.ReadDir(folder)
	if err != nil {
		panic("worlds: " + err.Error())
	}
	for _, f := range list {
		all = append(all, folder+"/"+f.Name())
	}
	return all
}

// find returns the file of a scenario, or "".
func find(name string) string {
	for _, path := range embedded() {
		if nameOf(path) == name {
			return path
		}
	}
	return ""
}

// nameOf returns the name of the scenario in a file.
func nameOf(path string) string {
	return strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ".yaml")
}

func read(path string) []byte {
	b, err := files.ReadFile(path)
	if err != nil {
		panic("worlds: " + err.Error())
	}
	return b
}
