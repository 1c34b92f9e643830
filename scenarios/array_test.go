package scenarios_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// npy is a file as numpy.save writes it: its header is padded to a multiple of 64 bytes.
func npy(version byte, header string, numbers ...any) []byte {
	b := append([]byte("\x93NUMPY"), version, 0)
	width := 2
	if version > 1 {
		width = 4
	}
	for (len(b)+width+len(header)+1)%64 != 0 {
		header += " "
	}
	header += "\n"
	if width == 2 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	b = append(b, header...)
	for _, v := range numbers {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b
}

func dict(descr, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
}

// sameFromDescriptor holds that a world can be made of the descriptor alone, and returns it.
func sameFromDescriptor(t *testing.T, s *scenarios.Scenario, want string) string {
	t.Helper()
	b := s.Descriptor()
	again, err := scenariotest.FromDescriptor(b)
	if err != nil {
		t.Fatalf("%v, in the descriptor %s", err, b)
	}
	if got := fmt.Sprint(genesis(t, again)); got != want {
		t.Errorf("%s from the descriptor, want %s", got, want)
	}
	return string(b)
}

// TestListedValues holds that a list gives each cell its value, by rank, and that the
// descriptor carries the numbers in the shortest way.
func TestListedValues(t *testing.T) {
	const square = "{kind: square4, rows: 2, cols: 3}"
	for _, tt := range []struct{ space, field, want, element string }{
		{square, "{name: a, initial: [1, 2, 3, 4, 5, 255]}", "[1 2 3 4 5 255]", "u1"},
		{square, "{name: a, initial: [0.5, -0, 3, 4, 5, 6]}", "[0.5 -0 3 4 5 6]", "f4"},
		{square, "{name: a, element: fixed, initial: [1, 2, 3, 4, 5, 1e9]}", "[1 2 3 4 5 1e+09]", "f4"},
		{square, "{name: a, element: fixed, initial: [1, 2, 3, 4, 5, 100000001]}", "[1 2 3 4 5 1.00000001e+08]", "f8"},
		{square, "{name: a, type: categorical, values: [x, y, z], initial: [x, y, z, 2, 0, y]}", "[0 1 2 2 0 1]", "u1"},
		{"{kind: hex, cols: 3, rows: 2}", "{name: a, initial: [1, 2, 3, 4, 5, 6]}", "[1 2 3 4 5 6]", "u1"},
		{"{kind: fcc12, w: 2, h: 2, d: 2}", "{name: a, initial: [1, 2, 3, 4]}", "[1 2 3 4]", "u1"},
		{"{kind: ring, length: 2}", "{name: a, type: vector(2), initial: [[1, 2], [3, 4]]}", "[1 2 3 4]", "u1"},
		{"{kind: line, length: 1}", "{name: a, initial: [7]}", "[7]", "u1"},
	} {
		s := parse(t, "", tt.space, tt.field)
		if got := fmt.Sprint(genesis(t, s)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.field, got, tt.want)
		}
		if b := sameFromDescriptor(t, s, tt.want); !strings.Contains(b, `"initial":[{"array":{"element":"`+tt.element+`","numbers":"`) {
			t.Errorf("%s: the descriptor is %s, want an array of %s", tt.field, b, tt.element)
		}
	}
	for _, tt := range []struct{ field, want string }{
		{"{name: a, initial: [1, 2, 3]}", `4:29: 3 values are listed for field "a"; square4 2×3 absorb has 6 cells`},
		{"{name: a, initial: [1, 2, 3, x, 5, 6]}", "4:39: x is not a number"},
		{"{name: a, initial: [1, 2, 3, {fill: 1}, 5, 6]}", "4:39: a mapping is not a number"},
		{"{name: a, min: 0, max: 5, initial: [1, 2, 3, 4, 5, 6]}", `4:61: 6 is above the maximum of "a", 5`},
		{"{name: a, type: categorical, values: [x], initial: [x, x, x, y, x, x]}", `4:71: field "a" has no value "y"`},
		{"{name: a, type: vector(2), initial: [[1, 2], 3, 4, 5, 6, 7]}", "4:55: 3 stands where a list of 2 components belongs"},
		{"{name: a, domain: entities, initial: [1, 2, 3, 4, 5, 6]}", "4:47: an attribute of entities has one initial value for all"},
		{"{name: a, initial: {array: {element: f4, numbers: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA}}}", "4:47: the numbers are stored as f4; u1 holds them"},
		{"{name: a, initial: {array: {element: u1, numbers: AAAA}}}", "4:60: numbers have 3 bytes; 6 of u1 need 6"},
		{"{name: a, initial: {array: {element: u1, numbers: \"????\"}}}", "4:60: numbers are not base64"},
		{"{name: a, min: 1, max: 2, initial: {array: {element: u1, numbers: AQEBAQAB}}}", `4:76: at [1, 1]: 0 is below the minimum of "a", 1`},
		{"{name: a, initial: {rect: {from: [0, 0], to: [0, 0]}, array: {element: u1, numbers: AQEBAQAB}}}", "4:29: an array has a number for every cell, and no region"},
	} {
		_, err := scenariotest.Parse("a.yaml", fmt.Sprintf("murksim: 1\nname: a\nspace: %s\nfields: [%s]\n", square, tt.field))
		if err == nil || !strings.HasPrefix(err.Error(), "a.yaml:"+tt.want) {
			t.Errorf("%s: %v, want a.yaml:%s", tt.field, err, tt.want)
		}
	}
}

