package cluster_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"

	"github.com/murksim/murksim/internal/waiting"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/sweep/cluster"
)

// address is where a worker hears requests to record a job.
func address(process string) string {
	sum := sha256.Sum256([]byte(process))
	return "murksim.worker." + hex.EncodeToString(sum[:8])
}

// A request asks a worker to record a job.
type request struct {
	Job   map[string]any `json:"job"`
	Name  string         `json:"name"`
	Alive bool           `json:"alive"`
}

// recorder runs a sweep whose worker sends two rows of job 2 that differ, and answers requests to record it.
func (b *bench) recorder(answer func(m *nats.Msg, r *request)) error {
	b.Helper()
	c, _ := b.sweep(5)
	done, js, id := b.begin(c)
	plain, err := zstd.NewReader(nil)
	if err != nil {
		b.Fatal(err)
	}
	_, err = js.Conn().Subscribe(address("evil"), func(m *nats.Msg) {
		text, err := plain.DecodeAll(m.Data, nil)
		var r request
		if err = errors.Join(err, json.Unmarshal(text, &r)); err != nil {
			b.Error(err)
		}
		answer(m, &r)
	})
	if err != nil {
		b.Fatal(err)
	}
	row := forgery(b, &c)
	other := row
	other.Hash = "fedcba9876543210"
	post(b, js, "murksim.results."+id, map[string]any{"process": "evil", "rows": []sweep.Row{row, other}})
	return <-done
}

// TestSlowRecordings: the sweep waits for a recording as long as the worker says that it is alive.
func TestSlowRecordings(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	made := b.recordingOf(2)
	err := b.recorder(func(m *nats.Msg, r *request) {
		store, _ := b.files()
		_, err := store.PutBytes(b.Context(), r.Name, made)
		for _, answer := range []string{"alive", "alive", "ok"} {
			err = errors.Join(err, m.Respond([]byte(answer)))
		}
		if err != nil || !r.Alive {
			b.Errorf("the request is %+v, %v", r, err)
		}
	})
	if e, ok := errors.AsType[*sweep.DifferError](err); !ok || len(e.Checks[0].Files) != 2 {
		t.Errorf("Run = %v, %+v, want both recordings of job 2\n%s", err, e, b.said.String())
	}
}

// TestSilentRecorder: one that says nothing is given up, in words that tell so.
func TestSilentRecorder(t *testing.T) {
	t.Cleanup(cluster.SetSilence(10 * time.Millisecond))
	b := newBench(t, cluster.ServerConfig{})
	err := b.recorder(func(*nats.Msg, *request) {})
	if _, ok := errors.AsType[*sweep.DifferError](err); !ok || !b.heard("worker evil has said nothing for 10ms") {
		t.Errorf("Run = %v\n%s", err, b.said.String())
	}
}

// TestRecordersSayThatTheyAreAlive: a worker does so as long as it records a job, if it was asked to.
func TestRecordersSayThatTheyAreAlive(t *testing.T) {
	b := newBench(t, cluster.ServerConfig{})
	wait := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(wait) })
	b.work("slow", registryOf(t, truth{until: wait}, 1))
	t.Cleanup(goOn)
	waiting.For(t, "the worker is ready", func() bool { return b.heard("slow: ready") })
	c, _ := b.sweep(1)
	conn := b.jetStream().Conn()
	answers, err := conn.SubscribeSync(conn.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	s := b.scenario(&c, 0)
	r := request{Name: "x", Alive: true, Job: map[string]any{"descriptor": string(s.Descriptor()), "probes": string(s.EncodeProbes())}}
	if err := conn.PublishRequest(address("slow"), answers.Subject, pack(b, r)); err != nil {
		t.Fatal(err)
	}
	for told := 0; ; told++ {
		m, err := answers.NextMsg(waiting.Hang)
		switch {
		case err != nil:
			t.Fatal(err)
		case string(m.Data) == "ok" && told > 0:
			return
		case string(m.Data) != "alive":
			t.Fatalf("answer %d is %q, want alive first", told, m.Data)
		default:
			goOn()
		}
	}
}

// recordingOf is a recording of a job.
func (b *bench) recordingOf(job int) []byte {
	b.Helper()
	c, _ := b.sweep(5)
	var to bytes.Buffer
	s := b.scenario(&c, job)
	if _, err := sweep.Record(b.Context(), s, s.Ticks, &to, sweep.Limits{}); err != nil {
		b.Fatal(err)
	}
	return to.Bytes()
}
