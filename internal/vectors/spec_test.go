package vectors_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

var update = flag.Bool("update", false, "rewrite testdata/vectors/spec, and the examples in docs/spec")

// A kit is the vectors of one page of docs/spec, and its examples.
type kit struct {
	files    map[string][]byte // in testdata/vectors/spec
	examples map[string]string // by their names in the page
}

// TestSpec computes the conformance vectors from the engine, and the examples in the pages.
func TestSpec(t *testing.T) {
	for _, p := range []struct {
		page string
		make func(*testing.T) kit
	}{
		{"lattices", latticeKit}, {"random", randomKit}, {"state", stateKit}, {"tick", tickKit}, {"README", runKit},
	} {
		t.Run(p.page, func(t *testing.T) {
			k := p.make(t)
			for name, b := range k.files {
				same(t, filepath.Join("../../testdata/vectors/spec", name), b)
			}
			name := "../../docs/spec/" + p.page + ".md"
			page, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			same(t, name, k.fill(t, page))
		})
	}
}

// same checks that a file has these bytes, or writes them.
func same(t *testing.T, name string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(name)
	switch {
	case *update && !bytes.Equal(got, want):
		err = os.WriteFile(name, want, 0o644)
	case err == nil && !bytes.Equal(got, want):
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("%s differs from byte %d on; if it must, run go test ./internal/vectors -update", name, at)
	}
	if err != nil {
		t.Error(err)
	}
}

var example = regexp.MustCompile(`(?s)<!-- example (\w+) -->\n(.*?)<!-- end -->`)

// fill puts the examples into a page.
func (k *kit) fill(t *testing.T, page []byte) []byte {
	found := 0
	page = example.ReplaceAllFunc(page, func(old []byte) []byte {
		name := string(example.FindSubmatch(old)[1])
		text, ok := k.examples[name]
		if !ok {
			t.Errorf("there is no example %q", name)
		}
		found++
		return fmt.Appendf(nil, "<!-- example %s -->\n```text\n%s\n```\n<!-- end -->", name, strings.TrimRight(text, "\n"))
	})
	if found != len(k.examples) {
		t.Errorf("the page has %d examples, want %d", found, len(k.examples))
	}
	return page
}

// lines is a JSON object of lists; each entry takes a line.
func lines(t *testing.T, names []string, lists ...[]any) []byte {
	t.Helper()
	b := []byte("{\n")
	for i, list := range lists {
		b = fmt.Appendf(b, "%q: [\n", names[i])
		for k, v := range list {
			var one bytes.Buffer
			e := json.NewEncoder(&one)
			e.SetEscapeHTML(false)
			if err := e.Encode(v); err != nil {
				t.Fatal(err)
			}
			b = append(b, bytes.TrimRight(one.Bytes(), "\n")...)
			if k < len(list)-1 {
				b = append(b, ',')
			}
			b = append(b, '\n')
		}
		b = append(b, ']')
		if i < len(lists)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	return append(b, "}\n"...)
}

// described builds a scenario from the keys of its descriptor after "murksim".
func described(t *testing.T, keys string) *scenarios.Scenario {
	t.Helper()
	s, err := worlds.Registry().FromDescriptor([]byte(`{"rules":"murksim@1","murksim":1,"name":"spec",` + keys + `}`))
	if err != nil {
		t.Fatalf("%s: %v", keys, err)
	}
	return s
}
