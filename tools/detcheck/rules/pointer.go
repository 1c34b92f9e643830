package rules

import (
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"strings"
)

// pointers finds addresses as keys and in output. Package unsafe, uintptr and what
// reflect has of the kind are found by name.
func (c *checker) pointers() {
	for cur := range c.root.Preorder((*ast.MapType)(nil), (*ast.CallExpr)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.MapType:
			if t := c.TypesInfo.TypeOf(n.Key); t != nil && address(t, 0) {
				c.add(n.Pos(), "pointer", "the keys of this map are addresses")
			}
		case *ast.CallExpr:
			c.output(n)
		}
	}
}

// address reports whether values of a type are addresses or hold some.
func address(t types.Type, depth int) bool {
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Chan:
		return true
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	case *types.Array:
		return address(t.Elem(), depth+1)
	case *types.Struct:
		for f := range t.Fields() {
			if depth < 8 && address(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

var percentP = regexp.MustCompile(`%[-+# 0-9.*\[\]]*p`)

// output finds %p in formats, and values that package fmt prints as addresses.
func (c *checker) output(call *ast.CallExpr) {
	f := c.callee(call)
	if f == nil || f.Pkg() == nil {
		return
	}
	if strings.HasSuffix(f.Name(), "f") {
		for _, arg := range call.Args {
			v := c.TypesInfo.Types[arg].Value
			if v == nil || v.Kind() != constant.String {
				continue
			}
			if percentP.MatchString(strings.ReplaceAll(constant.StringVal(v), "%%", "")) {
				c.add(arg.Pos(), "pointer", "%%p prints an address")
			}
			break // the format
		}
	}
	if f.Pkg().Path() != "fmt" || strings.Contains(strings.ToLower(f.Name()), "scan") {
		return
	}
	for _, arg := range call.Args {
		if c.printsAddress(arg) {
			c.add(arg.Pos(), "pointer", "fmt prints %s as an address", types.ExprString(arg))
		}
	}
}

// printsAddress reports whether package fmt has nothing else to print of a value.
func (c *checker) printsAddress(e ast.Expr) bool {
	t := c.TypesInfo.TypeOf(e)
	if t == nil || c.TypesInfo.Types[e].IsNil() || method(t, "Error") || method(t, "String") || method(t, "Format") || method(t, "Write") {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		switch p.Elem().Underlying().(type) {
		case *types.Struct, *types.Array, *types.Slice, *types.Map:
			t = p.Elem() // fmt follows the pointer, but none within
		}
	}
	return prints(t, 0)
}

// prints reports whether package fmt prints the address in a value, or in a part of it.
func prints(t types.Type, depth int) bool {
	if depth > 8 || depth > 0 && (method(t, "Error") || method(t, "String") || method(t, "Format")) {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Chan, *types.Signature, *types.Pointer:
		return true
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	case *types.Slice:
		return prints(t.Elem(), depth+1)
	case *types.Array:
		return prints(t.Elem(), depth+1)
	case *types.Map:
		return prints(t.Key(), depth+1) || prints(t.Elem(), depth+1)
	case *types.Struct:
		for f := range t.Fields() {
			if prints(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

func method(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}
