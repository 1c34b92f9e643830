package sweep_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/sweep"
)

// likeness makes some jobs of a journal equal others.
func likeness(t *testing.T, j *sweep.Journal, as map[int]int) {
	t.Helper()
	for job := range j.Head.Jobs {
		if other, ok := as[job]; ok {
			if err := j.Add(sweep.Row{Job: job, Status: sweep.Equal, As: other}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// tabled counts the rows of the table.
func tabled(t *testing.T, j *sweep.Journal) (n int) {
	t.Helper()
	for _, err := range j.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// Jobs that equal each other count once, as in the table, and are not taken for jobs that are not ok.
func TestPlotEqualOnce(t *testing.T) {
	twice := sweep.Design{Seeds: threeSeeds, Axes: axes(t, "rate=1,2", "edge=wrap,absorb")}
	equal := map[int]int{3: 0, 4: 3, 5: 2, 9: 6, 10: 7, 11: 8} // the edge is without effect; 4 equals one that equals
	equal[4] = 1
	j := plotted(t, twice, func(job int, p sweep.Point) float64 {
		if _, ok := equal[job]; ok {
			return math.Inf(1)
		}
		return float64(p.Seed)
	})
	likeness(t, j, equal)
	d, what := draw(t, j, sweep.PlotOptions{By: []string{"rate"}})
	if what.Jobs != tabled(t, j) || what.Done != 6 || what.LeftOut != 0 {
		t.Errorf("%d of %d jobs are drawn, %d left out; the table has %d", what.Done, what.Jobs, what.LeftOut, tabled(t, j))
	}
	d.want(t, "6 jobs. 6 more equal one of them.")
	if !strings.Contains(d.source, "rate 1; b 2.000, from 1.000 to 3.000 in 3 jobs") {
		t.Errorf("the mean of rate 1 is another one in\n%s", d.source)
	}
	d, _ = draw(t, j, sweep.PlotOptions{By: []string{"rate", "edge"}}) // each cell has what its jobs would have
	d.want(t, "6 jobs. 6 more equal one of them.")
	if n := strings.Count(d.source, "in 3 jobs"); n != 4 {
		t.Errorf("%d cells have three jobs, want 4", n)
	}

	chain := plotted(t, sweep.Design{Seeds: []sweep.Span{{From: 1, To: 4, Step: 1}}}, func(job int, _ sweep.Point) float64 {
		return []float64{5, math.Inf(1), math.Inf(1), 6}[job]
	})
	likeness(t, chain, map[int]int{1: 0, 2: 1})
	d, what = draw(t, chain, sweep.PlotOptions{})
	if what.Jobs != tabled(t, chain) || what.LeftOut != 0 || len(d.named("circle")) != 2 {
		t.Errorf("it has drawn %v with %d dots", *what, len(d.named("circle")))
	}
	d.want(t, "2 jobs. 2 more equal one of them.")
	alone := plotted(t, sweep.Design{Seeds: threeSeeds}, func(job int, _ sweep.Point) float64 { return []float64{5, math.Inf(1), math.Inf(1)}[job] })
	likeness(t, alone, map[int]int{1: 0, 2: 0})
	if _, err := sweep.Plot(&bytes.Buffer{}, alone, sweep.PlotOptions{}); err == nil || !strings.HasPrefix(err.Error(), "the sweep has one job alone") {
		t.Errorf("Plot of one job = %v", err)
	}
}

// Over whatever samples have drawn there are dots.
func TestPlotSampled(t *testing.T) {
	sampled := func(count int, texts ...string) *sweep.Journal {
		return plotted(t, sweep.Design{Axes: axes(t, texts...), Sampling: sweep.Sampling{Kind: sweep.Random, Count: count}}, func(job int, _ sweep.Point) float64 { return float64(job) })
	}
	whole, texts := sampled(50, "a=0.1..2.0", "space.rows=26..64"), sampled(40, "space.edge=absorb,wrap", "rate=0.1..7.0")
	for _, tt := range []struct {
		name string
		j    *sweep.Journal
		by   []string
		want string
		dots int
	}{
		{"whole numbers", whole, []string{"space.rows"}, "Each dot is a sample after 100 ticks, whatever else differs. Line: mean of those side by side.", 50},
		{"two numbers", whole, nil, "Each dot is a sample, its colour the value after 100 ticks.", 50},
		{"a text and a number", texts, nil, "Each dot is a sample, its colour the value after 100 ticks.", 40},
		{"a number and a text", texts, []string{"rate", "edge"}, "Each dot is a sample, its colour the value after 100 ticks.", 40},
		{"a text", texts, []string{"edge"}, "Each dot is a sample after 100 ticks, whatever else differs. Lines: the mean of each value.", 40},
		{"one value alone", sampled(20, "a=0.1..2.0"), nil, "Each dot is a sample after 100 ticks. Line: mean of those side by side.", 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, what := draw(t, tt.j, sweep.PlotOptions{By: tt.by})
			if what.Kind != sweep.Samples || len(d.named("circle")) != tt.dots {
				t.Errorf("it has drawn %v with %d dots, want %d", *what, len(d.named("circle")), tt.dots)
			}
			d.want(t, tt.want)
			for _, text := range d.texts {
				if !strings.Contains(text, " ") && len(text) > 12 {
					t.Errorf("there is a label %q", text)
				}
			}
		})
	}
	seeded := plotted(t, sweep.Design{Seeds: threeSeeds, Axes: axes(t, "rate=0.1..7.0"), Sampling: sweep.Sampling{Kind: sweep.Random, Count: 4}}, func(job int, _ sweep.Point) float64 { return float64(job) })
	d, what := draw(t, seeded, sweep.PlotOptions{By: []string{"seed", "rate"}})
	if what.Kind != sweep.Samples || len(d.named("circle")) != 12 {
		t.Errorf("over seeds it has drawn %v with %d dots", *what, len(d.named("circle")))
	}
	d, _ = draw(t, seeded, sweep.PlotOptions{By: []string{"seed"}})
	d.want(t, "Line: mean of 4 samples after 100 ticks. Band: least to greatest.")
}

// Listed values that vary together are one parameter, which comes after the axes.
func TestPlotListed(t *testing.T) {
	j := plotted(t, sweep.Design{
		Axes: axes(t, "rate=1,2,3"),
		List: []sweep.Axis{{Path: "tick_rate", Values: []string{"20", "40", "80"}}, {Path: "a.ticks", Values: []string{"200", "400", "800"}}, {Path: "same", Values: []string{"1", "1", "1"}}},
	}, func(job int, _ sweep.Point) float64 { return float64(job) })
	if got, want := j.Plan.Varying(), []string{"rate", "tick_rate+a.ticks", "tick_rate", "a.ticks"}; !slices.Equal(got, want) {
		t.Errorf("a picture may be over %q, want %q", got, want)
	}
	d, what := draw(t, j, sweep.PlotOptions{})
	if what.Kind != sweep.HeatMap || !slices.Equal(what.By, []string{"rate", "tick_rate+a.ticks"}) || strings.Count(d.source, "<title>rate") != 9 {
		t.Errorf("it has drawn %v", *what)
	}
	d.want(t, "20, 200", "80, 800", "Colour: value after 100 ticks.")
	d, _ = draw(t, j, sweep.PlotOptions{By: []string{"ticks"}})
	d.want(t, "Line: mean of 3 values of rate after 100 ticks. Band: least to greatest.")
	d, _ = draw(t, j, sweep.PlotOptions{By: []string{"rate"}})
	d.want(t, "Line: mean of 3 values of tick_rate+a.ticks after 100 ticks. Band: least to greatest.")
}

// One value has the same digits in the legend as in the cells.
func TestPlotConstant(t *testing.T) {
	j := plotted(t, sweep.Design{Axes: axes(t, "a=1,2,3", "b=1,2")}, func(int, sweep.Point) float64 { return 1003 })
	d, _ := draw(t, j, sweep.PlotOptions{Stats: []string{"b"}})
	n := 0
	for _, text := range d.texts {
		if text == "1,003" {
			n++
		}
	}
	if n != 7 || slices.Contains(d.texts, "1,000") {
		t.Errorf("1,003 is written %d times in %q, want 7", n, d.texts)
	}
}

// What white cells are is said.
func TestPlotWhite(t *testing.T) {
	d := sweep.Design{Axes: axes(t, "a=1,2,3", "b=1,2,3")}
	undone := func(job int, _ sweep.Point) float64 {
		if job == 4 {
			return math.Inf(1)
		}
		return float64(job)
	}
	picture, _ := draw(t, plotted(t, d, undone), sweep.PlotOptions{})
	picture.want(t, "8 of 9 jobs are done. White cells are not done yet.")
	d.Exclude = []string{"a = 1 and b = 2"}
	picture, _ = draw(t, plotted(t, d, undone), sweep.PlotOptions{})
	picture.want(t, "7 of 8 jobs are done. White cells are left out of the design or not done yet.")
	picture, _ = draw(t, plotted(t, d, func(job int, _ sweep.Point) float64 { return float64(job) }), sweep.PlotOptions{})
	picture.want(t, "8 jobs. White cells are left out of the design.")
}

// Cells reach below their neighbours, so that no seam is between them.
func TestPlotSeams(t *testing.T) {
	j := plotted(t, sweep.Design{Axes: axes(t, "a=1..40", "b=1..51")}, func(job int, _ sweep.Point) float64 { return float64(job) })
	d, _ := draw(t, j, sweep.PlotOptions{})
	var cells []map[string]string
	for _, e := range d.named("rect") {
		if len(strings.TrimPrefix(e["height"], "9.")) < len(e["height"]) && e["x"] != "" && d.float(t, e, "width") > 15 {
			cells = append(cells, e)
		}
	}
	if len(cells) != 2040 {
		t.Fatalf("there are %d cells", len(cells))
	}
	right := func(i int) float64 { return d.float(t, cells[i], "x") + d.float(t, cells[i], "width") }
	for i := range cells {
		if i%40 < 39 && right(i) < d.float(t, cells[i+1], "x")+0.3 {
			t.Fatalf("cell %d ends at %v, the next begins at %s", i, right(i), cells[i+1]["x"])
		}
		if i+40 < len(cells) && d.float(t, cells[i], "y") > d.float(t, cells[i+40], "y")+d.float(t, cells[i+40], "height")-0.3 {
			t.Fatalf("cell %d begins at %s, below the end of the one above", i, cells[i]["y"])
		}
	}
}

// A name that is like a part or an end of a path is not left without an answer.
func TestPlotMeant(t *testing.T) {
	many := []string{"propagators.diffusion.rate=1,2"}
	for i := range 9 {
		many = append(many, fmt.Sprintf("fields.%c.start=1", 'a'+i))
	}
	j := plotted(t, sweep.Design{Axes: axes(t, many...)}, func(job int, _ sweep.Point) float64 { return float64(job) })
	for _, name := range []string{"difusion", "diffusion", "difusion.rate", "propagators.difusion.rate", "rat"} {
		want := fmt.Sprintf(`%q does not differ between the jobs; did you mean "propagators.diffusion.rate"?`, name)
		if _, err := sweep.Plot(&bytes.Buffer{}, j, sweep.PlotOptions{By: []string{name}}); err == nil || err.Error() != want {
			t.Errorf("Plot by %s = %v, want %s", name, err, want)
		}
	}
}
