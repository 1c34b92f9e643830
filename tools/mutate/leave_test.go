package main_test

import (
	"slices"
	"strings"
	"testing"
)

const leave = `package leave

import (
	"errors"
	"slices"
)

var errNegative = errors.New("negative")

func fails(n int) (int, error) {
	if err := check(n); err != nil {
		return 0, err
	}
	if err := check(n); err == nil {
		return 0, err
	}
	if n == 70 {
		return 0, errors.New("70")
	}
	return 0, nil
}

func check(int) error { return errNegative }

func finds(list []int) (int, bool) {
	if list == nil {
		return 0, false
	}
	return 0, true
}

func capacity(n, m int) []int { return slices.Grow(make([]int, 0, 11*n), 12) }

func bounded(n, m int) []int { return slices.Grow(make([]int, 0, min(n, 13)), max(m, 14)) }

func longer(list []int) []int { return slices.Grow(list, 15)[:16] }

func table() (map[int]int, []int) { return make(map[int]int, 17), make([]int, 18) }
`

// TestNumbersThatNoProgramCanSeeAreLeftOut holds which numbers are changed: not those of
// capacities, nor the zeros beside an error or a false, but all others.
func TestNumbersThatNoProgramCanSeeAreLeftOut(t *testing.T) {
	dir := plant(t)
	put(t, dir, "leave/leave.go", leave)
	args := []string{"-n", "-count", "0", "-list", "list.txt", "./leave"}
	_, out, errs := mutate(t, dir, args...)
	var got []string
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "+ ") && strings.Contains(line, "+1)") {
			got = append(got, line[2:])
		}
	}
	want := []string{
		"return (0+1), err", // where it is nil
		"if n == (70+1) {",
		"return (0+1), nil",
		"return (0+1), true",
		"func capacity(n, m int) []int { return slices.Grow(make([]int, (0+1), 11*n), 12) }",
		"func bounded(n, m int) []int { return slices.Grow(make([]int, (0+1), min(n, 13)), max(m, 14)) }",
		"func bounded(n, m int) []int { return slices.Grow(make([]int, 0, min(n, (13+1))), max(m, 14)) }",
		"func bounded(n, m int) []int { return slices.Grow(make([]int, 0, min(n, 13)), max(m, (14+1))) }",
		"func longer(list []int) []int { return slices.Grow(list, (15+1))[:16] }",
		"func longer(list []int) []int { return slices.Grow(list, 15)[:(16+1)] }",
		"func table() (map[int]int, []int) { return make(map[int]int, 17), make([]int, (18+1)) }",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("numbers are changed in\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), errs)
	}
	put(t, dir, "list.txt", "leave/leave.go longer\n- func longer(list []int) []int { return slices.Grow(list, 15)[:16] }\n+ *\n  for the test\n")
	_, out, _ = mutate(t, dir, args...)
	if strings.Contains(out, "(15+1)") || strings.Contains(out, "(16-1)") || !strings.Contains(out, "(18+1)") {
		t.Errorf("with all numbers of longer in the list:\n%s", out)
	}
}
