package scenarios_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestOrder reads what a person orders, and what is wrong with it.
func TestOrder(t *testing.T) {
	s, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	before := string(s.Descriptor())
	list, err := s.Order([]byte(`{"set": {"field": "heat", "cell": [3, 4], "value": 2.5}, "expires_after": 2}`), 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Kind != commands.KindSetField || list[0].Float32() != 2.5 || list[0].Expires != 102 || list[0].Priority != commands.PriorityUser {
		t.Errorf("%+v is not the command", list)
	}
	for text, want := range map[string]string{
		`{`: "the command", `[]`: "mapping", `{}`: "does one of", `{"tick": 3, "param": {"name": "x", "value": 1}}`: `no "tick"`,
		`{"set": {"field": "cold", "cell": [3, 4], "value": 2}}`:                 "cold",
		`{"set": {"field": "heat", "cell": [3, 4000], "value": 2}}`:              "4000",
		`{"priority": 0, "set": {"field": "heat", "cell": [3, 4], "value": 2}}`:  "priority",
		`{"set": {"field": "heat", "cell": [3, 4], "value": 1e999}}`:             "1e999",
		`{"spawn": {"name": "x", "kind": "wolf", "cell": [3, 4]}}`:               "",
		`{"move": {"entity": "nobody", "cell": [3, 4]}}`:                         "nobody",
		`{"set": {"field": "heat", "rect": {"at": [0, 0]}, "value": 2}, "x": 1}`: `"x"`,
	} {
		if list, err := s.Order([]byte(text), 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v and the error %v, want one with %q", text, list, err, want)
		}
	}
	if string(s.Descriptor()) != before {
		t.Error("an order changed the scenario")
	}
}
