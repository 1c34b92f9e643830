package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/reasons"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/scenarios"
)

type happeningObject struct {
	Event string `json:"event"`
	scenarios.Happening
}

// objects are those that docs/JSON.md lists, by its headings.
var objects = map[string]any{
	"Every command: `error`":      errorObject{},
	"`run`: `start`":              startObject{},
	"`run`: `happening`":          happeningObject{},
	"`run`: `durable`":            durableObject{},
	"`check`: `golden`":           goldenObject{},
	"`cut`: `cut`":                cutResult{},
	"`run`: `metrics`":            metricsObject{},
	"`run`: `end`":                runResult{},
	"`serve`: `serving`":          servingObject{},
	"`serve`: `status`, `served`": statusObject{},
	"`join`: `message`":           messageObject{},
	"`check`: `check`":            checkObject{},
	"`verify`: `verdict`":         session.Verdict{},
	"`verify`: `tick`":            session.TickRow{},
	"`inspect`: `yrep`":           yrepReport{},
	"`play`: `frame`":             playedFrame{},
	"`play`: `play`":              playResult{},
	"`view`: `viewing`":           viewingObject{},
	"`audit`: `audit`":            evidence.Report{},
	"`audit`: `run`":              auditRunObject{},
	"`audit`: `forked`":           forkedView{},
	"`audit`: `exported`":         exportedView{},
	"`audit`: `imported`":         importedView{},
	"`audit`: `key`":              keyView{},
	"`audit`: `signed`":           signedView{},
	"`audit`: `checked`":          checkedView{},
	"`audit`: `cosigned`":         cosignedView{},
	"`audit`: `stamped`":          stampedView{},
	"`audit`: `diagnosis`":        auditDiagnosis{},
	"`audit`: `proof`":            proofResult{},
	"`audit`: `proved`":           provedResult{},
	"`seek`: `state`":             seekResult{},
	"`find`: `held`":              session.Stretch{},
	"`find`: `find`":              session.Search{},
	"`why`: `change`":             reasons.Change{},
	"`fork`: `fork`":              forkResult{},
	"`fork`: `without`":           removalResult{},
	"`shrink`: `shrink`":          shrinkResult{},
	"`diff`: `diff`":              compare.Result{},
	"`diff`: `difference`":        yrepDifference{},
	"`bisect`: `bisect`":          compare.BisectResult{},
	"`index`: `index`":            indexResult{},
	"`recover`: `recovered`":      recoverResult{},
	"`synctest`: `synctest`":      synctestResult{},
	"`sweep`: `start`":            sweepStart{},
	"`sweep`: `job`":              sweepPoint{},
	"`sweep`: `end`":              sweepEnd{},
	"`sweep`: `state`":            sweepShown{},
	"`sweep`: `merged`":           sweepMerged{},
	"`worker`: `worker`":          workerObject{},
	"`nats`: `serving`":           natsObject{},
	"`export`: `export`":          exportResult{},
	"`sweep`: `plot`":             plotResult{},
	"`convert`: `end`":            convertResult{},
	"`convert`: `game`":           gameConversion{},
	"`inspect`: `game`":           gameObject{},
	"`upgrade`: `end`":            upgradeResult{},
	"`scenarios`: `scenario`":     scenarioObject{},
	"`new`: `file`":               fileObject{},
	"`version`: `version`":        versionObject{},
}

func jsonPage(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestJSONPage holds docs/JSON.md against the objects: every key in its order, and which may be
// left out; and every command has a section.
func TestJSONPage(t *testing.T) {
	page := jsonPage(t)
	for heading, object := range objects {
		_, section, ok := strings.Cut(page, "\n## "+heading+"\n")
		if !ok {
			t.Errorf("the page has no section %s", heading)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		var got []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (optional)?").FindAllStringSubmatch(section, -1) {
			got = append(got, strings.TrimSpace(m[1]+" "+m[2]))
		}
		if want := jsonKeys(reflect.TypeOf(object)); !slices.Equal(got, want) {
			t.Errorf("%s lists\n%v, want\n%v", heading, got, want)
		}
	}
	if n := len(regexp.MustCompile("(?m)^\\| `event` \\|").FindAllString(page, -1)); n != len(objects) {
		t.Errorf("the page lists %d objects, want %d", n, len(objects))
	}
	silent := []string{"help", "completion"}
	for _, c := range (&app{Session: &session.Session{Printer: &report.Printer{Out: &bytes.Buffer{}}, Name: "murksim"}}).root().Commands() {
		if !c.Hidden && !slices.Contains(silent, c.Name()) && !strings.Contains(page, "\n## `"+c.Name()+"`") {
			t.Errorf("the page has no section of %s", c.Name())
		}
	}
}

// jsonKeys lists the keys of a struct in JSON, those that may be left out with "optional".
func jsonKeys(t reflect.Type) (keys []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, key := range jsonKeys(structOf(f.Type)) {
				if f.Type.Kind() == reflect.Pointer && !strings.HasSuffix(key, " optional") { // which may be nil
					key += " optional"
				}
				keys = append(keys, key)
			}
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		if strings.HasPrefix(options, "omit") {
			name += " optional"
		}
		keys = append(keys, name)
	}
	return keys
}

