package report

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Lists returns an object in which each list that JSON does not leave out is there, though it may be empty: readers go
// through it, and null has no elements. It changes what the object points to.
func Lists(v any) any {
	if v == nil {
		return nil
	}
	to := reflect.New(reflect.TypeOf(v)).Elem()
	to.Set(reflect.ValueOf(v))
	fill(to)
	return to.Interface()
}

// fill gives lists that are nil an empty one.
func fill(v reflect.Value) {
	if v.Type().Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(reflect.ValueOf(Lists(v.Interface())))
		}
	case reflect.Slice:
		if plain(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, x := v.Type().Field(i), v.Field(i)
			tag := f.Tag.Get("json")
			switch {
			case !f.IsExported() && !f.Anonymous || tag == "-" || plain(x.Type()):
			case x.Kind() == reflect.Slice && x.IsNil() && x.CanSet() && x.Type().Elem().Kind() != reflect.Uint8 && !strings.Contains(tag, ",omit"):
				x.Set(reflect.MakeSlice(x.Type(), 0, 0))
			default:
				fill(x)
			}
		}
	}
}

// plain reports whether there are no lists in values of a type.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Struct:
		return false
	}
	return true
}
