package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/murksim/murksim/tools/detcheck/rules"
)

const ours = "github.com/murksim/murksim/"

// contexts are the parameters by which a function shows that worlds call it: what it does
// is a part of a tick, or of how a world is built.
var contexts = []string{
	"*" + ours + "engine.Context", "*" + ours + "engine.SystemContext", "*" + ours + "engine.HandlerContext", "*" + ours + "scenarios.Builder",
}

// A unit is a piece of code that is on the state path as a whole or not at all: a function,
// a function literal, or the declaration of a variable, constant or type.
type unit struct {
	node    ast.Node
	pkg     *packages.Package
	reached bool
}

// A statePath is the code that decides bits of a world's state: what engine calls of a
// module, and everything that this uses in turn. Packages are loaded one by one, so the same
// function is another object in each of them; units are found by names.
type statePath struct {
	named   map[string][]*unit // by key of the object
	methods map[string][]*unit // by name and signature, for calls through interfaces
	values  map[string][]*unit // functions used as values, by signature, for calls of values
	starts  []*unit            // functions named init
	used    map[string]bool    // package variables, by key
	open    []*unit            // reached and not yet looked into
	units   []*unit
}

// newStatePath finds the state path in packages; nil if there is none.
func newStatePath(list []*packages.Package) *statePath {
	s := &statePath{named: map[string][]*unit{}, methods: map[string][]*unit{}, values: map[string][]*unit{}, used: map[string]bool{}}
	for _, p := range list {
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				s.declare(p, d)
			}
		}
	}
	for _, p := range list {
		for _, f := range p.Syntax {
			s.gather(p, f)
		}
	}
	if len(s.open) == 0 {
		return nil
	}
	for s.spread() {
	}
	return s
}

// declare makes units of the declarations of a package.
func (s *statePath) declare(p *packages.Package, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		u := s.add(p, d)
		f, ok := p.TypesInfo.Defs[d.Name].(*types.Func)
		switch {
		case !ok:
		case d.Name.Name == "init" && d.Recv == nil:
			s.starts = append(s.starts, u)
		default:
			s.named[f.FullName()] = append(s.named[f.FullName()], u)
			if d.Recv != nil {
				s.methods[methodKey(f)] = append(s.methods[methodKey(f)], u)
			}
			if isRoot(f) {
				s.reach(u)
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				u := s.add(p, spec)
				for _, name := range spec.Names {
					if key := keyOf(p.TypesInfo.Defs[name]); key != "" {
						s.named[key] = append(s.named[key], u)
					}
				}
			case *ast.TypeSpec:
				if key := keyOf(p.TypesInfo.Defs[spec.Name]); key != "" {
					s.named[key] = append(s.named[key], s.add(p, spec))
				}
			}
		}
	}
}

func (s *statePath) add(p *packages.Package, n ast.Node) *unit {
	u := &unit{node: n, pkg: p}
	s.units = append(s.units, u)
	return u
}

// isRoot reports whether the engine calls a function by what it implements.
func isRoot(f *types.Func) bool {
	sig := f.Signature()
	if hasContext(sig) {
		return true
	}
	switch text := types.TypeString(sig, nil); f.Name() {
	case "Spec":
		return sig.Recv() != nil && strings.HasSuffix(text, ") "+ours+"engine.Spec")
	case "Check":
		return sig.Recv() != nil && strings.HasPrefix(signature(sig), "func(*"+ours+"space.Lattice, []"+ours+"fields.Def)")
	case "Build":
		return sig.Recv() != nil && signature(sig) == "func() (*"+ours+"space.Lattice, error)"
	}
	return sig.Results().Len() > 0 && typeText(sig.Results().At(0).Type()) == ours+"fields.Initial"
}

// typeText returns a type in words, that of an alias if it is one, behind a pointer, too.
func typeText(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		return "*" + types.TypeString(types.Unalias(p.Elem()), nil)
	}
	return types.TypeString(t, nil)
}

func hasContext(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		if slices.Contains(contexts, typeText(v.Type())) {
			return true
		}
	}
	return false
}

// signature writes a function's type without names, the same in every package.
func signature(sig *types.Signature) string {
	list := func(t *types.Tuple) string {
		var all []string
		for v := range t.Variables() {
			all = append(all, typeText(v.Type()))
		}
		return "(" + strings.Join(all, ", ") + ")"
	}
	switch sig.Results().Len() {
	case 0:
		return "func" + list(sig.Params())
	case 1:
		return "func" + list(sig.Params()) + " " + strings.Trim(list(sig.Results()), "()")
	}
	return "func" + list(sig.Params()) + " " + list(sig.Results())
}

func methodKey(f *types.Func) string { return f.Name() + " " + signature(f.Signature()) }

// keyOf names an object that is declared in a package's scope, or a method; "" for others.
func keyOf(obj types.Object) string {
	switch o := obj.(type) {
	case nil:
		return ""
	case *types.Func:
		return o.Origin().FullName()
	default:
		if o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
			return ""
		}
		return o.Pkg().Path() + "." + o.Name()
	}
}

