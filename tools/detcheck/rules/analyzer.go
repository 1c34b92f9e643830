package rules

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Analyzer checks one package by all rules.
var Analyzer = &analysis.Analyzer{
	Name:     "detcheck",
	Doc:      "finds code that may give other results on other machines or in other runs",
	URL:      "https://github.com/murksim/murksim/tree/main/tools/detcheck",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// A finding breaks a rule at a position.
type finding struct {
	pos  token.Pos
	rule string
	text string
}

// A checker gathers the findings in one package.
type checker struct {
	*analysis.Pass
	root  inspector.Cursor
	found []finding
}

func run(pass *analysis.Pass) (any, error) {
	c := &checker{Pass: pass, root: pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()}
	c.names()
	c.concurrency()
	c.mapRanges()
	c.products()
	c.sorts()
	c.packageVariables()
	c.aliases()
	c.hiddenState()
	c.foreign()
	c.values()
	c.pointers()
	c.conversions()
	for _, f := range c.excepted() {
		c.Report(analysis.Diagnostic{Pos: f.pos, Category: f.rule, Message: f.rule + ": " + f.text})
	}
	return nil, nil
}

// add records a finding. Its text ends with what to do instead.
func (c *checker) add(pos token.Pos, rule, format string, args ...any) {
	c.found = append(c.found, finding{pos, rule, fmt.Sprintf(format, args...) + "; " + instead(rule)})
}

// excepted returns the findings that no comment excuses, and those about the comments,
// by position, rule and text.
func (c *checker) excepted() []finding {
	slices.SortFunc(c.found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.rule, b.rule), cmp.Compare(a.text, b.text))
	})
	exceptions, rest := c.exceptions()
	hidden := c.generatedByCgo()
	for _, f := range slices.Compact(c.found) {
		if hidden[c.Fset.Position(f.pos).Filename] {
			continue
		}
		excused := false
		for i := range exceptions {
			if exceptions[i].covers(c.Fset.Position(f.pos), f.rule) {
				exceptions[i].used, excused = true, true
			}
		}
		if !excused {
			rest = append(rest, f)
		}
	}
	for _, e := range exceptions {
		if !e.used {
			rest = append(rest, finding{e.pos, "allow", fmt.Sprintf("no finding of %s here; delete the comment", e.rule)})
		}
	}
	slices.SortStableFunc(rest, func(a, b finding) int { return cmp.Compare(a.pos, b.pos) })
	return rest
}

// callee is the function or method that a call names, nil if it is a value, a
// conversion or a builtin.
func (c *checker) callee(call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		fun = f.Sel
	}
	id, ok := fun.(*ast.Ident)
	if !ok {
		return nil
	}
	f, _ := c.TypesInfo.Uses[id].(*types.Func)
	return f
}

// calls says which of the functions, given as path.Name, a call names; "" if none.
func (c *checker) calls(call *ast.CallExpr, functions ...string) string {
	f := c.callee(call)
	if f == nil || f.Pkg() == nil || f.Signature().Recv() != nil {
		return ""
	}
	name := f.Pkg().Path() + "." + f.Name()
	if slices.Contains(functions, name) {
		return name
	}
	return ""
}

// builtin returns the name of the builtin function that a call is of, "" if it is none.
func (c *checker) builtin(call *ast.CallExpr) string {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return ""
	}
	b, ok := c.TypesInfo.Uses[id].(*types.Builtin)
	if !ok {
		return ""
	}
	return b.Name()
}

// conversion reports whether a call is one.
func (c *checker) conversion(call *ast.CallExpr) bool { return c.TypesInfo.Types[call.Fun].IsType() }

// constant reports whether an expression's value is known to the compiler.
func (c *checker) constant(e ast.Expr) bool { return c.TypesInfo.Types[e].Value != nil }

// object returns what an identifier names or declares, nil if the expression is none.
func (c *checker) object(e ast.Expr) types.Object {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	return c.TypesInfo.ObjectOf(id)
}

// basic reports whether a type, or one of those that a type parameter stands for, is
// basic and has one of the properties.
func basic(t types.Type, info types.BasicInfo) bool {
	switch t := types.Unalias(t).(type) {
	case nil:
		return false
	case *types.TypeParam:
		return constrained(t.Constraint(), info)
	default:
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&info != 0
	}
}

// constrained does as basic for what a constraint lists.
func constrained(t types.Type, info types.BasicInfo) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok {
		return basic(t, info)
	}
	for e := range i.EmbeddedTypes() {
		u, ok := e.(*types.Union)
		if !ok {
			if constrained(e, info) {
				return true
			}
			continue
		}
		for term := range u.Terms() {
			if constrained(term.Type(), info) {
				return true
			}
		}
	}
	return false
}
