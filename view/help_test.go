package view_test

import (
	"fmt"
	"strconv"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

const categorical = fields.CategoricalKind

func fieldID(i int) fields.ID { return fields.ID(i) }

// number writes a number as fmt does.
func number(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return fmt.Sprint(v)
}

// fieldsOf returns how many columns belong to a scenario's fields; the entities' columns follow.
func fieldsOf(defs []fields.Def) int {
	for i := range defs {
		if id, _, _ := engine.EntityColumns(i); int(id) == i && defs[i].Element == fields.Uint64 {
			return i
		}
	}
	return len(defs)
}
