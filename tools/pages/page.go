package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/murksim/murksim/fields"
)

// width is how long a line of prose may be.
const width = 120

// page is the page of a propagator: as it is but for its table, or else a whole one.
func (x *exhibit) page(root string) (file, error) {
	f := file{path: "docs/propagators/" + x.Name + ".md"}
	table := pageTable(keysOf(&x.Component), x.access())
	old, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.path)))
	if err == nil {
		f.text, err = replaceTable(string(old), "## Parameters", table)
		return f, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	formula, err := x.formula(root)
	if err != nil {
		return f, err
	}
	sample, err := x.goSample()
	if err != nil {
		return f, err
	}
	stability := "No limit.\n"
	if x.maxDt > 0 {
		stability = "A step that is too long for the formula is refused: murksim names a `tick_rate` that works.\n"
		if x.Lower != "" {
			stability = fmt.Sprintf("A step that is too long for `%s` is refused: murksim names a `tick_rate` that works.\n", x.Lower)
		}
	}
	_, source, _ := strings.Cut(string(x.world.Source), "\nmurksim:") // without the comment for editors
	if !strings.HasPrefix(string(x.world.Source), "murksim:") {
		source = "murksim:" + source
	} else {
		source = string(x.world.Source)
	}
	run := fmt.Sprintf("`murksim run %s` runs the world of the picture, [%s.yaml](../../scenarios/worlds/propagators/%s.yaml).", x.Name, x.Name, x.Name)
	f.text = "# " + x.Name + "\n\n" + wrap(x.About) +
		fmt.Sprintf("\n![%s](%s.png)\n\n", strings.TrimSuffix(x.about, "."), x.Name) + wrap(run) +
		"\n## Formula\n\n" + formula +
		"\n## Parameters\n\n" + table +
		"\n## Stability\n\n" + wrap(stability) +
		"\n## In a scenario\n\n```yaml\n" + source + "```\n" +
		"\n## In Go\n\n```go\n" + sample + "```\n"
	return f, nil
}

// formula is the doc comment of the propagator's Go type.
func (x *exhibit) formula(root string) (string, error) {
	t := reflect.TypeOf(x.made)
	_, dir, ok := strings.Cut(t.PkgPath(), "/murksim/murksim/")
	if !ok {
		return "", fmt.Errorf("%v is of another module", t)
	}
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return "", err
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if ok && g.Doc != nil && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == t.Name() {
				return markdown(g.Doc.Text()), nil
			}
		}
	}
	return "", fmt.Errorf("%v has no doc comment with its formula", t)
}

// markdown is a doc comment in Markdown, with fences around what is indented.
func markdown(text string) string {
	doc := new(comment.Parser).Parse(text)
	var parts []string
	for _, b := range doc.Content {
		if code, ok := b.(*comment.Code); ok {
			parts = append(parts, "```text\n"+code.Text+"```\n")
			continue
		}
		p := comment.Printer{DocLinkURL: func(*comment.DocLink) string { return "" }}
		text := string(p.Markdown(&comment.Doc{Content: []comment.Block{b}}))
		if _, ok := b.(*comment.Paragraph); ok {
			text = wrap(text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

// goSample declares the propagator as the scenario has it, with a constant for each
// field that it uses.
func (x *exhibit) goSample() (string, error) {
	v := reflect.ValueOf(x.made)
	var b bytes.Buffer
	var members []string
	used := map[fields.ID]bool{}
	for i := range v.NumField() {
		f := v.Field(i)
		name := v.Type().Field(i).Name
		if name == "Name" || !v.Type().Field(i).IsExported() {
			continue
		}
		switch id := f.Interface().(type) {
		case fields.ID:
			used[id] = true
			members = append(members, fmt.Sprintf("%s: %s", name, x.names[id]))
			continue
		case *fields.ID:
			if id != nil {
				used[*id] = true
				members = append(members, fmt.Sprintf("%s: new(%s)", name, x.names[*id]))
			}
			continue
		}
		if f.Kind() == reflect.Pointer && !f.IsNil() {
			members = append(members, fmt.Sprintf("%s: new(%#v)", name, f.Elem().Interface()))
		} else if !f.IsZero() {
			members = append(members, fmt.Sprintf("%s: %#v", name, f.Interface()))
		}
	}
	for id, name := range x.names {
		if used[fields.ID(id)] {
			fmt.Fprintf(&b, "const %s fields.ID = %d\n", name, id)
		}
	}
	fmt.Fprintf(&b, "\nvar %s = %s{\n", strings.ToLower(x.Name[:1])+camel(x.Name)[1:], v.Type())
	for _, m := range members {
		fmt.Fprintf(&b, "%s,\n", m)
	}
	b.WriteString("}\n")
	text, err := format.Source(b.Bytes())
	return string(text), err
}

// camel writes a kind as Go does: grayScott for gray_scott.
func camel(kind string) string {
	words := strings.Split(kind, "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// wrap breaks a paragraph into lines.
func wrap(text string) string {
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(text) {
		switch l := len([]rune(word)); {
		case n == 0:
			n = l
		case n+1+l > width:
			b.WriteByte('\n')
			n = l
		default:
			b.WriteByte(' ')
			n += 1 + l
		}
		b.WriteString(word)
	}
	return b.String() + "\n"
}
