package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// An outcome is what became of a change.
type outcome string

const (
	caught   outcome = "caught"
	timedOut outcome = "timed out" // and so caught
	survived outcome = "survived"
	notBuilt outcome = "not compiled"
)

// A change is one small mistake in the code.
type change struct {
	File     string  `json:"file"` // below the module
	Line     int     `json:"line"`
	Function string  `json:"function"` // or constant, type or variable
	From     string  `json:"from"`     // the lines of the change, without indentation
	To       string  `json:"to"`
	Outcome  outcome `json:"outcome"`

	pkg    *pkg
	index  int // of the file in the package
	lo, hi int // bytes of the file that are replaced
	text   string
	number bool // another number
}

// String returns the change as the list of equivalent ones has it, with its line.
func (c *change) String() string {
	return fmt.Sprintf("%s:%d %s\n- %s\n+ %s\n", c.File, c.Line, c.Function, c.From, c.To)
}

// shuffle orders changes at random, each by what it changes and the seed, so that other code
// that comes or goes leaves the order of the rest.
func shuffle(all []*change, seed uint64) {
	keys := make(map[*change]uint64, len(all))
	same := map[string]int{} // changes in several equal lines
	for _, c := range all {
		text := strings.Join([]string{c.File, c.Function, c.From, c.To}, "\n")
		same[text]++
		keys[c] = xxhash.Sum64String(fmt.Sprintf("%d %d %s", seed, same[text], text))
	}
	slices.SortFunc(all, func(a, b *change) int { return cmp.Compare(keys[a], keys[b]) })
}

// source returns the changed file.
func (c *change) source() []byte {
	b := c.pkg.sources[c.index]
	return slices.Concat(b[:c.lo], []byte(c.text), b[c.hi:])
}

// operators are what an operator is exchanged for.
var operators = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.QUO,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.OR, token.AND_NOT: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND,

	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN, token.XOR_ASSIGN: token.OR_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN,
	token.SHL_ASSIGN: token.SHR_ASSIGN, token.SHR_ASSIGN: token.SHL_ASSIGN,

	token.INC: token.DEC, token.DEC: token.INC, token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK,
}

// A finder gathers the changes of one file.
type finder struct {
	p        *pkg
	index    int
	function string
	left     map[ast.Node]bool // what it does not look into: see leaveOut
	sliced   map[ast.Node]bool // calls whose result is sliced
	found    []*change
}

// changes returns all changes of a package, in the order of its files, but for what leaveOut
// describes. Some do not compile.
func (p *pkg) changes() (all []*change) {
	for i, file := range p.files {
		if ast.IsGenerated(file) {
			continue
		}
		f := &finder{p: p, index: i, left: map[ast.Node]bool{}, sliced: map[ast.Node]bool{}}
		for _, d := range file.Decls {
			f.function = nameOf(d)
			ast.Inspect(d, f.visit)
		}
		all = append(all, f.found...)
	}
	return all
}

// nameOf names a function, with the type of its receiver, or the first name of another
// declaration.
func nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		t := d.Recv.List[0].Type
		format := "%s.%s"
		if star, ok := t.(*ast.StarExpr); ok {
			t, format = star.X, "(*%s).%s"
		}
		if generic, ok := t.(*ast.IndexExpr); ok {
			t = generic.X
		}
		return fmt.Sprintf(format, types.ExprString(t), d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				return s.Names[0].Name
			case *ast.TypeSpec:
				return s.Name.Name
			}
		}
	}
	return ""
}

// visit adds the changes of one node and reports whether to look into it.
func (f *finder) visit(n ast.Node) bool {
	if f.left[n] {
		return false
	}
	f.leaveOut(n)
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.Field:
		return false // no code; a parameter's type may hold the length of an array
	case *ast.BinaryExpr:
		if basic, ok := f.p.info.TypeOf(n.X).Underlying().(*types.Basic); !ok || n.Op != token.ADD || basic.Info()&types.IsString == 0 {
			f.exchange(n.OpPos, n.Op)
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT || n.Op == token.SUB {
			f.replace(n.OpPos, n.X.Pos(), "")
		}
	case *ast.BasicLit:
		if n.Kind == token.INT || n.Kind == token.FLOAT || n.Kind == token.CHAR {
			f.replace(n.Pos(), n.End(), "("+n.Value+"+1)").number = true
			f.replace(n.Pos(), n.End(), "("+n.Value+"-1)").number = true
		}
	case *ast.Ident:
		if b, ok := f.p.info.Uses[n].(*types.Const); ok && b.Parent() == types.Universe && (n.Name == "true" || n.Name == "false") {
			f.replace(n.Pos(), n.End(), map[string]string{"true": "false", "false": "true"}[n.Name])
		}
	case *ast.CallExpr:
		f.call(n)
	case ast.Stmt:
		f.statement(n)
	}
	return true
}

// statement adds the changes of a statement as a whole.
func (f *finder) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return
		}
		f.exchange(n.TokPos, n.Tok)
		f.replace(n.Lhs[0].Pos(), n.Rhs[0].Pos(), strings.Repeat("_, ", len(n.Lhs)-1)+"_ = ")
	case *ast.IncDecStmt:
		f.exchange(n.TokPos, n.Tok)
	case *ast.ExprStmt:
		f.replace(n.Pos(), n.End(), "")
	case *ast.DeferStmt:
		f.replace(n.Pos(), n.End(), "")
	case *ast.BranchStmt:
		f.exchange(n.TokPos, n.Tok)
	case *ast.IfStmt:
		f.replace(n.Cond.Pos(), n.Cond.End(), "!("+f.text(n.Cond)+")")
	}
}

// call adds the changes of a call: max for min, and two arguments exchanged.
func (f *finder) call(n *ast.CallExpr) {
	if id, ok := n.Fun.(*ast.Ident); ok {
		if _, ok := f.p.info.Uses[id].(*types.Builtin); ok {
			switch id.Name {
			case "min":
				f.replace(id.Pos(), id.End(), "max")
			case "max":
				f.replace(id.Pos(), id.End(), "min")
			}
			return
		}
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		if f.text(a) != f.text(b) && types.Identical(f.p.info.TypeOf(a), f.p.info.TypeOf(b)) {
			f.replace(a.Pos(), b.End(), f.text(b)+", "+f.text(a))
		}
	}
}

// exchange replaces an operator or a keyword, if there is another for it.
func (f *finder) exchange(at token.Pos, was token.Token) {
	if other, ok := operators[was]; ok {
		f.replace(at, at+token.Pos(len(was.String())), other.String())
	}
}

func (f *finder) text(n ast.Node) string {
	return string(f.p.sources[f.index][f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(at token.Pos) int { return f.p.fset.Position(at).Offset }

// replace adds a change of the text from lo to hi, and returns it.
func (f *finder) replace(lo, hi token.Pos, text string) *change {
	c := &change{
		File: f.p.names[f.index], Line: f.p.fset.Position(lo).Line, Function: f.function,
		pkg: f.p, index: f.index, lo: f.offset(lo), hi: f.offset(hi), text: text,
	}
	source := string(f.p.sources[f.index])
	begin := strings.LastIndexByte(source[:c.lo], '\n') + 1
	end := len(source)
	if n := strings.IndexByte(source[c.hi:], '\n'); n >= 0 {
		end = c.hi + n
	}
	c.From = flat(source[begin:end])
	c.To = flat(source[begin:c.lo] + text + source[c.hi:end])
	if c.To != c.From {
		f.found = append(f.found, c)
	}
	return c
}

// flat puts text on one line, with single spaces.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
