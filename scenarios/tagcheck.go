package scenarios

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
)

var keyPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// checkTags checks that a struct of parameters can be read, written and described:
// its types and its tags. Within are the structs that it is part of.
func checkTags(t reflect.Type, within []reflect.Type) error {
	if slices.Contains(within, t) {
		return fmt.Errorf("%v is part of itself", t)
	}
	within = append(within, t)
	for i := range t.NumField() {
		f := t.Field(i)
		_, tagged := f.Tag.Lookup("yaml")
		var err error
		switch {
		case f.Anonymous && tagged:
			err = errors.New("an embedded struct has no tag yaml: its keys stand for themselves")
		case f.Anonymous && (f.Type.Kind() != reflect.Struct || special[f.Type] != nil):
			err = errors.New("only structs of keys can be embedded")
		case f.Anonymous:
			err = checkTags(f.Type, within)
		case tagged && !f.IsExported():
			err = errors.New("has a tag yaml, but is not exported")
		case tagged:
			err = checkTag(&f, within)
		}
		if err != nil {
			return fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
	}
	var names []string
	for _, k := range listKeys(t) {
		if slices.Contains(names, k.name) {
			return fmt.Errorf("%v has the key %q twice", t, k.name)
		}
		names = append(names, k.name)
	}
	return nil
}

// checkTag checks a field of a struct that is a key.
func checkTag(f *reflect.StructField, within []reflect.Type) error {
	name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	k := key{name: name, tag: f.Tag, required: options == "required"}
	switch {
	case !keyPattern.MatchString(name):
		return fmt.Errorf("%q is not a key: use up to 64 lower-case letters, digits and _, a letter first", name)
	case options != "" && !k.required:
		return fmt.Errorf("the option %q is unknown; required is known", options)
	case k.enum() != nil && f.Type.Kind() != reflect.String:
		return errors.New("only a string has a tag enum")
	case k.is() != "" && f.Type != reflect.TypeFor[FieldRef]():
		return errors.New("only a FieldRef has a tag is")
	case k.is() != "" && !isSort(k.is()):
		return fmt.Errorf("the tag is says %q, which no field is", k.is())
	}
	if err := checkType(f.Type, within); err != nil {
		return err
	}
	if err := k.checkBounds(f.Type); err != nil {
		return err
	}
	return k.checkDefault(f.Type)
}

// checkType checks that values of a type can be read and written.
func checkType(t reflect.Type, within []reflect.Type) error {
	if _, ok := special[t]; ok {
		return nil
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int32, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Float64:
		return nil
	case reflect.Pointer, reflect.Slice:
		return checkType(t.Elem(), within)
	case reflect.Struct:
		return checkTags(t, within)
	}
	return fmt.Errorf("a %v cannot be a key", t)
}

// checkBounds checks the tags min, max and above.
func (k *key) checkBounds(t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, number := numberOf(reflect.Zero(t))
	_, _, whole := k.span(t)
	for _, tag := range [...]string{"min", "max", "above"} {
		text, ok := k.tag.Lookup(tag)
		if !ok {
			continue
		}
		bound, err := strconv.ParseFloat(text, 64)
		switch {
		case !number:
			return fmt.Errorf("has a tag %s, but is not a number", tag)
		case err != nil || math.IsNaN(bound) || math.IsInf(bound, 0):
			return fmt.Errorf("%s is %q, which is not a number", tag, text)
		case whole && (bound != math.Trunc(bound) || math.Abs(bound) > 1<<53):
			return fmt.Errorf("%s is %q, which is not a whole number", tag, text)
		}
	}
	return nil
}

// checkDefault checks the tag default: the scenario that has this value is written
// without the key, so that there is one way to write it.
func (k *key) checkDefault(t reflect.Type) error {
	text, ok := k.tag.Lookup("default")
	if !ok {
		return nil
	}
	if _, ok := special[t]; ok || k.required || t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Struct {
		return fmt.Errorf("has the default %q, but is required or of a type without one", text)
	}
	v := reflect.New(t).Elem()
	n := &document.Node{Raw: text, Source: &document.Source{Name: "default"}}
	var d decoder
	if err := d.decodeScalar(n, v); err != nil {
		return err
	}
	if err := d.checkKey(n, k, v); err != nil {
		return err
	}
	if low, high, ok := k.span(t); ok {
		if _, err := n.Integer(low, high); err != nil {
			return err
		}
	}
	if !k.isDefault(v) {
		return fmt.Errorf("the default %q is not written as its value is, %v", text, v)
	}
	return nil
}