// structOf is what a pointer to a struct points to.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// TestJSONOutput runs every command with --json: every object that comes out is one of
// docs/JSON.md, with no other keys, event first and no number that JavaScript would round.
func TestJSONOutput(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(file(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file(name)
	}
	bad := write("bad.yaml", "murksim: 1\nnme: x\n")
	vectors, games := "../testdata/vectors/murk/sim/", "../testdata/vectors/minewars/"
	seen := map[string]bool{}
	for _, tt := range []struct {
		status int
		args   []string
	}{
		{0, []string{"run", "heat", "--ticks", "501", "--seed", "18446744073709551615", "--state-hash", "--sync=200", "--metrics", "127.0.0.1:0", "-o", file("heat.murk")}},
		{0, []string{"recover", file("heat.murk"), "-o", file("whole.murk")}},
		{0, []string{"run", "colony", "--ticks", "60", "--events", "--no-record"}},
		{1, []string{"run", bad}},
		{1, []string{"check", "heat", bad}},
		{0, []string{"run", "decay", "-o", file("decay.murk")}},
		{0, []string{"check", "--golden", file("decay.murk"), "decay"}},
		{0, []string{"cut", file("decay.murk"), "--from", "5", "-o", file("part.murk")}},
		{0, []string{"verify", file("heat.murk")}},
		{1, []string{"verify", bad}},
		{0, []string{"verify", "--each", "--world", vectors + "rollback_0.json", vectors + "rollback_0.murkreplay"}},
		{0, []string{"run", "heat", "--ticks", "5", "--no-record", "--set", "expect=[]", "--audit", file("run.db")}},
		{0, []string{"audit", file("run.db")}},
		{0, []string{"audit", "list", file("run.db")}},
		{0, []string{"audit", "bisect", file("run.db")}},
		{0, []string{"audit", "diff", file("run.db")}},
		{0, []string{"audit", "diagnose", file("run.db"), "-o", file("diagnosis")}},
		{0, []string{"audit", "state", file("run.db"), "--tick", "3", "-o", file("three.state")}},
		{0, []string{"audit", "prove", file("run.db"), "--field", "heat", "--cell", "0,0", "-o", file("cell.proof")}},
		{0, []string{"audit", "check", file("cell.proof")}},
		{0, []string{"audit", "export", file("run.db"), "-o", file("run.audit")}},
		{0, []string{"audit", "import", file("run.audit"), file("imported.db")}},
		{0, []string{"audit", "key", file("mine.key")}},
		{0, []string{"audit", "sign", file("run.db"), "--key", file("mine.key"), "-o", file("run.sig")}},
		{0, []string{"audit", "check", file("run.sig"), "--key", file("mine.key.pub")}},
		{0, []string{"audit", "cosign", file("run.sig"), file("run.db"), "--key", file("mine.key"), "--name", "a.example"}},
		{0, []string{"audit", "check", file("run.sig"), file("run.db"), "--key", file("mine.key.pub")}},
		{0, []string{"audit", "fork", file("run.db"), "--tick", "3"}},
		{0, []string{"index", file("heat.murk")}},
		{0, []string{"seek", file("heat.murk"), "--tick", "500"}},
		{0, []string{"find", file("heat.murk"), "mean(heat) > 20.5"}},
		{0, []string{"why", file("heat.murk"), "--tick", "400", "--field", "heat", "--cell", "38,60"}},
		{0, []string{"fork", file("heat.murk"), "--without", "7", "-o", file("without.murk")}},
		{0, []string{"fork", file("heat.murk"), "--without", "each", "--window", "100", "--to", "101", "mean(heat) > 20"}},
		{0, []string{"shrink", file("heat.murk"), "mean(heat) > 20.5", "-o", file("small.murk")}},
		{0, []string{"run", "heat", "--ticks", "501", "--seed", "18446744073709551614", "-o", file("other.murk"), "--set", "propagators.diffusion.rate=4.5"}},
		{3, []string{"diff", file("heat.murk"), file("other.murk")}},
		{3, []string{"bisect", file("heat.murk"), file("other.murk")}},
		{3, []string{"diff", file("heat.murk"), file("hash.murk")}}, // where only the recorded hash differs
		{3, []string{"bisect", file("heat.murk"), file("hash.murk")}},
		{0, []string{"synctest", "heat", "--ticks", "3", "--every", "0"}},
		{0, []string{"export", file("heat.murk"), "-o", file("heat.npy"), "--tick", "500"}},
		{0, []string{"sweep", "heat", "--ticks", "3", "--seeds", "1..2", "-o", file("sweep")}},
		{0, []string{"sweep", "heat", "--ticks", "3", "--seeds", "18446744073709551615", "--dry-run"}},
		{0, []string{"sweep", "show", file("sweep")}},
		{0, []string{"sweep", "merge", file("sweep"), "-o", file("merged")}},
		{0, []string{"convert", file("heat.murk"), file("heat.jsonl")}},
		{0, []string{"sweep", "plot", file("sweep"), "-o", file("sweep.svg")}},
		{0, []string{"inspect", games + "10-named-players.mw1"}},
		{0, []string{"convert", games + "10-named-players.mw1", file("game.jsonl")}},
		{0, []string{"inspect", "../testdata/vectors/yrep/narrow/all_instruction_types.yrep"}},
		{0, []string{"play", "../testdata/vectors/yrep/narrow/all_instruction_types.yrep", "--from", "0"}},
		{3, []string{"diff", "../testdata/vectors/yrep/narrow/blocks.yrep", "../testdata/vectors/yrep/narrow/inventory.yrep"}},
		{0, []string{"scenarios"}},
		{0, []string{"scenarios", "show", "heat"}},
		{0, []string{"new", "mine", "-o", file("mine.yaml")}},
		{0, []string{"version"}},
	} {
		if slices.Contains(tt.args, file("hash.murk")) {
			b, err := os.ReadFile(file("heat.murk"))
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)-1] ^= 1
			write("hash.murk", string(b))
		}
		status, out, errs := murksim(t, nil, append(tt.args, "--json")...)
		if status != tt.status || out == "" {
			t.Errorf("%v: status %d, want %d; %s%s", tt.args, status, tt.status, out, errs)
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, ":null") || strings.Contains(line, "[null") {
				t.Errorf("%v: a value is null: %s", tt.args, line)
			}
			checkObjectLine(t, tt.args[0], line, seen)
		}
	}
	inScripts := []string{"`worker`", "`nats`", "`serve`", "`join`", "`upgrade`", "`view`"} // whose objects their scripts show
	for heading := range objects {
		stamped := heading == "`audit`: `stamped`" // see TestStamp
		if command, _, _ := strings.Cut(heading, ":"); !seen[heading] && !stamped && !slices.Contains(inScripts, command) {
			t.Errorf("no command printed %s", heading)
		}
	}
}

