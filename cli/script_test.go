package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/sweep/cluster/server"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"murksim":         func() { Main(Program{}) },
		"toygame":         func() { Main(Program{Name: "toygame", Components: toyComponents()}) },
		"murksim-cluster": func() { Main(Program{Name: "murksim-cluster", Server: server.Start}) },
		"tag":             tagMain,
		"unsteady":        func() { Main(Program{Name: "unsteady", Components: unsteadyComponents()}) },
		"fleeting":        fleetingMain,
	})
}

// TestScripts types what stands in testdata/script. $VECTORS is the folder of the
// original engine's recordings, $GAMES that of the games of MineWars, $YREP that of YREP files, $MURKSIM the program's path,
// $NATS an address and a port that are free. Beside testscript's own commands the scripts have
//
//	status N COMMAND…     run a command, which must end with that status
//	json FILE             every line of the file (or of stdout) is a JSON object
//	cut FILE N TO         copy the first N bytes; all but the last N if negative
//	replace FILE OLD NEW TO  copy with a piece replaced that is there once
//	hex FILE TO           write the bytes whose hexadecimal digits the file has
//	serve PROGRAM SCENARIO…  serve it; $URL0, $URL1… are the URLs of the views, $ADDRESS that of none
//	served FILE [interrupt]  wait for the server's end, which must be good, and write to FILE what it said
//	sql FILE STATEMENTS    change a database in a file, past the program
//	follow COMMAND…       run a command that must end with status 3, and each command that it, or one of these, prints as the
//	                      next, OLD being the program in $OLD, without one that contradicts; stdout is all that they said
//	keyframed FILE TICK COMMAND…  run a command that records, again until there is a keyframe from tick 30 on, where unsteady acts,
//	                      and before the tick: a busy machine makes fewer; $AFTER and $SEVENTH are the first and the seventh tick after it
//	flip FILE N TO        copy with the lowest bit of byte N changed; from the end if negative
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command ends with a second of sleep
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			env.Setenv("MURKSIM", filepath.Join(filepath.SplitList(env.Getenv("PATH"))[0], "murksim"))
			dir, err := filepath.Abs("../testdata/vectors/murk/sim")
			env.Setenv("VECTORS", dir)
			free, listening := net.Listen("tcp", "127.0.0.1:0")
			if listening != nil {
				return listening
			}
			env.Setenv("NATS", free.Addr().String())
			free.Close()
			env.Setenv("GAMES", filepath.Join(filepath.Dir(filepath.Dir(dir)), "minewars"))
			env.Setenv("YREP", filepath.Join(filepath.Dir(filepath.Dir(dir)), "yrep"))
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "json": jsonLines, "cut": cut, "flip": flip, "replace": replace, "hex": fromHex, "serve": serveScript, "served": served, "sql": execSQL,
			"follow": follow, "keyframed": keyframed,
		},
	})
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	want, rest := numberOf(ts, neg, args, 2), args[1:]
	err := ts.Exec(rest[0], rest[1:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
	if strings.Contains(ts.ReadFile("stderr"), "\ngoroutine ") { // which has status 2, too
		ts.Fatalf("it panicked")
	}
}

// nextLine matches a command that tells more.
var nextLine = regexp.MustCompile(`(?m)^  next:? +(.+)$`)

// follow runs commands as who reads them pastes them.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: follow COMMAND…")
	}
	said, line := new(strings.Builder), strings.Join(args, " ")
	seen := map[string]bool{}
	for line != "" {
		if seen[line] {
			ts.Fatalf("%s is what it recommends itself", line)
		}
		seen[line] = true
		fmt.Fprintf(said, "$ %s\n", line)
		err := ts.Exec("sh", "-c", strings.ReplaceAll(line, "OLD", ts.Getenv("OLD")))
		text := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		said.WriteString(text)
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
			ts.Fatalf("%s contradicts what was found before it (%v):\n%s", line, err, said)
		}
		line = ""
		if next := nextLine.FindStringSubmatch(text); next != nil {
			line = next[1]
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("followed"), []byte(said.String()), 0o666))
	ts.Check(ts.Exec("cat", "followed"))
}

func keyframed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: keyframed FILE TICK COMMAND…")
	}
	tick, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	const tries = 40
	for range tries {
		ts.Check(ts.Exec(args[2], args[3:]...))
		b := []byte(ts.ReadFile(args[0] + ".idx"))
		x, err := index.Open(bytes.NewReader(b), int64(len(b)))
		ts.Check(err)
		keys := x.Keyframes()
		if i := slices.IndexFunc(keys, func(key uint64) bool { return key >= unsteadyFrom }); i >= 0 && keys[i] < tick {
			ts.Setenv("AFTER", strconv.FormatUint(keys[i]+1, 10))
			ts.Setenv("SEVENTH", strconv.FormatUint(keys[i]+7, 10))
			return
		}
	}
	ts.Fatalf("there is no keyframe after %d runs", tries)
}

func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: json FILE")
	}
	text := []byte(ts.ReadFile(args[0]))
	lines := 0
	for line := range bytes.Lines(text) {
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			ts.Fatalf("line %d is no JSON object: %v: %s", lines+1, err, line)
		}
		if bytes.Contains(line, []byte(":null")) || bytes.Contains(line, []byte("[null")) {
			ts.Fatalf("line %d has a value that is null: %s", lines+1, line)
		}
		lines++
	}
	if lines == 0 {
		ts.Fatalf("there are no lines")
	}
}

func cut(ts *testscript.TestScript, neg bool, args []string) {
	n, b := position(ts, neg, args)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b[:n], 0o666))
}

func flip(ts *testscript.TestScript, neg bool, args []string) {
	n, b := position(ts, neg, args)
	b[n] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b, 0o666))
}

func execSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENTS")
	}
	ts.Check(tampered(ts.MkAbs(args[0]), args[1]))
}

func fromHex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hex FILE TO")
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(ts.ReadFile(args[0])), ""))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}

func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: replace FILE OLD NEW TO")
	}
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, args[1]); n != 1 {
		ts.Fatalf("%q is there %d times, want once", args[1], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o666))
}

// position reads the file and the place in it that the arguments name.
func position(ts *testscript.TestScript, neg bool, args []string) (int, []byte) {
	if len(args) != 3 {
		ts.Fatalf("usage: cut or flip FILE N TO")
	}
	b := []byte(ts.ReadFile(args[0]))
	n := numberOf(ts, neg, args[1:], 2)
	if n < 0 {
		n += len(b)
	}
	return n, b
}

func numberOf(ts *testscript.TestScript, neg bool, args []string, atLeast int) int {
	if neg || len(args) < atLeast {
		ts.Fatalf("arguments are missing, or ! stands before it")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	return n
}
