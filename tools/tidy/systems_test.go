package tidy_test

import (
	"os"
	"testing"

	gopackages "golang.org/x/tools/go/packages"
)

// TestOtherSystems holds that the command line has no error of types on systems that tests do not run on. It takes
// a tenth of the time that compiling it for them does.
func TestOtherSystems(t *testing.T) {
	if testing.Short() {
		return // the check build runs it
	}
	for _, system := range [][2]string{{"windows", "amd64"}, {"darwin", "arm64"}, {"js", "wasm"}} {
		list, err := gopackages.Load(&gopackages.Config{
			Mode: gopackages.LoadAllSyntax, Dir: "../..",
			Env: append(os.Environ(), "GOOS="+system[0], "GOARCH="+system[1], "CGO_ENABLED=0"),
		}, "./cmd/murksim")
		if err != nil {
			t.Fatal(err)
		}
		gopackages.Visit(list, nil, func(p *gopackages.Package) {
			for _, e := range p.Errors {
				t.Errorf("%s/%s: %v", system[0], system[1], e)
			}
		})
	}
}
