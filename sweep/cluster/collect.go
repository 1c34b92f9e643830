package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/sweep"
)

// drain takes in what workers have sent to an earlier process.
func (x *coordinator) drain(ctx context.Context, results jetstream.Consumer) error {
	for {
		var batch jetstream.MessageBatch
		err := retry(ctx, patience, func() (err error) {
			batch, err = results.FetchNoWait(256)
			return err
		})
		if err != nil {
			return err
		}
		n := 0
		for m := range batch.Messages() {
			if err := x.receive(ctx, m); err != nil {
				return err
			}
			n++
		}
		if n == 0 {
			return nil
		}
	}
}

// collect takes in results until every job has a row, and every job to be run again has run.
func (x *coordinator) collect(ctx context.Context, results jetstream.Consumer) error {
	for !x.complete() {
		batch, err := results.Fetch(256, jetstream.FetchMaxWait(250*time.Millisecond))
		if err != nil {
			pause(ctx, 250*time.Millisecond)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		for m := range batch.Messages() {
			if err := x.receive(ctx, m); err != nil {
				return err
			}
		}
		if batch.Error() != nil { // there is no leader, and nothing to wait for
			pause(ctx, 250*time.Millisecond)
		}
	}
	return nil
}

// complete reports whether nothing is left to do.
func (x *coordinator) complete() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	h := &x.Journal.Head
	return x.Journal.Done() == h.Shard.Jobs(h.Jobs) && len(x.ledger.Again) == 0 && len(x.again) == 0
}

// receive takes in one result, and acknowledges it once its rows are in the journal.
func (x *coordinator) receive(ctx context.Context, m jetstream.Msg) error {
	var r result
	if err := decode(m.Data(), &r); err != nil {
		x.Say(fmt.Sprintf("a result cannot be read: %v", err))
		_ = m.Term() // one that cannot be told so is a message that nobody answers for
		return nil
	}
	r.Process = sweep.ProcessName(r.Process)
	x.mu.Lock()
	x.received++
	x.mu.Unlock()
	err := error(nil)
	if r.Again {
		err = x.takeAgain(ctx, &r)
	} else {
		sent := time.Now()
		if meta, err := m.Metadata(); err == nil {
			sent = meta.Timestamp
		}
		err = x.takeRows(ctx, &r, sent)
	}
	for i := 0; i < len(r.Recorded) && err == nil; i++ {
		err = x.takeRecorded(ctx, &r, &r.Recorded[i])
	}
	if err != nil {
		return err
	}
	_ = m.Ack() // if it is lost the result comes again, and is known
	return nil
}

// takeRows takes in rows of jobs that ran for the first time. If the journal has the row already, it compares the two.
func (x *coordinator) takeRows(ctx context.Context, r *result, sent time.Time) error {
	var fresh []sweep.Row
	var known []*sweep.Row
	var fetched []string
	var checks []sweep.Check
	seconds := 0.0
	seen := map[int]bool{}
	for i := range r.Rows {
		row := &r.Rows[i]
		if wrong := x.refusal(r, row); wrong != "" {
			x.Say(fmt.Sprintf("%q sent a row of job %d that is not taken: %s", r.Process, row.Job, wrong))
			continue
		}
		ours, done := x.belongs(row)
		switch {
		case done || seen[row.Job]:
			if known = append(known, row); row.Kept != "" {
				fetched = append(fetched, row.Kept) // nobody else does
			}
		case ours:
			stays, other := x.stays(ctx, row)
			if other != nil {
				checks = append(checks, *other)
			}
			if row.Kept != "" {
				fetched = append(fetched, row.Kept)
				if stays {
					row.Kept = ""
				} else if taken, err := x.fetchKept(ctx, r, row, sent); err != nil {
					return err
				} else if !taken {
					continue
				}
			}
			fresh, seconds = append(fresh, *row), seconds+row.Seconds
			seen[row.Job] = true
		default:
			x.Say(fmt.Sprintf("%q sent a row of job %d that is of another sweep", r.Process, row.Job))
		}
	}
	x.mu.Lock()
	err := x.ledger.Add(fresh, checks...)
	for i := range fresh {
		delete(x.out, fresh[i].Job)
	}
	if n := len(fresh); n > 0 {
		x.each = (3*x.each + time.Duration(seconds/float64(n)*float64(time.Second))) / 4
		if x.processes[r.Process] = true; x.Workers != nil {
			x.Workers(len(x.processes))
		}
	}
	x.wake.Broadcast()
	x.mu.Unlock()
	if err == nil {
		x.removeFiles(ctx, fetched...)
	}
	for _, row := range known {
		err = errors.Join(err, x.compareKnown(ctx, row))
	}
	return err
}

