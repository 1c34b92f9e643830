package scenarios_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// A first population for which occupancy has no room is refused before the first tick, with its
// place; a recording of it can be replayed.
func TestOvercrowdedPopulationIsRefused(t *testing.T) {
	const head = "murksim: 1\nname: a\nticks: 2\nspace: {kind: square4, rows: 3, cols: 4}\nfields: [{name: a}]\n" +
		"entities:\n  capacity: 99\n  occupancy: %d\n  kinds: [x]\n  spawn:\n"
	const row = "    - {kind: x, rect: {from: [1, 0], to: [1, 3]}}\n"
	for _, tt := range []struct {
		occupancy   int
		spawn, want string // want: "" is room enough
	}{
		{1, row, ""},
		{1, row + row, "a.yaml:12:7: with this population 2 entities stand on cell [1, 0]; occupancy is 1\n"},
		{2, row + row, ""},
		{1, "    - {kind: x, name: one, cells: [[1, 2]]}\n" + row, "a.yaml:12:7: with this population 2 entities stand on cell [1, 2]; occupancy is 1\n"},
		{1, "    - {kind: x, count: 1, cells: [[1, 2]]}\n" + row, "a.yaml:11:7: this population has 1 entities; with occupancy 1 its region has room for 0\n"},
		{1, "    - {kind: x, count: 4, disk: {center: [0, 0], radius: 1}}\n", "a.yaml:11:7: this population has 4 entities; with occupancy 1 its region has room for 3\n"},
		{2, "    - {kind: x, count: 4, disk: {center: [0, 0], radius: 1}}\n", ""},
		{1, "    - {kind: x}\n", ""},
		{1, "    - {kind: x}\n" + row, "a.yaml:12:7: with this population 2 entities stand on cell [1, 0]; occupancy is 1\n"},
		{1, "    - {kind: x, count: 12}\n", ""}, // each on a cell of its own
		{1, "    - {kind: x, count: 13}\n", "a.yaml:11:7: this population has 13 entities; with occupancy 1 its region has room for 12\n"},
		{1, "    - {kind: x, count: 7}\n    - {kind: x, count: 6}\n", "a.yaml:12:7: with this population there are 13 entities; with occupancy 1 the world has room for 12\n"},
		{math.MaxInt32, row + row, ""},
	} {
		s, err := scenariotest.Parse("a.yaml", fmt.Sprintf(head, tt.occupancy)+tt.spawn)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Begin(nil)
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.HasPrefix(got, tt.want) {
			t.Errorf("occupancy %d,\n%sBegin = %v, want %s", tt.occupancy, tt.spawn, err, tt.want)
		}
		if again := s.CommandsAt(1); err == nil && fmt.Sprint(list) != fmt.Sprint(again) {
			t.Errorf("Begin lists %v, CommandsAt %v", list, again)
		}
		recorded, err := scenariotest.FromDescriptor(s.Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := recorded.World(1); err != nil {
			t.Errorf("the world of a recording: %v", err)
		}
	}
}

// Whoever lists a large first population is called meanwhile, and can end it.
func TestBeginCanBeEnded(t *testing.T) {
	const disk = "{kind: x, count: 1, disk: {center: [150, 150], radius: 200}}, "
	for _, occupancy := range []string{"", "occupancy: 9, "} {
		s, err := scenariotest.Parse("a.yaml", "murksim: 1\nname: a\nspace: {kind: square4, rows: 300, cols: 300}\nfields: [{name: a}]\n"+
			"entities: {capacity: 99, "+occupancy+"kinds: [x], spawn: ["+strings.Repeat(disk, 20)+"]}\n")
		if err != nil {
			t.Fatal(err)
		}
		var shares []float64
		if _, err := s.Begin(func(share float64) error { shares = append(shares, share); return nil }); err != nil {
			t.Fatal(err)
		}
		if n := len(shares); n < 10 || shares[0] > 0.1 || shares[n-1] < 0.9 || shares[n-1] > 1 {
			t.Errorf("%s the shares are %v, want ten at least, up to 1", occupancy, shares)
		}
		enough := errors.New("enough")
		if _, err := s.Begin(func(float64) error { return enough }); err != enough {
			t.Errorf("ended: %v", err)
		}
	}
}

// The last free cells of a region are each drawn once.
func TestLastPlaces(t *testing.T) {
	const side, free = 181, 16_000
	s, err := scenariotest.Parse("a.yaml", fmt.Sprintf("murksim: 1\nname: a\nspace: {kind: square4, rows: %d, cols: %[1]d}\nfields: [{name: a}]\n"+
		"entities: {capacity: %d, occupancy: 1, kinds: [x], spawn: [{kind: x, count: %d}, {kind: x, rect: {from: [%d, 0], to: [%d, %d]}}]}\n",
		side, side*side, free, free/side+1, side-1, side-1))
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Begin(nil)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for i := range list {
		there[list[i].Coord.String()] = true
	}
	if len(there) != len(list) {
		t.Errorf("%d entities are on %d cells", len(list), len(there))
	}
}
