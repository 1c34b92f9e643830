package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/sweep"
	"github.com/murksim/murksim/sweep/cluster"
)

// Kinds of errands: what workers do with files beside the jobs of sweeps.
const (
	verifyErrand = "verify"
	auditErrand  = "audit"
)

// maxErrands is how many files are at workers, or on the way to them, at a time.
const maxErrands = 64

// A verifyAsk is what a worker is to do with a recording.
type verifyAsk struct {
	Program  string `json:"program"` // that asks
	Name     string `json:"name"`    // of the file there
	JSON     bool   `json:"json,omitempty"`
	Quiet    bool   `json:"quiet,omitempty"`
	Inputs   bool   `json:"inputs,omitempty"`
	Complete bool   `json:"complete,omitempty"`
}

// A verifyAnswer is what verify prints for a recording.
type verifyAnswer struct {
	Out    string `json:"out,omitempty"`
	Errs   string `json:"errs,omitempty"`
	Status int    `json:"status"`
	err    error  // there is no answer
}

// checkElsewhere looks at the flags that do not go with --nats.
func (j *verifyJob) checkElsewhere(given func(string) bool, args []string) error {
	if !given("nats") {
		return nil
	}
	for _, flag := range []string{"hashes", "state", "world", "each", "workers", "max-memory"} {
		if given(flag) {
			return report.Usage("--%s cannot be used with --nats", flag)
		}
	}
	for _, name := range args {
		if name == "-" {
			return report.Usage("--nats sends files to workers; standard input is none")
		}
	}
	return nil
}

// elsewhere has workers verify every file and returns the worst outcome.
func (j *verifyJob) elsewhere(ctx context.Context, names []string) error {
	errands, err := cluster.OpenErrands(ctx, j.nats.Options, verifyErrand, sweep.Name(), j.notice)
	if err != nil {
		return err
	}
	defer errands.Close()
	answers := inOrder(len(names), maxErrands, func(i int) *verifyAnswer { return j.ask(ctx, errands, names[i]) })
	m := j.Meter(0)
	defer m.Clear()
	worst := report.StatusOK
	for i := range names {
		j.waitFor(m, i, len(names), answers[i])
		a := <-answers[i]
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; %s of %s verified", words.Number(uint64(i)), words.Count(uint64(len(names)), "recording"))
		}
		m.Clear()
		if a.err != nil { // the others are told of nevertheless
			v := verdict{Event: "verdict", File: names[i], path: names[i], Status: "error", Error: words.InWords(a.err).Error(), Replayed: viewBuild(replay.ThisBuild()), code: report.StatusError, err: a.err}
			if err := j.report(&v); err != nil {
				return err
			}
			worst = max(worst, v.code)
			continue
		}
		if _, err := j.Out.Write([]byte(a.Out)); err != nil {
			return err
		}
		if _, err := j.Errs.Write([]byte(a.Errs)); err != nil {
			return err
		}
		worst = max(worst, a.Status)
	}
	if worst != report.StatusOK {
		return report.Exit(worst, nil)
	}
	return nil
}

// inOrder calls f for 0 to n-1, some at a time, and returns a channel for what each returns.
func inOrder[T any](n, some int, f func(i int) T) []chan T {
	results := make([]chan T, n)
	slots := make(chan struct{}, some)
	for i := range results {
		results[i] = make(chan T, 1)
	}
	go func() {
		for i := range results {
			slots <- struct{}{}
			go func() {
				results[i] <- f(i)
				<-slots
			}()
		}
	}()
	return results
}

// waitFor shows progress until there is an answer.
func (j *verifyJob) waitFor(m *report.Meter, done, all int, answer chan *verifyAnswer) {
	for m.Active && len(answer) == 0 {
		m.Note("%s of %s", words.Number(uint64(done)), words.Count(uint64(all), "recording"))
		time.Sleep(100 * time.Millisecond)
	}
}

// ask has a worker verify a file. What is no file to be sent is looked at here.
func (j *verifyJob) ask(ctx context.Context, errands *cluster.Errands, name string) *verifyAnswer {
	ask := verifyAsk{j.Name, name, j.JSON, j.Quiet, j.inputs, j.complete}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		a, err := j.app.verifyAs(ctx, name, &ask, j.maxMemory)
		return cmp.Or(a, &verifyAnswer{err: err})
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return &verifyAnswer{err: err}
	}
	answer, err := errands.Do(ctx, cluster.Errand{Path: name, Ask: text})
	a := &verifyAnswer{err: err}
	if err == nil {
		if err := json.Unmarshal(answer.Text, a); err != nil {
			a.err = fmt.Errorf("worker %s is of another version of this program: %w", answer.Worker, err)
		} else if !a.possible(j.Quiet) {
			a.err = fmt.Errorf("worker %s has an answer that verify does not give: status %d", answer.Worker, a.Status)
		}
	}
	a.Out, a.Errs = cleanLines(a.Out), cleanLines(a.Errs)
	return a
}

// possible reports whether an answer can be one of verify: of a worker nothing is believed that cannot be.
func (a *verifyAnswer) possible(quiet bool) bool {
	switch a.Status {
	case report.StatusOK:
		return quiet || a.Out != ""
	case report.StatusError, report.StatusDiverged:
		return a.Out != "" || a.Errs != ""
	}
	return false
}

// cleanLines is clean for several lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = words.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// verifyAs verifies a file as a program elsewhere would that was asked to, and returns what it would print.
func (a *app) verifyAs(ctx context.Context, path string, ask *verifyAsk, limit session.Size) (*verifyAnswer, error) {
	there, out, errs := a.captured(ask.Program, ask.JSON, ask.Quiet)
	j := &verifyJob{app: there, inputs: ask.Inputs, complete: ask.Complete, workers: 1, maxMemory: limit}
	v := verdict{Event: "verdict", File: ask.Name, path: path}
	j.verify(ctx, &v)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := j.report(&v); err != nil {
		return nil, err
	}
	return &verifyAnswer{Out: out.String(), Errs: errs.String(), Status: v.code}, nil
}

// captured returns an app that prints into buffers.
func (a *app) captured(name string, json, quiet bool) (there *app, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	stdout := report.NewOutput(out)
	return &app{Session: &session.Session{Printer: &report.Printer{Out: stdout, Errs: report.NewOutput(errs), JSON: json, Quiet: quiet}, Name: name, In: bytes.NewReader(nil), Registry: a.Registry}, stdout: stdout}, out, errs
}

// verifyErrand is the [cluster.Doer] of verify.
func (j *workerJob) verifyErrand(ctx context.Context, path string, text []byte) ([]byte, error) {
	var ask verifyAsk
	if err := json.Unmarshal(text, &ask); err != nil {
		return nil, fmt.Errorf("it was sent by another version of this program: %w", err)
	}
	a, err := j.app.verifyAs(ctx, path, &ask, j.share())
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// share is the memory of one of the jobs that run at the same time.
func (j *workerJob) share() session.Size { return j.maxMemory.Share(uint64(j.cores)) }
