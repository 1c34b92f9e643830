package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// A hidden looks for what propagators, systems and handlers remember outside of the state: their
// fields and what these point to, and the variables around a function literal, if a tick writes
// them. It begins at the functions that get a context of the engine, and follows what it is
// looking for through local variables and the functions of the package.
type hidden struct {
	*checker
	bodies map[*types.Func]inspector.Cursor
	seen   map[types.Object]bool // receivers and parameters that were followed

	returned map[*types.Func]bool // methods: whether they return what leads to their receiver's memory
}

// written is how most of what is hidden is found.
const written = "is written during a tick"

// A reach tells of each variable of a function that leads to something hidden how many
// pointers, slices or maps lie at least between it and that: none of a variable that a literal
// shares with the function around it.
type reach map[types.Object]int

// hiddenState finds what is written during a tick, is there in the next, and is in no save.
func (c *checker) hiddenState() {
	h := hidden{checker: c, bodies: map[*types.Func]inspector.Cursor{}, seen: map[types.Object]bool{}, returned: map[*types.Func]bool{}}
	for cur := range c.root.Preorder((*ast.FuncDecl)(nil)) {
		if f, ok := c.TypesInfo.Defs[cur.Node().(*ast.FuncDecl).Name].(*types.Func); ok {
			h.bodies[f] = cur
		}
	}
	for cur := range c.root.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.FuncDecl:
			if n.Recv != nil && c.inTick(n.Type) {
				h.follow(cur, h.variables(n.Recv)...)
			}
		case *ast.FuncLit:
			if c.inTick(n.Type) && !h.nested(cur) {
				h.search(cur, h.around(cur))
			}
		}
	}
}

// inTick reports whether the engine calls a function during a tick: one that gets a context.
func (c *checker) inTick(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		pointer, ok := c.TypesInfo.TypeOf(p.Type).(*types.Pointer)
		if !ok {
			return false
		}
		n, ok := types.Unalias(pointer.Elem()).(*types.Named)
		if !ok || n.Obj().Pkg() == nil || !strings.HasSuffix(n.Obj().Pkg().Path(), "murksim/engine") {
			return false
		}
		switch n.Obj().Name() {
		case "Context", "SystemContext", "HandlerContext":
			return true
		}
		return false
	})
}

// nested reports whether a literal stands in a function that is called during a tick, too.
func (h *hidden) nested(cur inspector.Cursor) bool {
	for up := range cur.Parent().Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := up.Node().(type) {
		case *ast.FuncDecl:
			return h.inTick(n.Type)
		case *ast.FuncLit:
			if h.inTick(n.Type) {
				return true
			}
		}
	}
	return false
}

// variables returns the variables that a list of parameters declares, nil for unnamed ones.
func (h *hidden) variables(list *ast.FieldList) []types.Object {
	var all []types.Object
	for _, f := range list.List {
		if len(f.Names) == 0 {
			all = append(all, nil)
		}
		for _, name := range f.Names {
			all = append(all, h.TypesInfo.Defs[name])
		}
	}
	return all
}

// around returns the variables of functions that a literal shares with the code around it.
func (h *hidden) around(cur inspector.Cursor) reach {
	shared := reach{}
	for id := range cur.Preorder((*ast.Ident)(nil)) {
		v, ok := h.TypesInfo.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if ok && !v.IsField() && v.Pkg() == h.Pkg && v.Parent() != h.Pkg.Scope() && !within(cur.Node(), v.Pos()) {
			shared[v] = 0
		}
	}
	return shared
}

// within reports whether a position is in a node.
func within(n ast.Node, at token.Pos) bool { return n.Pos() <= at && at < n.End() }

// follow searches a function whose parameters lead to something hidden.
func (h *hidden) follow(cur inspector.Cursor, parameters ...types.Object) {
	r := reach{}
	for _, p := range parameters {
		if p != nil && !h.seen[p] {
			h.seen[p], r[p] = true, 1
		}
	}
	if len(r) > 0 {
		h.search(cur, r)
	}
}

