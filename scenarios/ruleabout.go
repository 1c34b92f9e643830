package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/rules"
)

// A RuleAbout says what a rule does, for people.
type RuleAbout struct {
	Rule     string         `json:"rule"`     // its name
	Each     string         `json:"each"`     // for what its formulas are computed: "cell" or "entity"
	Reads    []string       `json:"reads"`    // fields: state, "state of neighbours", now(heat)
	Writes   []string       `json:"writes"`   // "state in full", "wind[1] in place"
	Draws    int            `json:"draws"`    // random numbers for each
	Cost     int            `json:"cost"`     // steps for each, see docs/spec/rules.md
	Formulas []FormulaAbout `json:"formulas"` // as the descriptor has them
}

// Most is the most that the rule may cost.
func (a *RuleAbout) Most() int {
	if a.Each == "entity" {
		return rules.MaxActs
	}
	return rules.MaxCost
}

// A FormulaAbout is a formula of a rule and its place: let.NAME, where or set.FIELD; of entities ITEM.when, ITEM.set.TARGET, ….
type FormulaAbout struct {
	Place string `json:"place"`
	Text  string `json:"text"`
}

// Warnings lists what is allowed in the scenario and is likely a mistake, each with its place: what a rule adds, compares or sets though its units are others,
// and a pattern for another rule than the automaton's.
func (s *Scenario) Warnings() (all []*document.Error) {
	for i := range s.headers {
		if w := s.headers[i].check(s); w != nil {
			all = append(all, w)
		}
	}
	for i := range s.Propagators {
		r, ok := s.Propagators[i].params.(*Rule)
		if !ok {
			continue
		}
		for _, w := range r.rule.Warnings(r.scope, r.list) {
			if e, ok := located(r.formulaAt(w, nil), w).(*document.Error); ok {
				all = append(all, e)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *document.Error) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return all
}

// RulesAbout says what each rule of the scenario does, in the order in which they run.
func (s *Scenario) RulesAbout() (all []RuleAbout) {
	for i := range s.Propagators {
		r, ok := s.Propagators[i].params.(*Rule)
		if !ok {
			continue
		}
		a := RuleAbout{Rule: s.Propagators[i].Name, Each: "cell", Draws: r.rule.Draws(), Cost: r.rule.Cost, Reads: []string{}}
		for _, u := range r.rule.Uses() {
			text := r.scope.Fields[u.Field].Name
			if u.Now {
				text = "now(" + text + ")"
			}
			if u.Near {
				text += " of neighbours"
			}
			a.Reads = append(a.Reads, text)
		}
		for k, t := range r.list {
			how := "in full"
			if r.rule.InPlace(t) {
				how = "in place"
			}
			a.Writes = append(a.Writes, fmt.Sprintf("%s %s", r.Set[k].name, how))
		}
		add := func(place string, f *formula) { a.Formulas = append(a.Formulas, FormulaAbout{place, f.node.String()}) }
		for k := range r.Let {
			add("let."+r.Let[k].name, &r.Let[k].formula)
		}
		if r.Where.text != "" {
			add("where", &r.Where)
		}
		for k := range r.Set {
			add("set."+r.Set[k].name, &r.Set[k].formula)
		}
		all = append(all, a)
	}
	for i := range s.Systems {
		if r, ok := s.Systems[i].params.(*EntityRule); ok {
			all = append(all, r.about(s.Systems[i].Name))
		}
	}
	return all
}

// about says what a rule of entities does.
func (r *EntityRule) about(name string) RuleAbout {
	reads, writes := r.rule.Touches(r.scope)
	a := RuleAbout{Rule: name, Each: "entity", Reads: append([]string{}, reads...), Writes: writes, Draws: r.rule.Draws(r.scope), Cost: r.rule.Cost}
	for _, f := range r.formulas() {
		a.Formulas = append(a.Formulas, FormulaAbout{f.place, f.node.String()})
	}
	return a
}
