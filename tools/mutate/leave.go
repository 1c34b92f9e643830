package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// leaveOut marks what follows a node and is not changed, since by the rules of Go no program
// can tell:
//
//   - the zeros returned beside an error that is not nil, or beside a false: they stand for
//     no result;
//   - the capacity passed to make, the size passed to make for a map, and what is passed to
//     Grow, unless its result is sliced up to its new capacity: they decide only when memory
//     is allocated. With a min or max in it, it may be a bound on memory, and is changed.
func (f *finder) leaveOut(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		if name := f.notNil(n.Cond); name != "" && len(n.Body.List) > 0 {
			if r, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt); ok && len(r.Results) > 1 && f.text(r.Results[len(r.Results)-1]) == name {
				f.leaveZeros(r)
			}
		}
	case *ast.ReturnStmt:
		if len(n.Results) > 1 && f.failure(n.Results[len(n.Results)-1]) {
			f.leaveZeros(n)
		}
	case *ast.SliceExpr:
		if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok {
			f.sliced[call] = true
		}
	case *ast.CallExpr:
		f.leaveCapacity(n)
	}
}

// notNil returns the name in a condition "name != nil", or "".
func (f *finder) notNil(condition ast.Expr) string {
	b, ok := condition.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ || !f.p.info.Types[b.Y].IsNil() {
		return ""
	}
	if id, ok := b.X.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// failure reports whether a last result is false, or an error made on the spot.
func (f *finder) failure(last ast.Expr) bool {
	switch last := last.(type) {
	case *ast.Ident:
		return f.p.info.Uses[last] == types.Universe.Lookup("false")
	case *ast.UnaryExpr:
		_, ok := last.X.(*ast.CompositeLit)
		return ok && last.Op == token.AND && types.Implements(f.p.info.TypeOf(last), failed)
	case *ast.CallExpr:
		return f.calls(last, "fmt.Errorf", "errors.New")
	}
	return false
}

var failed = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func (f *finder) leaveZeros(r *ast.ReturnStmt) {
	for _, result := range r.Results[:len(r.Results)-1] {
		if lit, ok := result.(*ast.BasicLit); ok && lit.Value == "0" {
			f.left[lit] = true
		}
	}
}

func (f *finder) leaveCapacity(n *ast.CallExpr) {
	if id, ok := n.Fun.(*ast.Ident); ok && f.p.info.Uses[id] == types.Universe.Lookup("make") {
		_, isMap := f.p.info.TypeOf(n).Underlying().(*types.Map)
		switch {
		case len(n.Args) == 3:
			f.left[n.Args[2]] = !f.bounds(n.Args[2])
		case len(n.Args) == 2 && isMap:
			f.left[n.Args[1]] = !f.bounds(n.Args[1])
		}
		return
	}
	if !f.sliced[n] && f.calls(n, "slices.Grow", "(*bytes.Buffer).Grow", "(*strings.Builder).Grow") {
		last := n.Args[len(n.Args)-1]
		f.left[last] = !f.bounds(last)
	}
}

// bounds reports whether there is a min or max in an expression.
func (f *finder) bounds(n ast.Expr) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used := f.p.info.Uses[id]
			found = found || used != nil && (used == types.Universe.Lookup("min") || used == types.Universe.Lookup("max"))
		}
		return !found
	})
	return found
}

// calls reports whether a call is of one of these functions.
func (f *finder) calls(n *ast.CallExpr, names ...string) bool {
	fun := ast.Unparen(n.Fun)
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	called, ok := f.p.info.Uses[selector.Sel].(*types.Func)
	return ok && slices.Contains(names, called.FullName())
}
