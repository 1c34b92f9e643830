package sweep_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/sweep"
)

func TestParseAxis(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a.b=1", "[1]"},
		{"a.b=0.5,1,2", "[0.5 1 2]"},
		{"a=1..4", "[1 2 3 4]"},
		{"a=10..30/10,99", "[10 20 30 99]"},
		{"a=0..1/0.1", "[0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1]"},
		{"a=-1..1/0.5", "[-1 -0.5 0 0.5 1]"},
		{"a=1e-3..3e-3/1e-3", "[0.001 0.002 0.003]"},
		{"a={kind: hex, cols: 3},{kind: ring}", "[{kind: hex, cols: 3} {kind: ring}]"},
		{`a="x,y",'z,w'`, `["x,y" 'z,w']`},
		{"a=wrap, absorb", "[wrap absorb]"},
		{"a=b..c", "[b..c]"},
		{"a=0.1..2.0", "any of 0.1..2"},
		{"a=log 0.001..10", "any of log 0.001..10"},
		{"a=1..1000000000", "any of 1..1000000000"},
		{"a", `"a" is not of the form path=values`},
		{"=1", `"=1" is not of the form path=values`},
		{"a=1,,2", "a: a value is missing between two commas"},
		{"a=", "a: a value is missing between two commas"},
		{"a=4..1", "a: 4..1 ends before it begins"},
		{"a=1..4/0", "a: 1..4/0 needs a step above 0"},
		{"a=1..4/-1", "a: 1..4/-1 needs a step above 0"},
		{"a=0.5..1.5,2", "a: 0.5..1.5 needs a step, as in 0..1/0.1"},
		{"a=0..1/1e-9", "a: 0..1/1e-9 has more than 1000000 values"},
		{"a=log 0..1", "a: a logarithm needs numbers above 0"},
		{"a=log 5", `a: "5" is not of the form 0.1..2.0`},
		{"a=log 1..2/3", `a: "1..2/3" is not of the form 0.1..2.0`},
		{"a=1..1e300", "[1..1e300]"}, // no number that can be counted to: a text
	} {
		a, err := sweep.ParseAxis(tt.text)
		got := fmt.Sprint(a.Values)
		switch {
		case err != nil:
			got = err.Error()
		case a.Interval != nil:
			got = "any of " + a.Interval.String()
		}
		if got != tt.want {
			t.Errorf("ParseAxis(%q) = %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestParseSeeds(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"7", "[{7 7 1}]"},
		{"1..100", "[{1 100 1}]"},
		{"1..10/3, 42", "[{1 10 3} {42 42 1}]"},
		{"18446744073709551615", "[{18446744073709551615 18446744073709551615 1}]"},
		{"5..1", "seeds 5..1 end before they begin"},
		{"0..18446744073709551615", "seeds 0..18446744073709551615 are more than 10000000"},
		{"1..2/0", `"1..2/0" are not seeds, such as 1..100 or 1,7,42: whole numbers from 0 to 18446744073709551615`},
		{"-1", `"-1" are not seeds, such as 1..100 or 1,7,42: whole numbers from 0 to 18446744073709551615`},
	} {
		list, err := sweep.ParseSeeds(tt.text)
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("ParseSeeds(%q) = %s, want %s", tt.text, got, tt.want)
		}
	}
}

