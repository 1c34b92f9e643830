package rules

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// sortedBelow reports whether a slice that a statement fills is sorted before it is used:
// the first later statement of its block, or of one around it in the same function,
// that mentions the slice sorts it.
func (c *checker) sortedBelow(cur inspector.Cursor, slice ast.Expr) bool {
	text := types.ExprString(slice)
	_, plain := ast.Unparen(slice).(*ast.Ident)
	for stmt := cur; ; stmt = stmt.Parent() {
		switch stmt.Node().(type) {
		case *ast.FuncLit, *ast.FuncDecl, *ast.File:
			return false
		}
		if !listed(stmt) {
			continue
		}
		if stmt != cur && mentions(stmt, cur, text) {
			return false
		}
		for next, ok := stmt.NextSibling(); ok; next, ok = next.NextSibling() {
			if c.sorting(next.Node(), text) {
				return true
			}
			if !plain || mentions(next, cur, text) || leaves(next) {
				return false // what another name reaches may be read by anything
			}
		}
	}
}

// listed reports whether a node is a statement in a list of some.
func listed(cur inspector.Cursor) bool {
	switch cur.ParentEdgeKind() {
	case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
		return true
	}
	return false
}

// mentions reports whether a node does so, the nodes within another left out.
func mentions(cur, but inspector.Cursor, text string) bool {
	found := false
	cur.Inspect(nil, func(at inspector.Cursor) bool {
		if at == but || found {
			return false
		}
		if x, ok := at.Node().(ast.Expr); ok && types.ExprString(x) == text {
			found = true
		}
		return !found
	})
	return found
}

// leaves reports whether a statement may leave the block, or return named results.
func leaves(cur inspector.Cursor) bool {
	for at := range cur.Preorder((*ast.BranchStmt)(nil), (*ast.ReturnStmt)(nil)) {
		if r, ok := at.Node().(*ast.ReturnStmt); !ok || len(r.Results) == 0 {
			return true
		}
	}
	return false
}

// sorting reports whether a statement sorts a slice. A stable sort does not count, for it
// keeps the order in which equal elements came.
func (c *checker) sorting(n ast.Node, text string) bool {
	stmt, ok := n.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := stmt.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	if c.calls(call, "slices.Sort", "slices.SortFunc", "sort.Slice", "sort.Sort", "sort.Strings", "sort.Ints", "sort.Float64s",
		"golang.org/x/exp/slices.Sort", "golang.org/x/exp/slices.SortFunc") == "" {
		return false
	}
	arg := ast.Unparen(call.Args[0])
	if wrap, ok := arg.(*ast.CallExpr); ok && len(wrap.Args) == 1 { // sort.Sort(byName(s))
		arg = ast.Unparen(wrap.Args[0])
	}
	return types.ExprString(arg) == text
}
