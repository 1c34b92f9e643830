package maprange

import (
	"maps"
	"reflect"
)

func keptIterator(m map[string]int) (s []string) {
	keys := maps.Keys[map[string]int] // want `maprange: maps.Keys is kept in a value, and follows the order of a map`
	for k := range keys(m) {
		s = append(s, k)
	}
	return s
}

func reflectedIterator(m map[string]int) (s []string) {
	for k := range reflect.ValueOf(m).Seq() { // want `maprange: reflect.Value.Seq follows`
		s = append(s, k.String())
	}
	return s
}

func callsBack(m map[string]int, f func(string)) {
	maps.DeleteFunc(m, func(k string, v int) bool { // want `maprange: maps.DeleteFunc calls its function in the order of a map`
		f(k)
		return v == 0
	})
	maps.DeleteFunc(m, func(_ string, v int) bool { return v < 0 })
}

func drawsInLoop(m map[string]int, draws func(func(int) bool)) map[string]int {
	out := map[string]int{}
	for k := range m { // want `maprange: a map is ranged over`
		for d := range draws {
			out[k] = d
		}
	}
	return out
}

func largestInt(m map[string]int) (most int) {
	for _, v := range m {
		most = max(most, v)
	}
	return most
}

func largestFloat(m map[string]float64) (most float64) {
	for _, v := range m { // want `maprange`
		most = max(most, v)
	}
	return most
}

func held(m map[string]int) (n int) {
	for _, v := range m { // want `maprange`
		n = max(n, v)
		n = min(n, 2*v)
	}
	return n
}

func growing(m map[string]int) (n, most int) {
	for _, v := range m { // want `maprange`
		n += v
		most = max(most, n)
	}
	return n, most
}
