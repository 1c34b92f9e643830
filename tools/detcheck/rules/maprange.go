package rules

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

// mapRanges finds loops over maps whose order can matter, and iterators over maps that
// are not sorted at once.
func (c *checker) mapRanges() {
	for cur := range c.root.Preorder((*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.RangeStmt:
			if c.isMap(n.X) && !c.orderFree(cur, n) {
				c.add(n.Pos(), "maprange", "a map is ranged over, and its order can matter")
			}
		case *ast.CallExpr:
			name := c.calls(n, mapOrder...)
			if name != "" && !c.sortedAtOnce(cur) {
				c.add(n.Pos(), "maprange", "%s follows the order of a map", name)
			}
			name = c.calls(n, "maps.DeleteFunc", "maps.EqualFunc", "golang.org/x/exp/maps.DeleteFunc", "golang.org/x/exp/maps.EqualFunc")
			if name != "" && !c.onlyAsks(n.Args[len(n.Args)-1]) {
				c.add(n.Pos(), "maprange", "%s calls its function in the order of a map", name)
			}
		}
	}
}

// mapOrder are functions that give what is in a map as it comes.
var mapOrder = []string{"maps.Keys", "maps.Values", "maps.All", "golang.org/x/exp/maps.Keys", "golang.org/x/exp/maps.Values"}

// onlyAsks reports whether a function is seen to do nothing but to return what it computes.
func (c *checker) onlyAsks(f ast.Expr) bool {
	literal, ok := ast.Unparen(f).(*ast.FuncLit)
	if !ok || len(literal.Body.List) != 1 {
		return false
	}
	ret, ok := literal.Body.List[0].(*ast.ReturnStmt)
	return ok && len(ret.Results) == 1 && (&body{checker: c}).pure(ret.Results[0])
}

// isMap reports whether a value is a map, or of a type parameter that stands for maps.
func (c *checker) isMap(e ast.Expr) bool {
	t := c.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		if i, ok := p.Constraint().Underlying().(*types.Interface); ok {
			for e := range i.EmbeddedTypes() {
				if u, ok := e.(*types.Union); ok && u.Len() > 0 {
					e = u.Term(0).Type()
				}
				if _, ok := e.Underlying().(*types.Map); ok {
					return true
				}
			}
		}
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// sortedAtOnce reports whether an iterator over a map goes where its order is lost: into a
// sort, into another map, or into a slice that is sorted before it is used.
func (c *checker) sortedAtOnce(cur inspector.Cursor) bool {
	up, ok := cur.Parent().Node().(*ast.CallExpr)
	if !ok {
		if assign, is := cur.Parent().Node().(*ast.AssignStmt); is && len(assign.Lhs) == 1 { // of a slice, in older packages
			_, slice := c.TypesInfo.TypeOf(cur.Node().(*ast.CallExpr)).Underlying().(*types.Slice)
			return slice && c.sortedBelow(cur.Parent(), assign.Lhs[0])
		}
		return false
	}
	switch c.calls(up, "slices.Sorted", "slices.SortedFunc", "maps.Collect", "maps.Insert", "slices.Collect", "slices.AppendSeq") {
	case "":
		return false
	case "slices.Collect", "slices.AppendSeq":
		assign, ok := cur.Parent().Parent().Node().(*ast.AssignStmt)
		return ok && len(assign.Lhs) == 1 && c.sortedBelow(cur.Parent().Parent(), assign.Lhs[0])
	}
	return true
}

// orderFree reports whether a loop over a map gives the same in every order, as far as
// can be seen without knowing what functions do.
func (c *checker) orderFree(cur inspector.Cursor, loop *ast.RangeStmt) bool {
	if loop.Key == nil && loop.Value == nil {
		return true // every turn does the same
	}
	if loop.Tok == token.ASSIGN {
		return false // the variables outlive the loop
	}
	b := &body{checker: c, ranged: types.ExprString(loop.X), key: c.object(loop.Key), written: map[string]string{}}
	if !b.changes(loop.Body.List) || !b.block(loop.Body.List) || len(b.returned) > 1 || len(b.returned) == 1 && len(b.written) > 0 {
		return false
	}
	for _, s := range b.appended {
		if !c.sortedBelow(cur, s) {
			return false
		}
	}
	return true
}

// A body is that of a loop over a map.
type body struct {
	*checker
	ranged   string // the map, by its text
	key      types.Object
	written  map[string]string // how a variable, by its text, is changed: by which class of operation
	appended []ast.Expr        // slices that elements are appended to
	returned []string          // different texts of returns
}

// changes gathers what the statements change. It says false where one thing is changed
// in two ways that may not be exchanged.
func (b *body) changes(list []ast.Stmt) bool {
	ok := true
	note := func(x ast.Expr, class string) {
		text := types.ExprString(root(x))
		if old, seen := b.written[text]; seen && old != class {
			ok = false
		}
		b.written[text] = class
	}
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, x := range n.Lhs {
						note(x, cmp.Or(b.extreme(n), class(n.Tok)))
					}
				}
			case *ast.IncDecStmt:
				note(n.X, class(token.ADD_ASSIGN))
			case *ast.CallExpr:
				if b.builtin(n) == "delete" {
					note(n.Args[0], "delete")
				}
			}
			return true
		})
	}
	return ok
}

