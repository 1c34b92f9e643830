package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// originalVersion is what recordings of the original engine say.
const originalVersion = "0.1.9"

var releasePattern = regexp.MustCompile(`^[0-9A-Za-z.+-]{1,64}$`)

// descriptorError explains a descriptor that this build cannot use.
func (rec *recording) descriptorError(h *replay.Header, err error) error {
	if e, ok := errors.AsType[*scenarios.IncompatibleError](err); ok {
		text := "incompatible header: " + strings.TrimPrefix(e.Error(), "scenarios: ")
		switch v := h.Build.Version; {
		case e.Last != "":
			text += fmt.Sprintf("\n  the last program that has it: go run %s verify %s", e.Last, words.Argument(rec.name))
		case v == replay.ThisBuild().Version: // plain murksim of this version does not have it either
			text += "\n  verify it with the program that recorded it"
		case releasePattern.MatchString(v):
			text += fmt.Sprintf("\n  recorded with version %s; try: go run github.com/murksim/murksim/cmd/murksim@v%s verify %s"+
				"\n  or verify it with the program that recorded it, if that has components of its own", v, v, words.Argument(rec.name))
		}
		return words.NewProblem(text, errors.Join(replay.ErrIncompatible, err))
	}
	foreign := len(h.Descriptor) == 0 || h.Descriptor[0] != '{' || errors.Is(err, scenarios.ErrNoDescriptor)
	if foreign && h.Build.Version == originalVersion {
		text := "recorded by the original engine, which does not say what world it is of; try: " + rec.session.name + " verify --world WORLD.json " + words.Argument(rec.name)
		return words.NewProblem(text, replay.ErrIncompatible)
	}
	if len(h.Descriptor) == 0 {
		return words.NewProblem("incompatible: the header holds no scenario, so the world cannot be rebuilt from this file alone", replay.ErrIncompatible)
	}
	if foreign {
		const text = "recorded by another program, so this one cannot rebuild its world (the header holds no scenario); verify it with that program"
		return words.NewProblem(text, replay.ErrIncompatible)
	}
	text := strings.TrimPrefix(err.Error(), "scenarios: ")
	return words.NewProblem("malformed header: "+text, errors.Join(replay.ErrMalformed, err))
}

// describe names a build, which a recording may claim to be anything.
func describe(b replay.Build) string {
	parts := []string{b.Version, b.Target, b.Toolchain}
	if b.Flags != "" {
		parts = append(parts, b.Flags)
	}
	return words.Printable(strings.TrimSpace(strings.Join(parts, " ")))
}

// inTurn takes steps until one fails, and returns its error.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