func checkObjectLine(t *testing.T, command, line string, seen map[string]bool) {
	t.Helper()
	event := regexp.MustCompile(`^\{"event":"([a-z]+)"`).FindStringSubmatch(line)
	if event == nil {
		t.Errorf("%s: %q does not begin with its event", command, line)
		return
	}
	if general := map[string]string{"bisect": "bisect", "diff": "diff", "state": "seek"}[event[1]]; general != "" && command == "audit" {
		command = general // of which it is another spelling
	}
	heading := fmt.Sprintf("`%s`: `%s`", command, event[1])
	if event[1] == "error" {
		heading = "Every command: `error`"
	}
	object, ok := objects[heading]
	if !ok {
		t.Errorf("the page has no %s: %s", heading, line)
		return
	}
	seen[heading] = true
	var keys map[string]any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&keys); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	known := jsonKeys(reflect.TypeOf(object))
	for key, v := range keys {
		if !slices.Contains(known, key) && !slices.Contains(known, key+" optional") {
			t.Errorf("%s has no key %q: %s", heading, key, line)
		}
		if n, ok := v.(json.Number); ok && len(n) > 16 && !strings.ContainsAny(string(n), ".e") {
			t.Errorf("%s: %s is a number above 2^53: %s", heading, key, n)
		}
	}
}
