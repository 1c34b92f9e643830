package scenarios

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
)

// parameters are named numbers, in the order of the document.
type parameters []Parameter

// A Parameter is a named number and the key by which commands know it.
type Parameter struct {
	Name  string
	Key   uint32
	Value float64
}

func (p parameters) names() (names []string) {
	for _, v := range p {
		names = append(names, v.Name)
	}
	return names
}

// decode reads "name: value", whose key is its position, or "name: {key: 7, value: 1}".
func (p *parameters) decode(d *decoder, n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s stands where parameters, such as {wind: 0.3}, belong", n.What())
	}
	for i := 0; i < len(n.Kids); i += 2 {
		name, value := n.Kids[i], n.Kids[i+1]
		if err := checkName(name, "parameter", name.Raw, nil); err != nil && !(d.named && strings.Contains(name.Raw, ".")) { // a command may name one of a rule; no key stands twice
			return err
		}
		v, err := d.parameter(name, value, uint32(i/2))
		if err != nil {
			return err
		}
		for _, other := range *p {
			if other.Key == v.Key {
				return value.Errorf("parameters %q and %q have the same key %d", other.Name, name.Raw, v.Key)
			}
		}
		*p = append(*p, v)
	}
	return nil
}

// parameter reads "name: value", with a key for it, or "name: {key: 7, value: 1}".
func (d *decoder) parameter(name, value *document.Node, key uint32) (Parameter, error) {
	v := struct {
		Key   uint32  `yaml:"key,required"`
		Value float64 `yaml:"value,required"`
	}{Key: key}
	var err error
	if value.Kind == document.Mapping {
		err = d.decodeStruct(value, reflect.ValueOf(&v).Elem())
	} else {
		v.Value, err = value.Float()
	}
	return Parameter{name.Raw, v.Key, v.Value}, err
}

func (p parameters) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for _, v := range p {
		b = appendKey(b, v.Name)
		b = fmt.Appendf(b, `{"key":%d,"value":`, v.Key)
		b = append(document.AppendFloat(b, v.Value), '}')
	}
	return append(b, '}')
}
