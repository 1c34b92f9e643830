package sweep

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
)

// Limits are what a job may take. Zero is no limit.
type Limits struct {
	Memory uint64 // bytes of its world
	Time   time.Duration
}

// Wanted says what a row has besides the job's end. The zero value asks for the statistics of all fields.
type Wanted struct {
	Fields []string `json:"fields,omitempty"` // of the statistics, see [export.NewValues]
	Digest bool     `json:"digest,omitempty"` // of the run, for which every tick is hashed
}

// Perform runs a job in this goroutine and returns the outcome. It returns an error only if ctx ended before the job
// did.
func Perform(ctx context.Context, s *scenarios.Scenario, wanted Wanted, l Limits) (row Row, err error) {
	return perform(ctx, s, wanted, l, ending{until: s.Ticks})
}

// PerformSaving is like Perform, and also returns the last state as a file (docs/STATE.md) if wants reports true for the row;
// otherwise nil.
func PerformSaving(ctx context.Context, s *scenarios.Scenario, wanted Wanted, l Limits, wants func(*Row) bool) (row Row, state []byte, err error) {
	row, err = perform(ctx, s, wanted, l, ending{until: s.Ticks, wants: wants, state: &state})
	return row, state, err
}

// Record runs a job again up to a tick, and records it.
func Record(ctx context.Context, s *scenarios.Scenario, until uint64, to io.Writer, l Limits) (row Row, err error) {
	out := &outlet{to: to}
	row, err = perform(ctx, s, Wanted{Fields: []string{NoStats}}, l, ending{until: until, to: out})
	return row, cmp.Or(err, out.err)
}

// RecordAgain runs a job that has a row again, as far as it ran, and records it. The row that it returns must equal the first one: what a
// recorder does not have, the statistics and the limit of time, is that of the first row.
func RecordAgain(ctx context.Context, s *scenarios.Scenario, first *Row, to io.Writer) (row Row, err error) {
	row, err = Record(ctx, s, first.Until(), to, Limits{})
	row.Sign(first.Job, first.Worker, first.Build)
	row.Stats = first.Stats
	if first.Digest == "" {
		row.Digest = ""
	}
	if first.Status == Time && row.Ticks == first.Ticks {
		row.Status, row.Reason = Time, first.Reason
	}
	return row, err
}

// An outlet notes why a recording could not be written: the world that is recorded only halts.
type outlet struct {
	to  io.Writer
	err error
}

// Write implements [io.Writer].
func (o *outlet) Write(b []byte) (n int, err error) {
	n, err = o.to.Write(b)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// An ending says up to which tick a job runs, and what is kept of it.
type ending struct {
	until uint64
	to    io.Writer       // the recording; nil: none
	wants func(*Row) bool // whether the last state is kept; nil: it is not
	state *[]byte
}

func perform(ctx context.Context, s *scenarios.Scenario, wanted Wanted, l Limits, e ending) (row Row, err error) {
	row.ID = IDOf(s)
	began := time.Now()
	var run *runner.Run
	defer func() {
		row.Seconds = time.Since(began).Seconds()
		if v := recover(); v != nil {
			row.Status, row.Reason, err = Panic, panicked(&engine.PanicError{Value: v, Stack: debug.Stack()}), nil
			if run != nil {
				row.Ticks = run.World.Tick()
			}
		}
	}()
	values, err := statsOf(s, wanted.Fields)
	if err != nil {
		row.Status, row.Reason = Broken, firstLine(err.Error())
		return row, nil
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if l.Time > 0 {
		within, cancel = context.WithTimeout(ctx, l.Time)
	}
	defer cancel()
	run, err = runner.New(runner.Config{Scenario: s, Workers: 1, MaxMemory: l.Memory, Making: func(float64) error { return within.Err() }})
	if e.to == nil && wanted.Digest {
		e.to = io.Discard
	}
	if err == nil {
		defer run.World.Stop()
		err = row.run(within, run, e, values)
	}
	if err != nil && ctx.Err() != nil {
		return row, ctx.Err()
	}
	row.judge(err, run != nil, l)
	if e.wants != nil && row.Ran() && row.Status != Panic && e.wants(&row) {
		state, err := run.World.Save(s.Descriptor())
		if err != nil {
			row.Status, row.Reason = Broken, firstLine(err.Error())
		} else {
			*e.state = engine.Seal(state)
		}
	}
	return row, nil
}

// run runs the ticks and notes the end.
func (row *Row) run(ctx context.Context, run *runner.Run, e ending, values *export.Values) (err error) {
	var counts export.Counts
	run.Receipts = func(list []commands.Receipt) error {
		counts.Add(list)
		return nil
	}
	if e.to != nil {
		r, err := replay.NewRecorder(e.to, run.World, run.Scenario.Descriptor())
		if err != nil {
			return err
		}
		run.World.Record(r)
		defer func() {
			err = errors.Join(err, r.Flush())
			if sum, known := r.RunDigest(); known {
				row.Digest = hex.EncodeToString(sum[:])
			}
		}()
	}
	err = run.To(ctx, e.until)
	row.Ticks, row.Hash = run.World.Tick(), fmt.Sprintf("%016x", run.World.Hash())
	if err != nil {
		return err
	}
	row.Status = OK
	var failed []string
	for _, e := range run.Checker.Results() {
		if e.Reached && !e.OK {
			failed = append(failed, e.Text)
		}
	}
	if len(failed) > 0 {
		row.Status, row.Reason = Failed, strings.Join(failed, "; ")
	}
	if values != nil {
		numbers, err := values.Of(run.World, counts)
		for _, x := range numbers {
			row.Stats = append(row.Stats, Number(x))
		}
		return err
	}
	return nil
}

// judge says what an error means.
func (row *Row) judge(err error, built bool, l Limits) {
	if err == nil {
		return
	}
	row.Status, row.Reason = Broken, firstLine(err.Error())
	if e, ok := errors.AsType[*runner.MemoryError](err); ok {
		row.Status, row.Reason = Memory, fmt.Sprintf("the world takes about %s of memory; it may take %s, its part of what all jobs that run at the same time may", megabytes(e.Need), megabytes(e.Limit))
		return
	}
	p, caught := errors.AsType[*engine.PanicError](err)
	switch {
	case caught && !errors.Is(err, engine.ErrArithmetic):
		row.Status, row.Reason = Panic, panicked(p)
	case errors.Is(err, context.DeadlineExceeded):
		row.Status, row.Reason = Time, fmt.Sprintf("tick %d after %v", row.Ticks, l.Time)
	case built:
		row.Status = Halted
	}
}

// megabytes writes a number of bytes.
func megabytes(n uint64) string { return fmt.Sprintf("%.3g MB", float64(n)/1e6) }

// panicked says what a panic was, and where.
func panicked(p *engine.PanicError) string {
	return firstLine(strings.TrimSuffix(fmt.Sprintf("%v at %s", p.Value, p.Place()), " at "))
}

// firstLine cuts a text to one line that is short enough for a table.
func firstLine(text string) string {
	const most = 300
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
