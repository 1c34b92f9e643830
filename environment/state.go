package environment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// A batchState is what [Batch.State] encodes.
type batchState struct {
	Form     int          `json:"form"`
	Scenario string       `json:"scenario"` // SHA-256 of the descriptor
	Worlds   []worldState `json:"worlds"`
}

const stateForm = 2

// A worldState says where a world stands: what has to be computed to come there, and what that comes to.
type worldState struct {
	Index   uint64       `json:"index"`
	Began   bool         `json:"began"`
	Over    bool         `json:"over"` // the episode has ended
	Episode scriptState  `json:"episode"`
	Last    *scriptState `json:"last,omitempty"` // the episode before; nil if there is none
}

// A scriptState is a script, without what comes of playing it.
type scriptState struct {
	Master  uint64    `json:"master"`
	Seed    uint64    `json:"seed"`
	Number  uint64    `json:"number"`
	Steps   uint64    `json:"steps"`
	Choices []int32   `json:"choices,omitempty"`
	Numbers []float32 `json:"numbers,omitempty"`
	Ticks   uint64    `json:"ticks"`
	Rest    uint64    `json:"rest"`
	Hash    uint64    `json:"hash"`
}

func (x *script) state() scriptState {
	return scriptState{x.master, x.seed, x.number, x.steps, x.choices, x.numbers, x.ticks, x.rest, x.hash}
}

func (x *scriptState) script() script {
	return script{
		master: x.Master, seed: x.Seed, number: x.Number, steps: x.Steps, choices: x.Choices, numbers: x.Numbers,
		ticks: x.Ticks, rest: x.Rest, hash: x.Hash, noted: true,
	}
}

// State says, as JSON, where all worlds stand: the seed of each, the number of its episode, and what its agents have done in it. A batch of
// the same worlds of the same scenario goes on from there after [Batch.Restore], on every machine. It holds no world, and stays valid.
func (b *Batch) State() ([]byte, error) {
	s := batchState{Form: stateForm, Scenario: b.m.digest()}
	for _, l := range b.lanes {
		x := worldState{Index: l.index, Began: l.began, Episode: scriptState{Master: l.master}}
		if l.began {
			l.finish()
			x.Over, x.Episode = l.over, l.log.state()
		}
		if l.began && l.last.noted {
			last := l.last.state()
			x.Last = &last
		}
		s.Worlds = append(s.Worlds, x)
	}
	return json.Marshal(&s)
}

// digest tells scenarios apart.
func (m *model) digest() string {
	sum := sha256.Sum256(m.s.Descriptor())
	return hex.EncodeToString(sum[:])
}

// A StateError reports a state that is none, or not one of the batch. No world has an episode then, unless it says that nothing was changed.
type StateError struct {
	World int // -1: of the whole
	Is    string
}

// Error implements error.
func (e *StateError) Error() string {
	if e.World < 0 {
		return "environment: the state " + e.Is + "; nothing was changed"
	}
	return fmt.Sprintf("environment: the state of world %d %s", e.World, e.Is)
}

// Restore brings the worlds to where [Batch.State] found them. It computes their episodes again, and returns a [*StateError] if one comes to
// another hash or end, or if a seed is not that of its episode. A [Task] judges the steps again; one that panicked after the last step does so again,
// and the episode has ended with it. The tensors then hold what the agents see; rewards and ends are 0, as if nothing had happened.
func (b *Batch) Restore(state []byte) error {
	if !b.bound {
		return fmt.Errorf("environment: no tensors are bound")
	}
	var s batchState
	if err := b.read(state, &s); err != nil {
		return err
	}
	b.restored = s.Worlds
	b.each((*Batch).restoreWorld)
	b.restored = nil
	var wrong error
	for i, l := range b.lanes {
		if l.failure != nil && wrong == nil {
			wrong = &StateError{i, l.failure.Error()}
		}
	}
	for _, l := range b.lanes {
		l.failure = nil
		if wrong != nil {
			l.began = false
		}
	}
	return wrong
}

