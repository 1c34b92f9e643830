package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"regexp"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/worlds"
)

// murksim runs a command line in this process.
func murksim(t testing.TB, in io.Reader, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = Program{}.run(t.Context(), args, in, &o, &e)
	return status, o.String(), e.String()
}

// record runs a scenario and returns its recording.
func record(t testing.TB, args ...string) []byte {
	t.Helper()
	status, out, errs := murksim(t, nil, append([]string{"run", "--quiet", "-o", "-"}, args...)...)
	if status != report.StatusOK || errs != "" {
		t.Fatalf("run %q = %d, %s", args, status, errs)
	}
	return []byte(out)
}

// heatWithCommands is a short heat with a command of each sort that YAML has for it.
var heatWithCommands = []string{"heat", "--ticks", "2", "--set", `commands=[
{tick: 1, set: {field: heat, cell: [1, 2], value: 300}}, {tick: 1, custom: {type: 5, data: 0aff}, priority: 0},
{tick: 2, despawn: {entity: 7}}, {tick: 2, set: {field: wall, cell: [1, 2], value: brick}, expires_after: 3}]`}

// where matches what tells a place in a recording.
var where = regexp.MustCompile(`byte [0-9,]+|tick [0-9,]+|descriptor:[0-9]+:[0-9]+: |header`)