// TestNumPyFiles reads arrays of every type and order that is taken, and holds that the
// descriptor needs no file.
func TestNumPyFiles(t *testing.T) {
	dir := t.TempDir()
	const square, order = "{kind: square4, rows: 2, cols: 3}", "[1 2 3 4 5 6]"
	f4, f8 := []float32{1, 2, 3, 4, 5, 6}, []float64{1, 2, 3, 4, 5, 6}
	for i, tt := range []struct {
		space, field string
		file         []byte
		want         string
	}{
		{square, "", npy(1, dict("<f4", "False", "(2, 3)"), f4), order},
		{square, "", npy(2, dict("<f8", "False", "(2, 3)"), f8), order},
		{square, "", npy(3, dict("<f8", "False", "(6,)"), f8), order},
		{square, "", npy(1, "{'shape': (2,3), 'fortran_order': False, 'descr': '<f8'}", f8), order},
		{square, "", npy(1, dict("<f8", "True", "(2, 3)"), f8), "[1 3 5 2 4 6]"},
		{square, "", npy(1, dict("|b1", "False", "(2, 3)"), []bool{true, false, true, true, false, false}), "[1 0 1 1 0 0]"},
		{square, "", npy(1, dict("|i1", "False", "(2, 3)"), []int8{-1, 2, 3, 4, 5, -128}), "[-1 2 3 4 5 -128]"},
		{square, "", npy(1, dict("|u1", "False", "(2, 3)"), []uint8{1, 2, 3, 4, 5, 255}), "[1 2 3 4 5 255]"},
		{square, "", npy(1, dict("<i2", "False", "(2, 3)"), []int16{-1, 2, 3, 4, 5, 600}), "[-1 2 3 4 5 600]"},
		{square, "", npy(1, dict("<u2", "False", "(2, 3)"), []uint16{1, 2, 3, 4, 5, 65535}), "[1 2 3 4 5 65535]"},
		{square, "", npy(1, dict("<i4", "False", "(2, 3)"), []int32{-1, 2, 3, 4, 5, -1 << 20}), "[-1 2 3 4 5 -1.048576e+06]"},
		{square, "", npy(1, dict("<u4", "False", "(2, 3)"), []uint32{1, 2, 3, 4, 5, 1 << 31}), "[1 2 3 4 5 2.147483648e+09]"},
		{square, "", npy(1, dict("<i8", "False", "(2, 3)"), []int64{-1, 2, 3, 4, 5, -1 << 40}), "[-1 2 3 4 5 -1.099511627776e+12]"},
		{square, "", npy(1, dict("<u8", "False", "(2, 3)"), []uint64{1, 2, 3, 4, 5, 1 << 40}), "[1 2 3 4 5 1.099511627776e+12]"},
		{square, ", type: categorical, values: [x, y, z]", npy(1, dict("<i8", "False", "(2, 3)"), []int64{0, 1, 2, 2, 1, 0}), "[0 1 2 2 1 0]"},
		{"{kind: hex, cols: 3, rows: 2}", "", npy(1, dict("<f8", "False", "(2, 3)"), f8), order},
		{"{kind: fcc12, w: 2, h: 2, d: 3}", "", npy(1, dict("<f8", "False", "(6,)"), f8), order},
		{"{kind: ring, length: 3}", ", type: vector(2)", npy(1, dict("<f8", "False", "(3, 2)"), f8), order},
		{"{kind: ring, length: 3}", ", type: vector(2)", npy(1, dict("<f8", "True", "(3, 2)"), f8), "[1 4 2 5 3 6]"},
		{"{kind: square8, rows: 1, cols: 3}", ", type: vector(2)", npy(1, dict("<f8", "False", "(1, 3, 2)"), f8), order},
		{"{kind: square8, rows: 3, cols: 1}", ", type: vector(2)", npy(1, dict("<f8", "True", "(3, 1, 2)"), f8), "[1 4 2 5 3 6]"},
		{"{kind: ring, length: 6}", ", type: vector(1)", npy(1, dict("<f8", "False", "(6, 1)"), f8), order},
	} {
		name := fmt.Sprintf("%d.npy", i)
		if err := os.WriteFile(filepath.Join(dir, name), tt.file, 0o644); err != nil {
			t.Fatal(err)
		}
		s := parse(t, dir, tt.space, "{name: a"+tt.field+", initial: {npy: {file: "+name+"}}}")
		if got := fmt.Sprint(genesis(t, s)); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.file, got, tt.want)
		}
		if b := sameFromDescriptor(t, s, tt.want); strings.Contains(b, "npy") || strings.Contains(b, "file") {
			t.Errorf("%q: the descriptor %s names a file", tt.file, b)
		}
	}
}

