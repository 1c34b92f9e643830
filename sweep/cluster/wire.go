package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/sweep"
)

// Names of streams, subjects and buckets.
const (
	jobStream     = "MURKSIM_JOBS"
	resultStream  = "MURKSIM_RESULTS"
	jobSubject    = "murksim.jobs."
	resultSubject = "murksim.results."
	workerSubject = "murksim.worker."
	noteSubject   = "murksim.note." // what workers tell people who wait for a sweep
	sweepBucket   = "murksim_sweeps"
	fileBucket    = "murksim_files"
)

// What a message may have at most.
const (
	maxBatch   = 256
	maxMessage = 900 << 10 // bytes, compressed; the server's limit is 1 MiB
	maxPlain   = 32 << 20  // bytes, not compressed
)

// An Info tells workers about a sweep.
type Info struct {
	sweep.Wanted
	Scenario string        `json:"scenario"`
	Base     string        `json:"base"`   // the descriptor of the scenario, which says what a worker must have
	Memory   uint64        `json:"memory"` // bytes that a job's world may take
	Time     time.Duration `json:"time"`   // that a job may take; 0: any
	Keep     Keep          `json:"keep"`
}

// Keep selects the jobs whose recordings, or last states, are kept.
type Keep struct {
	Failed bool    `json:"failed,omitempty"` // those that are not ok
	Share  float64 `json:"share,omitempty"`
	States bool    `json:"states,omitempty"` // instead of recordings
}

// Wants reports whether something is kept of a job.
func (k Keep) Wants(row *sweep.Row) bool {
	if k.Failed {
		return row.Status != sweep.OK
	}
	return k.Share > 0 && sweep.Chosen("keep", row.ID, k.Share)
}

// A task is a message of the work queue.
type task struct {
	Jobs  batch[job] `json:"jobs"`
	Again bool       `json:"again,omitempty"` // they are run a second time
	Not   string     `json:"not,omitempty"`   // process that leaves them to another one, if there is one
}

// A job is a world to be run.
type job struct {
	Job        int    `json:"job"`
	Descriptor string `json:"descriptor"`
	Probes     string `json:"probes,omitempty"`
}

// jobOf returns what a worker needs to run a scenario.
func jobOf(number int, s *scenarios.Scenario) job {
	return job{number, string(s.Descriptor()), string(s.EncodeProbes())}
}

// scenario makes the scenario of a job.
func (j *job) scenario(r *scenarios.Registry) (*scenarios.Scenario, error) {
	s, err := r.FromDescriptor([]byte(j.Descriptor))
	if err != nil {
		return nil, err
	}
	return s, s.DecodeProbes([]byte(j.Probes))
}

// A batch is a list that decodes at most maxBatch elements, however long its text is.
type batch[T any] []T

// UnmarshalJSON implements [json.Unmarshaler].
func (b *batch[T]) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(text))
	if start, err := in.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(errors.New("a list is missing"), err)
	}
	for in.More() {
		if len(*b) == maxBatch {
			return fmt.Errorf("a message has more than %d jobs", maxBatch)
		}
		var v T
		if err := in.Decode(&v); err != nil {
			return err
		}
		*b = append(*b, v)
	}
	return nil
}

// A result is the result of a task.
type result struct {
	Process string           `json:"process"` // of the worker
	Again   bool             `json:"again,omitempty"`
	Rows    batch[sweep.Row] `json:"rows"`

	// Recorded are rows, without statistics, of jobs that came to another end when they were recorded, see [sweep.RecordAgain].
	Recorded batch[sweep.Row] `json:"recorded,omitempty"`
}

// of returns the part of a result that belongs to some of its rows.
func (r *result) of(rows []sweep.Row) *result {
	part := &result{Process: r.Process, Again: r.Again, Rows: rows}
	for i := range rows {
		if other := r.recorded(&rows[i]); other != nil {
			part.Recorded = append(part.Recorded, *other)
		}
	}
	return part
}

// recorded returns the other end that the job of a row came to when it was recorded; nil if it came to none.
func (r *result) recorded(row *sweep.Row) *sweep.Row {
	for i := range r.Recorded {
		if other := &r.Recorded[i]; other.Job == row.Job && other.ID == row.ID {
			return other
		}
	}
	return nil
}

// A recordRequest asks a worker to record a job and to put the recording into the bucket of files.
type recordRequest struct {
	Job   job    `json:"job"`
	Name  string `json:"name"`            // of the file
	Until uint64 `json:"until,omitempty"` // the last tick; 0: that of the job
	Alive bool   `json:"alive,omitempty"` // it waits as long as the worker answers stillAlive now and then
}

// stillAlive is what a worker answers before it says "ok", or what is wrong.
const stillAlive = "alive"

// address is the name of a process as a part of a subject.
func address(process string) string {
	sum := sha256.Sum256([]byte(process))
	return hex.EncodeToString(sum[:8])
}

var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPlain))
)

// encode returns a value as compressed JSON.
func encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	b := compressor.EncodeAll(text, nil)
	if len(b) > maxMessage || len(text) > maxPlain {
		return nil, errTooLong
	}
	return b, nil
}

var errTooLong = errors.New("the message is too long")

// decode is the inverse of encode.
func decode(b []byte, v any) error {
	text, err := decompressor.DecodeAll(b, nil)
	if err != nil {
		return fmt.Errorf("a message that is none of ours: %w", err)
	}
	return json.Unmarshal(text, v)
}
