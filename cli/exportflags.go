package cli

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// exportFlags say what a file of another program holds, and how pictures look.
type exportFlags struct {
	prefix        string // of the flags' names
	all           *pflag.FlagSet
	force         bool
	every         uint64
	selected      export.Selection
	region, scale string
	look          export.Look
	dialect       string // of a YREP file
	metadata      string // likewise

	format export.Format
}

// typed returns the flags that were given, as export has them.
func (x *exportFlags) typed() (flags string) {
	x.all.Visit(func(f *pflag.Flag) {
		name, ours := strings.CutPrefix(f.Name, x.prefix)
		if !ours || name == "force" {
			return
		}
		value := f.Value.String()
		switch f.Value.Type() {
		case "bool":
			flags += " --" + name + "=" + value
			return
		case "stringSlice":
			value = strings.Trim(value, "[]")
		}
		flags += " --" + name + " " + words.Argument(value)
	})
	return flags
}

// add adds the flags to a command, their names after a prefix.
func (x *exportFlags) add(f *pflag.FlagSet, prefix string) {
	x.prefix, x.all = prefix, f
	f.BoolVar(&x.force, prefix+"force", false, "overwrite the file if it exists")
	f.Uint64Var(&x.every, prefix+"every", 1, "every so many ticks")
	f.StringSliceVar(&x.selected.Fields, prefix+"fields", nil, "these fields, by `name` (default all, or the first where a file holds one)")
	f.StringVar(&x.region, prefix+"region", "", "these `cells` only")
	f.BoolVar(&x.selected.Entities, prefix+"entities", false, "a table of entities instead of cells")
	f.StringVar(&x.scale, prefix+"scale", "", "pictures: the values of the first and the last colour, as `LO..HI`")
	f.StringVar(&x.look.Map, prefix+"map", "", "pictures: the colour `map`: "+mapNames())
	f.StringVar(&x.look.Mask, prefix+"mask", "", "pictures: draw cells as solid where this `field` is not 0, such as walls")
	f.StringVar(&x.look.Component, prefix+"component", "", "pictures of a vector: the `number` of a component, length or direction")
	f.IntVar(&x.look.Cell, prefix+"cell", 0, "pictures: width of a cell in `pixels`, 1 to 64 (default as large as fits)")
	f.IntVar(&x.look.Slice, prefix+"slice", 0, "pictures of an fcc12: the slice with this `z` (default the middle one)")
	f.Float64Var(&x.look.Rate, prefix+"fps", 20, "films: frames a second")
	f.StringVar(&x.dialect, prefix+"dialect", yrep.Narrow.String(), "YREP files: narrow or wide")
	f.StringVar(&x.look.YREP.Protocol, prefix+"protocol", yrep.DefaultProtocol, "YREP files: the protocol `version` of the server")
	f.StringVar(&x.metadata, prefix+"metadata", "", "YREP files: a `text` of your own (default what was recorded, as JSON)")
}

