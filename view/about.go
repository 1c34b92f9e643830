package view

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// An About describes what a page can look at.
type About struct {
	Sources     int                `json:"sources"` // that the session started with
	File        string             `json:"file"`
	Scenario    string             `json:"scenario"`
	Text        string             `json:"about,omitempty"`
	Seed        string             `json:"seed,omitempty"` // decimal: a page's numbers have 53 bits
	TickRate    float64            `json:"tick_rate"`
	First       uint64             `json:"first"`           // the tick before the first frame
	Begin       string             `json:"begin,omitempty"` // the SHA-256 of the state of that tick at which the recording begins; none: genesis
	Last        uint64             `json:"last"`
	Planned     uint64             `json:"planned"`
	Live        bool               `json:"live,omitempty"`     // the run is still going
	Again       string             `json:"again,omitempty"`    // the gallery's name for starting another run of it
	Settings    []SettingAbout     `json:"settings,omitempty"` // that such a run can change
	Set         map[string]float64 `json:"set,omitempty"`      // the settings this run was started with
	Problem     string             `json:"problem,omitempty"`  // why there is no frame after the last
	Build       string             `json:"build,omitempty"`    // the build that recorded it
	Space       SpaceAbout         `json:"space"`
	Fields      []FieldAbout       `json:"fields"`
	Capacity    int                `json:"capacity,omitempty"` // for entities
	Kinds       []string           `json:"kinds,omitempty"`
	Stats       []string           `json:"stats,omitempty"` // the scenario's own statistics
	Parameters  []ParameterAbout   `json:"parameters,omitempty"`
	Propagators []string           `json:"propagators,omitempty"`
	Systems     []string           `json:"systems,omitempty"`

	// Unverifiable says why nothing can be verified; it is empty if a replay checks each tick.
	Unverifiable string `json:"unverifiable,omitempty"`

	Palettes map[string]string `json:"palettes"`
}

// A SpaceAbout says where the cells are. If a lattice has a Layout, its cells lie in slices, rows and
// columns. A product shows its last part that way, once for each cell of the parts before it.
type SpaceAbout struct {
	Kind   string      `json:"kind"` // as in a scenario
	Text   string      `json:"text"`
	Cells  int         `json:"cells"`
	Axes   []AxisAbout `json:"axes"`
	Panels int         `json:"panels"` // 1 unless it is a product
	Slices int         `json:"slices"` // of a panel
	Rows   int         `json:"rows"`
	Cols   int         `json:"cols"`
	Shift  int         `json:"shift"`            // half cells from a row to the right of the one above it
	Wide   int         `json:"wide"`             // columns per cell
	Hollow bool        `json:"hollow,omitempty"` // cells without a value (NaN) are not part of the world
}

// An AxisAbout is a component of a coordinate.
type AxisAbout struct {
	Name   string `json:"name"`
	Extent int    `json:"extent"`
	Edge   string `json:"edge"`
}

// A FieldAbout describes a column.
type FieldAbout struct {
	Name       string   `json:"name"`
	Components int      `json:"components"`       // more than 1: a vector
	Parts      []string `json:"parts,omitempty"`  // names of the components
	Values     []string `json:"values,omitempty"` // names of the categories, if it is categorical
	Entities   bool     `json:"entities,omitempty"`
	Static     bool     `json:"static,omitempty"`
	Unit       string   `json:"unit,omitempty"`
	Min        *float64 `json:"min,omitempty"` // its bounds
	Max        *float64 `json:"max,omitempty"`

	Rules []RuleText `json:"rules,omitempty"` // those that set it
}

// A RuleText is what a rule of the scenario says about a field.
type RuleText struct {
	Name  string      `json:"name"`
	Lines [][2]string `json:"lines"` // each let, where, and what the rule sets of the field: its name, and its formula
}

// A ParameterAbout is a named number with its initial value.
type ParameterAbout struct {
	Name  string  `json:"name"`
	Key   uint32  `json:"key"`
	Value float64 `json:"value"`
}

