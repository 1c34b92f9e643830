package scenarios

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/murksim/murksim/engine"
)

// Locate turns an error of the engine about the scenario's configuration into an
// [*document.Error] that points at the place in the document. Other errors it returns as
// they are.
func (s *Scenario) Locate(err error) error {
	e, ok := errors.AsType[*engine.ConfigError](err)
	if !ok || s.built != nil {
		return err
	}
	switch {
	case e.Part == "space":
		return s.at.At("space").Errorf("%s", plain(e.Err)).Because(err)
	case e.Part == "field" && e.Index >= 0 && e.Index < len(s.Fields):
		return s.Fields[e.Index].at.Errorf("%s", plain(e.Err)).Because(err)
	case e.Part == "propagator" && e.Index >= 0 && e.Index < len(s.Propagators):
		return s.locate(&s.Propagators[e.Index], e)
	case e.Part == "system" && e.Index >= 0 && e.Index < len(s.Systems):
		return s.locate(&s.Systems[e.Index], e)
	}
	return s.at.Errorf("%s", plain(err)).Because(err)
}

// locate points at a component.
func (s *Scenario) locate(x *Instance, err *engine.ConfigError) error {
	unstable, ok := errors.AsType[*engine.UnstableError](err)
	if !ok {
		e := x.errorf(err.Err)
		e.Err = err
		return e
	}
	params, of := x.at.Kids[1], ""
	for _, k := range keysOf(reflect.TypeOf(x.params).Elem()) {
		if name := params.Scalar(k.name); k.is() != "" && name != "" && of == "" {
			of = fmt.Sprintf(" of %q", name)
		}
	}
	rate, limit, lower := "", unstable.MaxDt, ""
	if v := params.Get(x.of.Lower); v != nil {
		if now, bad := v.Float(); bad == nil {
			rate = fmt.Sprintf("for %s %v ", x.of.Lower, now)
			if text, ok := s.stable(x, float64(now*(limit/unstable.Dt)), unstable.Dt); ok {
				lower = fmt.Sprintf(", or lower %s to %s", x.of.Lower, text)
			}
		}
	}
	e := x.at.Errorf("%s%s would be unstable: dt is %v s, the limit %son %s (%d neighbours) is %s s",
		x.Component, of, unstable.Dt, rate, s.lattice.Kind(), unstable.MaxDegree, roundDown(limit))
	if x.of.Bound != "" && params.Get(x.of.Bound) == nil {
		lower += ", or give " + x.of.Bound
	}
	e.Hint = fmt.Sprintf("raise tick_rate to %s or more%s", roundUp(1/limit), lower)
	return e.Because(err)
}

// stable finds a value of the parameter to lower, near one or below, with which the
// time step is short enough.
func (s *Scenario) stable(x *Instance, near, dt float64) (text string, ok bool) {
	const tries = 100
	v := reflect.New(reflect.TypeOf(x.params).Elem())
	v.Elem().Set(reflect.ValueOf(x.params).Elem())
	maker, ok := v.Interface().(PropagatorMaker)
	if !ok {
		return "", false
	}
	const mostSteps = 1 << 30 // the regions are listed for each try
	b := &Builder{s: s, making: &making{all: 1}}
	b.making.step = func(float64) error {
		if b.making.done > mostSteps {
			return errors.New("too many cells")
		}
		return nil
	}
	for _, k := range keysOf(v.Type().Elem()) {
		if k.name != x.of.Lower {
			continue
		}
		for range tries {
			text = roundDown(near)
			lower, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return "", false
			}
			v.Elem().FieldByIndex(k.index).SetFloat(lower)
			p, err := maker.Propagator(b, x.Name)
			if err != nil {
				return "", false
			}
			if limit := p.Spec(s.lattice).MaxDt; limit == 0 || dt <= limit {
				return text, lower > 0
			}
			near = float64(near * 0.97)
		}
	}
	return "", false
}

// roundDown is v to four digits, not above it.
func roundDown(v float64) string {
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if r, err := strconv.ParseFloat(s, 64); err == nil && r > v {
		s = strconv.FormatFloat(v-(r-v)-float64(math.Abs(v)*1e-4), 'g', 4, 64)
	}
	return s
}

// roundUp is v as a whole number, not below it, if it is above 1; else to four digits.
func roundUp(v float64) string {
	if v >= 1 {
		return strconv.FormatFloat(math.Ceil(v*(1-1e-12)), 'f', -1, 64)
	}
	return strconv.FormatFloat(float64(v*1.001), 'g', 4, 64)
}