// TestNumPyErrors holds that any other file is refused where it is named.
func TestNumPyErrors(t *testing.T) {
	dir := t.TempDir()
	f8 := []float64{1, 2, 3, 4, 5, 6}
	good := dict("<f8", "False", "(2, 3)")
	for i, tt := range []struct {
		field string
		file  []byte
		want  string
	}{
		{"", []byte("\x89PNG\r\n\x1a\n"), "is not a NumPy file (.npy)"},
		{"", []byte("\x93NUMPY"), "is not a NumPy file (.npy)"},
		{"", append([]byte("\x93NUMPY"), 4, 0, 0, 0, 0, 0), "is of version 4.0 of the format"},
		{"", append([]byte("\x93NUMPY"), 1, 0, 9), "ends in its header"},
		{"", append([]byte("\x93NUMPY"), 2, 0, 255, 255, 255, 255), "ends in its header"},
		{"", npy(2, good+strings.Repeat(" ", 1<<16), f8), "has a header of 65"},
		{"", npy(1, ""), "the header of the NumPy file is not a dictionary"},
		{"", npy(1, "{}"), "must have the keys descr, fortran_order and shape, each once"},
		{"", npy(1, strings.Replace(good, "'shape'", "'form'", 1), f8), "must have the keys"},
		{"", npy(1, strings.Replace(good, "'shape'", "'descr': '<f8', 'shape'", 1), f8), "each once"},
		{"", npy(1, strings.Replace(good, "False", "0", 1), f8), "must have the keys"},
		{"", npy(1, strings.Replace(good, "False,", "False", 1), f8), "lacks a comma"},
		{"", npy(1, strings.Replace(good, "(2, 3)", "[2, 3]", 1), f8), "must have the keys"},
		{"", npy(1, strings.Replace(good, "(2, 3)", "(6)", 1), f8), "must have the keys"},
		{"", npy(1, strings.Replace(good, "'<f8'", "[('a', '<f8')]", 1), f8), "for numbers of one type"},
		{"", npy(1, dict(">f8", "False", "(2, 3)"), f8), `its numbers are ">f8"; <f4, <f8`},
		{"", npy(1, dict("|O", "False", "(2, 3)"), f8), `its numbers are "|O"`},
		{"", npy(1, dict("<f2", "False", "(2, 3)"), f8), `its numbers are "<f2"`},
		{"", npy(1, dict("<f8", "False", "(3, 2)"), f8), "has the shape (3, 2); needed are 2 rows and 3 columns, or 6 cells by rank"},
		{"", npy(1, dict("<f8", "False", "()"), 1.0), "has the shape ()"},
		{"", npy(1, dict("<f8", "False", "(2, 9999999999)"), f8), "has the shape (2, "},
		{"", npy(1, dict("<f8", "False", "(2, 3, 1)"), f8), "has the shape (2, 3, 1)"},
		{", type: vector(2)", npy(1, good, f8), "needed are 2 rows and 3 columns, or 6 cells by rank, and 2 components at the end"},
		{"", npy(1, good, f8[:5]), "has 40 bytes of numbers; 6 of <f8 need 48"},
		{"", npy(1, good, f8, true), "has 49 bytes of numbers; 6 of <f8 need 48"},
		{"", npy(1, good, f8[:5], math.NaN()), "at [1, 2]: NaN is not finite"},
		{"", npy(1, good, f8[:4], math.Inf(1), 1.0), "at [1, 1]: +Inf is not finite"},
		{"", npy(1, good, f8[:5], 1e300), "is more than field \"a\" can hold (float32)"},
		{", min: 1, max: 5", npy(1, good, f8), `at [1, 2]: 6 is above the maximum of "a", 5`},
		{"", npy(1, dict("<i8", "False", "(6,)"), []int64{1, 2, 3, 1<<53 + 1, 5, 6}), "at [1, 0]: 9007199254740993 is beyond 2^53"},
		{"", npy(1, dict("<u8", "False", "(6,)"), []uint64{1, 2, 3, math.MaxUint64, 5, 6}), "at [1, 0]: 18446744073709551615 is beyond 2^53"},
		{"", npy(1, dict("|b1", "False", "(6,)"), []uint8{1, 0, 0, 0, 2, 0}), "at [1, 1]: 2 is neither true nor false"},
		{", type: categorical, values: [x, y]", npy(1, good, []float64{0, 1, 0.5, 0, 0, 0}), `at [0, 2]: 0.5 is not one of the 2 values of "a"`},
		{", type: categorical, values: [x, y]", npy(1, good, []float64{0, 1, 2, 0, 0, 0}), `at [0, 2]: 2 is not one of the 2 values of "a"`},
		{", domain: entities", npy(1, good, f8), "an attribute of entities has one initial value for all"},
	} {
		name := fmt.Sprintf("%d.npy", i)
		if err := os.WriteFile(filepath.Join(dir, name), tt.file, 0o644); err != nil {
			t.Fatal(err)
		}
		text := "murksim: 1\nname: a\nspace: {kind: square4, rows: 2, cols: 3}\nfields:\n  - name: a\n    initial: {npy: {file: " + name + "}}\n"
		for part := range strings.SplitSeq(strings.TrimPrefix(tt.field, ", "), ", ") {
			if part != "" {
				text = strings.Replace(text, "    initial", "    "+part+"\n    initial", 1)
			}
		}
		text = strings.ReplaceAll(text, "[x\n    y]", "[x, y]")
		_, err := yaml.Parse(worlds.Registry(), "a.yaml", os.DirFS(dir), []byte(text))
		if err == nil || !strings.Contains(err.Error(), ":27: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q%s: %v, want column 27 and %s", tt.file, tt.field, err, tt.want)
		}
	}
	_, err := scenariotest.Parse("a.yaml", "murksim: 1\nname: a\nspace: {kind: ring, length: 3}\nfields: [{name: a, initial: {npy: a.npy}}]\n")
	if err == nil || !strings.HasPrefix(err.Error(), "a.yaml:4:35: ") || !strings.HasSuffix(err.Error(), `write "npy: {file: NAME.npy}"`) {
		t.Errorf("a file without its key: %v, want a.yaml:4:35: … write \"npy: {file: NAME.npy}\"", err)
	}
	for file, want := range map[string]string{"none.npy": "no such file", "../x.npy": "leads out of the scenario's folder"} {
		_, err := yaml.Parse(worlds.Registry(), "a.yaml", os.DirFS(dir), []byte("murksim: 1\nname: a\nspace: {kind: ring, length: 3}\nfields: [{name: a, initial: {npy: {file: "+file+"}}}]\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "a.yaml:4:42: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a.yaml:4:42: … %s", file, err, want)
		}
	}
}

