package yaml_test

import (
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/scenarios/yaml"
)

// island writes a folder with a scenario that names a file, and an image outside of it.
func island(t *testing.T, file string) (folder, scenario string) {
	t.Helper()
	top := t.TempDir()
	folder = filepath.Join(top, "world")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(top, "outside.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(f, image.NewGray(image.Rect(0, 0, 2, 2))), f.Close()); err != nil {
		t.Fatal(err)
	}
	scenario = filepath.Join(folder, "island.yaml")
	text := "murksim: 1\nname: island\nspace: {kind: square4, rows: 2, cols: 2}\nfields: [{name: a, initial: {png: {file: " + file + "}}}]\n"
	if err := os.WriteFile(scenario, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder, scenario
}

// refused checks that loading a scenario fails at the name of the file.
func refused(t *testing.T, scenario, want string) {
	t.Helper()
	_, err := yaml.Load(worlds.Registry(), scenario)
	e, ok := errors.AsType[*document.Error](err)
	if !ok || e.Line != 4 || e.Col != 42 || !strings.Contains(e.Msg, want) {
		t.Errorf("Load = %v, want an error at 4:42 with %q", err, want)
	}
}

func TestFolderAsPNGIsRefused(t *testing.T) {
	folder, scenario := island(t, "link.png")
	if err := os.Mkdir(filepath.Join(folder, "link.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused(t, scenario, "link.png: is not a regular file")
}