// stays reports whether the row that a job had before it ran once more stays, see [sweep.Ledger.Stays]. The check, if the two differ, has
// recordings.
func (x *coordinator) stays(ctx context.Context, row *sweep.Row) (bool, *sweep.Check) {
	x.mu.Lock()
	first, other := x.ledger.Stays(row)
	x.mu.Unlock()
	if other != nil {
		x.record(ctx, first, other)
	}
	return first != nil, other
}

// fetchKept fetches what was kept of a job, compares it with its row, and writes its name into the row. If it is gone, or is of something
// else, the job is to run again, and fetchKept returns false; but if that happens twice, or the worker has found another end, which would be
// forgotten, the row is taken and keeps nothing.
func (x *coordinator) fetchKept(ctx context.Context, r *result, row *sweep.Row, sent time.Time) (taken bool, err error) {
	s, err := x.Make(x.Journal.Plan.Sets(x.Journal.Plan.Point(row.Job)))
	if err != nil {
		return false, err
	}
	end, other := row, r.recorded(row)
	if other != nil && x.refusal(r, other) != "" { // it is not taken, so the row is what the file must be of
		other = nil
	}
	if other != nil { // the recording shows that one
		end = other
	}
	x.mu.Lock()
	local := x.Journal.KeptName(x.Folder, row.Job, path.Ext(row.Kept) == ".state")
	x.mu.Unlock()
	err = x.fetchFile(ctx, row.Kept, local, sent, func(file string) error { return end.Fits(s, file) })
	why := "is gone from the servers" // such as after more than a day
	if strange, ok := errors.AsType[strangeError](err); ok {
		why = "is not of its row: " + sweep.Printable(strange.Error())
	} else if !errors.Is(err, jetstream.ErrObjectNotFound) {
		row.Kept = local
		return err == nil, err
	}
	row.Kept = ""
	if other != nil || x.unkept[row.Job] {
		x.Say(fmt.Sprintf("what was kept of job %d %s; its row keeps nothing", row.Job, why))
		return true, nil
	}
	x.unkept[row.Job] = true
	x.Say(fmt.Sprintf("what was kept of job %d %s; the job runs again", row.Job, why))
	return false, nil
}

// A strangeError says that a file from the servers is another one than it must be.
type strangeError struct{ error }

// refusal says why no worker of this sweep can have made a row; "" if one can.
func (x *coordinator) refusal(r *result, row *sweep.Row) string {
	row.Clean()
	switch {
	case row.Wrong() != "":
		return row.Wrong()
	case len(row.Stats) != 0 && len(row.Stats) != len(x.Journal.Head.Stats):
		return fmt.Sprintf("it has %d statistics, not %d", len(row.Stats), len(x.Journal.Head.Stats))
	case sweep.Process(row.Worker) != r.Process:
		return fmt.Sprintf("its worker is %q", row.Worker)
	case row.Kept != "" && !strings.HasPrefix(row.Kept, x.id+"/"):
		return fmt.Sprintf("it has kept %q", row.Kept)
	}
	return ""
}

// belongs reports whether a row belongs to this sweep, and whether its job has one already.
func (x *coordinator) belongs(row *sweep.Row) (ours, done bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if row.Job < 0 || row.Job >= x.Journal.Head.Jobs || !x.Journal.Head.Shard.Holds(row.Job) {
		return false, false
	}
	if x.Journal.Has(row.Job) {
		return true, true
	}
	if x.ledger.Begun(row) {
		return true, false
	}
	s, err := x.Make(x.Journal.Plan.Sets(x.Journal.Plan.Point(row.Job))) // an earlier process published it
	return err == nil && sweep.IDOf(s) == row.ID, false
}

