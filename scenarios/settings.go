package scenarios

import (
	"fmt"
	"reflect"
	"strconv"
)

// A Setting is a number of a scenario that people may want to change: one of its parameters, or what a propagator
// or a system was given.
type Setting struct {
	Path     string // as --set takes it, such as "propagators.0.diffusion.rate"
	Name     string // for people: "diffusion rate"
	Value    float64
	Whole    bool
	Min, Max *float64 // if there are such bounds
}

// Settings lists the numbers of a scenario. What counts things by the billion is none.
func (s *Scenario) Settings() (list []Setting) {
	for i := range s.Parameters {
		p := &s.Parameters[i]
		list = append(list, Setting{Path: "parameters." + p.Name, Name: p.Name, Value: p.Value})
	}
	for _, part := range []struct {
		key  string
		list []Instance
	}{{"propagators", s.Propagators}, {"systems", s.Systems}} {
		for i := range part.list {
			x := &part.list[i]
			list = append(list, x.settings(fmt.Sprintf("%s.%d.%s.", part.key, i, x.Component))...)
		}
	}
	return list
}

func (x *Instance) settings(path string) (list []Setting) {
	v := reflect.ValueOf(x.params)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for _, p := range x.parameters() {
		list = append(list, Setting{Path: path + "parameters." + p.Name, Name: x.Name + " " + p.Name, Value: p.Value})
	}
	for _, k := range keysOf(v.Type()) {
		number, ok := numberOf(v.FieldByIndex(k.index))
		if !ok || number > 1e9 || number < -1e9 {
			continue
		}
		s := Setting{Path: path + k.name, Name: x.Name + " " + k.name, Value: number, Whole: v.FieldByIndex(k.index).Kind() != reflect.Float64}
		s.Min, s.Max = bound(&k, "min"), bound(&k, "max")
		list = append(list, s)
	}
	return list
}

// bound returns a bound that a key's tag sets; nil: none.
func bound(k *key, tag string) *float64 {
	v, err := strconv.ParseFloat(k.tag.Get(tag), 64)
	if err != nil {
		return nil
	}
	return &v
}
