package foreign

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestPage holds that the page in the docs names every type of propagators and every
// key, and that its sample is a world.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/FOREIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, name := range typeNames {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page has no propagator %s", name)
		}
		if paramsOf(name) == nil {
			t.Errorf("there are no parameters of %s", name)
			continue
		}
		wantKeys(t, page, reflect.TypeOf(paramsOf(name)).Elem())
	}
	for _, v := range []any{File{}, Space{}, Field{}, Step{}, Command{}} {
		wantKeys(t, page, reflect.TypeOf(v))
	}
	_, sample, _ := strings.Cut(page, "```json\n")
	sample, _, _ = strings.Cut(sample, "```")
	f, err := Parse("sample", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.world(2, 1<<24); err != nil {
		t.Error(err)
	}
}

// wantKeys looks for the keys of a struct that the reader looks at.
func wantKeys(t *testing.T, page string, typ reflect.Type) {
	t.Helper()
	for i := range typ.NumField() {
		f := typ.Field(i)
		key, ok := f.Tag.Lookup("json")
		if !ok || f.Type == reflect.TypeFor[remark]() {
			continue
		}
		if !strings.Contains(page, "`"+key+"`") && !strings.Contains(page, `"`+key+`"`) {
			t.Errorf("the page has no key %s of %s", key, typ)
		}
	}
}
