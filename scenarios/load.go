package scenarios

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Load reads a scenario from a file. Each of sets is "path=value": it replaces a
// value of a scenario that is right by itself, as in "space.rows=64" or
// "propagators.diffusion.rate=0.4".
func Load(path string, sets ...string) (*Scenario, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, filepath.Dir(path), b, sets...)
}

// readFile reads a file that is not too large.
func readFile(path string) ([]byte, error) {
	//detcheck:allow environment a scenario is an input, read before its world is built
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err == nil && len(b) > maxSource {
		return nil, &Error{File: path, Msg: fmt.Sprintf("has more than %d bytes", maxSource)}
	}
	return b, err
}

// Parse reads a scenario from YAML. Name stands in errors; files that the scenario
// names are looked for in dir. Sets are those of [Load]; what they replace must have
// been right, too.
func Parse(name, dir string, yaml []byte, sets ...string) (*Scenario, error) {
	src := &source{name: name, text: string(yaml), dir: dir}
	own, err := read(src, nil)
	if err != nil {
		return nil, err
	}
	s := own
	if len(sets) > 0 {
		if s, err = read(src, sets); err != nil {
			return nil, blame(err, src, sets)
		}
		s.keepHashes(src, own.Ticks)
	}
	if err := s.checkReached(src); err != nil {
		return nil, blame(err, src, sets)
	}
	return s, nil
}

// read makes a scenario of a source after some sets.
func read(src *source, sets []string) (*Scenario, error) {
	root, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		if err := applySet(root, set); err != nil {
			return nil, err
		}
	}
	if form := root.get("murksim"); form != nil && form.isNumber() && form.raw != strconv.Itoa(Form) {
		return nil, form.errorf("the scenario is of form %s; this murksim knows form %d", shorten(form.raw), Form)
	}
	s := &Scenario{}
	d := decoder{s: s}
	return s, d.decode(root, reflect.ValueOf(s).Elem())
}

// blame names the sets without which a document that is right by itself would have
// stayed so: those that each cause the error, or all.
func blame(err error, src *source, sets []string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.File == setName || len(sets) == 0 {
		return err
	}
	var causes, all []string
	for i, set := range sets {
		all = append(all, setName+" "+shorten(set))
		s, err := read(src, slices.Concat(sets[:i], sets[i+1:]))
		if err == nil && s.checkReached(src) == nil {
			causes = append(causes, all[i])
		}
	}
	if causes == nil {
		causes = all
	}
	e.Msg += fmt.Sprintf(" (with %s)", strings.Join(causes, " "))
	return e
}

// keepHashes keeps the hashes that the document expects at its end where they
// belong when the number of ticks has been replaced.
func (s *Scenario) keepHashes(src *source, ticks uint64) {
	for i := range s.Expect {
		if e := &s.Expect[i]; e.Hash != "" && e.Tick == 0 && e.at.src == src && s.Ticks != ticks {
			e.Tick = ticks
		}
	}
}

// checkReached refuses what can never happen: commands and expectations of ticks
// that the scenario never comes to, unless its number of ticks has been replaced,
// and commands that end before they begin.
func (s *Scenario) checkReached(src *source) error {
	ticks := s.at.get("ticks")
	replaced := ticks != nil && ticks.src != src
	never := func(tick uint64) bool { return tick > s.Ticks && !replaced }
	for i := range s.Commands {
		c := &s.Commands[i]
		first, key := c.first()
		switch at := c.at.at(key); {
		case c.Until != 0 && first > c.Until:
			return at.errorf("the command is never done: its first tick is %d, the last %d", first, c.Until)
		case never(first):
			return at.errorf("tick %d is never reached: the scenario has %d ticks", first, s.Ticks)
		}
	}
	for i := range s.Expect {
		if e := &s.Expect[i]; never(e.Tick) {
			return e.at.at("tick").errorf("tick %d is never reached: the scenario has %d ticks", e.Tick, s.Ticks)
		}
	}
	return nil
}
