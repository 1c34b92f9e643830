package scenarios

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/document"
)

// ruleSets are the rule sets that there are, each with the version of its results.
var ruleSets = []string{
	fmt.Sprintf("%s@%d", engine.Murksim, engine.RulesVersion),
	fmt.Sprintf("%s@%d", engine.Murk019, 1), // what it follows does not change
}

// Descriptor returns the scenario as a recording holds it: canonical JSON, everything
// in it that the world, its commands and its expectations depend on. See replay/DESCRIPTOR.md.
func (s *Scenario) Descriptor() []byte {
	if s.built != nil {
		return s.built.descriptor
	}
	return s.appendDescriptor(nil)
}

func (s *Scenario) appendDescriptor(b []byte) []byte {
	rest := *s
	rest.Rules = engine.Murksim.String() // left out: the head has it
	rest.Probes = nil                    // left out: they say what is written down, not what happens
	b = document.AppendText(append(b, `{"rules":`...), rulesID(s.Rules))
	b = appendMembers(b, reflect.ValueOf(&rest).Elem())
	return append(b, '}')
}

// FromDescriptor is the inverse of [Scenario.Descriptor]. It takes exactly what
// Descriptor gives: other spellings of the same scenario are ErrNotCanonical. What
// this build lacks is an [*IncompatibleError]. The descriptor of a recording that begins at a
// saved state has one key more, which Header.World of package replay leaves out. It allocates no more than a small
// multiple of the descriptor's length.
func (r *Registry) FromDescriptor(descriptor []byte) (*Scenario, error) {
	if len(descriptor) > commands.MaxPayload {
		return nil, &document.Error{File: descriptorName, Msg: fmt.Sprintf("has %d bytes; at most %d are allowed", len(descriptor), commands.MaxPayload)}
	}
	root, err := document.ParseJSON(descriptorName, descriptor)
	if err != nil {
		return nil, err
	}
	if root.Kind != document.Mapping || len(root.Kids) == 0 || root.Kids[0].Raw != "rules" {
		return nil, root.Errorf("is no descriptor of a scenario: it begins with {\"rules\":").Because(ErrNoDescriptor)
	}
	head := root.Kids[1]
	if head.Kind != document.Scalar || !slices.Contains(ruleSets, head.Raw) {
		return nil, incompatibleRules(head)
	}
	if form := root.Get("murksim"); form != nil && form.Kind == document.Scalar && form.Raw != strconv.Itoa(formVersion) && form.IsNumber() {
		return nil, &IncompatibleError{Component: "scenario form " + document.Shorten(form.Raw), Have: []string{fmt.Sprintf("form %d", formVersion)}}
	}
	if begin := root.Get("begin"); begin != nil {
		return nil, begin.Errorf(noBegin)
	}
	root.Kids = root.Kids[2:]
	s := &Scenario{}
	d := decoder{registry: r, s: s, descriptor: true}
	if err := d.decode(root, reflect.ValueOf(s).Elem()); err != nil {
		return nil, err
	}
	s.Rules, _, _ = strings.Cut(head.Raw, "@")
	if again := s.appendDescriptor(make([]byte, 0, len(descriptor))); !bytes.Equal(again, descriptor) {
		return nil, fmt.Errorf("%w: byte %d is the first that differs", ErrNotCanonical, firstDifference(again, descriptor))
	}
	return s, nil
}

// Rules lists the rule sets that there are, each with the version of its results.
func Rules() []string { return slices.Clone(ruleSets) }

// rulesID returns a rule set with its version.
func rulesID(name string) string {
	for _, id := range ruleSets {
		if base, _, _ := strings.Cut(id, "@"); base == name {
			return id
		}
	}
	return name
}

const descriptorName = "descriptor"

func incompatibleRules(n *document.Node) error {
	name, version, _ := strings.Cut(n.Raw, "@")
	if _, err := strconv.ParseUint(version, 10, 32); n.Kind != document.Scalar || err != nil || name == "" || len(n.Raw) > 64 {
		return n.Errorf("%s names no rules; they look like %q", n.What(), ruleSets[0])
	}
	return &IncompatibleError{Component: "rules " + document.Shorten(n.Raw), Have: ruleSets}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
