package sweep_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/sweep"
)

// Labels of different values differ, however they are cut, and of long paths the end is there.
func TestPlotLong(t *testing.T) {
	value := func(job int, _ sweep.Point) float64 { return float64(job) }
	long := strings.Repeat("[[0, 1], [2, 3]], ", 6)
	between := func(a, b, c string) string { return "{a: " + long + a + long + b + long + c + long + "}" }
	for name, list := range map[string][]string{
		"in the middle": {"{cells: " + long + "value: 100, more: " + long, "{cells: " + long + "value: 150, more: " + long, "{cells: " + long + "value: 1500, more: " + long},
		"twice":         {"{a: 1, cells: " + long + "value: 1}", "{a: 2, cells: " + long + "value: 1}", "{a: 1, cells: " + long + "value: 2}"},
		"numbered":      {between("1", "1", "1"), between("1", "2", "1"), between("2", "1", "1"), between("1", "1", "2")},
		"far apart":     {"{a: " + long + "1" + long + "1" + long + "}", "{a: " + long + "1" + long + "2" + long + "}", "{a: " + long + "2" + long + "1" + long + "}"},
	} {
		var a sweep.Axis
		a.Path, a.Values = strings.Repeat("a_long_name_of_a_part.", 12)+"its_end", list
		j := plotted(t, sweep.Design{Axes: append([]sweep.Axis{a}, axes(t, "rate=1,2")...)}, value)
		for _, by := range [][]string{{"its_end"}, {"its_end", "rate"}, {"rate", "its_end"}} {
			d, _ := draw(t, j, sweep.PlotOptions{By: by})
			labels := map[string]bool{}
			for _, text := range d.texts {
				if strings.Contains(text, "…") && !strings.Contains(text, "a_long_name") {
					labels[text] = true
				}
			}
			if len(labels) != len(list) {
				t.Errorf("%s, by %v: the labels are %v", name, by, labels)
			}
			if n := strings.Count(strings.Join(d.texts, "\n"), "its_end"); n != 2 {
				t.Errorf("%s, by %v: the end of the path is written %d times in %q", name, by, n, d.texts)
			}
		}
	}
}