// search finds the writes of a function.
func (h *hidden) search(cur inspector.Cursor, r reach) {
	h.spread(cur, r)
	for at := range cur.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil), (*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := at.Node().(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				h.hits(x, r, written)
			}
		case *ast.IncDecStmt:
			h.hits(n.X, r, written)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				h.hits(n.Key, r, written)
				h.hits(n.Value, r, written)
			}
		case *ast.CallExpr:
			h.call(n, r)
		}
	}
}

// spread adds to a reach the local variables that are given what leads there, until there are no more.
func (h *hidden) spread(cur inspector.Cursor, r reach) {
	for before := -1; before != len(r); {
		before = len(r)
		h.give(cur, r)
	}
}

// give adds to a reach the local variables that are given what leads there by now.
func (h *hidden) give(cur inspector.Cursor, r reach) {
	give := func(local, x ast.Expr) {
		v, ok := h.object(local).(*types.Var)
		if _, known := r[v]; ok && !known && !v.IsField() && v.Parent() != h.Pkg.Scope() && h.leads(x, r) {
			r[v] = 1
		}
	}
	for at := range cur.Preorder((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.TypeSwitchStmt)(nil), (*ast.RangeStmt)(nil)) {
		switch n := at.Node().(type) {
		case *ast.AssignStmt:
			for i, x := range n.Rhs { // of v, ok := m[k] the first is given
				give(n.Lhs[i], x)
			}
		case *ast.ValueSpec:
			for i, x := range n.Values {
				give(n.Names[i], x)
			}
		case *ast.TypeSwitchStmt:
			s, ok := n.Assign.(*ast.AssignStmt) // of switch v := x.(type)
			for i := 0; ok && i < len(n.Body.List); i++ {
				v := h.TypesInfo.Implicits[n.Body.List[i]]
				if _, known := r[v]; v != nil && !known && refers(v.Type()) && h.leads(s.Rhs[0].(*ast.TypeAssertExpr).X, r) {
					r[v] = 1
				}
			}
		case *ast.RangeStmt:
			v, ok := h.object(n.Value).(*types.Var)
			if _, known := r[v]; ok && !known && refers(v.Type()) && h.leads(n.X, r) {
				r[v] = 1
			}
		}
	}
}

// leads reports whether who has the value of x can write something hidden through it.
func (h *hidden) leads(x ast.Expr, r reach) bool {
	x = ast.Unparen(x)
	if place := h.address(x); place != nil {
		root, steps := h.path(place)
		need, ok := r[root]
		return ok && steps >= need
	}
	root, _ := h.path(x)
	_, ok := r[root]
	t := h.TypesInfo.TypeOf(x)
	if both, is := t.(*types.Tuple); is { // of v, ok := m[k]
		t = both.At(0).Type()
	}
	return ok && refers(t)
}

// address returns the place whose address x is: y of &y, and the array y of y[:]; else nil.
func (h *hidden) address(x ast.Expr) ast.Expr {
	switch e := x.(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return e.X
		}
	case *ast.SliceExpr:
		if _, ok := h.TypesInfo.TypeOf(e.X).Underlying().(*types.Array); ok {
			return e.X
		}
	}
	return nil
}

// refers reports whether a copy of a value shares memory with it.
func refers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return true
	case *types.Array:
		return refers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if refers(f.Type()) {
				return true
			}
		}
	}
	return false
}

// path returns the variable at the root of x, and the pointers, slices and maps from there to x.
func (h *hidden) path(x ast.Expr) (root types.Object, steps int) {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return h.TypesInfo.ObjectOf(e), steps
		case *ast.SelectorExpr:
			s, ok := h.TypesInfo.Selections[e]
			if !ok || s.Kind() != types.FieldVal {
				return nil, 0
			}
			if s.Indirect() {
				steps++
			}
			x = e.X
		case *ast.StarExpr:
			steps++
			x = e.X
		case *ast.IndexExpr:
			if _, array := h.TypesInfo.TypeOf(e.X).Underlying().(*types.Array); !array {
				steps++
			}
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.TypeAssertExpr:
			x = e.X
		case *ast.CallExpr:
			switch s, method := ast.Unparen(e.Fun).(*ast.SelectorExpr); {
			case method && h.shares(h.callee(e)):
				x = s.X
			case len(e.Args) > 0 && (h.builtin(e) == "append" || h.conversion(e)):
				x = e.Args[0]
			default:
				return nil, 0
			}
		default:
			return nil, 0
		}
	}
}

