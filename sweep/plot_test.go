package sweep_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/plot"
	"github.com/murksim/murksim/sweep"
)

// plotted makes the journal of a design with the statistics a_mean and b, of which b is a probe. The value of b of a job is what
// value returns; NaN: the job failed; +Inf: it is not done.
func plotted(t *testing.T, d sweep.Design, value func(job int, p sweep.Point) float64) *sweep.Journal {
	t.Helper()
	d.Scenario = "pond"
	p, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	j, err := sweep.CreateJournal(filepath.Join(t.TempDir(), "journal"), sweep.Head{
		Form: 1, Design: d, Jobs: p.Jobs(), Stats: []string{"a_mean", "b"}, Units: []string{"", "K"}, Probes: 1, Pick: "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	var rows []sweep.Row
	for job := range p.Jobs() {
		v := value(job, p.Point(job))
		row := sweep.Row{Job: job, Status: sweep.OK, Ticks: 100, Stats: []sweep.Number{3, sweep.Number(v)}}
		row.ID[0], row.ID[1], row.ID[2] = byte(job), byte(job>>8), byte(job>>16)
		switch {
		case math.IsInf(v, 1):
			continue
		case math.IsNaN(v):
			row.Status, row.Stats = sweep.Failed, nil
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		slices.Reverse(rows) // the picture does not depend on the order
		if err := j.Add(rows...); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// number reads a value of a point.
func number(t *testing.T, p sweep.Point, i int) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(p.Values[i], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A drawing is what an SVG says.
type drawing struct {
	source string
	texts  []string
	shapes []map[string]string // attributes; "" is the name
}

// draw draws a journal, and checks that the picture is well-formed and that no text leaves it.
func draw(t *testing.T, j *sweep.Journal, o sweep.PlotOptions) (*drawing, *sweep.Plotted) {
	t.Helper()
	var b, again bytes.Buffer
	what, err := sweep.Plot(&b, j, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sweep.Plot(&again, j, o); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("two pictures of one journal differ: %v", err)
	}
	if !strings.HasPrefix(b.String(), sweep.PlotMark) {
		t.Error("the picture does not begin with its mark")
	}
	d := &drawing{source: b.String()}
	d.read(t)
	d.inside(t)
	return d, what
}

func (d *drawing) read(t *testing.T) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(d.source))
	var open []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, d.source)
		}
		switch e := token.(type) {
		case xml.StartElement:
			shape := map[string]string{"": e.Name.Local}
			for _, a := range e.Attr {
				shape[a.Name.Local] = a.Value
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
			d.shapes, open = append(d.shapes, shape), append(open, e.Name.Local)
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] == "text" {
				d.texts = append(d.texts, string(e))
				d.shapes[len(d.shapes)-1]["text"] = string(e)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

var slant = regexp.MustCompile(`^translate\(([-0-9.]+) ([-0-9.]+)\) rotate\(-45\)$`)

// inside checks that all texts are within the picture, and that none of one line meet.
func (d *drawing) inside(t *testing.T) {
	t.Helper()
	width, height := d.float(t, d.shapes[0], "width"), d.float(t, d.shapes[0], "height")
	type box struct{ left, right, y float64 }
	var boxes []box
	for _, e := range d.named("text") {
		if m := slant.FindStringSubmatch(e["transform"]); m != nil {
			x, _ := strconv.ParseFloat(m[1], 64)
			y, _ := strconv.ParseFloat(m[2], 64)
			if side := plot.Width(e["text"], 13) * math.Sqrt2 / 2; x-side < -1 || y+side > height {
				t.Errorf("%q at %v, %v leaves the picture", e["text"], x, y)
			}
			continue
		}
		size := 13.0
		if e["font-size"] != "" {
			size = d.float(t, e, "font-size")
		}
		if e["font-weight"] != "" {
			size *= plot.Bold
		}
		x, y, w := d.float(t, e, "x"), d.float(t, e, "y"), plot.Width(e["text"], size)
		b := box{x, x + w, y}
		switch e["text-anchor"] {
		case "middle":
			b = box{x - w/2, x + w/2, y}
		case "end":
			b = box{x - w, x, y}
		}
		if b.left < 0 || b.right > width || y < 10 || y > height-3 {
			t.Errorf("%q from %v to %v at %v leaves the picture of %v × %v", e["text"], b.left, b.right, y, width, height)
		}
		for _, o := range boxes {
			if math.Abs(o.y-b.y) < 11 && o.left < b.right && b.left < o.right {
				t.Errorf("%q meets another text", e["text"])
			}
		}
		boxes = append(boxes, b)
	}
}

func (d *drawing) float(t *testing.T, e map[string]string, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e[name], 64)
	if err != nil {
		t.Fatalf("%v: %v", e, err)
	}
	return v
}

func (d *drawing) named(name string) (list []map[string]string) {
	for _, e := range d.shapes {
		if e[""] == name {
			list = append(list, e)
		}
	}
	return list
}

func (d *drawing) want(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !slices.Contains(d.texts, text) {
			t.Errorf("there is no text %q in %q", text, d.texts)
		}
	}
}

var threeSeeds = []sweep.Span{{From: 1, To: 3, Step: 1}}

func TestPlotCurve(t *testing.T) {
	j := plotted(t, sweep.Design{Seeds: threeSeeds, Axes: axes(t, "propagators.diffusion.rate=2,0,1")}, func(_ int, p sweep.Point) float64 {
		return 10*number(t, p, 0) + float64(p.Seed) - 2
	})
	d, what := draw(t, j, sweep.PlotOptions{})
	if want := (sweep.Plotted{Kind: sweep.Curves, By: []string{"propagators.diffusion.rate"}, Stats: []string{"b"}, Jobs: 9, Done: 9}); fmt.Sprint(*what) != fmt.Sprint(want) {
		t.Errorf("it has drawn %v, want %v", *what, want)
	}
	d.want(t, "pond: b by propagators.diffusion.rate", "Line: mean of 3 seeds after 100 ticks. Band: least to greatest.", "b [K]", "9 jobs.", "0.0", "0.5", "1.0", "2.0", "20")
	dots := d.named("circle")
	if len(dots) != 3 {
		t.Fatalf("%d dots, want 3", len(dots))
	}
	x := func(i int) float64 { return d.float(t, dots[i], "cx") }
	y := func(i int) float64 { return d.float(t, dots[i], "cy") }
	if math.Abs(x(1)-(x(0)+x(2))/2) > 0.11 || math.Abs(y(1)-(y(0)+y(2))/2) > 0.11 || x(0) >= x(1) || y(0) <= y(1) {
		t.Errorf("means 0, 10 and 20 at 0, 1 and 2 are drawn at %v %v, %v %v and %v %v", x(0), y(0), x(1), y(1), x(2), y(2))
	}
	var line, band string
	for _, e := range d.named("path") {
		if e["fill"] == "none" {
			line = e["d"]
		} else if e["fill-opacity"] != "" {
			band = e["d"]
		}
	}
	if want := fmt.Sprintf("M%s %sL", dots[0]["cx"], dots[0]["cy"]); !strings.HasPrefix(line, want) || strings.Count(line, "L") != 2 {
		t.Errorf("the line is %q, want it to begin with %q", line, want)
	}
	if strings.Count(band, "L") != 5 || !strings.HasSuffix(band, "Z") {
		t.Errorf("the band is %q", band)
	}
	d, _ = draw(t, j, sweep.PlotOptions{Stats: []string{"b", "a_mean", "seconds"}})
	d.want(t, "pond: b, a_mean and seconds by propagators.diffusion.rate", "a_mean", "seconds [s]")
}

func TestPlotHeatMap(t *testing.T) {
	nan := math.NaN()
	j := plotted(t, sweep.Design{Seeds: threeSeeds, Axes: axes(t, "rate=1,2,3,4", "space.edge=wrap,absorb")}, func(job int, p sweep.Point) float64 {
		switch rate := number(t, p, 0); {
		case rate == 4 && p.Values[1] == "wrap", rate == 1 && p.Seed == 1:
			return nan
		default:
			return rate
		}
	})
	d, what := draw(t, j, sweep.PlotOptions{})
	if what.Kind != sweep.HeatMap || what.LeftOut != 5 {
		t.Errorf("it has drawn %v", *what)
	}
	d.want(t, "pond: b by rate and space.edge", "Colour: mean of 3 seeds after 100 ticks.", "wrap", "absorb", "1.00", "3.00", "5 of 24 jobs are not ok and left out; hatched cells have no other.")
	cells, hatched := 0, 0
	for _, e := range d.named("rect") {
		if len(e["fill"]) == 7 && d.shapes[0]["width"] != e["width"] && e["height"] != e["width"] && e["x"] != "" && d.float(t, e, "width") > 100 && d.float(t, e, "width") < 300 {
			cells++
		}
	}
	for _, e := range d.named("path") {
		if e["class"] == "bad" {
			hatched++
		}
	}
	if cells != 8 || hatched != 1 {
		t.Errorf("%d cells and %d hatchings, want 8 and 1", cells, hatched)
	}
	if n := strings.Count(strings.Join(d.texts, " "), "4.00"); n != 1 {
		t.Errorf("the cell of 4 and absorb is written %d times", n)
	}
}

func TestPlotTexts(t *testing.T) {
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("[a list of things, number %d]", i))
	}
	for _, n := range []int{2, 3, 7, 20, 50, 200} {
		j := plotted(t, sweep.Design{Axes: axes(t, "things="+strings.Join(names[:n], ","), "rate=1..50")}, func(job int, _ sweep.Point) float64 { return float64(job) })
		d, what := draw(t, j, sweep.PlotOptions{By: []string{"things"}})
		if what.Kind != sweep.Curves || len(d.named("circle")) != n {
			t.Errorf("%d things: %v with %d dots", n, *what, len(d.named("circle")))
		}
		draw(t, j, sweep.PlotOptions{By: []string{"things", "rate"}})
		draw(t, j, sweep.PlotOptions{By: []string{"rate", "things"}})
	}
}

func TestPlotSamples(t *testing.T) {
	d := sweep.Design{Axes: axes(t, "a.rate=log 0.01..100", "b.rate=0.5..2.0"), Sampling: sweep.Sampling{Kind: sweep.Latin, Count: 60}}
	j := plotted(t, d, func(job int, p sweep.Point) float64 {
		if job == 7 {
			return math.NaN()
		}
		return number(t, p, 0)
	})
	picture, what := draw(t, j, sweep.PlotOptions{})
	if what.Kind != sweep.Samples || len(picture.named("circle")) != 59 || !strings.Contains(picture.source, `class="bad"`) {
		t.Errorf("it has drawn %v with %d dots", *what, len(picture.named("circle")))
	}
	picture.want(t, "0.01", "0.1", "1", "10", "100", "0.5", "2.0", "1 of 60 jobs is not ok and left out; × is where there is no other.")
	picture, what = draw(t, j, sweep.PlotOptions{By: []string{"a.rate"}, LogY: true})
	if what.Kind != sweep.Samples || len(picture.named("circle")) != 59 {
		t.Errorf("it has drawn %v", *what)
	}
	var x, y []float64 // equal logarithms: a straight line
	for _, e := range picture.named("circle") {
		x, y = append(x, picture.float(t, e, "cx")), append(y, picture.float(t, e, "cy"))
	}
	lo, hi := slices.Index(x, slices.Min(x)), slices.Index(x, slices.Max(x))
	slope := (y[hi] - y[lo]) / (x[hi] - x[lo])
	for i := range x {
		if want := y[lo] + slope*(x[i]-x[lo]); math.Abs(y[i]-want) > 0.2 {
			t.Errorf("dot %d is at %v, want %v", i, y[i], want)
		}
	}
}

func TestPlotSeeds(t *testing.T) {
	d, what := draw(t, plotted(t, sweep.Design{Seeds: threeSeeds}, func(job int, _ sweep.Point) float64 { return float64(job) }), sweep.PlotOptions{})
	if what.Kind != sweep.Seeds || len(d.named("circle")) != 3 || len(what.By) != 0 {
		t.Errorf("it has drawn %v", *what)
	}
	d.want(t, "pond: b with 3 seeds", "mean 1.00, from 0.00 to 2.00")
	many := sweep.Design{Seeds: []sweep.Span{{From: 1<<64 - 500, To: 1<<64 - 1, Step: 1}}}
	j := plotted(t, many, func(job int, _ sweep.Point) float64 { return float64(job % 10) })
	d, _ = draw(t, j, sweep.PlotOptions{})
	if bars := strings.Count(d.source, "50 seeds</title>"); bars != 10 {
		t.Errorf("%d bars of 50 seeds, want 10", bars)
	}
	d, what = draw(t, j, sweep.PlotOptions{By: []string{"seed"}})
	if what.Kind != sweep.Curves || len(d.named("circle")) != 500 {
		t.Errorf("it has drawn %v with %d dots", *what, len(d.named("circle")))
	}
}

func TestPlotRunning(t *testing.T) {
	j := plotted(t, sweep.Design{Seeds: threeSeeds, Axes: axes(t, "rate=1..100")}, func(job int, p sweep.Point) float64 {
		if job >= 120 {
			return math.Inf(1)
		}
		return number(t, p, 0)
	})
	d, what := draw(t, j, sweep.PlotOptions{LogX: true})
	if what.Done != 120 || what.Jobs != 300 {
		t.Errorf("it has drawn %v", *what)
	}
	d.want(t, "120 of 300 jobs are done.", "1", "10", "100")
	draw(t, j, sweep.PlotOptions{By: []string{"rate", "seed"}})
}

func TestPlotOneValue(t *testing.T) {
	j := plotted(t, sweep.Design{Seeds: threeSeeds, Axes: axes(t, "rate=0.5")}, func(int, sweep.Point) float64 { return 0 })
	d, what := draw(t, j, sweep.PlotOptions{By: []string{"rate"}, Stats: []string{"b"}})
	if what.Kind != sweep.Curves || len(d.named("circle")) != 1 {
		t.Errorf("it has drawn %v", *what)
	}
	d, what = draw(t, j, sweep.PlotOptions{})
	if what.Kind != sweep.Seeds || what.Stats[0] != "b" || len(d.named("circle")) != 3 {
		t.Errorf("it has drawn %v", *what)
	}
	draw(t, j, sweep.PlotOptions{By: []string{"rate", "seed"}})
}

// A job that equals another has its values.
func TestPlotEqual(t *testing.T) {
	j := plotted(t, sweep.Design{Axes: axes(t, "rate=1,2,3")}, func(job int, _ sweep.Point) float64 { return []float64{5, 6, math.Inf(1)}[job] })
	row := sweep.Row{Job: 2, Status: sweep.Equal, As: 1}
	if err := j.Add(row); err != nil {
		t.Fatal(err)
	}
	if d, what := draw(t, j, sweep.PlotOptions{}); what.LeftOut != 0 || len(d.named("circle")) != 3 {
		t.Errorf("it has drawn %v with %d dots", *what, len(d.named("circle")))
	}
}

func TestPlotRefuses(t *testing.T) {
	value := func(_ int, p sweep.Point) float64 { return number(t, p, 0) - 1 }
	grid := plotted(t, sweep.Design{Seeds: threeSeeds, Axes: axes(t, "a.rate=0,1,2", "b.rate=1,2")}, value)
	line := plotted(t, sweep.Design{Axes: axes(t, "rate=0,1,2")}, value)
	texts := plotted(t, sweep.Design{Axes: axes(t, "edge=wrap,absorb")}, func(int, sweep.Point) float64 { return 1 })
	for _, tt := range []struct {
		name string
		j    *sweep.Journal
		o    sweep.PlotOptions
		want string
	}{
		{"statistic", line, sweep.PlotOptions{Stats: []string{"a_maen"}}, `there is no statistic "a_maen"; did you mean "a_mean"?`},
		{"path", grid, sweep.PlotOptions{By: []string{"a.rat"}}, `"a.rat" does not differ between the jobs; did you mean "a.rate"?`},
		{"end of two paths", grid, sweep.PlotOptions{By: []string{"rate"}}, `"rate" may be a.rate or b.rate; say which`},
		{"three paths", grid, sweep.PlotOptions{By: []string{"a.rate", "b.rate", "seed"}}, "a picture is over one parameter or two, not 3"},
		{"one path twice", grid, sweep.PlotOptions{By: []string{"seed", "seed"}}, "the picture cannot be over seed twice"},
		{"logarithm of 0", line, sweep.PlotOptions{LogX: true}, "rate is 0; a logarithmic axis has numbers above 0"},
		{"logarithm of a value", line, sweep.PlotOptions{LogY: true}, "b is −1.00; a logarithmic axis has numbers above 0"},
		{"logarithm of a text", texts, sweep.PlotOptions{LogX: true}, "edge is not a number, such as wrap; its axis cannot be logarithmic"},
		{"logarithm of cells", grid, sweep.PlotOptions{LogX: true}, "only curves and dots have axes that can be logarithmic; this picture has cells or counts"},
		{"one job", plotted(t, sweep.Design{Axes: axes(t, "rate=1")}, value), sweep.PlotOptions{}, "the sweep has one job alone, which makes no picture; it would have several with other values or --seeds"},
		{"nothing done", plotted(t, sweep.Design{Seeds: threeSeeds}, func(int, sweep.Point) float64 { return math.Inf(1) }), sweep.PlotOptions{}, "no job of the sweep is done yet"},
		{"nothing ok", plotted(t, sweep.Design{Seeds: threeSeeds}, func(int, sweep.Point) float64 { return math.NaN() }), sweep.PlotOptions{}, "3 jobs are done and not ok, so there is nothing to draw"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := sweep.Plot(&b, tt.j, tt.o); err == nil || err.Error() != tt.want || b.Len() > 0 {
				t.Errorf("Plot = %v, want %s; it wrote %d bytes", err, tt.want, b.Len())
			}
		})
	}
}

