package rules

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// concurrency finds goroutines and the use of channels. What package sync holds is
// found by name.
func (c *checker) concurrency() {
	for cur := range c.root.Preorder((*ast.GoStmt)(nil), (*ast.SelectStmt)(nil), (*ast.SendStmt)(nil), (*ast.UnaryExpr)(nil),
		(*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.GoStmt:
			c.add(n.Pos(), "goroutine", "a goroutine is started")
		case *ast.SelectStmt:
			c.add(n.Pos(), "goroutine", "select chooses at random")
		case *ast.SendStmt:
			if !ofSelect(cur) {
				c.add(n.Arrow, "goroutine", "a value is sent to a channel")
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !ofSelect(cur) {
				c.add(n.OpPos, "goroutine", "a value is received from a channel")
			}
		case *ast.RangeStmt:
			if c.channel(n.X) {
				c.add(n.Pos(), "goroutine", "a channel is ranged over")
			}
		case *ast.CallExpr:
			if name := c.builtin(n); (name == "make" || name == "close") && c.channel(n.Args[0]) {
				c.add(n.Pos(), "goroutine", "%s of a channel", name)
			}
		}
	}
}

// ofSelect reports whether a node belongs to a case of a select, which is itself found.
func ofSelect(cur inspector.Cursor) bool {
	for {
		switch kind := cur.ParentEdgeKind(); kind {
		case edge.CommClause_Comm:
			return true
		case edge.AssignStmt_Rhs, edge.ExprStmt_X, edge.ParenExpr_X:
			cur = cur.Parent()
		default:
			return false
		}
	}
}

func (c *checker) channel(e ast.Expr) bool {
	t := c.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}
