package fixed_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/internal/vectors"
)

// A vectorFile is the contents of fixed_point.json.
type vectorFile struct {
	Provenance string
	Scale      int64
	Mul, Div   []vector
	Sqrt       []struct{ A, Result string }
	Parse      []struct{ Text, Result string }
}

type vector struct{ A, B, Result string }

// files are determinism/fixed_point.json, fixed_point_1.json and so on in
// $MURKSIM_VECTORS, else in the project's testdata.
func files(t *testing.T) (paths []string) {
	folder := vectors.Path("determinism")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), "fixed_point"); ok && (rest[0] == '.' || rest[0] == '_') {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	if len(paths) == 0 {
		t.Fatalf("%s holds no fixed_point.json", folder)
	}
	return paths
}

func TestVectorsFixed(t *testing.T) {
	for _, path := range files(t) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d := json.NewDecoder(f)
		d.DisallowUnknownFields()
		var v vectorFile
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if v.Scale != int64(fixed.One) {
			t.Errorf("%s: scale %d, want %d", path, v.Scale, fixed.One)
		}
		if len(v.Mul) == 0 || len(v.Div) == 0 || len(v.Sqrt) == 0 || len(v.Parse) == 0 {
			t.Errorf("%s: an operation without cases", path)
		}
		v.check(t)
		t.Logf("%s: %d cases", filepath.Base(path), len(v.Mul)+len(v.Div)+len(v.Sqrt)+len(v.Parse))
	}
}

func (v *vectorFile) check(t *testing.T) {
	for _, c := range v.Mul {
		x, err := units(t, c.A).Mul(units(t, c.B))
		equal(t, c.A+" · "+c.B, x, err, c.Result)
	}
	for _, c := range v.Div {
		x, err := units(t, c.A).Div(units(t, c.B))
		equal(t, c.A+" / "+c.B, x, err, c.Result)
	}
	for _, c := range v.Sqrt {
		x, err := units(t, c.A).Sqrt()
		equal(t, "sqrt "+c.A, x, err, c.Result)
	}
	for _, c := range v.Parse {
		x, err := fixed.Parse(c.Text)
		equal(t, "parse "+c.Text, x, err, c.Result)
	}
}

func units(t *testing.T, s string) fixed.Fixed {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fixed.Fixed(n)
}

func equal(t *testing.T, what string, got fixed.Fixed, err error, want string) {
	t.Helper()
	s := strconv.FormatInt(int64(got), 10)
	switch {
	case errors.Is(err, fixed.ErrOverflow):
		s = "overflow"
	case errors.Is(err, fixed.ErrDivideByZero):
		s = "divide_by_zero"
	case err != nil:
		s = err.Error()
	}
	if s != want {
		t.Errorf("%s = %s, want %s", what, s, want)
	}
}
