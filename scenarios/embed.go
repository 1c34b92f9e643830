package scenarios

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.yaml propagators/*.yaml
var files embed.FS

//go:embed starter/starter.yaml
var starter string

// An Info is what a list of scenarios shows.
type Info struct {
	Name, About string
	Source      []byte // the YAML
}

// worlds are the embedded scenarios that show what the engine can do, the best first.
var worlds = []string{"heat", "waves", "predators", "colony", "bodies", "fire", "crystal", "life"}

// Worlds is how many of the embedded scenarios are worlds of their own. They come
// first; each of the others shows the propagator that it is named after.
var Worlds = len(worlds)

// builtin are all embedded scenarios: the worlds, then by name those that show one
// propagator each and are named after it.
var builtin = append(worlds, small()...)

func small() []string {
	var names []string
	list, err := files.ReadDir(folder)
	if err != nil {
		panic("scenarios: embedded: " + err.Error())
	}
	for _, f := range list {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}

const folder = "propagators"

// Embedded lists the scenarios that come with the program.
func Embedded() []Info {
	var list []Info
	for _, name := range builtin {
		s, err := Open(name)
		if err != nil {
			panic("scenarios: embedded: " + err.Error()) // a test opens them all
		}
		list = append(list, Info{s.Name, s.About, sourceOf(name)})
	}
	return list
}

func sourceOf(name string) []byte {
	path := name + ".yaml"
	if !slices.Contains(worlds, name) {
		path = folder + "/" + path
	}
	b, err := files.ReadFile(path)
	if err != nil {
		panic("scenarios: embedded: " + err.Error())
	}
	return b
}

// IsEmbedded says whether a scenario of this name comes with the program.
func IsEmbedded(name string) bool { return slices.Contains(builtin, name) }

// Open reads a scenario that comes with the program. Sets are those of [Load].
func Open(name string, sets ...string) (*Scenario, error) {
	if !IsEmbedded(name) {
		return nil, &Error{Msg: fmt.Sprintf("there is no scenario %q%s", name, suggestion(name, builtin))}
	}
	return Parse(name+".yaml", "", sourceOf(name), sets...)
}

// Starter is a scenario with comments to begin from, under a name of its own. It
// reports a name that a scenario cannot have.
func Starter(name string) ([]byte, error) {
	if err := checkName(nil, "scenario", name, nil); err != nil {
		return nil, err
	}
	return []byte(strings.Replace(starter, "name: starter", "name: "+name, 1)), nil
}
