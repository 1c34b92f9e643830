package yaml

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// Load reads a scenario from a file; files that it names are looked for in its
// [Folder]. Sets are those of [Parse].
func Load(r *scenarios.Registry, path string, sets ...string) (*scenarios.Scenario, error) {
	t, err := LoadTemplate(r, path)
	if err != nil {
		return nil, err
	}
	return t.With(sets...)
}

// LoadTemplate is [Load] for several scenarios of one file.
func LoadTemplate(r *scenarios.Registry, path string) (*Template, error) {
	//detcheck:allow environment a scenario is an input, read before its world is built
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := document.ReadAll(path, f)
	if err != nil {
		return nil, err
	}
	return NewTemplate(r, path, Folder(filepath.Dir(path)), b)
}

// A Folder has the files of a folder and of those below it. Links out of it are not
// followed, and what is not a regular file is not opened.
type Folder string

// Open implements [fs.FS].
func (dir Folder) Open(name string) (fs.File, error) {
	//detcheck:allow environment the images that a scenario names are inputs, too
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := root.FS()
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would block until something writes to it
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("is not a regular file")}
	}
	return files.Open(name)
}

// Parse reads a scenario that may name the components of a registry. Name stands in
// errors; files has the files that the scenario names, and may be nil if it may name
// none.
//
// Each of sets is "path=value": it replaces a value of a scenario that is right by
// itself, as in "space.rows=64" or "propagators.diffusion.rate=0.4".
func Parse(r *scenarios.Registry, name string, files fs.FS, text []byte, sets ...string) (*scenarios.Scenario, error) {
	t, err := NewTemplate(r, name, files, text)
	if err != nil {
		return nil, err
	}
	return t.With(sets...)
}

// A Template makes scenarios of one text that differ in some values. The text is parsed once.
// Several goroutines may use it.
type Template struct {
	registry *scenarios.Registry
	src      *document.Source
	root     *document.Node // of the text as it stands; never changed
	own      *scenarios.Scenario
}

// NewTemplate reads a scenario as [Parse] does, which must be right by itself.
func NewTemplate(r *scenarios.Registry, name string, files fs.FS, text []byte) (*Template, error) {
	t := &Template{registry: r, src: &document.Source{Name: name, Text: string(text), Files: files}}
	var err error
	if t.root, err = parse(t.src); err != nil {
		return nil, err
	}
	t.own, err = r.Decode(t.root)
	return t, err
}

// With returns the scenario with values replaced by sets, which are those of [Parse]. Without
// any, each call returns the same scenario, which must not be changed.
func (t *Template) With(sets ...string) (*scenarios.Scenario, error) {
	s := t.own
	if len(sets) > 0 {
		var root *document.Node
		var err error
		if s, root, err = t.read(sets); err != nil {
			return nil, t.blame(t.lead(err), sets)
		}
		t.keepHashes(s, root)
	}
	if err := s.CheckCommands(); err != nil {
		return nil, t.blame(err, sets)
	}
	return s, nil
}

// Twice looks for two of some paths of sets that lead to one value, such as propagators.diffusion.rate and propagators.0.diffusion.rate. It
// returns their places; ok is false if there are none.
func (t *Template) Twice(paths []string) (i, k int, ok bool) {
	places := make([]**document.Node, len(paths))
	for k, path := range paths {
		arg := &document.Node{Source: &document.Source{Name: setName, Text: path}, Line: 1, Col: 1, Raw: path}
		_, place, err := find(t.root, path, arg)
		if err != nil || place == nil { // which is said where a set with the path is carried out
			continue
		}
		if i := slices.Index(places[:k], place); i >= 0 {
			return i, k, true
		}
		places[k] = place
	}
	return 0, 0, false
}

// read makes a scenario of the text after some sets.
func (t *Template) read(sets []string) (*scenarios.Scenario, *document.Node, error) {
	root := t.root.Clone()
	for _, set := range sets {
		if err := applySet(root, set); err != nil {
			return nil, nil, err
		}
	}
	s, err := t.registry.Decode(root)
	return s, root, err
}

// blame names the sets without which a document that is right by itself would have
// stayed so: those that each cause the error, or all.
func (t *Template) blame(err error, sets []string) error {
	e, ok := errors.AsType[*document.Error](err)
	if !ok || e.File == setName || len(sets) == 0 {
		return err
	}
	var causes, all []string
	for i, set := range sets {
		all = append(all, setName+" "+document.Shorten(set))
		s, _, err := t.read(slices.Concat(sets[:i], sets[i+1:]))
		if err == nil && s.CheckCommands() == nil {
			causes = append(causes, all[i])
		}
	}
	if causes == nil {
		causes = all
	}
	e.Msg += fmt.Sprintf(" (with %s)", strings.Join(causes, " "))
	return e
}

// lead adds to the error of a set whose path is one key that the scenario does not have where
// in the scenario that key is.
func (t *Template) lead(err error) error {
	e, ok := errors.AsType[*document.Error](err)
	if !ok || e.File != setName || e.Col != 1 || !strings.HasPrefix(e.Msg, "unknown key ") {
		return err
	}
	_, set, _ := strings.Cut(e.Excerpt, "| ")
	key, _, _ := strings.Cut(set, "=")
	if strings.Contains(key, ".") {
		return err
	}
	const most = 3
	if found := paths(t.root, key, "", nil); len(found) > 0 {
		e.Hint = "write " + document.Alternatives(found[:min(len(found), most)])
		if len(found) > most {
			e.Hint += fmt.Sprintf(", or another of %d", len(found))
		}
	}
	return e
}

// keepHashes keeps the hashes and digests that the document expects at its end where they
// belong when the number of ticks has been replaced.
func (t *Template) keepHashes(s *scenarios.Scenario, root *document.Node) {
	for i := range s.Expect {
		e := &s.Expect[i]
		if (e.Hash != "" || e.Digest != "") && e.Tick == 0 && s.Ticks != t.own.Ticks && root.Get("expect").Kids[i].Source == t.src {
			e.Tick = t.own.Ticks
		}
	}
}
