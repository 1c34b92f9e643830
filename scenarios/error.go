package scenarios

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoDescriptor reports a document that does not begin as the descriptor of a
// scenario does: another program's, most likely.
var ErrNoDescriptor = errors.New("not the descriptor of a scenario")

// ErrNotCanonical reports a descriptor that is not written in the one way that
// DESCRIPTOR.md allows.
var ErrNotCanonical = errors.New("scenarios: the descriptor is not in canonical form")

// An IncompatibleError reports a descriptor that needs what this build lacks.
type IncompatibleError struct {
	Component string   // as the descriptor names it, such as "diffusion@2"
	Have      []string // what this build has instead; may be empty
	Last      string   // the last program that has it, PACKAGE@VERSION; may be empty
}

// Error implements error.
func (e *IncompatibleError) Error() string {
	if len(e.Have) == 0 {
		return fmt.Sprintf("scenarios: the recording needs %s, which this build does not have", e.Component)
	}
	return fmt.Sprintf("scenarios: the recording needs %s; this build has %s", e.Component, strings.Join(e.Have, ", "))
}

// plain returns the text of another package's error without that package's name.
func plain(err error) string {
	text := err.Error()
	for _, prefix := range [...]string{"space: ", "fields: ", "engine: ", "propagators: ", "png: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
