package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"bench": main}) }

// TestScripts types what stands in testdata/script. $BENCH is the program's path. Beside testscript's own commands there are
//
//	status N COMMAND…  run a command, which must end with that status
//	json FILE          every line of the file (or of stdout) is a JSON object
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command ends with a second of sleep
			env.Setenv("BENCH", filepath.Join(filepath.SplitList(env.Getenv("PATH"))[0], "bench"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				exit, _ := errors.AsType[*exec.ExitError](ts.Exec(args[1], args[2:]...))
				if exit == nil || exit.ExitCode() != want {
					ts.Fatalf("it ended with %v, want status %d", exit, want)
				}
			},
			"json": func(ts *testscript.TestScript, _ bool, args []string) {
				for line := range strings.Lines(ts.ReadFile(args[0])) {
					if err := json.Unmarshal([]byte(line), new(map[string]any)); err != nil {
						ts.Fatalf("%q: %v", line, err)
					}
				}
			},
		},
	})
}

// TestPage holds what BENCHMARKS.md says of each object against its keys.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../BENCHMARKS.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, object := range map[string]any{"start": startObject{}, "row": rowObject{}, "end": endObject{}} {
		_, section, _ := strings.Cut(string(b), "\n#### `"+heading+"`\n")
		section, _, _ = strings.Cut(section, "\n#### ")
		var got, want []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (optional)?").FindAllStringSubmatch(section, -1) {
			got = append(got, strings.TrimSpace(m[1]+" "+m[2]))
		}
		for f := range reflect.TypeOf(object).Fields() {
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, strings.TrimSpace(key+" "+strings.Replace(options, "omitempty", "optional", 1)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists\n%v, want\n%v", heading, got, want)
		}
	}
}

// TestFull holds that a full disk is an error.
func TestFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Logf("this system has no full file: %v", err)
		return
	}
	defer full.Close()
	for _, args := range [][]string{{"--list"}, {"--list", "--json"}, {"--seconds", "0.01", "--rounds", "1", "--json", "ring"}} {
		var errs bytes.Buffer
		if status := run(t.Context(), args, nil, full, &errs); status != statusMissed || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: status %d, %q", args, status, &errs)
		}
	}
}

// TestProfileOfNothing holds that a profile that cannot be begun is an error, and measures nothing.
func TestProfileOfNothing(t *testing.T) {
	j := &job{profile: filepath.Join(t.TempDir(), "no", "folder")}
	if _, err := j.profiled(nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want %v", err, os.ErrNotExist)
	}
}
