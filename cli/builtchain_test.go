package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/audit/store"
)

// builtGame is a program whose worlds, built in Go, have any descriptor.
func builtGame(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = Program{Name: "game", Build: func(h *replay.Header) (*engine.World, error) {
		return tagBuild(&replay.Header{Seed: h.Seed, Descriptor: []byte("tag 1")})
	}}.run(t.Context(), args, nil, &o, &e)
	return status, o.String(), e.String()
}

// chainBuilt commits the chain of twenty ticks of such a world.
func chainBuilt(t *testing.T, name, descriptor string) error {
	t.Helper()
	w, err := tagBuild(&replay.Header{Seed: 7, Descriptor: []byte("tag 1")})
	if err != nil {
		t.Fatal(err)
	}
	c := w.Config()
	rate, err := audit.RateOf(1 / c.Dt())
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	to, err := db.Begin(t.Context(), &audit.Run{
		ID: evidence.FreshID(), Created: time.Now(), Seed: 7, Rate: rate, Rules: engine.RulesVersion, Format: audit.StateFormat,
		Generator: c.Generator.String(), Genesis: []byte(descriptor), Digest: sha256.Sum256([]byte(descriptor)), Engine: "game",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	r, err := audit.NewRecorder(to, w, []byte(descriptor), 10)
	if err != nil {
		return err
	}
	w.Record(r)
	for range 20 {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.Close(), to.Close()); err != nil {
		t.Fatal(err)
	}
	return nil
}

// TestForkOfABuiltWorld: a world built in Go whose descriptor can have no key more has no fork, and no recording that begins with a later
// tick; nothing is written. One whose descriptor is an object has both.
func TestForkOfABuiltWorld(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, descriptor := range []string{"game 1", "", "{}", "{\"game\":2}\n", `["game",3]`, `{"game":4}}`, `game {"a":5}`} {
		t.Chdir(t.TempDir())
		if err := chainBuilt(t, "run.db", descriptor); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"audit", "fork", "run.db", "--tick", "10"}, {"run", "--resume", "run.db", "--until", "30"}} {
			status, out, errs := builtGame(t, args...)
			said := strings.Contains(errs, "the descriptor of the world must be a JSON object") && !strings.Contains(errs, "replay:")
			if status != report.StatusError || !said {
				t.Errorf("%q: game %q = %d\n%s%s", descriptor, args, status, out, errs)
			}
		}
		files, err := os.ReadDir(".")
		_, out, _ := builtGame(t, "audit", "list", "run.db")
		if err != nil || len(files) != 1 || strings.Count(out, "\n") != 1 || !strings.Contains(out, "ticks 0 to 20") {
			t.Errorf("%q: afterwards there are %v, and\n%s", descriptor, files, out)
		}
		if status, out, errs := builtGame(t, "run", "--resume", "run.db", "--until", "30", "--no-record"); status != report.StatusOK {
			t.Errorf("%q goes on without a recording: %d\n%s%s", descriptor, status, out, errs)
		}
	}
	t.Chdir(t.TempDir())
	if err := chainBuilt(t, "run.db", `{"game":6}`); err != nil {
		t.Fatal(err)
	}
	id := runIDs(t, "run.db")[0]
	for _, args := range [][]string{
		{"audit", "fork", "run.db", "--tick", "10"}, {"audit", "run.db", "--all"},
		{"run", "--resume", "run.db", "--audit-run", id, "--until", "30"},
	} {
		if status, out, errs := builtGame(t, args...); status != report.StatusOK {
			t.Errorf("game %q = %d\n%s%s", args, status, out, errs)
		}
	}
}

// TestDescriptorWithKeysOfOurs: a chain does not begin with a descriptor that would be read as that of a fork, or of a recording that
// begins at a state.
func TestDescriptorWithKeysOfOurs(t *testing.T) {
	t.Chdir(t.TempDir())
	fork, err := (&audit.Parent{Run: audit.ID{1}, Tick: 3}).Describe([]byte(`{"game":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for descriptor, key := range map[string]string{
		`{"game":1,"parent":{"run":"me"}}`: `"parent"`, `{"game":1,"of":{"a":1,"parent":{"run":"me"}}}`: `"parent"`, string(fork): `"parent"`,
		`{"game":1,"begin":{"tick":3,"sha256":"ab"}}`: `"begin"`, `{"game":1,"parent":"me","begin":{"tick":3}}`: "",
	} {
		err := chainBuilt(t, "run.db", descriptor)
		if key == "" && err != nil || key != "" && (err == nil || !strings.Contains(err.Error(), key)) {
			t.Errorf("%s: %v", descriptor, err)
		}
	}
	if ids := runIDs(t, "run.db"); len(ids) != 1 {
		t.Errorf("%d runs are committed, want one", len(ids))
	}
}
