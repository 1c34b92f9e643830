package compare

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/evidence"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/diff"
)

// A Chains is a comparison of a tick of a chain with what is computed here, or with that tick of another chain.
type Chains struct {
	*evidence.Chain                 // the run that is reported on
	Against         *evidence.Chain // another one; nil: what is computed here
	Engine          string          // another build of the program, which computes states that were committed; "": none

	Result Result
	Before []byte        // the state before the tick; nil: not known
	States [2][]byte     // of both sides; nil: not available
	World  *engine.World // of the states; nil: none was made

	// Foreign is whether the state of a is one that [Chains.Engine] computes and that is not the committed one.
	Foreign bool

	digests [2][]audit.Digest
	asked   bool // for this tick: what the first tick leads to counts, and that it is unstable is told
}

// Compare compares the tick that is asked for, or the first that differs, or else the last. The chains are open.
func (d *Chains) Compare(ctx context.Context, tick *uint64) error {
	d.Result = Result{Event: "diff", Run: d.Evidence.Run().ID.String(), A: SideView{File: d.Name()}, B: &SideView{File: d.Name(), Replay: true}}
	switch {
	case d.Against != nil:
		return d.other(ctx, tick)
	case tick == nil:
		return d.first(ctx)
	}
	d.asked = true
	s, again, err := d.At(ctx, *tick, d.Repeat)
	if err != nil {
		return err
	}
	return d.replayed(ctx, s, again)
}

// first reports on the first tick that differs, or on the last one if there is none.
func (d *Chains) first(ctx context.Context) error {
	s, again, err := d.Bisect(ctx)
	if err != nil {
		return err
	}
	if s != nil {
		return d.replayed(ctx, s, again)
	}
	last, err := audit.LinkAt(ctx, d.Evidence, d.Found.Tick)
	if err != nil {
		return err
	}
	state, err := again.World.Save(again.Descriptor)
	if err != nil {
		return err
	}
	equal := &audit.Step{Tick: last.Tick, Committed: last, Calculated: last, State: state, Outcomes: []audit.Outcome{{Hash: last.Hash, Times: 1}}}
	if before := true; last.Tick > d.Evidence.Run().First {
		d.Result.EqualBefore = &before
	}
	return d.replayed(ctx, equal, again)
}

// replayed reports on a tick that was computed here.
func (d *Chains) replayed(ctx context.Context, s *audit.Step, again *audit.Rerun) error {
	r := &d.Result
	r.Tick, r.OK = s.Tick, s.Equal() || d.asked && s.Calculated != nil && s.Calculated.Hash == s.Committed.Hash
	if d.World, d.Before = again.World, s.Before; s.Before != nil {
		r.EqualBefore = &s.EqualBefore
	}
	switch first := d.Evidence.Run().First; {
	case d.asked:
	case r.OK:
		r.Equal = d.Found.Ticks
	case s.EqualBefore:
		r.Equal = s.Tick - first
	}
	r.B.Stable, r.B.Repeats = Stability(s)
	r.B.Engine = replay.ThisBuild().Version
	if s.Calculated != nil {
		d.take(1, s.Calculated, s.State, "computed here")
	} else {
		r.B.Error = words.InWords(s.Err).Error()
		d.note("this program cannot compute the tick: %s", r.B.Error)
	}
	if err := d.committed(ctx, 0, d.Chain, s.Committed, func() ([]byte, error) { return s.State, nil }); err != nil {
		return err
	}
	return d.compare(ctx)
}

// other compares a tick of one run with that of the other.
func (d *Chains) other(ctx context.Context, tick *uint64) error {
	a, b, err := d.pair(ctx, tick)
	if err != nil {
		return err
	}
	r := &d.Result
	r.Against, r.B = d.Against.Evidence.Run().ID.String(), &SideView{File: d.Against.Name()}
	r.Tick, r.OK = a.Tick, a.Hash == b.Hash && a.InputHash == b.InputHash
	d.ends(tick != nil)
	if err := d.elsewhere(ctx, 0, d.Chain, a); err != nil {
		return err
	}
	notes := len(r.Notes)
	if err := d.elsewhere(ctx, 1, d.Against, b); err != nil {
		return err
	}
	for i := range r.Notes[notes:] {
		r.Notes[notes+i] = "b: " + r.Notes[notes+i]
	}
	return d.compare(ctx)
}