// shares reports whether a method of the package returns what leads to its receiver's memory.
func (h *hidden) shares(f *types.Func) bool {
	if f == nil || f.Signature().Recv() == nil {
		return false
	}
	body, ours := h.bodies[f.Origin()]
	if !ours {
		return false
	}
	if is, known := h.returned[f]; known {
		return is
	}
	h.returned[f] = false // while it is looked at
	r := reach{}
	for _, v := range h.variables(body.Node().(*ast.FuncDecl).Recv) {
		r[v] = 1
	}
	h.spread(body, r)
	for at := range body.Preorder((*ast.ReturnStmt)(nil)) {
		for _, x := range at.Node().(*ast.ReturnStmt).Results {
			h.returned[f] = h.returned[f] || h.leads(x, r)
		}
	}
	return h.returned[f]
}

// hits records that x is written, if that is hidden.
func (h *hidden) hits(x ast.Expr, r reach, how string) {
	if x == nil {
		return
	}
	root, steps := h.path(x)
	if need, ok := r[root]; ok && steps >= need {
		h.add(x.Pos(), "hidden", "%s %s", types.ExprString(x), how)
	}
}

// fills records that the elements of x are written.
func (h *hidden) fills(x ast.Expr, r reach, how string) {
	if h.leads(x, r) {
		h.add(x.Pos(), "hidden", "%s %s", types.ExprString(x), how)
	}
}

// call looks at what a call may write of its operands.
func (h *hidden) call(n *ast.CallExpr, r reach) {
	switch h.builtin(n) {
	case "delete", "clear", "copy":
		h.fills(n.Args[0], r, written)
	}
	f := h.callee(n)
	if f == nil || f.Pkg() == nil {
		return
	}
	body, ours := h.bodies[f.Origin()]
	if s, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && f.Signature().Recv() != nil {
		h.method(s, f, body, ours, r)
	}
	if ours {
		h.hand(n, body, r)
		return
	}
	for _, x := range n.Args {
		if place := h.address(ast.Unparen(x)); place != nil && !h.table(place) {
			h.hits(place, r, "has its address taken during a tick")
		}
		if sorts(f) {
			h.fills(x, r, "may be written by "+f.Pkg().Name()+"."+f.Name()+" during a tick")
		}
	}
}

// method looks at a call of a method of s.X.
func (h *hidden) method(s *ast.SelectorExpr, f *types.Func, body inspector.Cursor, ours bool, r reach) {
	_, byPointer := types.Unalias(f.Signature().Recv().Type()).(*types.Pointer)
	_, isPointer := h.TypesInfo.TypeOf(s.X).Underlying().(*types.Pointer)
	root, steps := h.path(s.X)
	need, ok := r[root]
	switch {
	case !ok:
	case ours:
		if steps >= need && byPointer || h.leads(s.X, r) {
			if d := body.Node().(*ast.FuncDecl); d.Body != nil {
				h.follow(body, h.variables(d.Recv)...)
			}
		}
	case byPointer && (!isPointer && steps >= need || draws(f)):
		h.add(s.X.Pos(), "hidden", "%s may be written by its method %s during a tick", types.ExprString(s.X), f.Name())
	}
}

// hand follows the arguments of a call of a function of the package.
func (h *hidden) hand(n *ast.CallExpr, body inspector.Cursor, r reach) {
	d := body.Node().(*ast.FuncDecl)
	parameters := h.variables(d.Type.Params)
	if d.Body == nil || len(parameters) == 0 {
		return
	}
	for i, x := range n.Args {
		if h.leads(x, r) {
			h.follow(body, parameters[min(i, len(parameters)-1)])
		}
	}
}

// sorts reports whether a function changes the order of what it is given.
func sorts(f *types.Func) bool {
	switch f.Pkg().Path() {
	case "sort":
		return f.Name() != "Search"
	case "slices":
		return strings.HasPrefix(f.Name(), "Sort") || f.Name() == "Reverse"
	}
	return false
}