// compareKnown compares a row with the one that the journal has: its job ran twice because a worker was cut off.
func (x *coordinator) compareKnown(ctx context.Context, row *sweep.Row) error {
	x.mu.Lock()
	first, err := x.Journal.Row(row.Job)
	x.mu.Unlock()
	if err != nil || first.ID != row.ID || !first.Comparable(row) {
		return err
	}
	if c := x.ledger.Compare(first, row); !c.Equal {
		return x.differ(ctx, first, c)
	}
	return nil
}

// takeRecorded compares a row of a job that was recorded with the one that the journal has.
func (x *coordinator) takeRecorded(ctx context.Context, r *result, row *sweep.Row) error {
	wrong := x.refusal(r, row)
	if _, done := x.belongs(row); wrong == "" && !done {
		wrong = "the job has no other row"
	}
	if wrong != "" {
		x.Say(fmt.Sprintf("%q sent a row of job %d that is not taken: %s", r.Process, row.Job, wrong))
		return nil
	}
	x.mu.Lock()
	first, err := x.Journal.Row(row.Job)
	x.mu.Unlock()
	if err != nil || first.ID != row.ID {
		return err
	}
	row.Stats = first.Stats
	if c := x.ledger.Compare(first, row); !c.Equal {
		return x.differ(ctx, first, c)
	}
	return nil
}

