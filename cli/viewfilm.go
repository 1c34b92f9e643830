package cli

import (
	"errors"
	"fmt"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/films"
)

// fits refuses flags and further files that are not for a kind of file.
func (j *viewJob) fits(kind session.Format, names []string, given func(string) bool) error {
	film := kind == session.FormatGame || kind == session.FormatYREP
	for _, flag := range []string{"index", "no-index", "state", "max-memory", "set", "seed"} {
		if film && given(flag) {
			return report.Usage("--%s is for recordings and scenarios", flag)
		}
	}
	if kind != session.FormatYREP {
		if err := j.yrep.only(given); err != nil {
			return err
		}
	}
	switch {
	case kind == session.FormatYREP && len(names) > 1:
		return report.Usage("%s view takes one YREP file, not %d", j.Name, len(names))
	case !film && len(names) > 2:
		return report.Usage("%s view takes one recording or scenario, or two, not %d", j.Name, len(names))
	case kind == session.FormatGame:
		for _, name := range names[1:] {
			if j.FormatOfFile(name) != session.FormatGame {
				return fmt.Errorf("%s: it is not a game; after %s come the other parts of that game", document.FileName(name), document.FileName(names[0]))
			}
		}
	}
	return nil
}

// film opens a file of a film.
func (j *viewJob) film(name string) (films.File, error) {
	f, size, err := files.OpenSeekable(name)
	if err != nil {
		return films.File{}, words.About(name, err)
	}
	j.closes = append(j.closes, func() { f.Close() })
	return films.File{Name: name, ReaderAt: f, Size: size}, nil
}

// game opens the parts of a game.
func (j *viewJob) game(names []string) (view.Source, error) {
	var parts []films.File
	for _, name := range names {
		f, err := j.film(name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	g, err := films.OpenGame(parts)
	if e, ok := errors.AsType[*films.Error](err); ok {
		return nil, words.About(names[e.File], e.Err)
	} else if err != nil {
		return nil, err
	}
	return g, nil
}

// match opens a YREP file.
func (j *viewJob) match(name string) (view.Source, error) {
	o, err := j.yrep.options()
	if err != nil {
		return nil, err
	}
	f, err := j.film(name)
	if err != nil {
		return nil, err
	}
	m, err := films.OpenMatch(f, o)
	if err != nil {
		return nil, fmt.Errorf("%w%s", words.About(name, err), j.yrepHint(name, o, err))
	}
	return m, nil
}
