package cli

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/document"
)

// A yrepReport is what inspect finds in a YREP file, and prints with --json.
type yrepReport struct {
	Event        string            `json:"event"` // "yrep"
	File         string            `json:"file"`
	Bytes        int64             `json:"bytes"`
	Dialect      string            `json:"dialect"`
	Protocol     string            `json:"protocol"`
	Metadata     string            `json:"metadata,omitempty"`
	MetadataHex  string            `json:"metadata_hex,omitempty"` // if it is not text
	Frames       int32             `json:"frames"`
	Seconds      float64           `json:"seconds"`
	Count        uint64            `json:"instruction_count"`
	Instructions map[string]uint64 `json:"instructions"`
	Players      []yrepEntity      `json:"players"`
	Projectiles  []yrepEntity      `json:"projectiles"`
	Told         uint64            `json:"happened_count"`
	Happened     []yrepEvent       `json:"happened"` // the first listRows, as of errors and warnings
	Changes      uint64            `json:"block_changes"`
	Blocks       int               `json:"blocks"` // places that have changed
	Wrong        uint64            `json:"semantic_error_count"`
	Errors       []yrepFinding     `json:"semantic_errors"`
	Warned       uint64            `json:"warning_count"`
	Warnings     []yrepFinding     `json:"warnings"`
	Complete     bool              `json:"complete"` // to the end of the file

	state yrep.State
}

// A yrepEntity is a player or a projectile.
type yrepEntity struct {
	Tracker   int32      `json:"tracker_id"`
	UUID      string     `json:"uuid,omitempty"`
	Name      string     `json:"name,omitempty"`
	Launcher  *int32     `json:"launcher_id,omitempty"`
	Item      string     `json:"item,omitempty"`
	Lifetimes [][2]int32 `json:"lifetimes"`
}

// A yrepEvent is something in the story of a file.
type yrepEvent struct {
	Frame   int32  `json:"frame"`
	What    string `json:"what"` // the instruction
	Tracker int32  `json:"tracker_id"`
	Name    string `json:"name,omitempty"`
	Message string `json:"message,omitempty"`
}

// A yrepFinding is something that does not fit.
type yrepFinding struct {
	Kind    string `json:"kind"`
	Frame   int32  `json:"frame"`
	Index   int    `json:"index"` // of the instruction, from 0
	Tracker *int32 `json:"tracker_id,omitempty"`
	Byte    *int64 `json:"byte,omitempty"`
	Detail  string `json:"detail"`
}

// listRows is how many events, errors and warnings each inspect keeps of a file. It counts all.
const listRows = 1000

// keepFirst counts an element, and appends it if the list has room.
func keepFirst[T any](list *[]T, total *uint64, one T) {
	if *total++; len(*list) < listRows {
		*list = append(*list, one)
	}
}

// told are the instructions that inspect tells as a story.
var told = []yrep.ID{yrep.PlayerChat, yrep.PlayerDeath, yrep.PlayerRespawn, yrep.PearlTeleport}