// However many values and samples there are, a picture has few marks.
func TestPlotBounded(t *testing.T) {
	value := func(job int, _ sweep.Point) float64 { return float64(job % 1000) }
	j := plotted(t, sweep.Design{Axes: axes(t, "rate=1..3000", "rows=1..2")}, value)
	d, _ := draw(t, j, sweep.PlotOptions{By: []string{"rate"}})
	if len(d.source) > 60_000 {
		t.Errorf("a curve of 3000 values takes %d bytes", len(d.source))
	}
	d.want(t, "6,000 jobs. Neighbouring values are drawn as one.")
	d, _ = draw(t, j, sweep.PlotOptions{})
	if cells := len(d.named("rect")); cells > 600 {
		t.Errorf("a map of 3000 × 2 values has %d rectangles", cells)
	}
	d, _ = draw(t, plotted(t, sweep.Design{Axes: axes(t, "a=0.1..1.0", "b=0.1..1.0"), Sampling: sweep.Sampling{Kind: sweep.Random, Count: 5000}}, value), sweep.PlotOptions{})
	if dots := len(d.named("circle")); dots != 4000 {
		t.Errorf("there are %d dots", dots)
	}
	d.want(t, "5,000 jobs. The first 4,000 of 5,000 samples are drawn.")
}
