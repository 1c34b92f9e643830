package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// A sink says where the value of a product goes before anything rounds it.
type sink int

const (
	nowhere sink = iota // nothing can fuse it
	away                // out of sight: stored, returned or passed on
	sum                 // into a sum or a difference
)

// products finds float products that a compiler may fuse with a sum. The language lets
// it do so across statements and, after inlining, across functions. So a product that
// is stored, returned or passed on is found as well, unless one factor is a power of
// two: that is exact except for the largest and smallest numbers, and only a sum that is
// seen to take it counts. Compilers turn a division by a power of two into a product.
// A product of complex numbers has sums within.
func (c *checker) products() {
	for cur := range c.root.Preorder((*ast.BinaryExpr)(nil), (*ast.AssignStmt)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.BinaryExpr:
			if !c.constant(n) {
				c.product(cur, n.OpPos, n.Op, n.X, n.Y)
			}
		case *ast.AssignStmt:
			switch n.Tok {
			case token.MUL_ASSIGN:
				c.product(cur, n.TokPos, token.MUL, n.Lhs[0], n.Rhs[0])
			case token.QUO_ASSIGN:
				c.product(cur, n.TokPos, token.QUO, n.Lhs[0], n.Rhs[0])
			}
		}
	}
}

// product looks where x·y or x/y goes.
func (c *checker) product(cur inspector.Cursor, pos token.Pos, op token.Token, x, y ast.Expr) {
	t := c.TypesInfo.TypeOf(x)
	if c.constant(x) {
		t = c.TypesInfo.TypeOf(y)
	}
	if op != token.MUL && op != token.QUO {
		return
	}
	if basic(t, types.IsComplex) {
		c.add(pos, "fuse", "a complex product has sums in it that may be fused")
		return
	}
	if !basic(t, types.IsFloat) {
		return
	}
	px, py := c.power(x), c.power(y)
	what := "a product"
	switch {
	case op == token.MUL && (px == 1 || py == 1 || px == 2 || py == 2):
		return // compilers write 2x as x+x
	case op == token.QUO && (py == 0 || py == 1):
		return
	case op == token.QUO:
		what = "a division by a power of two, which becomes a product,"
	}
	switch to := c.flow(cur, map[types.Object]bool{}); {
	case to == sum:
		c.add(pos, "fuse", "%s goes unrounded into a sum", what)
	case to == away && px == 0 && py == 0:
		c.add(pos, "fuse", "%s is stored, returned or passed on unrounded, and a sum may take it", what)
	}
}

// power returns the size of a constant that is a power of two, 0 for all other expressions.
func (c *checker) power(e ast.Expr) float64 {
	v := c.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.Int && v.Kind() != constant.Float {
		return 0
	}
	f, _ := constant.Float64Val(v)
	if fraction, _ := math.Frexp(math.Abs(f)); fraction != 0.5 {
		return 0
	}
	return math.Abs(f)
}

// flow follows a value upward from the expression or assignment that makes it. Variables
// that were followed already are in seen.
func (c *checker) flow(cur inspector.Cursor, seen map[types.Object]bool) sink {
	if a, ok := cur.Node().(*ast.AssignStmt); ok { // x *= y
		return c.stored(cur, a.Lhs[0], seen)
	}
	up := cur.Parent()
	switch p := up.Node().(type) {
	case *ast.ParenExpr:
		return c.flow(up, seen)
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			return away
		}
		return c.flow(up, seen)
	case *ast.BinaryExpr:
		if p.Op == token.ADD || p.Op == token.SUB {
			return sum
		}
		return nowhere // a comparison, or a product that is looked at itself
	case *ast.CallExpr:
		return c.passed(up, p, cur.ParentEdgeIndex(), seen)
	case *ast.AssignStmt:
		return c.assigned(cur, p, seen)
	case *ast.ValueSpec:
		if len(p.Names) != len(p.Values) {
			return away
		}
		return c.stored(up, p.Names[cur.ParentEdgeIndex()], seen)
	case *ast.IncDecStmt:
		return sum
	case *ast.IndexExpr, *ast.ExprStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.RangeStmt:
		return nowhere
	}
	return away
}

// passed follows an argument.
func (c *checker) passed(cur inspector.Cursor, call *ast.CallExpr, index int, seen map[types.Object]bool) sink {
	if c.conversion(call) {
		return nowhere
	}
	switch c.builtin(call) {
	case "min", "max":
		return c.flow(cur, seen)
	case "":
	default:
		return away
	}
	if f := c.callee(call); f != nil && f.Pkg() != nil {
		switch f.Pkg().Path() {
		case "math", "math/big", "strconv", "cmp":
			return nowhere
		}
	}
	if s, ok := c.TypesInfo.TypeOf(call.Fun).Underlying().(*types.Signature); ok {
		i := min(index, s.Params().Len()-1)
		t := s.Params().At(i).Type()
		if s.Variadic() && i == s.Params().Len()-1 {
			t = t.(*types.Slice).Elem()
		}
		if types.IsInterface(t) && !basic(t, types.IsFloat) {
			return nowhere // put into an interface, a value lies in memory
		}
	}
	return away
}

// assigned follows one side of an assignment.
func (c *checker) assigned(cur inspector.Cursor, p *ast.AssignStmt, seen map[types.Object]bool) sink {
	right := cur.ParentEdgeKind() == edge.AssignStmt_Rhs
	switch p.Tok {
	case token.ADD_ASSIGN, token.SUB_ASSIGN:
		return sum
	case token.ASSIGN, token.DEFINE:
		if !right {
			return nowhere // it is overwritten
		}
		if len(p.Lhs) != len(p.Rhs) {
			return away
		}
		return c.stored(cur.Parent(), p.Lhs[cur.ParentEdgeIndex()], seen)
	}
	return nowhere // x *= y is looked at itself
}

// stored follows a value into a place: through all uses of a local variable, and no
// further elsewhere.
func (c *checker) stored(cur inspector.Cursor, place ast.Expr, seen map[types.Object]bool) sink {
	if id, ok := ast.Unparen(place).(*ast.Ident); ok && id.Name == "_" {
		return nowhere
	}
	v, ok := c.object(place).(*types.Var)
	if !ok || v.IsField() || v.Parent() == c.Pkg.Scope() {
		return away
	}
	if seen[v] {
		return nowhere
	}
	seen[v] = true
	function, worst := cur, nowhere
	for up := range cur.Enclosing((*ast.FuncDecl)(nil)) {
		function = up
	}
	if function.Node() == cur.Node() {
		return away
	}
	for use := range function.Preorder((*ast.Ident)(nil)) {
		if c.TypesInfo.Uses[use.Node().(*ast.Ident)] == v {
			worst = max(worst, c.flow(use, seen))
		}
	}
	if worst == nowhere && c.result(function.Node().(*ast.FuncDecl), v) {
		return away
	}
	return worst
}

// result reports whether a variable is a named result of a function.
func (c *checker) result(f *ast.FuncDecl, v *types.Var) bool {
	named := false
	ast.Inspect(f, func(n ast.Node) bool {
		if t, ok := n.(*ast.FuncType); ok && t.Results != nil {
			for _, field := range t.Results.List {
				for _, name := range field.Names {
					named = named || c.TypesInfo.Defs[name] == v
				}
			}
		}
		return !named
	})
	return named
}
