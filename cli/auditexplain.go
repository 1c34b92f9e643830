package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/compare"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/audit"
	"github.com/murksim/murksim/replay/diff"
)

// An auditDiffResult is the report of a tick that differs, as audit diff prints it with --json and audit diagnose writes it.
type auditDiffResult struct {
	Event       string               `json:"event"`  // "diff"
	Format      int                  `json:"format"` // 1
	OK          bool                 `json:"ok"`
	Run         string               `json:"run"`
	Against     string               `json:"against,omitempty"` // another run
	Tick        uint64               `json:"tick"`
	EqualBefore *bool                `json:"equal_before,omitempty"` // whether the tick before it is; not of the first
	Stable      *bool                `json:"stable,omitempty"`
	Repeats     []compare.RepeatView `json:"repeats,omitempty"`
	Severity    string               `json:"severity,omitempty"` // observable or sub-threshold; "": it is not known
	A           auditSide            `json:"a"`
	B           auditSide            `json:"b"`
	Sections    []sectionView        `json:"sections"`
	Fields      []diff.Field         `json:"fields,omitempty"`   // in which the states differ
	Entities    *diff.Entities       `json:"entities,omitempty"` // that differ
	Total       int                  `json:"total"`              // differences
	Cut         bool                 `json:"cut"`                // not all are listed
	Differences []diff.Difference    `json:"differences"`
	Stream      *streamView          `json:"first_stream,omitempty"` // of random numbers, that differs
	Inputs      []auditInput         `json:"inputs"`                 // of the tick
	Notes       []string             `json:"notes,omitempty"`
}

// Severities.
const (
	observable   = "observable"
	subThreshold = "sub-threshold"
)

// An auditSide is one of the two states.
type auditSide struct {
	Hash     string `json:"hash,omitempty"`      // of the tick; "": it cannot be computed
	StateLen int64  `json:"state_len,omitempty"` // bytes
	Engine   string `json:"engine_version,omitempty"`
	Source   string `json:"source"`          // committed or calculated
	From     string `json:"state,omitempty"` // where the state comes from; "": it is not available
	Error    string `json:"error,omitempty"` // why the tick cannot be computed

	digests []audit.Digest
	state   []byte
}

// A sectionView is a section of the two states.
type sectionView struct {
	Section string `json:"section"`
	Equal   *bool  `json:"equal,omitempty"` // nil: b cannot be computed
	A       string `json:"a,omitempty"`     // digests
	B       string `json:"b,omitempty"`
}

// A streamView is a stream of random numbers that differs.
type streamView struct {
	Name   string      `json:"name"`
	Number words.Whole `json:"number"`
	A      string      `json:"a,omitempty"` // draws and the last value
	B      string      `json:"b,omitempty"`
}

// An auditInput is an input of the tick.
type auditInput struct {
	Seq     uint64 `json:"seq"`
	Source  string `json:"source"`
	Kind    uint16 `json:"kind"`
	Command string `json:"command,omitempty"` // in words
	Payload string `json:"payload"`           // in hexadecimal
}

// A difference is a report while it is made.
type difference struct {
	*examiner // of the run that is reported on
	engine    string
	report    auditDiffResult
	world     *engine.World // of the states; nil: none was made
	compared  *diff.Report  // of the states; nil: they are not compared
	before    []byte        // the state before the tick
	asked     bool          // for this tick: what the first tick leads to counts, and that it is unstable is told
}

// note adds a note.
func (d *difference) note(format string, args ...any) {
	d.report.Notes = append(d.report.Notes, fmt.Sprintf(format, args...))
}

// replayed reports on a tick that was computed here.
func (d *difference) replayed(ctx context.Context, s *audit.Step, again *audit.Rerun) error {
	r := &d.report
	r.Event, r.Format, r.Run, r.Tick, r.OK = "diff", 1, d.Evidence.Run().ID.String(), s.Tick, s.Equal() || d.asked && s.Calculated != nil && s.Calculated.Hash == s.Committed.Hash
	if d.world, d.before = again.World, s.Before; s.Before != nil {
		r.EqualBefore = &s.EqualBefore
	}
	r.Stable, r.Repeats = stability(s)
	r.B = auditSide{Source: "calculated", Engine: replay.ThisBuild().Version}
	if s.Calculated != nil {
		r.B.take(s.Calculated, s.State, "computed here")
	} else {
		r.B.Error = words.InWords(s.Err).Error()
		d.note("this program cannot compute the tick: %s", r.B.Error)
	}
	if err := d.committed(ctx, &r.A, s.Committed, func() ([]byte, error) { return s.State, nil }); err != nil {
		return err
	}
	return d.compare(ctx)
}