// takeAgain takes in rows of jobs that were run again. One that was not asked for, or by an earlier process, or that comes twice, proves
// nothing if it equals the job's row; if it differs, it counts.
func (x *coordinator) takeAgain(ctx context.Context, r *result) error {
	for i := range r.Rows {
		row := &r.Rows[i]
		if wrong := x.refusal(r, row); wrong != "" {
			x.Say(fmt.Sprintf("%q sent a row of job %d that is not taken: %s", r.Process, row.Job, wrong))
			continue
		}
		x.mu.Lock()
		asked := x.again[row.Job]
		delete(x.again, row.Job)
		first, err := x.Journal.Row(max(0, min(row.Job, x.Journal.Head.Jobs-1)))
		known, checked := x.Journal.Checks[row.Job]
		x.wake.Broadcast()
		x.mu.Unlock()
		if err != nil || !asked && (first.ID != row.ID || checked && !known.Equal || first.EndsLike(row)) {
			continue
		}
		if !first.Comparable(row) { // such as out of memory, unlike on the first worker
			x.Say(fmt.Sprintf("%s could not run job %d again: %s: %s", r.Process, row.Job, row.Status, row.Reason))
			continue
		}
		c := x.ledger.Compare(first, row)
		if c.Equal {
			x.mu.Lock()
			err = x.ledger.Add(nil, c)
			x.mu.Unlock()
		} else {
			err = x.differ(ctx, first, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// differ records that a job gave different results: it asks both workers for a recording, and looks for the first tick
// that differs.
func (x *coordinator) differ(ctx context.Context, first *sweep.Row, c sweep.Check) error {
	x.record(ctx, first, &c)
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ledger.Add(nil, c)
}

// record records both ends of a job, as far as it can.
func (x *coordinator) record(ctx context.Context, first *sweep.Row, c *sweep.Check) {
	if err := x.evidence(ctx, first, c); err != nil {
		x.Say(fmt.Sprintf("job %d came to different ends, of which there are not both recordings: %v", c.Job, err))
	}
}

// evidence fetches recordings from both workers and compares them.
func (x *coordinator) evidence(ctx context.Context, first *sweep.Row, c *sweep.Check) error {
	s, err := x.Make(x.Journal.Plan.Sets(x.Journal.Plan.Point(c.Job)))
	if err != nil {
		return err
	}
	free, err := sweep.FreeEvidence(x.Folder, c.Job)
	if err != nil {
		return err
	}
	var missing error // such as that of a worker that is gone
	for i, worker := range [...]string{first.Worker, c.Row.Worker} {
		name := fmt.Sprintf("%s/differs-%d-%s.murk", x.id, c.Job, rng.FreshID()) // an earlier request may still be on the way
		data, err := encode(recordRequest{Job: jobOf(c.Job, s), Name: name, Until: c.Until(s), Alive: true})
		if err == nil {
			err = x.ask(ctx, sweep.Process(worker), data)
		}
		if err == nil {
			err = x.fetchFile(ctx, name, free[i], time.Now(), func(file string) error {
				_, _, err := sweep.LastOf(s, file)
				return err
			})
		}
		if err != nil {
			missing = errors.Join(missing, err)
			continue
		}
		x.removeFiles(ctx, name)
		c.Files = append(c.Files, free[i])
	}
	if missing == nil {
		c.Tick, missing = c.FirstDifference(x.Folder)
	}
	return missing
}

// silence is how long a worker that is recording a job may say nothing.
var silence = time.Minute

// ask asks a worker to record a job, and waits as long as it is alive.
func (x *coordinator) ask(ctx context.Context, process string, data []byte) error {
	inbox := x.conn.NewInbox()
	answers, err := x.conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer answers.Unsubscribe()
	if err := x.conn.PublishRequest(workerSubject+address(process), inbox, data); err != nil {
		return err
	}
	for {
		within, cancel := context.WithTimeout(ctx, silence)
		m, err := answers.NextMsgWithContext(within)
		cancel()
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			return fmt.Errorf("worker %s is gone", process)
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return fmt.Errorf("worker %s has said nothing for %v", process, silence)
		case err != nil:
			return fmt.Errorf("worker %s: %w", process, err)
		case string(m.Data) == "ok":
			return nil
		case string(m.Data) != stillAlive:
			return fmt.Errorf("worker %s: %.200q", process, m.Data)
		}
	}
}

// fetchFile copies a file from the servers into the sweep's folder, if it fits. It replaces one of that name, which an earlier run may have
// left.
func (x *coordinator) fetchFile(ctx context.Context, name, local string, sent time.Time, fits func(file string) error) error {
	const tries, slow = 8, 1 << 20 // bytes a second, with which a file must come
	tried := 0
	err := retry(ctx, 0, func() error {
		within, cancel := context.WithTimeout(ctx, 5*time.Second) // a connection that breaks meanwhile gives no error
		defer cancel()
		info, err := x.files.GetInfo(within, name)
		if err == nil {
			if tried++; tried > tries || info.Opts != nil && info.Opts.Link != nil {
				return permanent{jetstream.ErrObjectNotFound} // its pieces are not there
			}
			within, cancel := context.WithTimeout(ctx, 5*time.Second+time.Duration(info.Size/slow)*time.Second)
			defer cancel()
			err = sweep.Put(x.Folder, local, func(to io.Writer) error { return x.copyTo(within, to, name) })
		}
		_, disk := errors.AsType[*fs.PathError](err)
		_, renaming := errors.AsType[*os.LinkError](err)
		if disk || renaming || errors.Is(err, jetstream.ErrObjectNotFound) && time.Since(sent) > behind {
			return permanent{err}
		}
		return err
	})
	if err == nil {
		err = remains(filepath.Join(x.Folder, local), fits)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", local, err)
	}
	return nil
}

// remains removes a file that does not fit.
func remains(file string, fits func(file string) error) error {
	err := fits(file)
	if _, disk := errors.AsType[*fs.PathError](err); err == nil || disk {
		return err
	}
	return errors.Join(strangeError{err}, os.Remove(file))
}

// copyTo copies a file from the servers.
func (x *coordinator) copyTo(ctx context.Context, to io.Writer, name string) error {
	from, err := x.files.Get(ctx, name)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}

// behind is how long a server of a cluster may lag, and lack a file that the others have.
const behind = 5 * time.Second

// removeFiles removes files from the servers that are in the sweep's folder now.
func (x *coordinator) removeFiles(ctx context.Context, names ...string) {
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, name := range names {
		_ = x.files.Delete(within, name) // else the servers do so after a day
	}
}