// TestEveryByteCounts changes every byte of a recording: one bit of it, and all. But for the
// four build strings, verify says what is wrong and where.
func TestEveryByteCounts(t *testing.T) {
	b := record(t, heatWithCommands...)
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var builds [][2]int
	at := len("MURK") + 1
	for _, s := range []string{r.Header.Build.Toolchain, r.Header.Build.Target, r.Header.Build.Version, r.Header.Build.Flags} {
		at += 4
		builds = append(builds, [2]int{at, at + len(s)})
		at += len(s)
	}
	statuses, free := map[int]int{}, 0
	for i, original := range b {
		inBuild := false
		for _, s := range builds {
			inBuild = inBuild || s[0] <= i && i < s[1]
		}
		for _, change := range []byte{1 << (i % 8), 0xff} {
			b[i] = original ^ change
			before := allocated()
			status, out, errs := murksim(t, bytes.NewReader(b), "verify", "-")
			statuses[status]++
			switch n := allocated() - before; {
			case n > maxAllocated:
				t.Errorf("byte %d ^ %#x: %d bytes allocated, at most %d are due", i, change, n, maxAllocated)
			case inBuild && status == report.StatusOK:
				free++
			case status != report.StatusError && status != report.StatusDiverged:
				t.Errorf("byte %d ^ %#x: status %d, want %d or %d\n%s", i, change, status, report.StatusError, report.StatusDiverged, out+errs)
			case !where.MatchString(errs) || out != "":
				t.Errorf("byte %d ^ %#x: no place is named in: %s", i, change, out+errs)
			case strings.Contains(errs, "goroutine") || strings.Contains(errs, "panic"):
				t.Errorf("byte %d ^ %#x: %s", i, change, errs)
			}
		}
		b[i] = original
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d bytes, statuses %v, of those %d in the build strings with status 0", len(b), statuses, free)
	if status, _, errs := murksim(t, bytes.NewReader(b), "verify", "-"); status != report.StatusOK {
		t.Errorf("the recording as it was: status %d, %s", status, errs)
	}
}

// allocated is how many bytes this program has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

const maxAllocated = 64 << 20

// TestHugeWorlds: a descriptor that asks for a world which its header does not have
// is refused before anything of that size is allocated.
func TestHugeWorlds(t *testing.T) {
	b := record(t, "heat", "--ticks", "1", "--set", "expect=[]")
	for old, huge := range map[string]string{
		`"rows":128,"cols":128`:           `"rows":9999999,"cols":9`,
		`"cols":128`:                      `"cols":9999999`,
		`"square4","rows":128,"cols":128`: `"fcc12","w":999,"h":999,"d":999`,
		`"fields":[{`:                     `"entities":{"capacity":99999999},"fields":[{`,
	} {
		if n := bytes.Count(b, []byte(old)); n != 1 {
			t.Fatalf("%s is there %d times, want once", old, n)
		}
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		var forged bytes.Buffer
		h := r.Header
		h.Descriptor = bytes.Replace(h.Descriptor, []byte(old), []byte(huge), 1)
		w, err := replay.NewWriter(&forged, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		before := allocated()
		status, _, errs := murksim(t, &forged, "verify", "-")
		if n := allocated() - before; n > maxAllocated || status == report.StatusOK || !where.MatchString(errs) {
			t.Errorf("%s: status %d after %d bytes, want an error after at most %d\n%s", huge, status, n, maxAllocated, errs)
		} else {
			t.Logf("%s: %d bytes allocated: %s", huge, n, errs)
		}
	}
}

// TestInterruptedVerify: a verification that is broken off is no verdict.
func TestInterruptedVerify(t *testing.T) {
	b := record(t, "heat", "--ticks", "3")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	status := Program{}.run(ctx, []string{"verify", "-"}, bytes.NewReader(b), &out, &errs)
	if want := "standard input: interrupted before its first tick was replayed\n"; status != report.StatusError || errs.String() != want || out.Len() > 0 {
		t.Errorf("verify = %d, %q, want %d, %q", status, out.String()+errs.String(), report.StatusError, want)
	}
}

// TestOtherConstantDiverges replays heat in a world whose diffusion differs by one
// unit in the last place of its weight, a float32. In the first tick all cells are
// alike but those that are held, so the second is the first to show it.
func TestOtherConstantDiverges(t *testing.T) {
	b := record(t, "heat", "--ticks", "5")
	replayed := func(nudge func(rate float64) float64) (ticks uint64, err error) {
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.NewPlayer(r, func(h *replay.Header) (*engine.World, error) {
			s, err := worlds.Registry().FromDescriptor(h.Descriptor)
			if err != nil {
				return nil, err
			}
			c, err := s.Config(1)
			if err != nil {
				return nil, err
			}
			d := c.Propagators[0].(propagators.Diffusion)
			d.Rate = nudge(d.Rate)
			c.Propagators[0] = d
			return engine.New(c)
		})
		if err != nil {
			t.Fatal(err)
		}
		return p.Verify()
	}
	if ticks, err := replayed(func(rate float64) float64 { return rate }); ticks != 5 || err != nil {
		t.Fatalf("the same world: %d, %v; want 5", ticks, err)
	}
	for _, toward := range []float32{0, 10} {
		ticks, err := replayed(func(rate float64) float64 { return float64(math.Nextafter32(float32(rate), toward)) })
		m, ok := errors.AsType[*replay.MismatchError](err)
		if !ok || ticks != 1 || m.Tick != 2 || m.What != "state hash" {
			t.Errorf("toward %v: %d, %v; want a mismatch of the state hash at tick 2", toward, ticks, err)
		}
	}
}

// TestADescriptorThatCannotBeBuiltIsDamage: a world that the engine refuses is an error of the
// recording, not one of its file.
func TestADescriptorThatCannotBeBuiltIsDamage(t *testing.T) {
	b := record(t, "heat", "--ticks", "1", "--set", "expect=[]")
	r, err := replay.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header
	const old, unstable = `"rate":`, `"rate":99`
	h.Descriptor = bytes.Replace(h.Descriptor, []byte(old), []byte(unstable), 1)
	s, err := worlds.Registry().FromDescriptor(h.Descriptor)
	if err != nil {
		t.Fatal(err)
	}
	setup := s.Setup(h.Descriptor)
	h.Seed, h.ConfigHash, h.FieldCount, h.CellCount = setup.Seed, setup.Hash(), setup.Fields, setup.Cells
	var forged bytes.Buffer
	w, err := replay.NewWriter(&forged, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	status, out, errs := murksim(t, &forged, "verify", "--json", "-")
	if want := `"status":"damaged"`; status != report.StatusError || !strings.Contains(out, want) || !strings.Contains(out, "malformed header: the world cannot be built: ") {
		t.Errorf("status %d, want %d and %s\n%s%s", status, report.StatusError, want, out, errs)
	}
}