// gather finds the functions of a file that are used as values, and roots among what is
// not declared: literals with a context, and what initial values are made of.
func (s *statePath) gather(p *packages.Package, f *ast.File) {
	called := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[ast.Unparen(n.Fun)] = true
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
				called[sel.Sel] = true
				if obj := p.TypesInfo.Uses[sel.Sel]; obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == ours+"fields" && (obj.Name() == "Values" || obj.Name() == "Fill") {
					for _, arg := range n.Args {
						s.reach(s.add(p, arg))
					}
				}
			}
		case *ast.FuncLit:
			sig, ok := p.TypesInfo.TypeOf(n).(*types.Signature)
			if !ok || called[n] { // called on the spot, it belongs to what is around it
				return true
			}
			u := s.add(p, n)
			s.values[signature(sig)] = append(s.values[signature(sig)], u)
			if hasContext(sig) {
				s.reach(u)
			}
		case *ast.Ident:
			if fn, ok := p.TypesInfo.Uses[n].(*types.Func); ok && !called[n] {
				key := signature(fn.Signature())
				s.values[key] = append(s.values[key], s.named[keyOf(fn)]...)
			}
		}
		return true
	})
}

func (s *statePath) reach(u *unit) {
	if !u.reached {
		u.reached = true
		s.open = append(s.open, u)
	}
}

func (s *statePath) reachAll(list []*unit) {
	for _, u := range list {
		s.reach(u)
	}
}

// spread follows what is reached to all that it uses, and reports whether there was any.
func (s *statePath) spread() bool {
	for _, u := range s.starts { // an init is on the path if it touches a variable that is
		if !u.reached && s.touches(u) {
			s.reach(u)
		}
	}
	if len(s.open) == 0 {
		return false
	}
	for len(s.open) > 0 {
		u := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		ast.Inspect(u.node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				s.use(u.pkg.TypesInfo.Uses[n])
			case *ast.CallExpr:
				s.call(u.pkg.TypesInfo, n)
			}
			return true
		})
	}
	return true
}

// touches reports whether code names a package variable that is on the path.
func (s *statePath) touches(u *unit) (found bool) {
	ast.Inspect(u.node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && s.used[keyOf(u.pkg.TypesInfo.Uses[id])] {
			found = true
		}
		return !found
	})
	return found
}

// use reaches what an object is declared by. A method of an interface stands for all that
// could implement it.
func (s *statePath) use(obj types.Object) {
	key := keyOf(obj)
	if key == "" {
		return
	}
	switch o := obj.(type) {
	case *types.Var:
		s.used[key] = true
	case *types.Func:
		if r := o.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
			s.reachAll(s.methods[methodKey(o)])
		}
	}
	s.reachAll(s.named[key])
}

// call reaches what a call of a value may call, and the methods by which other packages may
// use an argument that they take for an interface, as sort.Sort does.
func (s *statePath) call(info *types.Info, n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	sig, ok := info.TypeOf(fun).(*types.Signature)
	if !ok {
		if t := info.TypeOf(fun); t == nil || info.Types[fun].IsType() {
			return
		} else if sig, ok = t.Underlying().(*types.Signature); !ok {
			return
		}
	}
	var callee types.Object
	switch f := fun.(type) {
	case *ast.Ident:
		callee = info.Uses[f]
	case *ast.SelectorExpr:
		callee = info.Uses[f.Sel]
	}
	if _, value := callee.(*types.Var); value || callee == nil {
		s.reachAll(s.values[signature(sig)])
	}
	for i, arg := range n.Args {
		if i >= sig.Params().Len() {
			break
		}
		wants, ok := sig.Params().At(i).Type().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		for m := range wants.Methods() {
			if has, _, _ := types.LookupFieldOrMethod(info.TypeOf(arg), true, m.Pkg(), m.Name()); has != nil {
				s.use(has)
			}
		}
	}
}

// holds reports whether a finding is about the state path: it stands in code that is on it,
// or is about a package variable that is. What stands outside of declarations counts if
// anything in its package does.
func (s *statePath) holds(p *packages.Package, at token.Pos, message string) bool {
	inside, any := false, false
	for _, u := range s.units {
		if u.pkg != p {
			continue
		}
		within := u.node.Pos() <= at && at < u.node.End()
		if u.reached && within {
			return true
		}
		inside, any = inside || within, any || u.reached
	}
	if rule, text := rules.Split(message); rule == "pkgvar" {
		name, _, _ := strings.Cut(text, " ")
		return s.touchesAt(p, at, name)
	}
	return !inside && any
}

// touchesAt reports whether the first name like this from a position on is that of a package
// variable on the path.
func (s *statePath) touchesAt(p *packages.Package, at token.Pos, name string) bool {
	var first *ast.Ident
	for _, f := range p.Syntax {
		if f.FileStart > at || at >= f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == name && id.Pos() >= at && (first == nil || id.Pos() < first.Pos()) {
				first = id
			}
			return true
		})
	}
	return first != nil && s.used[keyOf(p.TypesInfo.Uses[first])]
}