// FuzzNumPy holds that no file makes the reader panic, and that what it takes survives a
// descriptor.
func FuzzNumPy(f *testing.F) {
	f.Add(npy(1, dict("<f8", "False", "(2, 3)"), []float64{1, 2, 3, 4, 5, 6}))
	f.Add(npy(2, dict("<i4", "True", "(2, 3)"), []int32{-1, 2, 3, 4, 5, 6}))
	f.Add(npy(3, dict("|b1", "False", "(6,)"), []uint8{0, 1, 1, 0, 1, 0}))
	f.Fuzz(func(t *testing.T, b []byte) {
		const text = "murksim: 1\nname: a\nspace: {kind: square4, rows: 2, cols: 3}\nfields: [{name: a, initial: {npy: {file: a.npy}}}]\n"
		s, err := yaml.Parse(worlds.Registry(), "a.yaml", fstest.MapFS{"a.npy": {Data: b}}, []byte(text))
		if err == nil {
			sameFromDescriptor(t, s, fmt.Sprint(genesis(t, s)))
		}
	})
}

// TestArrayCanonical holds that a descriptor with a list, or a file, instead of an array
// is refused.
func TestArrayCanonical(t *testing.T) {
	s := parse(t, "", "{kind: ring, length: 3}", "{name: a, initial: [1, 2, 3]}")
	const array = `[{"array":{"element":"u1","numbers":"AQID"}}]`
	b := string(s.Descriptor())
	if !strings.Contains(b, array) {
		t.Fatalf("the descriptor is %s, want %s in it", b, array)
	}
	if _, err := scenariotest.FromDescriptor([]byte(strings.Replace(b, array, "[1,2,3]", 1))); !errors.Is(err, scenarios.ErrNotCanonical) {
		t.Errorf("a list in a descriptor: %v, want ErrNotCanonical", err)
	}
	if _, err := scenariotest.FromDescriptor([]byte(strings.Replace(b, array, `[{"npy":{"file":"a.npy"}}]`, 1))); err == nil {
		t.Error("a descriptor that names a file is taken, want an error")
	}
}

