package store_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/murksim/murksim/replay/audit"
)

// TestKilled: a process that commits is killed ten times with SIGKILL. What it said to be committed is there each time, nothing of a batch
// is there by half, and the next process goes on.
func TestKilled(t *testing.T) {
	if dsn := os.Getenv("MURKSIM_TEST_KILLED"); dsn != "" {
		commitUntilKilled(t, dsn)
		return
	}
	on(t, func(t *testing.T, _ database, dsn string) {
		d := open(t, dsn)
		r := newRun(1)
		create(t, d, r)
		acknowledged := -1
		for round := range 10 {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
			cmd.Env = append(os.Environ(), "MURKSIM_TEST_KILLED="+dsn)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			before := acknowledged
			for lines := bufio.NewScanner(out); lines.Scan(); {
				// The first batch that it commits need not be the one after `before`: a server may end the commit of a killed process later.
				first := acknowledged == before
				if _, err := fmt.Sscanf(lines.Text(), "committed %d", &acknowledged); err != nil {
					t.Log(lines.Text())
				} else if first {
					time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { cmd.Process.Kill() })
				}
			}
			if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
				t.Fatalf("round %d: the process ended by itself: %v", round, err)
			}
			if acknowledged == before {
				t.Fatalf("round %d: nothing was committed", round)
			}
			acknowledged = whole(t, dsn, r.ID, acknowledged)
		}
		t.Logf("killed ten times, %d ticks committed", acknowledged+1)
	})
}

// killedLinks, with killedInputs and a snapshot, are a batch of the process that is killed.
const killedLinks, killedInputs = 7, 3

// killedState is the state of a snapshot: large, so that a commit takes a while.
func killedState(tick uint64) []byte {
	state := make([]byte, 300_000)
	rand.NewChaCha8([32]byte{byte(tick), byte(tick >> 8)}).Read(state)
	return state
}

// whole checks that a database holds whole batches, and those that were acknowledged. It returns the last tick.
func whole(t *testing.T, dsn string, id audit.ID, acknowledged int) int {
	t.Helper()
	d := open(t, dsn)
	defer d.Close()
	e, done, err := d.Evidence(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	all, in := links(t, e), inputs(t, e)
	batches := len(all) / killedLinks
	if len(all)%killedLinks != 0 || len(in) != batches*killedInputs || len(all) <= acknowledged {
		t.Fatalf("%d links and %d inputs, tick %d was said to be committed", len(all), len(in), acknowledged)
	}
	m := maker{sections: 2}
	for range batches {
		m.batch(killedLinks, killedInputs)
	}
	if all[len(all)-1].Hash != m.world || in[len(in)-1].Hash != m.inputs {
		t.Fatalf("tick %d has hash %s, want %s", len(all)-1, all[len(all)-1].Hash, m.world)
	}
	states, err := e.Snapshots(ctx)
	if err != nil || len(states) != batches {
		t.Fatalf("%d snapshots, %v; want %d", len(states), err, batches)
	}
	for _, tick := range states[max(0, len(states)-3):] {
		if s, err := e.Snapshot(ctx, tick); err != nil || !bytes.Equal(s.State, killedState(tick)) {
			t.Fatalf("the snapshot of tick %d differs: %v", tick, err)
		}
	}
	return len(all) - 1
}

// commitUntilKilled goes on with the run and says what it has committed.
func commitUntilKilled(t *testing.T, dsn string) {
	d := open(t, dsn)
	all, err := d.Runs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := writer(t, d, all[0].Run.ID)
	m := maker{sections: 2}
	if all, err = d.Runs(ctx); err != nil { // again: the killed one's commit may have ended before the lock
		t.Fatal(err)
	}
	for all[0].Links && m.tick <= all[0].Last {
		m.batch(killedLinks, killedInputs)
	}
	for {
		b := m.batch(killedLinks, killedInputs)
		last := b.Links[killedLinks-1]
		b.Snapshots = []audit.Snapshot{{Tick: last.Tick, Hash: last.Hash, State: killedState(last.Tick)}}
		commit(t, w, b)
		fmt.Printf("committed %d\n", last.Tick)
	}
}
