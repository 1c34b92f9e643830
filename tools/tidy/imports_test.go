package tidy_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports says, for each package, which others of ours and which modules it may
// import. The standard library is free; what the state path may use of
// it, tools/detcheck says.
var imports = map[string][]string{
	"space":       {},
	"fields":      {"internal/kernel"},
	"exact":       {},
	"exact/fixed": {},
	"exact/f32":   {"exact"},
	"rng":         {"exact", "internal/kernel", "golang.org/x/crypto/chacha20", "lukechampine.com/frand"},
	"commands":    {"space", "fields", "internal/wire", "github.com/google/btree"},
	"engine": {"space", "fields", "commands", "rng", "exact", "internal/store", "internal/wire",
		"github.com/google/btree", "github.com/cespare/xxhash/v2"},
	"engine/observe":           {"space", "fields", "engine", "internal/wire"},
	"engine/physics":           {"space", "fields", "exact/fixed", "engine"},
	"engine/propagators":       {"space", "fields", "rng", "exact", "engine", "internal/kernel"},
	"engine/internal/refworld": {"space", "fields", "commands", "rng", "exact", "github.com/cespare/xxhash/v2"},
	"internal/kernel":          {},
	"internal/store":           {"fields"},
	"internal/statehash":       {"fields", "internal/kernel", "internal/store"},
	"internal/sinktest":        {"engine"},
	"internal/cputime":         {},
	"internal/filelock":        {},
	"internal/jsonlines":       {},
	"internal/plot":            {},
	"internal/rle":             {},
	"internal/vectors":         {},
	"internal/waiting":         {},
	"internal/wire":            {},
	"internal/kernel/gen":      {"github.com/mmcloughlin/avo"},
	"replay":                   {"fields", "commands", "engine", "internal/filelock", "internal/jsonlines", "internal/statehash", "internal/store", "internal/wire"},
	"replay/audit": {"commands", "engine", "fields", "internal/jsonlines", "internal/kernel", "internal/store", "internal/wire",
		"replay", // what a fork and a recording add to a descriptor
		"replay/diff"},
	"replay/audit/checkpoint": {"replay/audit", "golang.org/x/mod"},
	"replay/audit/stamp":      {"github.com/smallstep/pkcs7"},
	"replay/audit/store":      {"commands", "internal/draft", "replay/audit", "github.com/jackc/pgx/v5", "github.com/klauspost/compress", "github.com/pressly/goose/v3", "lukechampine.com/frand", "modernc.org/sqlite"},
	"replay/index": {"fields", "engine", "internal/store", "internal/wire", "replay",
		"github.com/cespare/xxhash/v2", "github.com/klauspost/compress"},
	"replay/ask":         {"commands", "engine", "fields", "replay", "space"},
	"replay/diff":        {"fields", "commands", "exact/fixed", "engine", "replay"},
	"replay/enginetest":  {"space", "fields", "commands", "engine", "replay", "replay/diff"},
	"replay/foreign":     {"space", "fields", "commands", "engine", "engine/propagators", "replay"},
	"replay/minewars":    {"internal/jsonlines", "internal/wire", "github.com/pierrec/lz4"},
	"replay/yrep":        {"internal/jsonlines", "internal/wire"},
	"scenarios/document": {},
	"scenarios/rules":    {"commands", "engine", "engine/propagators", "exact/f32", "exact/fixed", "fields", "internal/kernel", "rng", "scenarios/document", "space"},
	"scenarios":          {"space", "fields", "commands", "rng", "engine", "internal/rle", "scenarios/document", "scenarios/rules"},
	"scenarios/yaml":     {"scenarios", "scenarios/document", "github.com/goccy/go-yaml"},
	"scenarios/components": {"space", "fields", "exact/fixed", "engine", "engine/physics", "engine/propagators",
		"scenarios"},
	"scenarios/worlds/all": {"scenarios", "scenarios/components",
		"scenarios/worlds/colony", "scenarios/worlds/crystal", "scenarios/worlds/fire", "scenarios/worlds/minewars", "scenarios/worlds/predators"},
	"scenarios/worlds":                {"scenarios", "scenarios/document", "scenarios/yaml", "scenarios/worlds/all"},
	"scenarios/internal/scenariotest": {"fields", "engine", "runner", "scenarios", "scenarios/worlds", "scenarios/yaml"},
	"internal/draft":                  {"internal/filelock"},
	"internal/metrics":                {"commands", "engine", "replay", "replay/audit", "github.com/prometheus/client_golang"},
	"internal/files":                  {"internal/words", "scenarios/document", "golang.org/x/exp"},
	"internal/report":                 {"internal/files", "internal/jsonlines", "internal/words", "golang.org/x/term"},
	"internal/compare":                {"commands", "engine", "fields", "internal/evidence", "internal/files", "internal/report", "internal/session", "internal/words", "replay", "replay/audit", "replay/diff", "replay/index", "scenarios", "scenarios/document"},
	"internal/evidence":               {"engine", "fields", "internal/files", "internal/metrics", "internal/report", "internal/session", "internal/words", "replay", "replay/audit", "replay/audit/checkpoint", "replay/audit/stamp", "replay/audit/store", "replay/diff", "rng", "scenarios", "scenarios/document", "space"},
	"internal/session":                {"commands", "engine", "fields", "internal/draft", "internal/files", "internal/jsonlines", "internal/report", "internal/words", "replay", "replay/audit", "replay/diff", "replay/foreign", "replay/index", "replay/minewars", "replay/yrep", "rng", "runner", "scenarios", "scenarios/document", "scenarios/worlds", "scenarios/yaml", "space"},
	"internal/reasons":                {"engine", "fields", "internal/words", "replay/ask", "scenarios", "space"},
	"internal/watch":                  {"engine", "fields", "internal/render", "internal/survey", "internal/words", "scenarios", "scenarios/document"},
	"internal/words":                  {"commands", "engine", "internal/draft", "replay", "replay/audit", "replay/yrep", "scenarios", "scenarios/document", "space"},
	"cli": {"space", "fields", "commands", "rng", "engine", "replay", "replay/ask", "replay/audit", "replay/audit/checkpoint", "replay/audit/stamp", "replay/audit/store", "replay/diff", "replay/enginetest", "replay/foreign", "replay/index", "replay/minewars", "replay/yrep", "runner", "internal/plot", "internal/render", "internal/export", "internal/survey", "view", "view/films", "view/site", "view/sweeps", "serve", "serve/live", "sweep", "sweep/cluster", "internal/jsonlines", "internal/draft", "internal/files", "internal/metrics", "internal/compare", "internal/evidence", "internal/reasons", "internal/report", "internal/session", "internal/watch", "internal/words",
		"scenarios", "scenarios/document", "scenarios/worlds", "scenarios/yaml",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys", "golang.org/x/term"},
	"cmd/murksim":          {"cli"},
	"cmd/murksim-cluster":  {"cli", "sweep/cluster/server"},
	"cmd/libmurksim":       {"cli", "engine", "engine/observe", "environment", "fields", "internal/render", "replay", "scenarios", "scenarios/document", "scenarios/worlds", "space", "view"},
	"cmd/page":             {"view/worker"},
	"examples":             {},
	"examples/smoke":       {"space", "fields", "engine", "replay", "runner", "scenarios", "scenarios/worlds", "scenarios/yaml", "cli"},
	"tools/tidy":           {},
	"tools/bench":          {"internal/jsonlines", "internal/words", "replay", "tools/bench/measure"},
	"tools/bench/measure":  {"space", "fields", "commands", "engine", "engine/propagators", "replay", "scenarios", "scenarios/worlds", "scenarios/yaml", "internal/cputime", "internal/kernel", "internal/statehash", "internal/store"},
	"tools/detcheck":       {"tools/detcheck/rules", "golang.org/x/tools"},
	"tools/detcheck/rules": {"golang.org/x/tools"},
	"tools/mutate":         {"github.com/cespare/xxhash/v2", "golang.org/x/tools"},
	"tools/assets":         {"github.com/evanw/esbuild"},
	"tools/picture":        {"fields", "engine", "internal/render", "runner", "scenarios", "scenarios/worlds", "scenarios/yaml"},
	"tools/pages":          {"fields", "engine", "scenarios", "scenarios/worlds", "scenarios/yaml"},
	"tools/readme":         {},
	"tools/ulp":            {"exact", "exact/f32", "tools/ulp/reference", "golang.org/x/term"},
	"tools/ulp/reference":  {},
	"environment":          {"commands", "engine", "engine/observe", "fields", "replay", "rng", "scenarios", "space"},
	"runner":               {"commands", "engine", "environment", "replay", "scenarios"},
	"serve":                {"commands", "engine", "internal/jsonlines", "replay/minewars", "rng", "serve/live", "github.com/coder/websocket"},
	"serve/live":           {"commands", "engine", "internal/jsonlines", "replay/minewars"},
	"internal/render":      {"space", "fields"},
	"sweep/cluster":        {"rng", "scenarios", "sweep", "github.com/klauspost/compress", "github.com/nats-io/nats.go"},
	"view/sweeps":          {"internal/export", "scenarios/document", "sweep", "view"},
	"sweep/cluster/server": {"sweep/cluster", "github.com/nats-io/nats-server/v2"},
	"sweep":                {"commands", "engine", "exact", "internal/export", "internal/plot", "internal/render", "replay", "rng", "runner", "scenarios", "scenarios/document"},
	"internal/survey":      {"fields", "engine", "scenarios", "scenarios/document"},
	"view":                 {"space", "fields", "commands", "engine", "internal/jsonlines", "internal/reasons", "internal/render", "replay", "replay/ask", "replay/diff", "replay/index", "runner", "scenarios", "internal/survey"},
	"view/films":           {"space", "replay/minewars", "replay/yrep", "view"},
	"view/site":            {"view"},
	"view/worker":          {"engine", "replay", "runner", "scenarios", "scenarios/worlds/all", "view"},
	"internal/export": {"space", "fields", "commands", "engine", "internal/plot", "internal/render", "internal/rle", "internal/survey", "replay/yrep", "scenarios", "scenarios/document",
		"github.com/klauspost/compress", "github.com/parquet-go/parquet-go"},
	"tools/ci/checks":      {},
	"tools/ci/determinism": {"engine", "fields", "replay", "runner", "scenarios", "scenarios/document", "scenarios/worlds", "scenarios/yaml", "space"},
	"tools/ci/failures": {"fields", "commands", "exact/fixed", "space", "engine", "engine/physics", "replay", "replay/audit", "replay/audit/store", "replay/diff",
		"rng", "runner", "scenarios", "scenarios/worlds", "tools/ci/failures/colony", "tools/ci/failures/faults"},
	"tools/ci/failures/child":   {"tools/ci/failures/colony"},
	"tools/ci/failures/colony":  {"engine", "replay", "replay/audit", "runner", "scenarios", "scenarios/worlds", "tools/ci/failures/faults"},
	"tools/ci/failures/faults":  {"fields", "commands", "space", "engine", "scenarios"},
	"tools/ci/failures/murksim": {"cli", "tools/ci/failures/faults"},
	"tools/ci/cluster":          {"sweep", "github.com/nats-io/nats.go"},
	"tools/ci/load":             {"engine", "replay/minewars", "serve", "github.com/cespare/xxhash/v2"},
	"tools/ci/torture":          {"engine", "replay", "replay/index", "scenarios", "scenarios/worlds", "scenarios/yaml"},
}

// world says what a package below scenarios/worlds may import: what a world in another
// module can. So none knows another.
var world = []string{"space", "fields", "commands", "rng", "exact", "exact/fixed", "engine", "engine/physics", "engine/propagators", "replay/minewars", "scenarios", "serve/live"}

// light are all modules that a program gets when it embeds the engine.
var light = []string{
	"github.com/cespare/xxhash/v2", "github.com/google/btree", "golang.org/x/crypto", "golang.org/x/sys", "lukechampine.com/frand",
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		allowed, known := imports[p.Path]
		if !known && strings.HasPrefix(p.Path, "scenarios/worlds/") {
			allowed, known = world, true
		}
		if !known {
			t.Errorf("package %q is not in the import map; add it and say what it may import", p.Path)
			continue
		}
		for _, f := range p.Files {
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(strings.Split(path, "/")[0], ".") {
					continue // the standard library
				}
				short := strings.TrimPrefix(path, module+"/")
				if !slices.ContainsFunc(allowed, func(a string) bool {
					return short == a || strings.Contains(a, ".") && strings.HasPrefix(path, a+"/")
				}) {
					t.Errorf("%s: %q may not import %q", p.at(spec.Pos()), p.Path, short)
				}
			}
		}
	}
}

