package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/murksim/murksim/view/site"
)

// modulePath is that of murksim, and ourPage that of its engine for browsers.
const (
	modulePath = "github.com/murksim/murksim"
	ourPage    = modulePath + "/cmd/page"
)

// pageEngine lets Go build the engine for browsers from the source of this program, and reads
// the script that belongs to it.
func (a *app) pageEngine(ctx context.Context) (e site.Engine, err error) {
	source := a.source
	if a.page == ourPage {
		source, err = moduleFolder(ctx)
	} else if !filepath.IsAbs(source) { // the program was built with -trimpath; perhaps this is the folder of its module
		source = "."
	}
	if err != nil {
		return e, err
	}
	folder, err := os.MkdirTemp("", "murksim-page-*")
	if err != nil {
		return e, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "engine.wasm")
	build := goCommand(ctx, source, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, a.page)
	build.Env = append(build.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if _, err := outputOf(build); err != nil {
		return e, err
	}
	root, err := outputOf(goCommand(ctx, source, "env", "GOROOT"))
	if err != nil {
		return e, err
	}
	if e.Module, err = os.ReadFile(out); err == nil {
		e.Script, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	}
	return e, err
}

// sourceFolder is where the source of this program lies, if the linker was told:
//
//	go build -trimpath -ldflags="-X github.com/murksim/murksim/cli.sourceFolder=$PWD" ./cmd/murksim
var sourceFolder string

// moduleFolder returns where the source of this program lies.
func moduleFolder(ctx context.Context) (string, error) {
	folder := sourceFolder
	if _, file, _, ok := runtime.Caller(0); ok && folder == "" {
		folder = filepath.Dir(filepath.Dir(file)) // no absolute path after -trimpath
	}
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil && filepath.IsAbs(folder) {
		return folder, nil
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("this program does not say from which source it was built")
	}
	version := info.Main.Version
	for _, m := range info.Deps {
		if m.Path == modulePath {
			version = m.Version
		}
	}
	if version == "" || strings.HasPrefix(version, "(") || strings.Contains(version, "+dirty") {
		return "", errors.New("the source from which this program was built is not there")
	}
	b, err := outputOf(goCommand(ctx, os.TempDir(), "mod", "download", "-json", modulePath+"@"+version))
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	err = json.Unmarshal(b, &m)
	return m.Dir, err
}

func goCommand(ctx context.Context, folder string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = folder
	return c
}

// outputOf runs a command; its error quotes what the command printed.
func outputOf(c *exec.Cmd) ([]byte, error) {
	var said bytes.Buffer
	c.Stderr = &said
	b, err := c.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("a page needs the engine for browsers, which Go builds: install Go, https://go.dev/dl")
	case err != nil:
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args[:2], " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return b, nil
}