// class puts operations together that may be done in any order.
func class(t token.Token) string {
	if t == token.SUB_ASSIGN {
		t = token.ADD_ASSIGN
	}
	return t.String()
}

// extreme is "max" or "min" if an assignment is x = max(x, …) or the like, else "".
func (b *body) extreme(s *ast.AssignStmt) string {
	if s.Tok != token.ASSIGN || len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return ""
	}
	call, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return ""
	}
	name := b.builtin(call)
	if name != "max" && name != "min" || types.ExprString(call.Args[0]) != types.ExprString(s.Lhs[0]) {
		return ""
	}
	return name
}

// root returns the variable of an expression that stands left of an assignment.
func root(x ast.Expr) ast.Expr {
	if i, ok := ast.Unparen(x).(*ast.IndexExpr); ok {
		return i.X
	}
	return x
}

func (b *body) block(list []ast.Stmt) bool {
	for _, s := range list {
		if !b.statement(s) {
			return false
		}
	}
	return true
}

func (b *body) statement(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.EmptyStmt:
		return true
	case *ast.BlockStmt:
		return b.block(s.List)
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE && s.Label == nil
	case *ast.IfStmt:
		return (s.Init == nil || b.statement(s.Init)) && b.pure(s.Cond) && b.block(s.Body.List) && (s.Else == nil || b.statement(s.Else))
	case *ast.RangeStmt:
		return b.pure(s.X) && !b.isMap(s.X) && !b.channel(s.X) && !b.iterator(s.X) && (s.Tok == token.DEFINE || s.Key == nil) && b.block(s.Body.List)
	case *ast.ReturnStmt:
		return b.returns(s)
	case *ast.IncDecStmt:
		return b.integer(s.X) && b.place(s.X)
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && b.builtin(call) == "delete" && b.place(call.Args[0]) && b.pure(call.Args[1]) && b.own(call.Args[0], call.Args[1])
	case *ast.AssignStmt:
		return b.assign(s)
	}
	return false
}

// iterator reports whether ranging over a value calls it.
func (b *body) iterator(e ast.Expr) bool {
	_, ok := b.TypesInfo.TypeOf(e).Underlying().(*types.Signature)
	return ok
}

// returns accepts returns of constants; there may be only one such set in the loop.
func (b *body) returns(s *ast.ReturnStmt) bool {
	text := ""
	for _, r := range s.Results {
		if !b.constant(r) && !b.TypesInfo.Types[r].IsNil() {
			return false
		}
		text += types.ExprString(r) + ","
	}
	if len(b.returned) == 0 || b.returned[0] != text {
		b.returned = append(b.returned, text)
	}
	return true
}

func (b *body) assign(s *ast.AssignStmt) bool {
	if s.Tok == token.DEFINE {
		for _, x := range s.Rhs {
			if !b.pure(x) {
				return false
			}
		}
		return true
	}
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return false
	}
	x, value := s.Lhs[0], s.Rhs[0]
	switch s.Tok {
	case token.ADD_ASSIGN, token.SUB_ASSIGN, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
		return b.integer(x) && b.place(x) && b.pure(value)
	case token.ASSIGN:
		if call, ok := value.(*ast.CallExpr); ok && b.builtin(call) == "append" && !call.Ellipsis.IsValid() {
			return b.appends(x, call)
		}
		if b.extreme(s) != "" && b.integer(x) && b.place(x) {
			return !slices.ContainsFunc(ast.Unparen(value).(*ast.CallExpr).Args[1:], func(arg ast.Expr) bool { return !b.pure(arg) })
		}
		i, ok := ast.Unparen(x).(*ast.IndexExpr) // each turn writes to a place of its own
		return ok && b.key != nil && b.object(i.Index) == b.key && b.place(i.X) && b.pure(value)
	}
	return false
}

// appends accepts s = append(s, …), to be sorted after the loop.
func (b *body) appends(x ast.Expr, call *ast.CallExpr) bool {
	if types.ExprString(x) != types.ExprString(call.Args[0]) {
		return false
	}
	for _, arg := range call.Args[1:] {
		if !b.pure(arg) {
			return false
		}
	}
	b.appended = append(b.appended, x)
	return true
}

func (b *body) integer(x ast.Expr) bool { return basic(b.TypesInfo.TypeOf(x), types.IsInteger) }

// own reports whether a place in a map may be written or deleted: in the map that is ranged
// over only the one of this turn, or later turns may come or not.
func (b *body) own(x, index ast.Expr) bool {
	return types.ExprString(x) != b.ranged || b.key != nil && b.object(index) == b.key
}

// place reports whether nothing but the index of what is written depends on the loop.
func (b *body) place(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return b.place(x.X)
	case *ast.IndexExpr:
		return b.place(x.X) && b.pure(x.Index) && b.own(x.X, x.Index)
	}
	return false
}

// pure reports whether an expression calls nothing and reads nothing that the loop changes.
func (b *body) pure(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch b.builtin(n) {
			case "len", "cap", "min", "max", "real", "imag", "complex":
			default:
				ok = ok && b.conversion(n)
			}
		case *ast.FuncLit:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW && n.Op != token.AND
		}
		if x, is := n.(ast.Expr); is {
			_, changed := b.written[types.ExprString(x)]
			ok = ok && !changed
		}
		return ok
	})
	return ok
}
