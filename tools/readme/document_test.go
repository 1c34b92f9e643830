package readme_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// A block is a fenced sample of a document.
type block struct {
	lang string
	body string // the lines between the fences, each with its line end
	at   int    // line of the opening fence in the document, 1 the first
}

// A document is its text between blocks, and the blocks: texts[i] stands before
// blocks[i], fences included, and the last text after the last block.
type document struct {
	name   string
	texts  []string
	blocks []block
}

func read(t *testing.T, name string) *document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	d := &document{name: name}
	var text, body strings.Builder
	inside := false
	for i, line := range strings.SplitAfter(string(b), "\n") {
		switch lang, fence := strings.CutPrefix(line, "```"); {
		case fence && !inside:
			text.WriteString(line)
			d.texts = append(d.texts, text.String())
			d.blocks = append(d.blocks, block{lang: strings.TrimSpace(lang), at: i + 1})
			text.Reset()
			inside = true
		case fence:
			d.blocks[len(d.blocks)-1].body = body.String()
			body.Reset()
			text.WriteString(line)
			inside = false
		case inside:
			body.WriteString(line)
		default:
			text.WriteString(line)
		}
	}
	if inside {
		t.Fatalf("%s: the fence in line %d is not closed", name, d.blocks[len(d.blocks)-1].at)
	}
	d.texts = append(d.texts, text.String())
	return d
}

// prose is the document without its blocks.
func (d *document) prose() string { return strings.Join(d.texts, "") }

func (d *document) String() string {
	var b strings.Builder
	for i := range d.blocks {
		b.WriteString(d.texts[i])
		b.WriteString(d.blocks[i].body)
	}
	b.WriteString(d.texts[len(d.blocks)])
	return b.String()
}
