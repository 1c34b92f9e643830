package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
)

// configured changes one thing of the scenario: the states of tick 0 differ in what meta
// tells, a state of the one is not restored into the other, and its recording does not
// replay there.
func (l *lab) configured(set, what string) (*seen, error) {
	u := setup{Sets: []string{set}}
	if l.unplanted {
		u.Sets = nil
	}
	other, err := l.record(u)
	if err != nil {
		return nil, err
	}
	at, _, err := l.part(l.control, other)
	if err != nil {
		return nil, err
	}
	r, err := diff.States(l.control.World, l.control.States[at], other.States[at])
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.Differences, func(d diff.Difference) bool { return d.Path == "/meta/"+what })
	if at != 0 || i < 0 {
		return nil, fmt.Errorf("want /meta/%s at tick 0: %s", what, r.Text(5))
	}
	s, c, err := u.Open()
	if err != nil {
		return nil, err
	}
	_, err = engine.Restore(c, s.Descriptor(), l.control.States[planted])
	refused, ok := errors.AsType[*engine.StateError](err)
	if !ok {
		return nil, fmt.Errorf("restoring its state gives %v, want a StateError", err)
	}
	replayed, err := l.otherReplay(u)
	if err != nil {
		return nil, err
	}
	sections := strings.Join(r.Sections, "+")
	status, err := l.exchanged(other)
	return &seen{by: "chain: " + sections + "; " + replayed, tick: 0, report: "restore: " + refused.Err.Error(), status: status}, err
}

// exchanged audits the chain of a run under the genesis of the control, with which its states were not hashed.
func (l *lab) exchanged(other *run) (status int, err error) {
	f, err := l.evidence(other)
	if err != nil {
		return 0, err
	}
	ours, err := l.evidence(l.control)
	if err != nil {
		return 0, err
	}
	f.run = ours.run
	path, err := l.bundle(f)
	if err != nil {
		return 0, err
	}
	v, err := l.audit(path)
	if err == nil && (v.Verdict != "EVIDENCE" || v.status != 4 || v.Table != "runs") {
		err = fmt.Errorf("the audit of the one's chain with the other's genesis gives %v", v)
	}
	return 4, err
}

// otherReplay says how a replay of the control's recording fails in other worlds.
func (l *lab) otherReplay(u setup) (string, error) {
	r, err := replay.NewReader(bytes.NewReader(l.control.Recording))
	if err != nil {
		return "", err
	}
	p, err := replay.NewPlayer(r, func(*replay.Header) (*engine.World, error) {
		_, w, err := u.World()
		return w, err
	})
	if err == nil {
		_, err = p.Verify()
	}
	e, ok := errors.AsType[*replay.MismatchError](err)
	switch {
	case !ok:
		return "", fmt.Errorf("its replay gives %v, want a mismatch", err)
	case e.Tick == 0:
		return fmt.Sprintf("replay: refused for the %s", e.What), nil
	case e.Tick == 1:
		return "replay: differs at tick 1, the first recorded", nil
	}
	return "", fmt.Errorf("its replay differs only at tick %d", e.Tick)
}

// rules restores a state that claims other rules.
func (l *lab) rules() (*seen, error) {
	const at = 4 + 8 + 2 + 6 + 8 + 8 // magic, tick, count, section, seed, dt
	state := bytes.Clone(l.control.States[planted])
	if !l.unplanted {
		binary.LittleEndian.PutUint32(state[at:], engine.RulesVersion+1)
	}
	s, c, err := l.control.Setup.Open()
	if err != nil {
		return nil, err
	}
	_, err = engine.Restore(c, s.Descriptor(), state)
	e, ok := errors.AsType[*engine.StateError](err)
	if !ok || l.blind == toAll {
		return nil, fmt.Errorf("it is restored (%v)", err)
	}
	if e.Kind != engine.ErrStateOther || e.What != "rules" {
		return nil, fmt.Errorf("it is refused for another reason: %v", e)
	}
	f, err := l.evidence(l.control)
	if err != nil {
		return nil, err
	}
	f.run.Rules++
	path, err := l.bundle(f)
	if err != nil {
		return nil, err
	}
	v, err := l.audit(path)
	if err == nil && (v.Verdict != "EVIDENCE" || v.status != 4 || v.Table != "runs" || !strings.Contains(v.Reason, "its rules have version")) {
		err = fmt.Errorf("an audit of a run with other rules gives %v", v)
	}
	return &seen{by: "restore, audit", tick: 0, report: e.Error(), status: 4}, err
}

// A finding is one of the checker's.
type finding struct {
	File, Rule, Message string
	Line                int
}

// found returns what the checker of the code says of the planted faults by a rule.
func (l *lab) found(rule string) (string, error) {
	if l.findings == nil {
		out, err := exec.Command("go", "run", "./tools/detcheck", "-all", "-json", "./tools/ci/failures/faults").Output()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			return "", err
		}
		for line := range bytes.Lines(out) {
			var f finding
			if err := json.Unmarshal(line, &f); err != nil {
				return "", err
			}
			l.findings = append(l.findings, f)
		}
	}
	i := slices.IndexFunc(l.findings, func(f finding) bool { return f.Rule == rule })
	if i < 0 {
		return "", fmt.Errorf("detcheck finds no %s in the faults", rule)
	}
	f := l.findings[i]
	return fmt.Sprintf("%s:%d: %s", path.Base(f.File), f.Line, f.Rule), nil
}
