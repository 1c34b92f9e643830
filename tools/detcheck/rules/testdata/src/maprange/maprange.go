package maprange

import (
	"maps"
	"reflect"
	"slices"
	"sort"
)

func printed(m map[string]int) {
	for k := range m { // want `maprange: a map is ranged over`
		println(k)
	}
}

func floatSum(m map[string]float64) (sum float64) {
	for _, v := range m { // want `maprange`
		sum += v
	}
	return sum
}

func text(m map[string]string) (s string) {
	for _, v := range m { // want `maprange`
		s += v
	}
	return s
}

func neverSorted(m map[string]int) []string {
	var keys []string
	for k := range m { // want `maprange`
		keys = append(keys, k)
	}
	return keys
}

func sortedTooLate(m map[string]int) []string {
	var keys []string
	for k := range m { // want `maprange`
		keys = append(keys, k)
	}
	println(keys[0])
	slices.Sort(keys)
	return keys
}

func sortedSometimes(m map[string]int, tidy bool) []string {
	var keys []string
	for k := range m { // want `maprange`
		keys = append(keys, k)
	}
	if tidy {
		slices.Sort(keys)
	}
	return keys
}

func sortedStably(m map[string]int) []int {
	var values []int
	for _, v := range m { // want `maprange`
		values = append(values, v)
	}
	slices.SortStableFunc(values, func(a, b int) int { return a/10 - b/10 })
	return values
}

func leavesUnsorted(m map[string]int) (keys []string) {
	for k := range m { // want `maprange`
		keys = append(keys, k)
	}
	if len(m) > 9 {
		return
	}
	slices.Sort(keys)
	return keys
}

func first(m map[string]int) string {
	for k := range m { // want `maprange`
		return k
	}
	return ""
}

func largest(m map[string]int) (best string) {
	most := 0
	for k, v := range m { // want `maprange`
		if v > most {
			most, best = v, k
		}
	}
	return best
}

func stopsEarly(m map[string]int) (n int) {
	for _, v := range m { // want `maprange`
		if v > 3 {
			break
		}
		n++
	}
	return n
}

func countsSoFar(m map[string]int) (n, late int) {
	for _, v := range m { // want `maprange`
		n++
		if n > v {
			late++
		}
	}
	return n, late
}

func mixes(m map[string]int) (n int) {
	for _, v := range m { // want `maprange`
		n += v
		n ^= v
	}
	return n
}

func deletesOthers(m map[int]int) {
	for _, v := range m { // want `maprange`
		delete(m, v)
	}
}

func calls(m map[string]int, draw func() int) (n int) {
	for range m {
		n += draw() // each turn does the same
	}
	for _, v := range m { // want `maprange`
		n += v * draw()
	}
	return n
}

func overwrites(m map[string]int, by map[int]string) {
	for k, v := range m { // want `maprange`
		by[v] = k
	}
}

func generic[M ~map[K]V, K comparable, V any](m M, f func(K)) {
	for k := range m { // want `maprange`
		f(k)
	}
}

func iterators(m map[string]int) []string {
	for k := range maps.Keys(m) { // want `maprange: maps.Keys follows the order of a map`
		println(k)
	}
	for _, v := range maps.All(m) { // want `maprange: maps.All`
		println(v)
	}
	return slices.Collect(maps.Keys(m)) // want `maprange: maps.Keys`
}

func reflected(v reflect.Value) []reflect.Value {
	return v.MapKeys() // want `maprange: reflect.Value.MapKeys`
}

// What follows is free of the order.

func sorted(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sortedOutside(ms []map[string]int, all bool) []string {
	var keys []string
	if all {
		for _, m := range ms {
			for k, v := range m {
				if v != 0 {
					keys = append(keys, k+"!")
				}
			}
		}
	}
	println(len(ms))
	sort.Strings(keys)
	return keys
}

type world struct{ keys []string }

func (w *world) collect(m map[string]int) {
	for k := range m {
		w.keys = append(w.keys, k)
	}
	slices.Sort(w.keys)
}

func sums(m map[string]int) (n, total, bits int, by [4]int) {
	for k, v := range m {
		if len(k) == 0 {
			continue
		} else if half := v / 2; half > 3 {
			n++
			by[half%4] += v
		}
		total -= v
		total += len(k)
		bits |= v
	}
	return n, total, bits, by
}

func deletes(m, other map[string]int) {
	for k, v := range m {
		if v == 0 {
			delete(m, k)
		}
		delete(other, k)
	}
}

func copied(m map[string]int) map[string]int {
	to := make(map[string]int, len(m))
	for k, v := range m {
		to[k] = v + 1
	}
	return to
}

func all(m map[string]bool) bool {
	for _, ok := range m {
		if !ok {
			return false
		}
	}
	return true
}

func nested(m map[string][]int) (n int) {
	for _, list := range m {
		for _, v := range list {
			n += v
		}
	}
	return n
}

func sortedIterators(m map[string]int) []string {
	to := maps.Collect(maps.All(m))
	for _, k := range slices.Sorted(maps.Keys(to)) {
		println(k)
	}
	keys := slices.Collect(maps.Keys(m))
	slices.Sort(keys)
	return keys
}
