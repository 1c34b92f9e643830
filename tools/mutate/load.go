package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// loaded are the packages to change.
type loaded struct {
	module   string // path
	packages []*pkg
}

// A pkg is a package, parsed and checked without its tests.
type pkg struct {
	path    string // import path
	below   string // the same, below the module; "." for its root
	fset    *token.FileSet
	files   []*ast.File
	paths   []string // of the files, absolute
	names   []string // of the files, below the module
	sources [][]byte
	types   *types.Package
	info    *types.Info
	sizes   types.Sizes
	imports map[string]*packages.Package
	version string // of the language
}

// load loads the packages that the patterns name.
func load(patterns []string) (*loaded, error) {
	list, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule}, patterns...)
	if err != nil {
		return nil, err
	}
	l := new(loaded)
	for _, p := range list {
		for _, e := range p.Errors {
			return nil, e
		}
		if p.Module == nil {
			return nil, fmt.Errorf("%s belongs to no module", p.PkgPath)
		}
		l.module = p.Module.Path
		q := &pkg{
			path: p.PkgPath, fset: p.Fset, files: p.Syntax, paths: p.CompiledGoFiles, types: p.Types, info: p.TypesInfo, sizes: p.TypesSizes,
			imports: p.Imports, version: "go" + p.Module.GoVersion,
		}
		q.below = strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, p.Module.Path), "/")
		for _, path := range q.paths {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(p.Module.Dir, path)
			if err != nil {
				return nil, err
			}
			q.sources, q.names = append(q.sources, b), append(q.names, filepath.ToSlash(name))
		}
		l.packages = append(l.packages, q)
	}
	if len(l.packages) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	return l, nil
}

// Import implements [types.Importer] with what the package imports unchanged.
func (p *pkg) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if q := p.imports[path]; q != nil {
		return q.Types, nil
	}
	return nil, errors.New("not imported before the change")
}

// compiles reports whether the package with the change passes the type checker.
func (c *change) compiles() bool {
	p := c.pkg
	file, err := parser.ParseFile(p.fset, p.paths[c.index], c.source(), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := append([]*ast.File(nil), p.files...)
	files[c.index] = file
	check := types.Config{Importer: p, Sizes: p.sizes, GoVersion: p.version}
	_, err = check.Check(p.path, p.fset, files, nil)
	return err == nil
}
