package scenarios

import (
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/rules"
)

// Stats are a model's own numbers: formulas about the whole world, which hang on its state alone. The descriptor holds them, in their order.
type Stats []Stat

// A Stat is a number of the whole world, and its name.
type Stat struct {
	Name string
	is   formula
	that *statement
}

// What the statistics of a scenario may be at most.
const (
	maxStats     = 256
	maxStatsCost = rules.MaxActs // steps of all for a cell or an entity
)

func (l *Stats) decode(d *decoder, n *document.Node) error {
	var names []string
	cost := 0
	return pairs(d, n, "names and formulas, such as {infected: count(state == infected)},", func(key, value *document.Node) error {
		if err := checkName(key, "statistic", key.Raw, names); err != nil {
			return err
		}
		if names = append(names, key.Raw); len(names) > maxStats {
			return key.Errorf("at most %d statistics are allowed", maxStats)
		}
		if value.IsNull() {
			return value.Errorf("%s has no formula", key.Raw)
		}
		x := Stat{Name: key.Raw}
		if err := x.is.decode(d, value); err != nil {
			return err
		}
		var err error
		if x.that, err = d.statement(&x.is, rules.CheckStatistic); err != nil {
			return err
		}
		if cost += x.that.Cost(); cost > maxStatsCost {
			return value.Errorf("the statistics up to here take more than %d steps for each cell or entity", maxStatsCost)
		}
		*l = append(*l, x)
		return d.spendOn(&x.is, x.that)
	})
}

func (l Stats) appendJSON(b []byte) []byte {
	var list []namedFormula
	for i := range l {
		list = append(list, namedFormula{name: l[i].Name, formula: l[i].is})
	}
	return appendNamed(b, list)
}

// Names lists the names.
func (l Stats) Names() (names []string) {
	for i := range l {
		names = append(names, l[i].Name)
	}
	return names
}

// A StatsReader computes the statistics of a scenario. It is not for several goroutines at once.
type StatsReader struct {
	s      *Scenario
	list   []*statement
	state  rules.State
	values []StatValue
}

// A StatValue is what a statistic is in a state.
type StatValue struct {
	Value float64 // 1 for true
	Err   error   // why there is no value: the mean of no entities, an entity that does not live, a fault of fixed numbers
}

// NewStatsReader returns a reader; nil if the scenario has no statistics.
func (s *Scenario) NewStatsReader() *StatsReader {
	if len(s.Stats) == 0 {
		return nil
	}
	r := &StatsReader{s: s, values: make([]StatValue, len(s.Stats))}
	for i := range s.Stats {
		of := s.Stats[i].that
		r.list = append(r.list, &statement{Statement: of.Again(), fields: slices.Clip(of.fields)})
	}
	return r
}

// Look returns the statistics of a world of the scenario, in their order. They are valid until the next call, which allocates nothing once there have been some.
func (r *StatsReader) Look(w *engine.World) []StatValue {
	r.list[0].read(r.s, w, &r.state)
	for i, x := range r.list {
		r.values[i].Value, r.values[i].Err = x.Value(&r.state)
	}
	return r.values
}
