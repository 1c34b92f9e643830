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
	"engine": {"space", "fields", "commands", "rng", "exact", "internal/wire",
		"github.com/google/btree", "github.com/cespare/xxhash/v2"},
	"engine/physics":           {"space", "fields", "exact/fixed", "engine"},
	"engine/propagators":       {"space", "fields", "rng", "exact", "engine", "internal/kernel"},
	"engine/internal/refworld": {"space", "fields", "commands", "rng", "exact", "github.com/cespare/xxhash/v2"},
	"internal/kernel":          {},
	"internal/vectors":         {},
	"internal/wire":            {},
	"internal/kernel/gen":      {"github.com/mmcloughlin/avo"},
	"replay":                   {"fields", "commands", "engine", "internal/wire"},
	"replay/audit":             {},
	"replay/diff":              {"fields", "commands", "exact/fixed", "engine"},
	"replay/foreign":           {"space", "fields", "commands", "engine", "engine/propagators", "replay"},
	"scenarios": {"space", "fields", "commands", "rng", "exact", "exact/fixed", "engine", "engine/physics", "engine/propagators",
		"github.com/goccy/go-yaml"},
	"cmd/murksim/internal/bench": {"space", "fields", "commands", "engine", "engine/propagators", "replay"},
	"cmd/murksim": {"space", "fields", "commands", "rng", "engine", "replay", "replay/foreign", "scenarios", "cmd/murksim/internal/bench",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"},
	"tools/tidy":           {},
	"tools/detcheck":       {"tools/detcheck/rules", "golang.org/x/tools"},
	"tools/detcheck/rules": {"golang.org/x/tools"},
	"tools/picture":        {"space", "fields", "engine", "scenarios"},
	"tools/readme":         {},
	"tools/ulp":            {"exact", "exact/f32", "tools/ulp/reference", "golang.org/x/term"},
	"tools/ulp/reference":  {},
	"tools/ci/planted":     {"fields", "engine", "replay", "scenarios", "space"},
	"tools/ci/swept":       {"scenarios"},
	"tools/ci/failures": {"fields", "commands", "exact/fixed", "space", "engine", "engine/physics", "replay", "replay/audit", "replay/diff",
		"scenarios", "tools/ci/failures/faults"},
	"tools/ci/failures/faults": {"fields", "commands", "space", "engine"},
	"tools/ci/matrix":          {},
	"tools/ci/resume":          {"engine", "replay", "scenarios", "space"},
}

// light are all modules that a program gets when it embeds the engine.
var light = []string{
	"github.com/cespare/xxhash/v2", "github.com/google/btree", "golang.org/x/crypto", "golang.org/x/sys", "lukechampine.com/frand",
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		allowed, known := imports[p.Path]
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
func TestEngineStaysLight(t *testing.T) {
	for _, l := range goList(t, "-deps", "./engine", "./engine/propagators") {
		if l.Standard || l.Module == nil || l.Module.Path == module {
			continue
		}
		if !slices.Contains(light, l.Module.Path) {
			t.Errorf("the engine depends on module %s", l.Module.Path)
		}
	}
}