// About describes the recording.
func (r *Recording) About() *About {
	s := r.scenario
	b := &r.head.Build
	a := &About{
		File: r.Name, Scenario: s.Name, Text: s.About, Seed: fmt.Sprint(s.Seed), TickRate: s.TickRate,
		First: r.first, Last: r.end(), Planned: cmp.Or(s.PlannedTicks(), r.end()), Live: r.Live != nil && !r.Live.grows, Build: strings.TrimSpace(b.Version + " " + b.Toolchain + " " + b.Target),
		Space: SpaceOf(s.Lattice()), Palettes: palettes(),
	}
	if begin, err := r.head.Begin(); err == nil && begin != nil {
		a.Begin = hex.EncodeToString(begin.SHA256[:])
	}
	if r.problem != nil {
		a.Problem = strings.TrimPrefix(r.problem.Error(), "replay: ")
	}
	texts := ruleTexts(s)
	for i := range s.Fields {
		f, d := &s.Fields[i], s.Fields[i].Def()
		about := FieldAbout{
			Name: f.Name, Components: d.Type.Components(), Values: f.Values, Entities: d.Domain == fields.Entities,
			Static: d.Mutability == fields.Static, Unit: d.Unit,
		}
		about.Parts, _ = s.Label(f.Name)
		if d.Bounds != nil {
			about.Min, about.Max = &d.Bounds.Min, &d.Bounds.Max
		}
		about.Rules = texts[f.Name]
		a.Fields = append(a.Fields, about)
	}
	if s.Entities != nil {
		a.Capacity, a.Kinds = s.Entities.Capacity, s.Entities.Kinds
	}
	a.Stats = s.Stats.Names()
	a.Parameters = aboutParameters(s)
	if a.Again, a.Set = r.again, r.set; r.again != "" {
		a.Settings = aboutSettings(s)
	}
	a.Propagators, a.Systems = names(s.Propagators), names(s.Systems)
	return a
}

// ruleTexts says what the rules of a scenario say about each field that they set.
func ruleTexts(s *scenarios.Scenario) map[string][]RuleText {
	texts := map[string][]RuleText{}
	for _, about := range s.RulesAbout() {
		var common [][2]string
		set := map[string][][2]string{}
		var order []string
		for _, f := range about.Formulas {
			kind, name, _ := strings.Cut(f.Place, ".")
			line := [2]string{cmp.Or(name, kind), f.Text}
			if kind != "set" {
				common = append(common, line)
				continue
			}
			field, _, _ := strings.Cut(name, "[")
			if set[field] == nil {
				order = append(order, field)
			}
			set[field] = append(set[field], line)
		}
		for _, field := range order {
			texts[field] = append(texts[field], RuleText{about.Rule, append(slices.Clone(common), set[field]...)})
		}
	}
	return texts
}

func names(list []scenarios.Instance) (names []string) {
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

func aboutParameters(s *scenarios.Scenario) (list []ParameterAbout) {
	for _, p := range s.AllParameters() {
		list = append(list, ParameterAbout{p.Name, p.Key, p.Value})
	}
	return list
}

// SpaceOf describes a lattice.
func SpaceOf(l *space.Lattice) SpaceAbout {
	a := SpaceAbout{Kind: l.Kind(), Cells: l.Cells(), Panels: 1}
	var sizes []string
	for _, x := range l.Axes() {
		a.Axes = append(a.Axes, AxisAbout{x.Name, x.Extent, x.Edge.String()})
		sizes = append(sizes, fmt.Sprint(x.Extent))
	}
	a.Text = a.Kind + " " + strings.Join(sizes, "×")
	inner := l
	for parts := inner.Parts(); parts[0] != inner; parts = inner.Parts() {
		for _, p := range parts[:len(parts)-1] {
			a.Panels *= p.Cells()
		}
		inner = parts[len(parts)-1]
	}
	if y, ok := inner.Layout(); ok {
		a.Slices, a.Rows, a.Cols, a.Shift, a.Wide = y.Slices, y.Rows, y.Cols, y.Shift, y.Wide
	}
	return a
}
