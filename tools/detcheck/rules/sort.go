package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// sorts finds unstable sorts, except those of elements that are equal only if nothing
// tells them apart. Floats are not such: 0 and −0 compare as equal.
func (c *checker) sorts() {
	for cur := range c.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		name := c.calls(call, unstable...)
		if name == "" || c.total(call) {
			continue
		}
		if name == "sort.Float64s" || len(call.Args) == 1 && name != "sort.Sort" {
			c.add(call.Pos(), "sort", "%s takes 0 and −0 for equal", name)
			continue
		}
		c.add(call.Pos(), "sort", "%s leaves elements that compare as equal in any order", name)
	}
}

// unstable are the sorts that may leave equal elements in any order.
var unstable = []string{
	"sort.Slice", "sort.Sort", "sort.Float64s", "slices.Sort", "slices.SortFunc", "slices.Sorted", "slices.SortedFunc",
	"golang.org/x/exp/slices.Sort", "golang.org/x/exp/slices.SortFunc",
}

// values finds such functions, and those that follow the order of a map, where they are
// not called but kept, for then nothing is known of the calls.
func (c *checker) values() {
	for cur := range c.root.Preorder((*ast.Ident)(nil)) {
		id := cur.Node().(*ast.Ident)
		f, ok := c.TypesInfo.Uses[id].(*types.Func)
		if !ok || f.Pkg() == nil || f.Signature().Recv() != nil || called(cur) {
			continue
		}
		name := f.Pkg().Path() + "." + f.Name()
		if slices.Contains(unstable, name) {
			c.add(id.Pos(), "sort", "%s is kept in a value, and may leave equal elements in any order", name)
		}
		if slices.Contains(mapOrder, name) {
			c.add(id.Pos(), "maprange", "%s is kept in a value, and follows the order of a map", name)
		}
	}
}

// called reports whether an identifier names the function of a call.
func called(cur inspector.Cursor) bool {
	for {
		switch cur.ParentEdgeKind() {
		case edge.CallExpr_Fun:
			return true
		case edge.SelectorExpr_Sel, edge.IndexExpr_X, edge.IndexListExpr_X, edge.ParenExpr_X:
			cur = cur.Parent()
		default:
			return false
		}
	}
}

// total reports whether it can be seen that a sort leaves no choice.
func (c *checker) total(call *ast.CallExpr) bool {
	if len(call.Args) == 1 {
		return c.discrete(call.Args[0]) || c.wrapped(call.Args[0])
	}
	if c.calls(call, "sort.Slice") != "" {
		return false
	}
	compare := ast.Unparen(call.Args[1])
	if f := c.function(compare); f == "strings.Compare" || f == "bytes.Compare" || f == "cmp.Compare" {
		return f != "cmp.Compare" || c.discrete(call.Args[0])
	}
	literal, ok := compare.(*ast.FuncLit)
	return ok && c.discrete(call.Args[0]) && c.compares(literal)
}

// discrete reports whether a slice or a sequence is of integers or strings.
func (c *checker) discrete(e ast.Expr) bool {
	t := c.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return element(t.Elem())
	case *types.Signature: // iter.Seq
		yield, ok := t.Params().At(0).Type().Underlying().(*types.Signature)
		return ok && element(yield.Params().At(0).Type())
	}
	return false
}

func element(t types.Type) bool {
	return basic(t, types.IsInteger|types.IsString) && !basic(t, types.IsFloat)
}

// wrapped reports whether e is sort.IntSlice(x) or sort.StringSlice(x), reversed or not.
func (c *checker) wrapped(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	if c.calls(call, "sort.Reverse") != "" {
		return c.wrapped(call.Args[0])
	}
	t, ok := c.TypesInfo.TypeOf(call).(*types.Named)
	return ok && c.conversion(call) && t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == "sort" &&
		(t.Obj().Name() == "IntSlice" || t.Obj().Name() == "StringSlice")
}

// function is path.Name of the function that an expression names.
func (c *checker) function(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = x.X
	}
	switch x := e.(type) {
	case *ast.SelectorExpr:
		e = x.Sel
	}
	f, ok := c.object(e).(*types.Func)
	if !ok || f.Pkg() == nil {
		return ""
	}
	return f.Pkg().Path() + "." + f.Name()
}

// compares reports whether a function of two parameters does nothing but to compare them.
func (c *checker) compares(f *ast.FuncLit) bool {
	if len(f.Body.List) != 1 {
		return false
	}
	ret, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	result := ast.Unparen(ret.Results[0])
	if minus, ok := result.(*ast.UnaryExpr); ok && minus.Op == token.SUB {
		result = ast.Unparen(minus.X)
	}
	call, ok := result.(*ast.CallExpr)
	if !ok || c.calls(call, "cmp.Compare", "strings.Compare") == "" {
		return false
	}
	a, b := c.object(call.Args[0]), c.object(call.Args[1])
	return a != nil && b != nil && a != b && c.parameter(f, a) && c.parameter(f, b)
}

func (c *checker) parameter(f *ast.FuncLit, obj types.Object) bool {
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if c.TypesInfo.Defs[name] == obj {
				return true
			}
		}
	}
	return false
}