// axes reads some axes.
func axes(t testing.TB, texts ...string) (list []sweep.Axis) {
	t.Helper()
	for _, text := range texts {
		a, err := sweep.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// points lists the jobs of a design.
func points(t testing.TB, d sweep.Design) (list []string) {
	t.Helper()
	p, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for job := range p.Jobs() {
		list = append(list, strings.Join(p.Sets(p.Point(job)), " "))
	}
	return list
}

func TestPlanIsAGrid(t *testing.T) {
	d := sweep.Design{Axes: axes(t, "a=1,2", "b=x,y"), Seeds: []sweep.Span{{From: 3, To: 4, Step: 1}, {From: 9, To: 9, Step: 1}}, Ticks: 10}
	var want []string
	for _, a := range []string{"1", "2"} {
		for _, b := range []string{"x", "y"} {
			for _, seed := range []string{"3", "4", "9"} {
				want = append(want, fmt.Sprintf("a=%s b=%s ticks=10 seed=%s", a, b, seed))
			}
		}
	}
	if got := points(t, d); !slices.Equal(got, want) {
		t.Errorf("the jobs are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	d.Exclude = []string{"a > 1 and b = x", "b != x and a < 2"}
	if got, want := points(t, d), []string{want[0], want[1], want[2], want[9], want[10], want[11]}; !slices.Equal(got, want) {
		t.Errorf("with conditions the jobs are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := points(t, sweep.Design{}), []string{""}; !slices.Equal(got, want) {
		t.Errorf("the empty design has the jobs %q, want one", got)
	}
}

func TestPlanOfAList(t *testing.T) {
	d := sweep.Design{List: axes(t, "a=1,2,3", "b=x,y,z"), Axes: axes(t, "c=7,8")}
	want := []string{"a=1 b=x c=7", "a=1 b=x c=8", "a=2 b=y c=7", "a=2 b=y c=8", "a=3 b=z c=7", "a=3 b=z c=8"}
	if got := points(t, d); !slices.Equal(got, want) {
		t.Errorf("the jobs are %q, want %q", got, want)
	}
	d.Exclude = []string{"a >= c", "b = z"}
	if got := points(t, d); !slices.Equal(got, want[:4]) {
		t.Errorf("with conditions the jobs are %q, want %q", got, want[:4])
	}
}

// A Latin hypercube has one sample in each of as many parts of every axis; and the samples of a seed are promised.
func TestSamples(t *testing.T) {
	const count = 50
	d := sweep.Design{Axes: axes(t, "a=0.0..1.0", "b=log 0.001..1000", "c=1..5", "d=1..1000000000"), Sampling: sweep.Sampling{Kind: sweep.Latin, Count: count, Seed: 7}}
	p, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var parts [count]int
	fives := map[string]int{}
	for job := range p.Jobs() {
		v := p.Point(job).Values
		a, _ := strconv.ParseFloat(v[0], 64)
		b, _ := strconv.ParseFloat(v[1], 64)
		whole, _ := strconv.ParseFloat(v[3], 64)
		if parts[int(a*count)]++; b < 0.001 || b > 1000 || whole < 1 || whole > 1e9 || whole != float64(int(whole)) {
			t.Errorf("job %d has the values %v", job, v)
		}
		fives[v[2]]++
	}
	for i, n := range parts {
		if n != 1 {
			t.Errorf("part %d of axis a has %d samples, want 1", i, n)
		}
	}
	for v, n := range fives {
		if n != count/5 {
			t.Errorf("c=%s is there %d times, want %d", v, n, count/5)
		}
	}
	for _, tt := range []struct{ kind, want string }{
		{sweep.Latin, "0.2040034012547458 0.4374337680454412 0.6845953081334403"},
		{sweep.Random, "0.4104650497466621 0.4697540553712589 0.6120102037642374"},
	} {
		d := sweep.Design{Axes: axes(t, "a=0.0..1.0"), Sampling: sweep.Sampling{Kind: tt.kind, Count: 3, Seed: 7}}
		p, err := d.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for job := range p.Jobs() {
			got = append(got, p.Point(job).Values[0])
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s samples of seed 7 are %s, want %s", tt.kind, got, tt.want)
		}
	}
	// One more axis changes no other.
	more := d
	more.Axes = append(slices.Clone(d.Axes), axes(t, "e=0.0..1.0")...)
	q, err := more.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for job := range p.Jobs() {
		if a, b := p.Point(job).Values, q.Point(job).Values; !slices.Equal(a, b[:len(a)]) {
			t.Fatalf("job %d has %v, and %v with one more axis", job, a, b)
		}
	}
}

func TestPlanRejects(t *testing.T) {
	span := []sweep.Span{{From: 1, To: 1000, Step: 1}}
	for _, tt := range []struct {
		d    sweep.Design
		want string
	}{
		{sweep.Design{Axes: axes(t, "a=0.5..2.0")}, "a=0.5..2 has no end of values: give a step, as in 0.1..2/0.1, or draw some, with --random or --latin (random: or latin: in a design)"},
		{sweep.Design{Axes: axes(t, "a=1", "a=2")}, "a is given twice"},
		{sweep.Design{Axes: axes(t, "seed=1..3")}, "seeds are given with --seeds, not as a value"},
		{sweep.Design{Axes: axes(t, "a b=1")}, `"a b" is not the path of a value, such as propagators.diffusion.rate`},
		{sweep.Design{Axes: axes(t, "a=1..1000", "b=1..1000", "c=1..11")}, "the design has more than 10000000 jobs, which no sweep may"},
		{sweep.Design{Axes: axes(t, "a=1..1000", "b=1..11"), Seeds: span}, "the design has more than 10000000 jobs, which no sweep may"},
		{sweep.Design{Axes: []sweep.Axis{{Path: "a"}}}, "a has 0 values; there must be 1 to 1000000"},
		{sweep.Design{Axes: []sweep.Axis{{Path: "a"}}, Sampling: sweep.Sampling{Kind: sweep.Random, Count: 2}}, "a has no values"},
		{sweep.Design{Sampling: sweep.Sampling{Kind: sweep.Random, Count: 2}}, "there are 2 samples to be drawn, but no value that differs"},
		{sweep.Design{Axes: axes(t, "a=1,2"), Sampling: sweep.Sampling{Kind: "sobol", Count: 2}}, `samples are random or latin, not "sobol"`},
		{sweep.Design{Axes: axes(t, "a=1,2"), Sampling: sweep.Sampling{Kind: sweep.Latin, Count: 1 << 30}}, "there must be 1 to 1000000 samples, not 1073741824"},
		{sweep.Design{List: axes(t, "a=1,2", "b=1")}, "the listed combinations have 1 values of b, and 2 of a"},
		{sweep.Design{Axes: axes(t, "a=1,2"), Exclude: []string{"a > 0"}}, "exclude leaves none of 2 combinations"},
		{sweep.Design{Axes: axes(t, "alpha=1,2"), Exclude: []string{"alpa > 0"}}, `exclude "alpa > 0": "alpa" does not differ in this design; did you mean "alpha"?`},
		{sweep.Design{Axes: axes(t, "a=1,2"), Exclude: []string{"a"}}, `exclude "a": a condition compares two things, as in rate > 1`},
		{sweep.Design{Axes: axes(t, "a=1,2"), Exclude: []string{"a => 1"}}, `exclude "a => 1": "a => 1" is not a comparison: there are < <= > >= = and !=`},
		{sweep.Design{Axes: axes(t, "a=1,2"), Exclude: []string{"a < "}}, `exclude "a < ": "a <" is not a comparison: there are < <= > >= = and !=`},
		{sweep.Design{Axes: axes(t, "a=x,y"), Exclude: []string{"a < 3"}}, `exclude "a < 3": x < 3 compares what are not both numbers`},
		{sweep.Design{Axes: axes(t, "a.b=x,y"), Exclude: []string{"a.b = a.c"}}, `exclude "a.b = a.c": "a.c" does not differ in this design; did you mean "a.b"?`},
		{sweep.Design{Seeds: []sweep.Span{{From: 1, To: 2}}}, "seeds 1..2 are more than 10000000, or none"},
	} {
		if _, err := tt.d.Plan(); err == nil || err.Error() != tt.want {
			t.Errorf("Plan gives the error\n  %v, want\n  %s", err, tt.want)
		}
	}
}
