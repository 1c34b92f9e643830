package compare

import (
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/diff"
)

// A BisectResult is what bisect prints with --json.
type BisectResult struct {
	Event        string                   `json:"event"` // "bisect"
	OK           bool                     `json:"ok"`
	Status       string                   `json:"status"` // equal, ticks, interval, length or header
	A            *BisectView              `json:"a"`
	B            *BisectView              `json:"b"`
	Exact        bool                     `json:"exact"`                // every tick up to it was compared
	EqualTick    uint64                   `json:"equal_tick,omitempty"` // the last before it that was compared; 0: none was
	Tick         uint64                   `json:"tick,omitempty"`       // that differs
	Fields       []string                 `json:"fields,omitempty"`     // that differ by their hashes
	Parts        []session.PartDifference `json:"parts,omitempty"`      // of the tick, that differ first
	Inputs       *session.InputsError     `json:"inputs,omitempty"`
	DifferBefore bool                     `json:"differ_before,omitempty"` // the tick already, so that no part of it is at fault
	Tiles        []tilesView              `json:"tiles,omitempty"`
	Diff         *Result                  `json:"diff,omitempty"`
	Notes        []string                 `json:"notes,omitempty"`
	Next         string                   `json:"next,omitempty"` // a command that tells more

	*ChainBisect
}

// A ChainBisect is what bisect tells of a chain alone.
type ChainBisect struct {
	Run      string   `json:"run"`
	From     uint64   `json:"from_tick"`
	To       uint64   `json:"to_tick"`
	Verdict  string   `json:"verdict"`
	Sections []string `json:"differing_sections,omitempty"`
	Table    string   `json:"table,omitempty"`
	Row      string   `json:"row,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Halted   string   `json:"halted,omitempty"`
}

// A BisectView is one of the sides.
type BisectView struct {
	File      string       `json:"file,omitempty"`
	Replay    bool         `json:"replay,omitempty"` // a replay of the file
	Command   string       `json:"command,omitempty"`
	Hash      string       `json:"hash,omitempty"` // of the tick that differs, or else of the last
	Questions int          `json:"questions,omitempty"`
	Stable    *bool        `json:"stable,omitempty"` // whether the tick comes to the same each time
	Repeats   []RepeatView `json:"repeats,omitempty"`
	Error     string       `json:"error,omitempty"` // why the file could not be read to its end
}

// A Result is what diff prints with --json.
type Result struct {
	Event          string               `json:"event"` // "diff"
	OK             bool                 `json:"ok"`
	Status         string               `json:"status"` // equal, ticks, length or header
	A              SideView             `json:"a"`
	B              *SideView            `json:"b,omitempty"` // the second recording
	Equal          uint64               `json:"equal_ticks"` // before the first that differs
	Tick           uint64               `json:"tick,omitempty"`
	Differing      uint64               `json:"differing_ticks,omitempty"`
	Header         []headerValue        `json:"header,omitempty"`
	CommandsDiffer int                  `json:"commands_differ,omitempty"`
	Commands       []valuePair          `json:"commands,omitempty"`
	Inputs         *session.InputsError `json:"inputs,omitempty"` // of one recording: the first command of the tick that is not its scenario's
	ReceiptsDiffer int                  `json:"receipts_differ,omitempty"`
	Receipts       []receiptView        `json:"receipts,omitempty"`
	State          *diff.Report         `json:"state,omitempty"`
	Tiles          []tilesView          `json:"tiles,omitempty"`
	Notes          []string             `json:"notes,omitempty"`
	Next           string               `json:"next,omitempty"` // a command that tells more

	// Of a chain.

	Run         string        `json:"run,omitempty"`          // its id
	Against     string        `json:"against,omitempty"`      // that of another run
	EqualBefore *bool         `json:"equal_before,omitempty"` // whether the tick before it is; not of the first
	Sections    []SectionView `json:"sections,omitempty"`
	Stream      *streamView   `json:"first_stream,omitempty"` // of random numbers, that differs
	TickInputs  []inputView   `json:"tick_inputs,omitempty"`
}

// Before says how many ticks before the one that differs are equal.
func (r *Result) Before() string {
	if r.Equal == 1 {
		return "the tick before it is equal"
	}
	return "the " + words.Count(r.Equal, "tick") + " before it are equal"
}

// A SideView is one of the recordings.
type SideView struct {
	File     string `json:"file"`
	Ticks    uint64 `json:"ticks,omitempty"` // that it has
	Planned  uint64 `json:"planned_ticks,omitempty"`
	Hash     string `json:"hash,omitempty"`     // recorded, of the tick that differs, or else of the last
	Replayed string `json:"replayed,omitempty"` // hash of that tick in this build
	Error    string `json:"error,omitempty"`    // why it could not be read to its end, or not be replayed

	// Of a chain.

	Replay   bool         `json:"replay,omitempty"`         // it is what is computed here
	Engine   string       `json:"engine_version,omitempty"` // that computed it
	StateLen int64        `json:"state_len,omitempty"`      // bytes
	State    string       `json:"state,omitempty"`          // where the state comes from; "": it is not available
	Stable   *bool        `json:"stable,omitempty"`         // whether the tick comes to the same each time
	Repeats  []RepeatView `json:"repeats,omitempty"`
}

// A SectionView is a section of two states.
type SectionView struct {
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

// An inputView is an input of a tick.
type inputView struct {
	Seq     uint64 `json:"seq"`
	Source  string `json:"source"`
	Kind    uint16 `json:"kind"`
	Command string `json:"command,omitempty"` // in words
	Payload string `json:"payload"`           // in hexadecimal

	words string // the command, and what stands beside it
}

// A headerValue is something in which two headers differ.
type headerValue struct {
	Key string `json:"key"` // path in the descriptor, or what else the header has
	valuePair
}

// A valuePair are two values, in words; an empty one is absent.
type valuePair struct {
	A string `json:"a,omitempty"`
	B string `json:"b,omitempty"`
}

// A receiptView is a command or event that had different results.
type receiptView struct {
	Command string `json:"command"`
	valuePair
}

// A tilesView is a field that differs, and where.
type tilesView struct {
	Field  string     `json:"field"`
	Differ int        `json:"differ"` // tiles; 0: it is not known which
	Of     int        `json:"of"`
	Tiles  []tileView `json:"tiles,omitempty"`
}

// A tileView is a tile that differs: cells by rank, or slots of entities.
type tileView struct {
	Tile      int     `json:"tile"`
	From      int     `json:"from"`
	To        int     `json:"to"`
	FirstCell []int32 `json:"first_cell,omitempty"` // coordinates
	LastCell  []int32 `json:"last_cell,omitempty"`
}