// A NumPy file that takes more memory than the world may take is refused before it takes it.
func TestNumPyAsksForMemoryFirst(t *testing.T) {
	dir := t.TempDir()
	file := npy(1, dict("|b1", "False", "(3000, 3000)"), make([]byte, 9_000_000))
	if err := os.WriteFile(filepath.Join(dir, "a.npy"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	text := "murksim: 1\nname: a\nspace: {kind: square4, rows: 3000, cols: 3000}\nfields: [{name: a, initial: {npy: {file: a.npy}}}]\n"
	read := func(memory uint64) (grown uint64, err error) {
		grown = allocated(func() {
			_, err = yaml.Parse(worlds.Registry().Within(memory), "a.yaml", files(dir), []byte(text))
		})
		return grown, err
	}
	grown, err := read(16 << 20)
	want := "a.yaml:4:42: a.npy: reading its 9,000,000 numbers takes about 60,000,000 bytes of memory; the limit is 16,777,216\n"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Parse = %v, want %s", err, want)
	}
	if most := uint64(6 * len(file)); grown > most { // a file is read into a slice that grows
		t.Errorf("%d KiB allocated before the refusal, want %d KiB at most", grown>>10, most>>10)
	}
	if grown, err = read(60_000_000); err != nil || grown > 90_000_000 {
		t.Errorf("with room enough %d KiB are allocated, %v", grown>>10, err)
	}
}

// Layers that name one NumPy file read it once; each field looks at its numbers for itself.
func TestNumPyOfManyLayersIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a.npy", npy(1, dict("|u1", "False", "(1000, 1000)"), make([]byte, 1_000_000)))
	const head = "murksim: 1\nname: a\nspace: {kind: square4, rows: 1000, cols: 1000}\nfields:\n"
	read := func(layers, fields int) (grown uint64) {
		text := head
		for i := range fields {
			text += fmt.Sprintf("  - {name: a%d, initial: [%s]}\n", i, strings.Repeat("{npy: {file: a.npy}}, ", layers))
		}
		return allocated(func() {
			if _, err := yaml.Parse(worlds.Registry(), "a.yaml", files(dir), []byte(text)); err != nil {
				t.Error(err)
			}
		})
	}
	if one, all := read(1, 1), read(4, 3); all > one+one/4 {
		t.Errorf("12 layers allocate %d KiB, one %d KiB", all>>10, one>>10)
	}
	write("b.npy", npy(1, dict("|u1", "False", "(3,)"), []byte{1, 2, 3}))
	const two = "murksim: 1\nname: a\nspace: {kind: line, length: 3}\nfields:\n" +
		"  - {name: a, initial: {npy: {file: b.npy}}}\n  - {name: b, max: 2, initial: {npy: {file: ./b.npy}}}\n"
	_, err := yaml.Parse(worlds.Registry(), "a.yaml", files(dir), []byte(two))
	if want := "a.yaml:6:45: ./b.npy: at [2]: 3 is above the maximum of \"b\", 2\n"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Parse = %v, want %s", err, want)
	}
}