// pair returns the links of the tick that is asked for, or of the first at which the hashes differ, or of the last that both have.
func (d *Chains) pair(ctx context.Context, tick *uint64) (a, b *audit.Link, err error) {
	from, to := max(d.Evidence.Run().First, d.Against.Evidence.Run().First), min(d.Found.Tick, d.Against.Found.Tick)
	switch {
	case from > to:
		return nil, nil, errors.New("there is no tick that both runs have")
	case tick != nil && (*tick < from || *tick > to):
		return nil, nil, report.Usage("--tick must be one of %s to %s, which both runs have, not %s", words.Number(from), words.Number(to), words.Number(*tick))
	}
	next, stop := iter.Pull2(d.Against.Evidence.Links(ctx, from))
	defer stop()
	for l, err := range d.Evidence.Links(ctx, from) {
		if err != nil {
			return nil, nil, err
		}
		m, err, ok := next()
		if err == nil && !ok {
			err = &audit.EvidenceError{Table: "chain_hashes", Row: fmt.Sprintf("tick %d", l.Tick), Reason: "it is missing; it was there when it was checked"}
		}
		if err != nil {
			return nil, nil, err
		}
		equal := l.Hash == m.Hash && l.InputHash == m.InputHash
		if equal && tick == nil {
			d.Result.Equal++
		}
		if tick != nil && l.Tick == *tick || tick == nil && !equal || l.Tick == to {
			if a, err = audit.LinkAt(ctx, d.Evidence, l.Tick); err == nil {
				b, err = audit.LinkAt(ctx, d.Against.Evidence, l.Tick)
			}
			return a, b, err
		}
		d.Result.EqualBefore = &equal
	}
	return nil, nil, errors.New("there is no tick that both runs have")
}

// ends compares where two runs begin and end, and their scenarios, unless a single tick is asked for.
func (d *Chains) ends(asked bool) {
	r, a, b := &d.Result, d.Evidence.Run(), d.Against.Evidence.Run()
	r.A.Ticks, r.B.Ticks = d.Found.Ticks, d.Against.Found.Ticks
	x, _, _ := audit.SplitGenesis(a.Genesis) // which have been checked
	y, _, _ := audit.SplitGenesis(b.Genesis)
	r.Header = headerValues(&replay.Header{Seed: a.Seed, Descriptor: x}, &replay.Header{Seed: b.Seed, Descriptor: y})
	switch {
	case !r.OK || asked:
	case a.First != b.First || d.Found.Tick != d.Against.Found.Tick:
		r.Status, r.OK = "length", false
	}
	if a.First != b.First {
		d.note("a begins with tick %s, b with tick %s", words.Number(a.First), words.Number(b.First))
	}
	if x, y := d.Found.Tick, d.Against.Found.Tick; x != y {
		d.note("a has ticks up to %s, b up to %s", words.Number(x), words.Number(y))
	}
}