// inspectYREP shows what is in a YREP file.
func (j *inspectJob) inspectYREP(ctx context.Context, name string) error {
	o, err := j.yrep.options()
	if err != nil {
		return err
	}
	in, length, done, err := j.openYREP(ctx, name)
	if err != nil {
		return words.About(name, err)
	}
	defer done()
	r, err := yrep.NewReader(in, o)
	if err != nil {
		return fmt.Errorf("%w%s", words.About(name, err), j.yrepHint(name, o, err))
	}
	report := &yrepReport{Event: "yrep", File: name, Bytes: length, Instructions: map[string]uint64{}}
	lines := yrep.NewLineWriter(j.Out, r)
	framewise := j.frames || j.commands || j.tick != 0
	if j.JSON && framewise && !j.Quiet {
		if err := lines.Flush(); err != nil {
			return err
		}
	}
	var f yrep.Frame
	for err == nil {
		if err = r.Next(&f); err != nil {
			break
		}
		report.add(&f)
		if framewise && (j.tick == 0 || j.tick == uint64(f.Number)) {
			if err := j.yrepFrame(lines, &f); err != nil {
				return err
			}
		}
	}
	report.finish(r, err == io.EOF)
	if err == io.EOF {
		err = nil
	} else {
		err = fmt.Errorf("%w\n  there are %s before it%s", words.About(name, err), words.Count(uint64(report.Frames), "whole frame"), j.yrepHint(name, o, err))
	}
	switch {
	case j.tick > uint64(report.Frames) && err == nil:
		return fmt.Errorf("%s: it has no frame %s; it ends with frame %s", document.FileName(name), words.Number(j.tick), words.Number(uint64(report.Frames)))
	case framewise && (j.JSON || j.tick != 0):
		return err
	}
	return errors.Join(j.Emit(report), j.sayYREP(report), err)
}

// openYREP opens a file by its path, or - for standard input, so that it can be read more than once, and
// returns its length.
func (a *app) openYREP(ctx context.Context, name string) (in io.ReadSeeker, length int64, done func(), err error) {
	if name != "-" && !files.IsPipe(name) {
		f, err := os.Open(name)
		if err != nil {
			return nil, 0, nil, err
		}
		in, done = f, func() { f.Close() }
	} else if in, done, err = a.spool(ctx, name); err != nil {
		return nil, 0, nil, err
	}
	if length, err = in.Seek(0, io.SeekEnd); err == nil {
		_, err = in.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
	}
	return in, length, done, err
}

