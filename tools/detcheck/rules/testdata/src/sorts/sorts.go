package sorts

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

type item struct {
	id    int
	score int
}

type byScore []item

func (s byScore) Len() int           { return len(s) }
func (s byScore) Less(i, j int) bool { return s[i].score < s[j].score }
func (s byScore) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

func ties(items []item, xs []float64) {
	sort.Slice(items, func(i, j int) bool { return items[i].score < items[j].score })       // want `sort: sort.Slice leaves elements`
	sort.Sort(byScore(items))                                                               // want `sort: sort.Sort leaves`
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.score, b.score) })    // want `sort: slices.SortFunc leaves`
	_ = slices.SortedFunc(slices.Values(items), func(a, b item) int { return a.id - b.id }) // want `sort: slices.SortedFunc`
	slices.SortFunc(xs, cmp.Compare)                                                        // want `sort: slices.SortFunc`
	slices.Sort(xs)                                                                         // want `sort: slices.Sort takes 0 and −0 for equal`
	sort.Float64s(xs)                                                                       // want `sort: sort.Float64s takes`
}

func kept(items []item, xs []float64) {
	by := sort.Slice // want `sort: sort.Slice is kept in a value`
	by(items, func(i, j int) bool { return items[i].score < items[j].score })
	order := slices.SortFunc[[]item] // want `sort: slices.SortFunc is kept in a value`
	order(items, func(a, b item) int { return a.score - b.score })
	sort.Float64Slice(xs).Sort() // want `sort: sort.Float64Slice.Sort takes 0 and −0`
}

// Stable sorts, and those of elements that nothing else tells apart.
func total(items []item, names []string, ids []int) []int {
	sort.SliceStable(items, func(i, j int) bool { return items[i].score < items[j].score })
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.score, b.score) })
	sort.Stable(byScore(items))
	slices.Sort(names)
	sort.Strings(names)
	sort.Ints(ids)
	sort.Sort(sort.Reverse(sort.IntSlice(ids)))
	slices.SortFunc(names, strings.Compare)
	slices.SortFunc(ids, cmp.Compare)
	slices.SortFunc(ids, func(a, b int) int { return cmp.Compare(b, a) })
	slices.SortFunc(ids, func(a, b int) int { return -cmp.Compare(a, b) })
	return slices.Sorted(slices.Values(ids))
}