// parse looks at the flags alone.
func (x *exportFlags) parse(path string, given func(flag string) bool) (err error) {
	switch {
	case x.every == 0:
		return report.Usage("--%severy must be a whole number above 0, not 0", x.prefix)
	case given(x.prefix+"slice") && x.look.Slice < 0:
		return report.Usage("--%sslice must be a whole number, not %d", x.prefix, x.look.Slice)
	}
	trim(x.selected.Fields)
	if !given(x.prefix + "slice") {
		x.look.Slice = -1 // the middle one
	}
	var others []string
	if x.prefix == "" { // run makes neither games nor pages
		others = []string{strings.TrimPrefix(session.GameEnding, "."), strings.TrimPrefix(pageEnding, ".")}
	}
	if x.format, err = export.FormatOf(path, others...); err != nil {
		return report.Usage("%w", err)
	}
	for _, flag := range []string{"scale", "map", "mask", "component", "cell", "slice", "fps"} {
		if given(x.prefix + flag) {
			if err := x.drawn(flag); err != nil {
				return err
			}
		}
	}
	if err := x.parseYREP(given); err != nil {
		return err
	}
	if x.region != "" {
		if x.selected.Region, err = parseRegion("--"+x.prefix+"region", x.region); err != nil {
			return err
		}
	}
	if x.scale != "" {
		if x.look.Range, err = parseScale("--"+x.prefix+"scale", x.scale); err != nil {
			return err
		}
	}
	if given(x.prefix+"fps") && x.look.Rate == 0 { // which would stand for the usual rate
		return report.Usage("--%sfps must be a number above 0, not 0", x.prefix)
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 && x.format.Seeks {
		return report.Usage("%s is a pipe, which takes no .%s; write to a regular file", document.FileName(path), x.format.Ending)
	}
	return nil
}

// parseYREP looks at the flags for YREP files.
func (x *exportFlags) parseYREP(given func(flag string) bool) (err error) {
	for _, flag := range []string{"dialect", "protocol", "metadata"} {
		if given(x.prefix+flag) && x.format.Ending != "yrep" {
			return report.Usage("--%s%s is for a .yrep, not for a .%s", x.prefix, flag, x.format.Ending)
		}
	}
	if x.look.YREP.Dialect, err = yrep.ParseDialect(x.dialect); err != nil || x.look.YREP.Dialect == yrep.Auto {
		return report.Usage("--%sdialect must be narrow or wide, not %q", x.prefix, x.dialect)
	}
	if given(x.prefix + "metadata") {
		x.look.YREP.Metadata = &x.metadata
	}
	return nil
}

// try finds, before the first tick, what cannot be drawn or written, and last whether an older file is
// in the way.
func (x *exportFlags) try(path string, p *export.Plan, t export.Ticks) error {
	trial, err := x.format.Open(nowhere{io.Discard}, p, t, x.look)
	if err != nil {
		return words.About(path, err)
	}
	trial.Discard()
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !x.force {
		return x.exists(path)
	}
	return nil
}

// nowhere is a file that keeps nothing.
type nowhere struct{ io.Writer }

func (nowhere) Seek(int64, int) (int64, error) { return 0, nil }

// drawn refuses a flag for pictures or films if the file is neither.
func (x *exportFlags) drawn(flag string) error {
	var endings []string
	for _, f := range export.Formats() {
		if !f.Picture || flag == "fps" && !f.Film {
			continue
		}
		if f.Ending == x.format.Ending {
			return nil
		}
		endings = append(endings, "."+f.Ending)
	}
	return report.Usage("--%s%s is for a %s, not for a .%s", x.prefix, flag, document.Alternatives(endings), x.format.Ending)
}

func (x *exportFlags) exists(path string) error {
	return fmt.Errorf("%s exists; overwrite it with --%sforce", document.FileName(path), x.prefix)
}

// formatTable lists the endings that export knows.
func formatTable() string {
	var b strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&b, "  .%-8s %s\n", f.Ending, f.About)
	}
	return b.String()
}

// trim takes the spaces off the names of a list.
func trim(names []string) {
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
}

func mapNames() string { return strings.Join(render.Maps(), ", ") }

// parseScale reads two numbers such as 0..100.
func parseScale(flag, s string) (r [2]float64, err error) {
	lo, hi, two := strings.Cut(s, "..")
	if two {
		if r[0], err = strconv.ParseFloat(lo, 64); err == nil {
			r[1], err = strconv.ParseFloat(hi, 64)
		}
	}
	if !two || err != nil || !(r[0] < r[1]) || math.IsInf(r[1]-r[0], 0) {
		return r, report.Usage("%s must be two numbers, the lower first, such as 0..100, not %q", flag, s)
	}
	return r, nil
}

// parseRegion reads a box such as 40,0..43,100, or a list of cells such as 20,20;40,71.
func parseRegion(flag, s string) (space.Region, error) {
	if from, to, box := strings.Cut(s, ".."); box {
		lo, err := parseCell(flag, from)
		if err != nil {
			return nil, err
		}
		hi, err := parseCell(flag, to)
		return space.Rect{Min: lo, Max: hi}, err
	}
	var list space.Cells
	for part := range strings.SplitSeq(s, ";") {
		c, err := parseCell(flag, part)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func parseCell(flag, s string) (space.Coord, error) {
	var list []int32
	for part := range strings.SplitSeq(strings.Trim(strings.TrimSpace(s), "[]"), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil {
			return space.Coord{}, report.Usage("%s: %q is no cell; write its coordinate as in 40,71", flag, s)
		}
		list = append(list, int32(n))
	}
	return space.MakeCoord(list)
}
