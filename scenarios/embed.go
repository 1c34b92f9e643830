package scenarios

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

//go:embed starter/starter.yaml
var starter string

// An Info is what a list of scenarios shows.
type Info struct {
	Name, About string
	Source      []byte // the YAML
}

// builtin are the embedded scenarios, the best first.
var builtin = []string{"heat", "waves", "predators", "fire", "crystal", "life"}

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
	b, err := files.ReadFile(name + ".yaml")
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
