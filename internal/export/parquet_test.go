package export_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/murksim/murksim/internal/export"
)

// readParquet returns the names of the columns and the rows, each value as text.
func readParquet(t *testing.T, b []byte) (f *parquet.File, columns []string, rows [][]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range f.Schema().Columns() {
		columns = append(columns, strings.Join(path, "."))
	}
	for _, group := range f.RowGroups() {
		in := group.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := in.ReadRows(buf)
			for _, row := range buf[:n] {
				var texts []string
				for _, v := range row {
					texts = append(texts, v.String())
				}
				rows = append(rows, texts)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return f, columns, rows
}

func TestParquet(t *testing.T) {
	b, held, what := write(t, all, "parquet", export.Selection{}, export.Look{})
	f, columns, rows := readParquet(t, b)
	if got, want := strings.Join(columns, " "), "tick rank row col heat exact ground wind_0 wind_1"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
	if len(rows) != 36 || what != "36 rows of 9 columns" {
		t.Errorf("%d rows: %s", len(rows), what)
	}
	for i, row := range rows {
		h, rank := held[i/12], i%12
		want := []string{fmt.Sprint(i / 12 * 2), fmt.Sprint(rank), fmt.Sprint(rank / 4), fmt.Sprint(rank % 4),
			fmt.Sprint(float32(h["heat"][rank])), fmt.Sprint(h["exact"][rank]), fmt.Sprint(h["ground"][rank]),
			fmt.Sprint(h["wind"][2*rank]), fmt.Sprint(h["wind"][2*rank+1])}
		if !slices.Equal(row, want) {
			t.Errorf("row %d is %v, want %v", i, row, want)
		}
	}
	for key, want := range map[string]string{"unit.heat": "K", "unit.wind_0": "m/s", "unit.wind_1": "m/s", "unit.tick": "", "values.ground": `["grass","sand"]`} {
		if got, _ := f.Lookup(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestParquetEntities(t *testing.T) {
	b, _, _ := write(t, all, "parquet", export.Selection{Entities: true}, export.Look{})
	_, columns, rows := readParquet(t, b)
	if got, want := strings.Join(columns, " "), "tick id name kind rank row col energy"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
	want := [][]string{
		{"2", "1048577", "", "bee", "5", "1", "1", "0.5"}, {"2", "2097153", "anna", "ant", "11", "2", "3", "7"},
		{"4", "1048577", "", "bee", "5", "1", "1", "0.5"}, {"4", "2097153", "anna", "ant", "11", "2", "3", "7"},
	}
	if fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("rows are %v, want %v", rows, want)
	}
}

// A large table has several groups of rows, so that memory does not grow.
func TestParquetGroups(t *testing.T) {
	const text = "murksim: 1\nname: x\nspace: {kind: square4, rows: 500, cols: 500}\nfields: [{name: a}]\n"
	b, _, _ := write(t, text, "parquet", export.Selection{}, export.Look{})
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n != 3 || f.NumRows() != 750_000 {
		t.Errorf("%d groups of %d rows in all, want 3 of 750000", n, f.NumRows())
	}
}
