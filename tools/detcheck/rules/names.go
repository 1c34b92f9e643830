package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// A ban forbids what a package exports.
type ban struct {
	path string // of the package; one that ends in /... is of those below it, too
	rule string // empty for packages that are free
	only string // names with spaces between, methods as Type.Method; empty for all
	but  string // names that are free
	what string // is said of a name
	kind kind
}

// A kind says which objects a ban without names is about.
type kind int

const (
	code      kind = iota // functions, methods and variables
	functions             // functions and variables, but no methods
	anything              // types and constants as well
)

const (
	harmlessMath = "Abs Ceil Copysign Dim FMA Float32bits Float32frombits Float64bits Float64frombits Floor Frexp Ilogb Inf IsInf " +
		"IsNaN Ldexp Logb Max Min Mod Modf NaN Nextafter Nextafter32 Pow10 Remainder Round RoundToEven Signbit Sqrt Trunc"
	generators = "New NewChaCha8 NewCustom NewPCG NewSource NewZipf"
)

// bans are searched in order; the first that fits counts, and one without a rule frees. Functions of package math
// are free if they are one rounded operation or move bits about: Mod and Remainder
// are exact, Pow10 reads tables. Generators that a program seeds itself are free.
var bans = []ban{
	{path: "time", rule: "clock", what: "reads real time",
		only: "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker Timer.Reset Ticker.Reset"},
	{path: "context", rule: "clock", what: "ends by real time",
		only: "WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause"},
	{path: "time", rule: "environment", what: "depends on the machine's time zone", only: "Local LoadLocation Time.Local"},

	{path: "math/rand", rule: "transcendental", what: "uses math.Exp and math.Log",
		only: "Rand.NormFloat64 Rand.ExpFloat64 NewZipf"},
	{path: "math/rand/v2", rule: "transcendental", what: "uses math.Exp and math.Log",
		only: "Rand.NormFloat64 Rand.ExpFloat64 NewZipf"},
	{path: "math/rand", rule: "platformint", what: "gives as many bits as int has", only: "Rand.Int"},
	{path: "math/rand/v2", rule: "platformint", what: "gives as many bits as int has", only: "Rand.Int Rand.Uint"},
	{path: "math/rand", rule: "random", what: "draws from a generator that the process seeds", but: generators, kind: functions},
	{path: "math/rand/v2", rule: "random", what: "draws from a generator that the process seeds", but: generators, kind: functions},
	{path: "golang.org/x/exp/rand", rule: "random", what: "draws from a generator of the process", but: generators, kind: functions},
	{path: "lukechampine.com/frand", rule: "random", what: "draws from a generator that the process seeds", but: generators, kind: functions},
	{path: "github.com/google/uuid", rule: "random", what: "draws from the machine or its clock",
		only: "New NewString NewRandom NewUUID NewV6 NewV7 NewDCEGroup NewDCEPerson NewDCESecurity"},
	{path: "crypto/rand", rule: "random", what: "draws from the machine"},
	{path: "hash/maphash", rule: "random", what: "has another seed in every process", kind: anything},

	{path: "math", rule: "transcendental", what: "gives other bits on other processors", but: harmlessMath, kind: functions},
	{path: "math/cmplx", rule: "transcendental", what: "gives other bits on other processors", but: "Conj Inf IsInf IsNaN NaN"},

	{path: "runtime", rule: "goroutine", what: "meddles with the scheduler",
		only: "Gosched Goexit LockOSThread UnlockOSThread"},
	{path: "sync/...", rule: "goroutine", what: "is for goroutines", kind: anything},
	{path: "golang.org/x/sync/...", rule: "goroutine", what: "is for goroutines", kind: anything},
	{path: "context", rule: "goroutine", what: "starts a goroutine", only: "AfterFunc"},

	{path: "runtime", rule: "environment", what: "is another on other machines", only: "GOOS GOARCH GOROOT NumCPU GOMAXPROCS Version"},
	{path: "runtime/...", rule: "runtime", what: "is the runtime's business", but: "KeepAlive"},
	{path: "weak", rule: "runtime", what: "depends on the collector"},

	{path: "os", rule: "environment", what: "reads a file",
		only: "File.Read File.ReadAt File.ReadDir File.Readdir File.Readdirnames File.Stat"},
	{path: "os/...", rule: "environment", what: "depends on the machine", but: "IsExist IsNotExist IsPermission IsTimeout", kind: functions},
	{path: "io/ioutil", rule: "environment", what: "reads or writes files", but: "Discard NopCloser ReadAll"},
	{path: "path/filepath", rule: "environment", what: "looks into the file system", only: "Abs EvalSymlinks Glob Walk WalkDir"},
	{path: "net/url"},
	{path: "net/netip"},
	{path: "net/...", rule: "environment", what: "is for networks", but: "ParseIP ParseMAC ParseCIDR"},
	{path: "flag", rule: "environment", what: "reads the command line", only: "Parse Parsed Arg Args NArg NFlag CommandLine"},
	{path: "syscall/...", rule: "environment", what: "asks the operating system"},
	{path: "golang.org/x/sys/...", rule: "environment", what: "asks the operating system"},
	{path: "plugin", rule: "environment", what: "loads code that the sources do not show"},

	{path: "unsafe", rule: "pointer", what: "looks behind the language", kind: anything},
	{path: "reflect", rule: "pointer", what: "is an address", only: "Value.Pointer Value.UnsafePointer Value.UnsafeAddr"},
	{path: "reflect", rule: "maprange", what: "follows the order of a map", only: "Value.MapKeys Value.MapRange Value.Seq Value.Seq2"},
	{path: "reflect", rule: "goroutine", what: "is for channels",
		only: "Select MakeChan Value.Send Value.Recv Value.TrySend Value.TryRecv Value.Close"},
	{path: "sort", rule: "sort", what: "takes 0 and −0 for equal", only: "Float64Slice.Sort"},
	{path: "sync", rule: "maprange", what: "follows the order of a map", only: "Map.Range"},

	{path: "math", rule: "platformint", what: "differs between 32 and 64 bits", only: "MaxInt MinInt MaxUint"},
	{path: "strconv", rule: "platformint", what: "differs between 32 and 64 bits", only: "IntSize"},
	{path: "math/bits", rule: "platformint", what: "depends on the size of uint",
		only: "UintSize LeadingZeros RotateLeft Reverse ReverseBytes Add Sub Mul Div Rem"},
}

