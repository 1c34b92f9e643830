package films_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/films"
)

// file is a file in memory.
func file(name string, b []byte) films.File {
	return films.File{Name: name, ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

// vectors returns the test vectors of a format, by their names.
func vectors(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("../../testdata/vectors/" + pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors %s: %v", pattern, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A page sends requests to a session.
type page struct {
	testing.TB
	*view.Session
}

// An answer is what a page gets.
type answer struct {
	Error  string
	Later  bool
	Answer struct {
		Tick         uint64
		Alive        int
		Cell         int
		Coord        []int32
		Kind, Name   string
		Done         bool
		Ticks        uint64
		Unverifiable string
		Error        string
		Numbers      int
		To           uint64
		Values       []struct {
			Field  int
			Values []string
		}
		Details  []view.Detail
		Entities []struct{ ID, Kind, Name string }
	}
	Arrays []struct {
		Name, Type string
		At, Len    int
	}
	data []byte
}

// try asks repeatedly until there is an answer.
func (p *page) try(format string, args ...any) *answer {
	p.Helper()
	for {
		b := p.Answer(fmt.Appendf(nil, format, args...))
		n := binary.LittleEndian.Uint32(b)
		a := &answer{data: b[4+n:]}
		if err := json.Unmarshal(b[4:4+n], a); err != nil {
			p.Fatalf("%q: %v", b[4:4+n], err)
		}
		if !a.Later {
			return a
		}
	}
}

func (p *page) ask(format string, args ...any) *answer {
	p.Helper()
	a := p.try(format, args...)
	if a.Error != "" {
		p.Fatalf("%s: %s", fmt.Sprintf(format, args...), a.Error)
	}
	return a
}

// numbers returns an array of an answer.
func (a *answer) numbers(t testing.TB, name string) (list []float64) {
	t.Helper()
	for _, x := range a.Arrays {
		if x.Name != name {
			continue
		}
		for i := range x.Len {
			switch b := a.data[x.At:]; x.Type {
			case "f32":
				list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
			case "i32":
				list = append(list, float64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
			case "f64":
				list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
			case "u64":
				list = append(list, float64(binary.LittleEndian.Uint64(b[8*i:])))
			}
		}
		return list
	}
	t.Fatalf("there is no array %q in %v", name, a.Arrays)
	return nil
}

// same compares numbers; NaN is NaN.
func same(t testing.TB, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		if v != want[i] && !(math.IsNaN(v) && math.IsNaN(want[i])) {
			t.Fatalf("%s, number %d: %v, want %v", what, i, v, want[i])
		}
	}
}

// checked checks what every film must answer about its verification, its charts and things it does
// not have.
func checked(t testing.TB, f *view.Film) {
	t.Helper()
	p, a := &page{t, view.NewSession(f)}, f.About()
	if c := p.ask(`{"op":"check"}`); c.Answer.Ticks != 0 || c.Answer.Done || !strings.HasSuffix(c.Answer.Unverifiable, "cannot be verified: it holds effects, not inputs") {
		t.Errorf("before the charts are made, check says %+v", c.Answer)
	}
	p.ask(`{"op":"inputs","tick":%d}`, a.Last) // the page asks every source; a film has no inputs
	if err := f.Chart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := p.ask(`{"op":"check"}`); c.Answer.Ticks != 0 || !c.Answer.Done || c.Answer.Unverifiable != a.Unverifiable {
		t.Errorf("check says %+v", c.Answer)
	}
	charts := p.ask(`{"op":"charts"}`)
	ticks, values, n := charts.numbers(t, "ticks"), charts.numbers(t, "values"), charts.Answer.Numbers
	if len(ticks) > 2002 || ticks[0] != 0 || ticks[len(ticks)-1] != float64(a.Last) || len(values) != n*len(ticks) {
		t.Fatalf("charts of ticks %v, with %d numbers; %d each", ticks, len(values), n)
	}
	for _, k := range []int{0, len(ticks) / 2, len(ticks) - 1} {
		s := p.ask(`{"op":"state","tick":%d,"fields":[0],"entities":true}`, uint64(ticks[k]))
		point := values[k*n : (k+1)*n]
		alive := 0.0
		for i := range a.Kinds {
			alive += point[n-len(a.Kinds)+i]
		}
		if alive != float64(s.Answer.Alive) || len(s.numbers(t, "ids")) != s.Answer.Alive {
			t.Errorf("tick %v: %d live, in the chart %v", ticks[k], s.Answer.Alive, alive)
		}
		counts := make([]float64, len(a.Fields[0].Values))
		for _, v := range s.numbers(t, "field 0") {
			if len(counts) > 0 && v == v {
				counts[int(v)]++
			}
		}
		same(t, fmt.Sprintf("chart at tick %v", ticks[k]), point[:len(counts)], counts)
	}
	for _, wrong := range []string{
		`{"op":"state","tick":%d,"fields":[0]}`, `{"op":"look","tick":%d,"cell":0}`, `{"op":"history","tick":%d,"to":%[1]d,"field":0}`,
		`{"op":"state","fields":[99]}`, `{"op":"state","fields":[-1]}`, `{"op":"look","cell":-1}`, `{"op":"look","cell":9999999}`, `{"op":"look","entity":"4000000000"}`,
		`{"op":"look"}`, `{"op":"history","field":99}`, `{"op":"history","field":0,"to":9999999}`, `{"op":"history","field":0,"cell":-1}`,
		`{"op":"history","field":0,"entity":"1"}`, `{"op":"differ"}`, `{"op":"dance"}`,
	} {
		if strings.Contains(wrong, "%d") {
			wrong = fmt.Sprintf(wrong, a.Last+1)
		}
		if p.try("%s", wrong).Error == "" {
			t.Errorf("%s is answered", wrong)
		}
	}
}