// take notes the state of a side.
func (v *auditSide) take(l *audit.Link, state []byte, from string) {
	v.Hash, v.StateLen, v.digests, v.state, v.From = l.Hash.String(), l.StateLen, l.Digests, state, from
}

// committed finds the state that was committed: a snapshot, a state that was computed here, or that of another build of the program.
func (x *difference) committed(ctx context.Context, v *auditSide, l *audit.Link, compute func() ([]byte, error)) error {
	*v = auditSide{Source: "committed", Engine: x.Evidence.Run().Engine}
	v.take(l, nil, "")
	ticks, err := x.Evidence.Snapshots(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(ticks, l.Tick) {
		s, _, err := audit.Open(ctx, x.Evidence, l.Tick)
		refused, broken := errors.AsType[*audit.EvidenceError](err)
		switch {
		case err == nil:
			v.state, v.From = s.State, "snapshot"
			return nil
		case !broken:
			return err
		}
		x.note("the snapshot of the tick is refused: %s", refused.Reason)
	}
	if state, err := compute(); err != nil {
		return err
	} else if belongs(state, l) {
		v.state, v.From = state, "computed here"
		return nil
	}
	if x.engine == "" {
		x.note("the committed state is not available: there is no snapshot of the tick; --engine names the program that recorded the run")
		return nil
	}
	state, err := x.EngineState(ctx, x.engine, l.Tick)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		x.note("the committed state is not available: %s", words.InWords(err))
		return nil
	case !belongs(state, l):
		x.note("%s does not come to the committed hash either; a is the state that it computes", x.engine)
	}
	v.state, v.From = state, "computed by "+x.engine
	return nil
}

// belongs reports whether a state is that of a link.
func belongs(state []byte, l *audit.Link) bool {
	if state == nil {
		return false
	}
	is, err := audit.NewLink(l.Prev, state)
	return err == nil && is.Hash == l.Hash
}