// spool opens what cannot seek.
func (a *app) spool(ctx context.Context, name string) (io.ReadSeeker, func(), error) {
	if name == "-" {
		return spooled(bufio.NewReader(files.Patient(ctx, a.In))) // which hides that it may seem to seek
	}
	f, err := files.Open(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return spooled(bufio.NewReader(f))
}

// add adds a frame to the report.
func (r *yrepReport) add(f *yrep.Frame) {
	r.Frames = f.Number
	r.state.Apply(f, func(found yrep.Finding) {
		one := yrepFinding{Kind: string(found.Kind), Frame: found.Frame, Index: found.Index, Tracker: &found.Tracker, Detail: found.Detail}
		if found.Kind.Semantic() {
			keepFirst(&r.Errors, &r.Wrong, one)
		} else {
			keepFirst(&r.Warnings, &r.Warned, one)
		}
	})
	for _, w := range f.Warnings {
		one := yrepFinding{Kind: string(w.Kind), Frame: w.Frame, Index: w.Instruction - 1, Byte: &w.Offset, Detail: w.Detail}
		keepFirst(&r.Warnings, &r.Warned, one)
	}
	for n := range f.Instructions {
		i := &f.Instructions[n]
		r.Count++
		r.Instructions[i.ID.String()]++
		switch {
		case i.Raw != nil:
		case i.ID == yrep.BlockChange:
			r.Changes++
		case slices.Contains(told, i.ID):
			e := yrepEvent{Frame: f.Number, What: i.ID.String(), Tracker: i.Tracker, Message: i.Message}
			if of := r.state.Entity(i.Tracker); of != nil {
				e.Name = of.Name
			}
			keepFirst(&r.Happened, &r.Told, e)
		}
	}
}

// finish completes the report.
func (r *yrepReport) finish(in *yrep.Reader, complete bool) {
	r.Complete, r.Dialect, r.Protocol = complete, in.Dialect.String(), in.Header.Protocol
	r.Seconds = float64(r.Frames) / 20
	if utf8.Valid(in.Header.Metadata) {
		r.Metadata = string(in.Header.Metadata)
	} else {
		r.MetadataHex = hex.EncodeToString(in.Header.Metadata)
	}
	for range r.state.Blocks() {
		r.Blocks++
	}
	r.Players, r.Projectiles = []yrepEntity{}, []yrepEntity{}
	for _, e := range r.state.Entities() {
		one := yrepEntity{Tracker: e.Tracker}
		for _, l := range e.Lifetimes {
			if l.End == 0 {
				l.End = r.Frames + 1
			}
			one.Lifetimes = append(one.Lifetimes, [2]int32{l.Start, l.End})
		}
		if e.Player {
			one.UUID, one.Name = e.UUID.String(), e.Name
			r.Players = append(r.Players, one)
		} else {
			one.Launcher, one.Item = &e.Launcher, e.Item
			r.Projectiles = append(r.Projectiles, one)
		}
	}
	r.Happened = append([]yrepEvent{}, r.Happened...) // empty and not null, for programs
	r.Errors, r.Warnings = append([]yrepFinding{}, r.Errors...), append([]yrepFinding{}, r.Warnings...)
}

// yrepFrame prints a frame.
func (j *inspectJob) yrepFrame(lines *yrep.LineWriter, f *yrep.Frame) error {
	if j.JSON {
		if j.Quiet {
			return nil
		}
		return lines.CopyFrame(f)
	}
	if err := j.Say("frame %d  byte %s  %s", f.Number, words.Number(uint64(f.Offset)), words.Count(uint64(len(f.Instructions)), "instruction")); err != nil {
		return err
	}
	for n := range f.Instructions {
		if !j.commands && j.tick == 0 {
			break
		}
		if err := j.Say("  %s", yrepText(&f.Instructions[n])); err != nil {
			return err
		}
	}
	return nil
}

// yrepText is an instruction with its fields, on one line.
func yrepText(i *yrep.Instruction) string {
	var b strings.Builder
	b.WriteString(i.ID.String())
	for name, value := range i.Fields() {
		fmt.Fprintf(&b, "  %s %s", name, fieldText(value))
	}
	return b.String()
}

// sectionRows is how many lines of a list are printed for people without --all.
const sectionRows = 20

func allFlag(f *pflag.FlagSet, all *bool) {
	f.BoolVar(all, "all", false, fmt.Sprintf("print more than %d lines of a list of a YREP file", sectionRows))
}

// sayYREP prints a report for people.
func (j *inspectJob) sayYREP(r *yrepReport) error {
	if j.Quiet || j.JSON {
		return nil
	}
	metadata := "none"
	switch {
	case r.MetadataHex != "":
		metadata = fmt.Sprintf("%s that are no text: %s", words.Count(uint64(len(r.MetadataHex)/2), "byte"), words.Printable(r.MetadataHex))
	case r.Metadata != "":
		metadata = words.Printable(r.Metadata)
	}
	bytes := ""
	if r.Bytes > 0 {
		bytes = words.Size(r.Bytes) + ", "
	}
	var changed string
	if r.Changes > 0 {
		changed = fmt.Sprintf("\nblocks    %s at %s", words.Count(r.Changes, "change"), words.Count(uint64(r.Blocks), "place"))
	}
	if err := j.Say("file      %s  %s%s dialect, protocol %s\nmetadata  %s\nduration  %s, %g s%s", document.FileName(r.File), bytes, r.Dialect,
		r.Protocol, metadata, words.Count(uint64(r.Frames), "frame"), r.Seconds, changed); err != nil {
		return err
	}
	var findings [2][][]string
	for n, list := range [...][]yrepFinding{r.Errors, r.Warnings} {
		for _, f := range list {
			findings[n] = append(findings[n], []string{f.Kind, fmt.Sprintf("frame %d, instruction %d: %s", f.Frame, f.Index+1, words.Printable(f.Detail))})
		}
	}
	return errors.Join(
		j.section("players", len(r.Players), entityRows(r, r.Players), j.all), j.section("projectiles", len(r.Projectiles), entityRows(r, r.Projectiles), j.all),
		j.section("instructions", int(r.Count), r.countRows(), j.all), j.section("happened", int(r.Told), r.eventRows(), j.all),
		j.section("semantic errors", int(r.Wrong), findings[0], j.all), j.section("warnings", int(r.Warned), findings[1], j.all))
}

// section prints rows below a heading with a count n, only the first ones unless all are wanted. If some are
// left out, n counts them, too, even those that are not in rows.
func (a *app) section(what string, n int, rows [][]string, all bool) error {
	if len(rows) == 0 {
		return nil
	}
	shown := len(rows)
	if !all {
		shown = min(shown, sectionRows)
	}
	lines := words.Aligned(rows[:shown])
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	switch more := words.Number(uint64(n - shown)); {
	case shown < len(rows) && n > len(rows):
		lines = append(lines, fmt.Sprintf("… and %s more; --all prints the first %s", more, words.Number(uint64(len(rows)))))
	case shown < len(rows):
		lines = append(lines, fmt.Sprintf("… and %s more; --all prints them", more))
	case len(rows) == listRows && n > len(rows):
		lines = append(lines, fmt.Sprintf("… and %s more, which are only counted", more))
	}
	return a.Say("%s  %s\n  %s", what, words.Number(uint64(n)), strings.Join(lines, "\n  "))
}

func entityRows(r *yrepReport, list []yrepEntity) (rows [][]string) {
	for _, e := range list {
		who := []string{words.Printable(e.Name), e.UUID}
		if e.Launcher != nil {
			who = []string{itemText(e.Item), "thrown by " + r.nameOf(*e.Launcher)}
		}
		rows = append(rows, append([]string{fmt.Sprint(e.Tracker)}, append(who, r.lives(e.Lifetimes))...))
	}
	return rows
}

// lives says after which frames an entity is there, as play shows it.
func (r *yrepReport) lives(lifetimes [][2]int32) string {
	const most = 2
	var list []string
	for _, l := range lifetimes[:min(len(lifetimes), most)] {
		switch first, last := l[0], l[1]-1; {
		case last >= r.Frames:
			list = append(list, fmt.Sprintf("from frame %d on", first))
		case last < first:
			list = append(list, fmt.Sprintf("within frame %d", first))
		case last == first:
			list = append(list, fmt.Sprintf("frame %d", first))
		default:
			list = append(list, fmt.Sprintf("frames %d to %d", first, last))
		}
	}
	if more := len(lifetimes) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d times more", more))
	}
	return strings.Join(list, ", ")
}

