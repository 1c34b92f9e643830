package export

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/document"
)

// Ticks are those that are written: From, From+Every and so on, Count in all.
type Ticks struct{ From, Every, Count uint64 }

// Last returns the last of the ticks.
func (t Ticks) Last() uint64 { return t.From + (t.Count-1)*t.Every }

// A Sink writes ticks to a file.
type Sink interface {
	// Add writes the state of a world after the next of the ticks.
	Add(w *engine.World) error

	// Close completes the file. Without it, the file is of no use.
	Close() error

	// Discard gives up a sink that is not closed, and what it holds beside its file. After
	// Close it does nothing. It may be called on another goroutine while Add or Close waits
	// for another program, and ends that.
	Discard()

	// Summary says in a few words what was written: "heat (11, 128, 128) float32".
	Summary() string
}

// filesOnly is embedded by sinks that hold nothing beside their file.
type filesOnly struct{}

func (filesOnly) Discard() {}

// A Format is a kind of file.
type Format struct {
	Ending string // of the file's name, without its dot
	About  string // for people

	Entities bool // it can hold entities
	Picture  bool // it is drawn, with a Look
	Film     bool // a picture that moves, at the Look's Rate
	Last     bool // of ticks that nobody has named it shows the last one
	Seeks    bool // it is not written from its beginning to its end, so no pipe can take it
	counts   bool // it says how many entities there are, also without fields
	one      bool // it holds one field
	fixed    bool // it is laid out for the number of ticks
	open     func(File, *Plan, Ticks, Look) (Sink, error)
}

// A File is what a sink writes to: a regular file, or what can be written at any place.
type File interface {
	io.Writer
	io.Seeker
}

// Formats returns all formats.
func Formats() []Format { return slices.Clone(formats[:]) }

var formats = [...]Format{
	{Ending: "npy", About: "a NumPy array of one field", one: true, fixed: true, open: openNPY},
	{Ending: "npz", About: "a NumPy array of each field", Seeks: true, fixed: true, open: openNPZ},
	{Ending: "csv", About: "a table of fields or entities", Entities: true, open: tableOpener(newCSVWriter)},
	{Ending: "parquet", About: "the same table, in columns", Entities: true, open: tableOpener(newParquetWriter)},
	{Ending: "mcap", About: "messages of fields or entities, for robotics tools", Entities: true, open: openMCAP},
	{Ending: "yrep", About: "a replay of players in a block world", Entities: true, counts: true, open: openYREP},
	{Ending: "png", About: "a picture of one field, or a sheet of pictures", Picture: true, Last: true, one: true, fixed: true, open: openPNG},
	{Ending: "rle", About: "a pattern of one field at one tick, for Golly", Last: true, one: true, open: openRLE},
	{Ending: "svg", About: "charts over the ticks: totals, extremes, populations", Entities: true, counts: true, open: openSVG},
	{Ending: "gif", About: "a film of one field", Picture: true, Film: true, one: true, open: openGIF},
	{Ending: "mp4", About: "the same, made by ffmpeg", Picture: true, Film: true, one: true, open: openMP4},
}

// FormatOf returns the format of a file by the ending of its name. An error lists the endings, and
// others that the caller knows of.
func FormatOf(path string, others ...string) (Format, error) {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	var endings []string
	for _, f := range formats {
		if f.Ending == ending {
			return f, nil
		}
		endings = append(endings, f.Ending)
	}
	endings = append(endings, others...)
	all := "." + strings.Join(endings, ", .")
	if ending == "" {
		return Format{}, fmt.Errorf("the ending of %s must say what to write: %s", document.FileName(path), all)
	}
	near := ""
	if n := document.Nearest(ending, endings); n != "" {
		near = fmt.Sprintf("; did you mean .%s?", n)
	}
	return Format{}, fmt.Errorf("%s ends in .%s; it must end in %s%s", document.FileName(path), ending, all, near)
}

// Fixed reports whether a file of a format is laid out for the number of ticks, so that it is
// of no use, or not what it would be, with fewer.
func (p *Plan) Fixed(f Format) bool { return f.fixed || f.Picture && p.lattice.Dim() == 1 }

// Open begins a file.
func (f Format) Open(to File, p *Plan, t Ticks, look Look) (Sink, error) {
	if p.entities && !f.Entities {
		return nil, fmt.Errorf("a .%s cannot hold a table of entities", f.Ending)
	}
	if err := p.some(); err != nil && !f.counts {
		return nil, err
	}
	if f.one {
		if p.named > 1 {
			return nil, fmt.Errorf("a .%s holds one field, not %d", f.Ending, p.named)
		}
		p.only()
	}
	return f.open(to, p, t, look)
}