// compare compares the two sides: their sections, and if both states are there, these.
func (d *difference) compare(ctx context.Context) error {
	r := &d.report
	r.Sections, r.Differences = []sectionView{}, []diff.Difference{}
	d.sections()
	if err := d.inputs(ctx); err != nil {
		return err
	}
	same := !slices.ContainsFunc(r.Sections, func(s sectionView) bool { return s.Equal == nil || !*s.Equal })
	switch {
	case !r.OK && same && r.A.StateLen != r.B.StateLen:
		d.note("the states have the same sections; one is said to have %s, the other %s", words.Count(uint64(r.A.StateLen), "byte"), words.Count(uint64(r.B.StateLen), "byte"))
		return nil
	case !r.OK && same:
		d.note("the states have the same sections; the hash of the tick before it is another one")
		return nil
	case r.A.state == nil || r.B.state == nil || same:
		return nil
	}
	if d.world == nil {
		again, _, err := d.Rerun(ctx)
		if err != nil {
			return err
		}
		d.world = again.World
	}
	found, err := diff.States(d.world, r.A.state, r.B.state)
	if err != nil { // worlds of other fields
		d.note("the states are not compared: %s", strings.TrimPrefix(err.Error(), "diff: "))
		return nil
	}
	d.compared, r.Fields = found, found.Fields
	if found.Entities != (diff.Entities{}) {
		r.Entities = &found.Entities
	}
	r.Differences, r.Total, r.Cut = append(r.Differences, found.Differences...), found.Count, found.Count > len(found.Differences)
	switch {
	case found.Observable:
		r.Severity = observable
	case found.Count > 0:
		r.Severity = subThreshold
	default:
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
func (d *difference) sections() {
	r := &d.report
	for _, a := range r.A.digests {
		v := sectionView{Section: sectionName(a.Section), A: a.Sum.String()}
		if i := slices.IndexFunc(r.B.digests, func(b audit.Digest) bool { return b.Section == a.Section }); i >= 0 {
			v.B = r.B.digests[i].Sum.String()
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

// inputs lists those of the tick.
func (d *difference) inputs(ctx context.Context) error {
	d.report.Inputs = []auditInput{}
	if d.report.Tick <= d.Evidence.Run().First {
		return nil
	}
	before, err := audit.LinkAt(ctx, d.Evidence, d.report.Tick-1)
	if err != nil {
		return err
	}
	n := session.Names{Scenario: d.Scenario}
	for in, err := range d.Evidence.Inputs(ctx, before.InputSeq) {
		if err != nil {
			return err
		}
		if in.Tick > d.report.Tick {
			break
		}
		v := auditInput{Seq: in.Seq, Source: audit.ID(in.Source).String(), Kind: in.Kind, Payload: hex.EncodeToString(in.Payload)}
		if c, err := in.Command(); err == nil {
			v.Command = n.Describe(&c)
		}
		d.report.Inputs = append(d.report.Inputs, v)
	}
	return nil
}

// text is the report for people: a headline, what is compared, and at most 20 differences.
func (d *difference) text() string {
	const most = 20 // differences
	r := &d.report
	lines := append([]string{r.headline()}, words.LayOut(d.blocks(), 1000)...)
	for i := range r.Differences[:min(most, len(r.Differences))] {
		lines = append(lines, words.Clean("  "+r.Differences[i].String()))
	}
	if more := r.Total - min(most, len(r.Differences)); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %s more", words.Number(uint64(more))))
	}
	return strings.Join(lines, "\n") + "\n"
}

func (r *auditDiffResult) headline() string {
	before := ""
	if r.EqualBefore != nil {
		before = fmt.Sprintf("   tick %s %s", words.Number(r.Tick-1), map[bool]string{true: "is equal", false: "differs, too"}[*r.EqualBefore])
	}
	switch {
	case r.OK:
		return fmt.Sprintf("EQUAL at tick %s%s", words.Number(r.Tick), before)
	case r.Severity == "":
		return fmt.Sprintf("DIFFER at tick %s%s", words.Number(r.Tick), before)
	}
	return fmt.Sprintf("DIFFER at tick %s%s   %s, %s", words.Number(r.Tick), before, words.Count(uint64(r.Total), "difference"), r.Severity)
}

// blocks are the lines between the headline and the differences.
func (d *difference) blocks() (blocks []words.Block) {
	r := &d.report
	var rows [][]string
	for _, v := range []*auditSide{&r.A, &r.B} {
		row := []string{v.Source, "hash " + v.Hash, words.Size(v.StateLen), "murksim " + words.Printable(v.Engine), "state: " + words.OrNone(v.From)}
		if v.Error != "" {
			row = []string{v.Source, "cannot be computed"}
		}
		rows = append(rows, row)
	}
	for i, line := range words.Aligned(rows) {
		blocks = append(blocks, words.Block{Label: string(rune('a' + i)), Head: line})
	}
	var equal, other []string
	for _, s := range r.Sections {
		switch {
		case s.Equal == nil:
		case *s.Equal:
			equal = append(equal, s.Section)
		default:
			other = append(other, s.Section)
		}
	}
	add := func(label, head string) {
		if head != "" {
			blocks = append(blocks, words.Block{Label: label, Head: head})
		}
	}
	add("differ", strings.Join(other, ", "))
	add("equal", strings.Join(equal, ", "))
	if r.Stable != nil {
		blocks = append(blocks, stableBlock(r))
	}
	if s := r.Stream; s != nil {
		add("random", fmt.Sprintf("the first stream that differs is %s %d: %s and %s", s.Name, uint64(s.Number), words.OrNone(s.A), words.OrNone(s.B)))
	}
	if d.compared != nil {
		t := &stateText{d.compared, r.Tick, d.world, []*engine.World{d.world}, session.Names{Scenario: d.Scenario}}
		for i := range r.Fields {
			b := t.field(&r.Fields[i])
			add(b.Label, b.Head)
		}
		if r.Entities != nil {
			add("entities", entitiesText(*r.Entities))
		}
	}
	if n := len(r.Inputs); n > 0 {
		b := words.Block{Label: "inputs", Head: words.Number(uint64(n)) + " of the tick"}
		for _, in := range r.Inputs {
			b.Details = append(b.Details, []string{fmt.Sprintf("seq %d", in.Seq), words.Printable(in.Command)})
		}
		blocks = append(blocks, b)
	}
	for _, note := range r.Notes {
		add("note", note)
	}
	return blocks
}

// stableBlock says whether the tick comes to the same each time.
func stableBlock(r *auditDiffResult) words.Block {
	total := 0
	for _, v := range r.Repeats {
		total += v.Times
	}
	switch {
	case *r.Stable && r.B.Error != "":
		return words.Block{Label: "stable", Head: fmt.Sprintf("computed %d times, b fails each time", total)}
	case *r.Stable:
		return words.Block{Label: "stable", Head: fmt.Sprintf("computed %d times, b comes to the same", total)}
	}
	b := words.Block{Label: "unstable", Head: fmt.Sprintf("b, computed %d times from the same state:", total)}
	for _, v := range r.Repeats {
		what := "hash " + v.Hash
		if v.Error != "" {
			what = words.Printable(v.Error)
		}
		b.Details = append(b.Details, []string{words.Times(v.Times), what})
	}
	return b
}