// nameOf is what people call an entity.
func (r *yrepReport) nameOf(tracker int32) string {
	if e := r.state.Entity(tracker); e != nil && e.Name != "" {
		return words.Printable(e.Name)
	}
	return fmt.Sprintf("tracker %d", tracker)
}

func (r *yrepReport) countRows() (rows [][]string) {
	for id := yrep.AddPlayer; id <= yrep.PlayerRespawn; id++ {
		if n := r.Instructions[id.String()]; n > 0 {
			rows = append(rows, []string{id.String(), words.Number(n)})
		}
	}
	var unknown uint64
	for name, n := range r.Instructions {
		if strings.HasPrefix(name, "0x") {
			unknown += n
		}
	}
	if unknown > 0 {
		rows = append(rows, []string{"unknown", words.Number(unknown)})
	}
	return rows
}

func (r *yrepReport) eventRows() (rows [][]string) {
	for _, e := range r.Happened {
		who := words.Printable(e.Name)
		if who == "" {
			who = fmt.Sprintf("tracker %d", e.Tracker)
		}
		what := map[string]string{
			"PLAYER_CHAT": who + ": " + words.Printable(e.Message), "PLAYER_DEATH": who + " dies", "PLAYER_RESPAWN": who + " comes back",
			"PEARL_TELEPORT": who + " is teleported",
		}[e.What]
		rows = append(rows, []string{fmt.Sprintf("frame %d", e.Frame), what})
	}
	return rows
}
