package rules

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// conversions finds those whose result depends on the processor: of floats to integers
// without a bound in sight, and of 64-bit values computed on the spot to int.
func (c *checker) conversions() {
	for cur := range c.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if !c.conversion(call) || len(call.Args) != 1 || c.constant(call.Args[0]) {
			continue
		}
		to, from := c.TypesInfo.TypeOf(call.Fun), c.TypesInfo.TypeOf(call.Args[0])
		if basic(from, types.IsFloat) && basic(to, types.IsInteger) && !c.bounded(cur, call.Args[0]) {
			c.add(call.Pos(), "floatint", "%s is converted to %s with no bound in sight", types.ExprString(call.Args[0]), types.ExprString(call.Fun))
		}
		if narrowing(from, to) && c.grown(call.Args[0]) {
			c.add(call.Pos(), "platformint", "%s may lose bits in %s", types.ExprString(call.Args[0]), types.ExprString(call.Fun))
		}
	}
}

// bounded reports whether the function compares or clamps a variable that the value comes
// from, or calls another function for it, whose contract may give a bound. It does not
// look at what the bound is.
func (c *checker) bounded(cur inspector.Cursor, value ast.Expr) bool {
	from := map[types.Object]bool{}
	clamped := false
	ast.Inspect(value, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := c.TypesInfo.Uses[n].(*types.Var); ok {
				from[v] = true
			}
		case *ast.CallExpr:
			f := c.callee(n)
			clamped = clamped || !c.conversion(n) && (f == nil || f.Pkg() == nil || f.Pkg().Path() != "math")
		}
		return true
	})
	if clamped {
		return true
	}
	function := cur
	for up := range cur.Enclosing((*ast.FuncDecl)(nil)) {
		function = up
	}
	for at := range function.Preorder((*ast.BinaryExpr)(nil), (*ast.CallExpr)(nil)) {
		switch n := at.Node().(type) {
		case *ast.BinaryExpr:
			if compares(n.Op) && c.reads(n, from) {
				return true
			}
		case *ast.CallExpr:
			if name := c.builtin(n); (name == "min" || name == "max") && c.reads(n, from) {
				return true
			}
		}
	}
	return false
}

func compares(op token.Token) bool {
	switch op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

// reads reports whether one of the variables is used in an expression.
func (c *checker) reads(n ast.Node, variables map[types.Object]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && variables[c.TypesInfo.Uses[id]] {
			found = true
		}
		return !found
	})
	return found
}

// narrowing reports whether a conversion loses bits on machines with 32 bits only.
func narrowing(from, to types.Type) bool {
	f, ok := from.Underlying().(*types.Basic)
	t, is := to.Underlying().(*types.Basic)
	if !ok || !is {
		return false
	}
	return (f.Kind() == types.Int64 || f.Kind() == types.Uint64) && (t.Kind() == types.Int || t.Kind() == types.Uint)
}

// grown reports whether a value was computed by an operation that makes values larger.
func (c *checker) grown(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	switch b.Op {
	case token.MUL, token.ADD, token.SUB, token.SHL, token.XOR:
		return true
	}
	return false
}
