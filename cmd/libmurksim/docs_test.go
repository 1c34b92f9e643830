package main_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/LIBMURKSIM.md")

// The page has each function, type and number of the header, with its comment.
func TestPage(t *testing.T) {
	const path = "../../docs/LIBMURKSIM.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile("murksim.h")
	if err != nil {
		t.Fatal(err)
	}
	const mark = "-update -->\n"
	intro, _, found := strings.Cut(string(page), mark)
	if !found {
		t.Fatalf("%s has no line that ends with %q", path, mark)
	}
	want := intro + mark + describe(t, string(header))
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the header says; go test ./cmd/libmurksim -update writes it", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

var (
	item = regexp.MustCompile(`(?s)^(.*?) \*/\n(.*)`)
	name = regexp.MustCompile(`^typedef struct \{[^}]*\} (\w+);|^typedef .*?\(\*(\w+)\)\(|^\w+ (murksim_\w+)\(|(\w+);|define (\w+)`)
)

// describe makes sections of the comments of a header and of what stands below each.
func describe(t *testing.T, header string) string {
	var b strings.Builder
	b.WriteString("\n## Types\n")
	functions := 0
	for _, text := range strings.Split(header, "\n/* ")[1:] {
		m := item.FindStringSubmatch(text)
		comment, code := strings.Join(strings.Fields(m[1]), " "), strings.TrimSpace(m[2])
		if title, ok := strings.CutPrefix(comment, "== "); ok {
			fmt.Fprintf(&b, "\n## %s\n", title)
			continue
		}
		code, _, _ = strings.Cut(code, "\n\n#ifdef __cplusplus")
		found := name.FindStringSubmatch(code)
		if found == nil {
			t.Fatalf("what is this? %s", code)
		}
		if found[3] != "" {
			functions++
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\n```c\n%s\n```\n", strings.Join(found[1:], ""), comment, code)
	}
	if functions < 24 {
		t.Errorf("found %d functions; want more", functions)
	}
	return b.String()
}