// elsewhere finds the state that was committed, where it needs that by computing it here.
func (d *Chains) elsewhere(ctx context.Context, side int, x *evidence.Chain, l *audit.Link) error {
	return d.committed(ctx, side, x, l, func() ([]byte, error) {
		s, again, err := x.At(ctx, l.Tick, 0)
		if _, ok := errors.AsType[*audit.DivergenceError](err); ok { // it cannot get there
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if side == 0 {
			d.World = again.World
		}
		return s.State, nil
	})
}

// note adds a note.
func (d *Chains) note(format string, args ...any) {
	d.Result.Notes = append(d.Result.Notes, fmt.Sprintf(format, args...))
}

// side returns the view of a side.
func (d *Chains) side(i int) *SideView {
	if i == 0 {
		return &d.Result.A
	}
	return d.Result.B
}

// take notes the state of a side, and where it comes from.
func (d *Chains) take(side int, l *audit.Link, state []byte, from string) {
	v := d.side(side)
	v.Hash, v.StateLen, v.State = l.Hash.String(), l.StateLen, from
	d.digests[side], d.States[side] = l.Digests, state
}

// committed finds the state that was committed: a snapshot, a state that was computed here, or that of another build of the program.
func (d *Chains) committed(ctx context.Context, side int, x *evidence.Chain, l *audit.Link, compute func() ([]byte, error)) error {
	d.side(side).Engine = x.Evidence.Run().Engine
	d.take(side, l, nil, "")
	ticks, err := x.Evidence.Snapshots(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(ticks, l.Tick) {
		s, _, err := audit.Open(ctx, x.Evidence, l.Tick)
		refused, broken := errors.AsType[*audit.EvidenceError](err)
		switch {
		case err == nil:
			d.take(side, l, s.State, "snapshot")
			return nil
		case !broken:
			return err
		}
		d.note("the snapshot of the tick is refused: %s", refused.Reason)
	}
	if state, err := compute(); err != nil {
		return err
	} else if belongs(state, l) {
		d.take(side, l, state, "computed here")
		return nil
	}
	if d.Engine == "" {
		d.note("the committed state is not available: there is no snapshot of the tick; --engine names the program that recorded the run")
		return nil
	}
	state, err := x.EngineState(ctx, d.Engine, l.Tick)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		d.note("the committed state is not available: %s", words.InWords(err))
		return nil
	case !belongs(state, l):
		d.note("%s does not come to the committed hash either; %s is the state that it computes", d.Engine, [...]string{"a", "b"}[side])
		d.Foreign = true
	}
	d.take(side, l, state, "computed by "+d.Engine)
	return nil
}

// Calculated is the hash to which the tick came here, one that is not the committed one if there is one; or why it cannot be computed,
// also if it only failed another time.
func (d *Chains) Calculated() (hash, failed string) {
	r := &d.Result
	for _, v := range r.B.Repeats {
		if r.B.Hash == r.A.Hash && v.Hash != "" && v.Hash != r.A.Hash {
			return v.Hash, ""
		}
	}
	for _, v := range r.B.Repeats {
		if r.B.Hash == r.A.Hash && v.Error != "" {
			return "", v.Error
		}
	}
	return r.B.Hash, r.B.Error
}

// belongs reports whether a state belongs to a link.
func belongs(state []byte, l *audit.Link) bool {
	if state == nil {
		return false
	}
	is, err := audit.NewLink(l.Prev, state)
	return err == nil && is.Hash == l.Hash
}

// compare compares the two sides: their sections, and if both states are there, these.
func (d *Chains) compare(ctx context.Context) error {
	r := &d.Result
	switch {
	case r.Status != "": // they end elsewhere
	case r.OK:
		r.Status = "equal"
	default:
		r.Status = "ticks"
	}
	d.sections()
	if err := d.listInputs(ctx); err != nil {
		return err
	}
	same := !slices.ContainsFunc(r.Sections, func(s SectionView) bool { return s.Equal == nil || !*s.Equal })
	switch {
	case r.Status != "ticks":
		return nil
	case !r.OK && same && r.A.StateLen != r.B.StateLen:
		d.note("the states have the same sections; one is said to have %s, the other %s", words.Count(uint64(r.A.StateLen), "byte"), words.Count(uint64(r.B.StateLen), "byte"))
		return nil
	case !r.OK && same && r.A.Hash == r.B.Hash && r.B.Stable != nil && !*r.B.Stable:
		d.note("the tick comes to the committed hash, but not each time")
		return nil
	case !r.OK && same && r.A.Hash != r.B.Hash:
		d.note("the states have the same sections; the hash of the tick before it is another one")
		return nil
	case d.States[0] == nil || d.States[1] == nil || same:
		return nil
	}
	if d.World == nil {
		again, _, err := d.Rerun(ctx)
		if err != nil {
			return err
		}
		d.World = again.World
	}
	found, err := diff.States(d.World, d.States[0], d.States[1])
	if err != nil { // worlds of other fields
		d.note("the states are not compared: %s", words.Bare(err))
		return nil
	}
	switch r.State = found; {
	case bytes.Equal(d.States[0], d.States[1]):
		d.note("the states are the same")
	case found.Count == 0:
		d.note("they have room for different numbers of entities")
	}
	for i := range found.Differences {
		if s := streamOf(&found.Differences[i]); s != nil {
			r.Stream = s
			break
		}
	}
	return nil
}

// sections compares the digests.
func (d *Chains) sections() {
	r := &d.Result
	for _, a := range d.digests[0] {
		v := SectionView{Section: SectionName(a.Section), A: a.Sum.String()}
		if i := slices.IndexFunc(d.digests[1], func(b audit.Digest) bool { return b.Section == a.Section }); i >= 0 {
			v.B = d.digests[1][i].Sum.String()
		}
		if equal := v.A == v.B; r.B.Error == "" {
			v.Equal = &equal
		}
		r.Sections = append(r.Sections, v)
	}
}

// streamOf returns the stream that a difference is about; nil: it is about none.
func streamOf(d *diff.Difference) *streamView {
	rest, ok := strings.CutPrefix(d.Path, "/random/")
	at := strings.LastIndexByte(rest, '/')
	if !ok || at < 0 {
		return nil
	}
	number, err := strconv.ParseUint(rest[at+1:], 10, 64)
	if err != nil {
		return nil
	}
	return &streamView{rest[:at], words.Whole(number), d.A, d.B}
}

// listInputs lists the inputs of the tick, and those in which two runs differ.
func (d *Chains) listInputs(ctx context.Context) error {
	r := &d.Result
	a, err := inputsOf(ctx, d.Chain, r.Tick)
	if r.TickInputs = a; err != nil || d.Against == nil {
		return err
	}
	if r.Tick <= max(d.Evidence.Run().First, d.Against.Evidence.Run().First) { // whose inputs not both have
		return nil
	}
	b, err := inputsOf(ctx, d.Against, r.Tick)
	if err != nil {
		return err
	}
	for i := range max(len(a), len(b)) {
		var p valuePair
		if i < len(a) {
			p.A = a[i].words
		}
		if i < len(b) {
			p.B = b[i].words
		}
		if i < len(a) && i < len(b) && a[i].Source == b[i].Source && a[i].Kind == b[i].Kind && a[i].Payload == b[i].Payload { // of a fork the numbers begin anew
			continue
		}
		if r.CommandsDiffer++; len(r.Commands) < diff.MaxDifferences {
			r.Commands = append(r.Commands, p)
		}
	}
	return nil
}

// inputsOf returns the inputs of a tick, which must be those that the links say.
func inputsOf(ctx context.Context, x *evidence.Chain, tick uint64) (list []inputView, err error) {
	if tick <= x.Evidence.Run().First {
		return nil, nil
	}
	before, err := audit.LinkAt(ctx, x.Evidence, tick-1)
	if err != nil {
		return nil, err
	}
	l, err := audit.LinkAt(ctx, x.Evidence, tick)
	if err != nil {
		return nil, err
	}
	n, events := session.Names{Scenario: x.Scenario}, audit.Events{Seq: before.InputSeq, Hash: before.InputHash}
	for in, err := range x.Evidence.Inputs(ctx, before.InputSeq) {
		if err == nil && in.Tick <= tick {
			err = events.Add(&in.Event)
		}
		if err != nil {
			return nil, err
		}
		if in.Tick > tick {
			break
		}
		v := inputView{Seq: in.Seq, Source: audit.ID(in.Source).String(), Kind: in.Kind, Payload: hex.EncodeToString(in.Payload)}
		if c, err := in.Command(); err == nil {
			v.Command = n.Describe(&c)
			v.words = session.DescribeCommand(n, &c)
		}
		list = append(list, v)
	}
	if events.Hash != l.InputHash {
		return nil, &audit.EvidenceError{Table: "chain_hashes", Row: fmt.Sprintf("tick %d", tick), Reason: "its inputs are not what they were when they were checked"}
	}
	return list, nil
}

// Stability describes the results of computing a tick several times; nil for a single computation.
func Stability(s *audit.Step) (stable *bool, list []RepeatView) {
	total := 0
	for _, o := range s.Outcomes {
		v := RepeatView{Error: o.Err, Times: o.Times}
		if o.Err == "" {
			v.Hash = o.Hash.String()
		}
		list = append(list, v)
		total += o.Times
	}
	if total < 2 {
		return nil, nil
	}
	is := s.Stable()
	return &is, list
}

// SectionNames names the sections of a tick that differ from the committed ones.
func SectionNames(s *audit.Step) (names []string) {
	if d, ok := errors.AsType[*audit.DivergenceError](s.Divergence()); ok {
		for _, id := range d.Sections {
			names = append(names, SectionName(id))
		}
	}
	return names
}

// SectionName names a section of states.
func SectionName(id uint16) string {
	if i := int(id) - 1; i >= 0 && i < len(engine.SectionNames) {
		return engine.SectionNames[i]
	}
	return strconv.Itoa(int(id))
}
