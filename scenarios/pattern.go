package scenarios

import (
	"errors"
	"path"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/rle"
	"github.com/murksim/murksim/scenarios/document"
)

// A pattern is cells of an automaton as Golly keeps them. Loaded, it has its runs in the one spelling, and its size.
type pattern struct {
	At   *Cell  `yaml:"at" doc:"Where the upper left corner lies; default: row 0, column 0."`
	Rows int    `yaml:"rows" min:"1" doc:"Rows of the pattern; default: as its header says, else as many as it needs."`
	Cols int    `yaml:"cols" min:"1" doc:"Columns of the pattern; default likewise."`
	Text string `yaml:"text" doc:"The pattern itself, such as bo$2bo$3o!."`
	File string `yaml:"file" doc:"Path of a .rle or .cells file, from the folder of the scenario."`
}

// A patternFile is a pattern that has been read. Layers that name the same file share it.
type patternFile struct {
	name    string
	pattern *rle.Pattern
}

// loadPattern brings the layer's pattern into its normal form, and holds it against the space and the field.
func (l *layer) loadPattern(d *decoder, n *document.Node) error {
	p := l.RLE
	if (p.File == "") == (p.Text == "") {
		return n.Errorf("a pattern needs one of file and text")
	}
	at, name := n.At("text"), "text"
	read := func() (string, error) { return p.Text, nil }
	if p.File != "" {
		at, name = n.At("file"), p.File
		read = func() (string, error) {
			b, err := readFile(at)
			return string(b), err
		}
	}
	if d.field.Type.Kind == fields.VectorKind || d.field.Domain != "cells" {
		return n.Errorf("a pattern is for a field of cells with one number each, which %q is not", d.field.Name)
	}
	found, err := d.pattern(at, name, p.File, read)
	if err != nil {
		return err
	}
	if p.Rows == 0 {
		p.Rows = found.Rows
	}
	if p.Cols == 0 {
		p.Cols = found.Cols
	}
	switch {
	case p.Rows == 0 || p.Cols == 0:
		return at.Errorf("%s is empty", name)
	case p.Rows < found.Rows || p.Cols < found.Cols:
		return n.Errorf("%s has %d rows and %d columns; more than %d and %d", name, found.Rows, found.Cols, p.Rows, p.Cols)
	}
	if err := d.checkFits(at, p.At, p.Rows, p.Cols); err != nil {
		return err
	}
	if d.sampled += len(found.Runs); d.sampled > commands.MaxPayload {
		return at.Errorf("%s: the initial values that are written out take more than %d bytes in all, which no recording can hold", name, commands.MaxPayload)
	}
	if found.Rule != "" {
		d.s.headers = append(d.s.headers, ruleHeader{at, d.field.Name, found.Rule})
	}
	p.Text, p.File = found.Runs, ""
	return nil
}

// A ruleHeader is the rule that the header of a pattern names. The pattern may run with another one, but often that is a mistake.
type ruleHeader struct {
	at          *document.Node
	field, rule string
}

// check returns a warning if the automaton of the field has another rule.
func (h *ruleHeader) check(s *Scenario) *document.Error {
	t, its := s.ruleTeller(h.field)
	if t == nil {
		return nil
	}
	its, _, _ = strings.Cut(its, ":") // the space is given here
	named, _, _ := strings.Cut(h.rule, ":")
	if named = t.SpellRule(&Builder{s: s}, named); named == its || named == "" || its == "" {
		return nil
	}
	return h.at.Errorf("the pattern is for the rule %s; the automaton of %q has %s", named, h.field, its)
}

// pattern reads a pattern, a file only once, and checks that the field has its states.
func (d *decoder) pattern(at *document.Node, name, file string, read func() (string, error)) (*rle.Pattern, error) {
	if file != "" {
		file = path.Clean(file)
	}
	for i := range d.patterns {
		if p := &d.patterns[i]; p.name == file && d.field.hasStates(p.pattern) {
			return p.pattern, nil
		}
	}
	text, err := read()
	if err != nil {
		return nil, err
	}
	found, err := rle.Parse(text, func(state uint8) string { return d.field.refuses(float64(state)) })
	if e, ok := errors.AsType[*rle.Error](err); ok {
		return nil, at.Errorf("%s:%d:%d: %s", name, e.Line, e.Col, e.Reason).Because(err)
	}
	if why := d.field.refuses(0); why != "" && err == nil {
		return nil, at.Errorf("%s: state 0 %s", name, why)
	}
	if file != "" && err == nil {
		d.patterns = append(d.patterns, patternFile{file, found})
	}
	return found, err
}

// A RuleTeller is the parameters of a component that runs an automaton which other programs know, too.
type RuleTeller interface {
	// PatternRule returns the field with the states, and the rule as Golly writes it; "" if it has no such rule.
	PatternRule(b *Builder) (field FieldRef, rule string)

	// SpellRule returns a rule for the scenario's space as Golly writes it, without the space; "" if there is no such rule.
	SpellRule(b *Builder, rule string) string
}

// PatternRule returns the rule of the automaton of a field as Golly writes it: "" if there is none, or more than one.
func (s *Scenario) PatternRule(field string) (rule string) {
	_, rule = s.ruleTeller(field)
	return rule
}

// ruleTeller returns the automaton of a field, and its rule: nil if there is none, or more than one.
func (s *Scenario) ruleTeller(field string) (one RuleTeller, rule string) {
	for i := range s.Propagators {
		t, ok := s.Propagators[i].params.(RuleTeller)
		if !ok {
			continue
		}
		if of, its := t.PatternRule(&Builder{s: s}); string(of) == field && one != nil {
			return nil, ""
		} else if string(of) == field {
			one, rule = t, its
		}
	}
	return one, rule
}

// hasStates reports whether a field holds all states of a pattern.
func (f *Field) hasStates(p *rle.Pattern) bool {
	for state := range 256 {
		if p.Has(uint8(state)) && f.refuses(float64(state)) != "" {
			return false
		}
	}
	return true
}

// pattern lays a pattern over the cells of its box. On hexes it is laid the other way round, left to right: Golly's lean to the other
// side.
func (g *genesis) pattern(p *pattern) error {
	y, _ := planar(g.lattice)
	row, col := corner(&y, p.At)
	dead := Value{0}
	for i := range p.Rows {
		for j := range p.Cols {
			g.put(y.Cell(0, row+i, col+j), dead)
		}
		if err := g.add(uint64(p.Cols)); err != nil {
			return err
		}
	}
	known := rle.Pattern{Runs: p.Text}
	for r := range known.Cells() {
		live := Value{float64(r.State)}
		for j := r.Col; j < r.Col+r.Count; j++ {
			to := j
			if y.Shift != 0 {
				to = p.Cols - 1 - j
			}
			g.put(y.Cell(0, row+r.Row, col+to), live)
		}
	}
	return nil
}