// read decodes a state, and checks that it can be one of the batch.
func (b *Batch) read(state []byte, s *batchState) error {
	var form struct {
		Form int `json:"form"`
	}
	if err := json.Unmarshal(state, &form); err != nil {
		return &StateError{-1, "is none: " + err.Error()}
	}
	if form.Form != stateForm { // before the rest, of which another form has something else
		return &StateError{-1, fmt.Sprintf("has form %d; this version reads form %d", form.Form, stateForm)}
	}
	d := json.NewDecoder(bytes.NewReader(state))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return &StateError{-1, "is none: " + err.Error()}
	}
	switch {
	case s.Scenario != b.m.digest():
		return &StateError{-1, "is that of another scenario, or of one with other values"}
	case len(s.Worlds) != len(b.lanes):
		return &StateError{-1, fmt.Sprintf("has %d worlds; there are %d", len(s.Worlds), len(b.lanes))}
	}
	for i := range s.Worlds {
		x := &s.Worlds[i]
		if x.Index != b.lanes[i].index {
			return &StateError{-1, fmt.Sprintf("has world %d where world %d is", x.Index, b.lanes[i].index)}
		}
		for _, y := range []*scriptState{&x.Episode, x.Last} {
			if y == nil {
				continue
			}
			if is := b.m.wrong(y); is != "" {
				return &StateError{-1, fmt.Sprintf("has an episode of world %d that cannot be: %s", i, is)}
			}
		}
	}
	return nil
}

// wrong says what of an episode cannot be; "" if it can.
func (m *model) wrong(x *scriptState) string {
	row, count := m.agents(), len(x.Choices)
	if n := len(m.controls); n > 0 {
		row, count = row*n, len(x.Numbers)
	}
	switch rows := uint64(count / row); {
	case count%row != 0, len(x.Choices) > 0 && len(x.Numbers) > 0, len(x.Choices) > 0 && len(m.controls) > 0, len(x.Numbers) > 0 && len(m.controls) == 0:
		return "its actions are not those of all agents"
	case x.Steps != rows && x.Steps+1 != rows:
		return fmt.Sprintf("%d steps with the actions of %d", x.Steps, rows)
	}
	for _, c := range x.Choices {
		if c < 0 || int(c) >= len(m.choices) {
			return fmt.Sprintf("there is no choice %d", c)
		}
	}
	return ""
}

// restoreWorld brings one world to where it stood.
func (b *Batch) restoreWorld(w *worker, i int) {
	l := b.lanes[i]
	l.failure = l.restore(&b.restored[i])
	b.idle(i)
	if l.began {
		b.observe(w, i)
	}
}

// restore computes an episode again.
func (l *lane) restore(x *worldState) error {
	l.master, l.episode, l.began, l.over = x.Episode.Master, x.Episode.Number, false, false
	l.log, l.last = script{}, script{}
	if !x.Began {
		return nil
	}
	var last script
	if x.Last != nil {
		if last = x.Last.script(); !l.drawn(&last) {
			return fmt.Errorf("has a last episode with the seed %016x, which is not that of its episode %d", last.seed, last.number)
		}
	}
	l.begin()
	episode := x.Episode.script()
	for step := 0; l.failure == nil && !l.over && l.repeat(&episode, step); step++ {
		if l.failure == nil {
			l.judge(nil, nil, nil)
		}
	}
	if len(l.log.choices) < len(episode.choices) || len(l.log.numbers) < len(episode.numbers) {
		return fmt.Errorf("goes on after its episode has ended")
	}
	l.finish()
	if y := &l.log; y.seed != x.Episode.Seed || y.steps != x.Episode.Steps || y.ticks != x.Episode.Ticks || y.rest != x.Episode.Rest || y.hash != x.Episode.Hash {
		return fmt.Errorf("comes to the hash %016x at tick %d, not to %016x at tick %d", y.hash, y.ticks, x.Episode.Hash, x.Episode.Ticks)
	}
	switch {
	case l.over && !x.Over:
		return fmt.Errorf("comes to an episode that ends at tick %d, where it went on", l.log.ticks)
	case !l.over && x.Over:
		return fmt.Errorf("comes to an episode that goes on at tick %d, where it had ended", l.log.ticks)
	}
	l.last = last
	return nil
}
