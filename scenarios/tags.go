package scenarios

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/murksim/murksim/scenarios/document"
)

// A key is one key of a mapping.
type key struct {
	index []int // of the struct's field
	name  string
	tag   reflect.StructTag

	required  bool
	low, high *big.Int // of a whole number; else nil
}

// hint adds what the tag hint says to an error about the value of a key.
func (k *key) hint(err error) error {
	if e, ok := errors.AsType[*document.Error](err); ok && e.Hint == "" {
		e.Hint = k.tag.Get("hint")
	}
	return err
}

// known keeps what keysOf found, by type.
//
//detcheck:allow goroutine several worlds may be loaded at once
var known sync.Map

// keysOf lists the keys of a struct, those of embedded structs in their place. The
// list must not be changed.
func keysOf(t reflect.Type) []key {
	//detcheck:allow pkgvar a cache of what the types say, the same whenever it is filled
	if keys, ok := known.Load(t); ok {
		return keys.([]key)
	}
	//detcheck:allow pkgvar a cache of what the types say, the same whenever it is filled
	keys, _ := known.LoadOrStore(t, listKeys(t))
	return keys.([]key)
}

func listKeys(t reflect.Type) (keys []key) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, k := range listKeys(f.Type) {
				k.index = append([]int{i}, k.index...)
				keys = append(keys, k)
			}
			continue
		}
		if name, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" {
			k := key{index: []int{i}, name: name, tag: f.Tag, required: options == "required"}
			k.low, k.high, _ = k.span(f.Type)
			keys = append(keys, k)
		}
	}
	return keys
}

// is tells what a FieldRef must refer to.
func (k *key) is() string { return k.tag.Get("is") }

// enum lists the words that a key allows; none if any.
func (k *key) enum() []string {
	if e := k.tag.Get("enum"); e != "" {
		return strings.Split(e, ",")
	}
	return nil
}

// span returns the range of a whole number: what its type holds, within the bounds of the
// key. It is not ok for other types.
func (k *key) span(t reflect.Type) (low, high *big.Int, ok bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int32:
		low, high = big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		low, high = new(big.Int), new(big.Int).SetUint64(math.MaxUint64>>(64-t.Bits()))
	default:
		return nil, nil, false
	}
	if bound, err := strconv.ParseFloat(k.tag.Get("min"), 64); err == nil {
		//detcheck:allow floatint bounds are written in our own tags
		low = big.NewInt(int64(bound))
	}
	if bound, err := strconv.ParseFloat(k.tag.Get("max"), 64); err == nil {
		//detcheck:allow floatint bounds are written in our own tags
		high = big.NewInt(int64(bound))
	}
	return low, high, true
}

func numberOf(v reflect.Value) (float64, bool) {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}