// names looks at everything that is used from other packages.
func (c *checker) names() {
	for cur := range c.root.Preorder((*ast.Ident)(nil)) {
		id := cur.Node().(*ast.Ident)
		obj := c.TypesInfo.Uses[id]
		if obj != nil && obj == types.Universe.Lookup("uintptr") {
			c.add(id.Pos(), "pointer", "uintptr holds an address")
		}
		if obj == nil || obj.Pkg() == nil || obj.Pkg() == c.Pkg {
			continue
		}
		path, name, member := obj.Pkg().Path(), obj.Name(), false
		if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
			name, member = receiver(f)+"."+name, true
		}
		i := slices.IndexFunc(bans, func(b ban) bool { return b.fits(path, name, member, obj) })
		if i >= 0 && bans[i].rule != "" {
			c.add(id.Pos(), bans[i].rule, "%s.%s %s", obj.Pkg().Name(), name, bans[i].what)
		}
	}
}

// receiver names the type that a method belongs to.
func receiver(f *types.Func) string {
	t := types.Unalias(f.Origin().Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// fits reports whether a ban is about an object.
func (b ban) fits(path, name string, member bool, obj types.Object) bool {
	if below, ok := strings.CutSuffix(b.path, "/..."); ok {
		if path != below && !strings.HasPrefix(path, below+"/") {
			return false
		}
	} else if path != b.path {
		return false
	}
	if b.only != "" {
		return slices.Contains(strings.Fields(b.only), name)
	}
	if slices.Contains(strings.Fields(b.but), name) {
		return false
	}
	switch o := obj.(type) {
	case *types.Func:
		return !member || b.kind == code
	case *types.Var:
		return !o.IsField() && !strings.HasPrefix(name, "Err")
	case *types.TypeName, *types.Const, *types.Builtin:
		return b.kind == anything
	}
	return false
}
