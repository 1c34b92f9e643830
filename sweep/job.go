package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/scenarios"
)

// An ID identifies a job. It is the SHA-256 of the canonical descriptor (replay/DESCRIPTOR.md) followed by
// the planned ticks, 8 bytes little-endian. Jobs that must give the same result have the same ID, in every
// sweep, on every machine.
type ID [sha256.Size]byte

// IDOf returns the ID of the job that runs a scenario.
func IDOf(s *scenarios.Scenario) ID {
	d := s.Descriptor()
	return sha256.Sum256(binary.LittleEndian.AppendUint64(d, s.Ticks))
}

// String returns the first 16 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:8]) }

// MarshalText gives 64 hexadecimal digits.
func (id ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText is the inverse of MarshalText.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != 2*len(id) {
		return errors.New("an id has 64 hexadecimal digits")
	}
	_, err := hex.Decode(id[:], text)
	return err
}

// A Status says how a job ended.
type Status string

// How a job may end. All but Equal stand in a row of the table.
const (
	OK     Status = "ok"
	Failed Status = "failed" // an expectation
	Halted Status = "halted" // a tick failed, such as by an overflow of fixed-point numbers
	Panic  Status = "panic"  // a component has a mistake
	Memory Status = "memory" // the world takes more than it may
	Time   Status = "time"   // the job took longer than it may
	Broken Status = "error"  // there is no such world
	Equal  Status = "equal"  // another job of the sweep is the same
)

// Statuses lists them all.
func Statuses() []Status {
	return []Status{OK, Failed, Halted, Panic, Memory, Time, Broken, Equal}
}

// A Row is the result of a job.
type Row struct {
	Job     int      `json:"job"` // from 0
	ID      ID       `json:"id"`
	Status  Status   `json:"status"`
	Reason  string   `json:"reason,omitempty"` // why it is not OK
	As      int      `json:"as,omitempty"`     // of Equal: the job that it equals
	Ticks   uint64   `json:"ticks"`            // that happened
	Hash    string   `json:"final_hash,omitempty"`
	Digest  string   `json:"run_digest,omitempty"` // if it was wanted
	Stats   []Number `json:"stats,omitempty"`      // in the order of the journal's head
	Seconds float64  `json:"seconds"`
	Worker  string   `json:"worker"`
	Build   string   `json:"build"`
	Kept    string   `json:"kept,omitempty"` // the recording or the last state, in the sweep's folder, see [Journal.KeptName]
}

// equal returns a row that says that another job of the sweep is the same.
func (row *Row) equal(twin int) *Row {
	return &Row{Job: row.Job, ID: row.ID, Status: Equal, As: twin, Worker: row.Worker, Build: row.Build}
}

// Clean makes each text of a row one printable line, and removes beginnings that a spreadsheet takes for a formula: the
// texts may come from anywhere.
func (row *Row) Clean() {
	for _, text := range []*string{&row.Reason, &row.Hash, &row.Digest, &row.Worker, &row.Build, &row.Kept} {
		*text = plainText(*text)
	}
}

// plainText returns a text as one line that no program takes for a formula.
func plainText(text string) string { return strings.TrimLeft(Printable(text), "=@+- ＝＠＋－") }

// plainValue is plainText for a value of a design; a number keeps its sign.
func plainValue(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	return plainText(value)
}

// Printable returns a text without what cannot be printed on one line, such as codes that colour a
// terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// A Number is a float64 that JSON writes as null if it is not a number.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 64), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	*n = Number(x)
	return err
}

// EndsLike reports whether another run of the job came to the same end.
func (row *Row) EndsLike(other *Row) bool {
	return differs(row, other, make([]string, len(row.Stats))) == ""
}

// differs names what differs between two rows of one job although it must not; "": nothing does.
func differs(a, b *Row, names []string) string {
	switch {
	case a.Status != b.Status:
		return fmt.Sprintf("one is %s, one %s", a.Status, b.Status)
	case a.Ticks != b.Ticks:
		return fmt.Sprintf("one has %d ticks, one %d", a.Ticks, b.Ticks)
	case a.Hash != b.Hash:
		return fmt.Sprintf("final hashes %s and %s", a.Hash, b.Hash)
	case a.Digest != b.Digest:
		return fmt.Sprintf("run digests %s and %s", a.Digest, b.Digest)
	case len(a.Stats) != len(b.Stats) || len(a.Stats) > len(names):
		return fmt.Sprintf("one has %d statistics, one %d", len(a.Stats), len(b.Stats))
	}
	for i := range a.Stats {
		x, y := float64(a.Stats[i]), float64(b.Stats[i])
		if !finite(x) && !finite(y) { // the journal keeps only that they are not numbers
			continue
		}
		if math.Float64bits(x) != math.Float64bits(y) {
			return fmt.Sprintf("%s is %v and %v", names[min(i, len(names)-1)], a.Stats[i], b.Stats[i])
		}
	}
	return ""
}

// statsOf lists the statistics of a scenario: the probes, and those of the fields asked for.
func statsOf(s *scenarios.Scenario, fields []string) (*export.Values, error) {
	if len(fields) == 1 && fields[0] == NoStats {
		return nil, nil
	}
	return export.NewValues(s, fields)
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// statsNames lists the names of the statistics of a scenario.
func statsNames(s *scenarios.Scenario, fields []string) ([]string, error) {
	values, err := statsOf(s, fields)
	if values == nil || err != nil {
		return nil, err
	}
	return values.Names(), nil
}

// NoStats, as the only field, asks for no statistics.
const NoStats = "none"
