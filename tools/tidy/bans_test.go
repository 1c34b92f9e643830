package tidy_test

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// statePath are the packages whose code decides bits of the state.
var statePath = []string{
	"space", "fields", "commands", "rng", "exact", "engine", "engine/propagators", "engine/internal/refworld", "scenarios",
}

// bannedImports may not be imported there, but for the files listed.
var bannedImports = map[string][]string{
	"time":         {"engine/pace.go"}, // real time is outside the world
	"math/rand":    {},
	"math/rand/v2": {"rng/stream.go", "rng/generator.go", "rng/doc.go"}, // the definition of ChaCha8
	"crypto/rand":  {},
	"unsafe":       {},
	"net":          {},
	"os/exec":      {},
	"syscall":      {},
}

// allowedMath are the functions of package math with the same bits on every processor.
var allowedMath = []string{
	"Abs", "Ceil", "Copysign", "FMA", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits", "Floor", "Inf",
	"IsInf", "IsNaN", "Max", "Min", "Mod", "NaN", "Nextafter", "Nextafter32", "Round", "RoundToEven", "Signbit", "Sqrt", "Trunc",
	"Frexp", "Ldexp", "Modf",
}

// allowedRange are maps ranged over in an order that cannot matter, each with its reason.
var allowedRange = map[string]string{
	"engine/internal/refworld/rest.go":  "collects keys, which are then sorted",
	"engine/internal/refworld/world.go": "copies one map into another",
}

// allowedGo are the places that start goroutines, each with its reason.
var allowedGo = map[string]string{
	"engine/stage.go": "workers on disjoint ranges, joined in order",
}

func TestBans(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(statePath, p.Path) {
			continue
		}
		for _, f := range p.Files {
			c := checker{t, p, f}
			for _, spec := range f.Imports {
				c.imported(spec)
			}
			c.walk()
		}
	}
}

type checker struct {
	t *testing.T
	p *pkg
	f *ast.File
}

func (c *checker) file() string {
	name, _, _ := strings.Cut(c.p.at(c.f.Pos()), ":")
	return name
}

func (c *checker) imported(spec *ast.ImportSpec) {
	path, _ := strconv.Unquote(spec.Path.Value)
	except, banned := bannedImports[path]
	if banned && !slices.Contains(except, c.file()) {
		c.t.Errorf("%s: %q is banned on the state path", c.p.at(spec.Pos()), path)
	}
}

func (c *checker) walk() {
	var parents []ast.Node
	ast.Inspect(c.f, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return false
		}
		c.node(n, parents)
		parents = append(parents, n)
		return true
	})
}

func (c *checker) node(n ast.Node, parents []ast.Node) {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if _, ok := c.p.Info.TypeOf(n.X).Underlying().(*types.Map); ok && allowedRange[c.file()] == "" {
			c.t.Errorf("%s: a map is ranged over; its order is random", c.p.at(n.Pos()))
		}
	case *ast.SelectStmt:
		if c.file() != "engine/pace.go" {
			c.t.Errorf("%s: select chooses at random", c.p.at(n.Pos()))
		}
	case *ast.GoStmt:
		if allowedGo[c.file()] == "" {
			c.t.Errorf("%s: a goroutine is started", c.p.at(n.Pos()))
		}
	case *ast.SelectorExpr:
		c.selector(n)
	case *ast.BinaryExpr:
		if n.Op == token.MUL && c.float(n) && !c.exact(n.X) && !c.exact(n.Y) && !c.rounded(n, parents) {
			c.t.Errorf("%s: a float product is not rounded by a conversion, so it may be fused with a sum", c.p.at(n.OpPos))
		}
	case *ast.AssignStmt:
		if n.Tok == token.MUL_ASSIGN && c.float(n.Lhs[0]) && !c.exact(n.Rhs[0]) {
			c.t.Errorf("%s: *= on floats does not round; write x = float32(x * y)", c.p.at(n.Pos()))
		}
	}
}

// selector checks what is used of package math.
func (c *checker) selector(n *ast.SelectorExpr) {
	id, ok := n.X.(*ast.Ident)
	if !ok {
		return
	}
	name, ok := c.p.Info.Uses[id].(*types.PkgName)
	if !ok || name.Imported().Path() != "math" {
		return
	}
	if _, function := c.p.Info.Uses[n.Sel].(*types.Func); function && !slices.Contains(allowedMath, n.Sel.Name) {
		c.t.Errorf("%s: math.%s gives other bits on other processors; use package exact", c.p.at(n.Pos()), n.Sel.Name)
	}
}

// float says whether an expression is a float that is not constant.
func (c *checker) float(e ast.Expr) bool {
	tv := c.p.Info.Types[e]
	b, ok := tv.Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0 && tv.Value == nil
}

// exact says whether an operand is a constant power of two, by which every product
// is exact, so that fusing it changes nothing.
func (c *checker) exact(e ast.Expr) bool {
	v := c.p.Info.Types[e].Value
	if v == nil || constant.Sign(v) == 0 {
		return false
	}
	f, _ := constant.Float64Val(v)
	fraction, _ := math.Frexp(math.Abs(f))
	return fraction == 0.5
}

// rounded says whether a product is the operand of a conversion, or of another
// product or a division that nothing can fuse with.
func (c *checker) rounded(e ast.Expr, parents []ast.Node) bool {
	for i := len(parents) - 1; i >= 0; i-- {
		switch p := parents[i].(type) {
		case *ast.ParenExpr:
			continue
		case *ast.CallExpr:
			if c.p.Info.Types[p.Fun].IsType() {
				return true
			}
			return c.pure(p)
		case *ast.BinaryExpr:
			switch p.Op {
			case token.QUO, token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ:
				return true
			case token.MUL:
				return true // the outer product is checked itself
			}
			return false
		default:
			return false
		}
	}
	return false
}

// pure says whether a call is of a function of package math, which rounds its argument.
func (c *checker) pure(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return false
	}
	name, ok := c.p.Info.Uses[id].(*types.PkgName)
	return ok && name.Imported().Path() == "math"
}
