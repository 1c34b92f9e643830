package tidy_test

import (
	"os"
	"strings"
	"testing"

	gopackages "golang.org/x/tools/go/packages"
)

// TestOtherSystems holds that the command line, and every package with its tests that Windows and macOS can run, has no error of types on systems that
// tests do not run on. It takes a tenth of the time that compiling it for them does.
func TestOtherSystems(t *testing.T) {
	if testing.Short() {
		return // the check build runs it
	}
	for _, system := range []struct {
		os, arch string
		tests    bool
	}{{"windows", "amd64", true}, {"darwin", "arm64", true}, {"js", "wasm", false}} {
		what := []string{"./cmd/murksim"}
		if system.tests {
			what = elsewhere(t)
		}
		list, err := gopackages.Load(&gopackages.Config{
			Mode: gopackages.LoadAllSyntax, Dir: "../..", Tests: system.tests,
			Env: append(os.Environ(), "GOOS="+system.os, "GOARCH="+system.arch, "CGO_ENABLED=0"),
		}, what...)
		if err != nil {
			t.Fatal(err)
		}
		gopackages.Visit(list, nil, func(p *gopackages.Package) {
			for _, e := range p.Errors {
				t.Errorf("%s/%s: %v", system.os, system.arch, e)
			}
		})
	}
}

// elsewhere lists the packages that must be of use on other systems: all but the programs of the checks, and what needs a C compiler.
func elsewhere(t *testing.T) (list []string) {
	for _, p := range packages(t) {
		if p.Path != "" && !strings.HasPrefix(p.Path, "tools/") && p.Path != "cmd/libmurksim" && p.Path != "cmd/page" {
			list = append(list, "./"+p.Path)
		}
	}
	return list
}