// Whoever embeds the engine must not download a YAML parser.
func TestEngineStaysLight(t *testing.T) { checkLight(t, light, "./engine", "./engine/propagators") }

// A program that reads scenarios from recordings, such as a viewer in a browser, needs
// neither a YAML parser nor files.
func TestScenariosStayLight(t *testing.T) {
	var names []string
	for _, p := range packages(t) {
		switch {
		case p.Path == "scenarios", p.Path == "scenarios/document", p.Path == "scenarios/components":
		case strings.HasPrefix(p.Path, "scenarios/worlds/"):
		default:
			continue
		}
		names = append(names, "./"+p.Path)
		for _, f := range p.Files {
			for _, spec := range f.Imports {
				if spec.Path.Value == `"os"` {
					t.Errorf("%s: %q may not open files", p.at(spec.Pos()), p.Path)
				}
			}
		}
	}
	if len(names) < 5 {
		t.Errorf("found %q; want a world at least", names)
	}
	// The world minewars tells its game in the messages of replay/minewars, whose files are
	// compressed. It is one package without dependencies of its own.
	checkLight(t, append(slices.Clone(light), "github.com/pierrec/lz4/v4"), names...)
}

// A page that carries the engine with it must stay small.
func TestPageStaysLight(t *testing.T) {
	checkLight(t, append(slices.Clone(light), "github.com/pierrec/lz4/v4", "github.com/klauspost/compress"), "./view", "./scenarios/worlds/all")
}

// Programs do not link package testing. The one that tests worlds uses replay/enginetest, which has
// a function for tests and takes an interface there.
func TestProgramsLinkNoTesting(t *testing.T) {
	for _, l := range goList(t, "-deps", "./cmd/murksim", "./examples/smoke", "./replay/enginetest") {
		if l.ImportPath == "testing" {
			t.Error("a program depends on package testing")
		}
	}
}

// checkLight checks that packages depend on no modules but those allowed.
func checkLight(t *testing.T, allowed []string, packages ...string) {
	t.Helper()
	for _, l := range goList(t, append([]string{"-deps"}, packages...)...) {
		if l.Standard || l.Module == nil || l.Module.Path == module {
			continue
		}
		if !slices.Contains(allowed, l.Module.Path) {
			t.Errorf("%v depend on module %s", packages, l.Module.Path)
		}
	}
}
