package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/wire"
)

// An ID names a run: a UUID, 16 bytes.
type ID [16]byte

// String returns the ID as UUIDs are written: 8, 4, 4, 4 and 12 hexadecimal digits.
func (id ID) String() string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseID reads what [ID.String] returns.
func ParseID(text string) (id ID, err error) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != len(id) || ID(b).String() != strings.ToLower(text) {
		return id, fmt.Errorf("audit: %q is no id of a run; one looks like 01234567-89ab-cdef-0123-456789abcdef", text)
	}
	return ID(b), nil
}

// A Rate is ticks a second, Num of them in Den seconds.
type Rate struct{ Num, Den int64 }

// RateOf returns a tick rate as the fraction that its shortest decimal form stands for.
func RateOf(ticks float64) (Rate, error) {
	text := strconv.FormatFloat(ticks, 'f', -1, 64)
	whole, part, _ := strings.Cut(text, ".")
	num, err := strconv.ParseInt(whole+part, 10, 64)
	if err != nil || num <= 0 || len(part) > 18 {
		return Rate{}, fmt.Errorf("audit: a tick rate of %s is no fraction of whole numbers of 63 bits", text)
	}
	r := Rate{num, 1}
	for range part {
		r.Den *= 10
	}
	for a, b := r.Num, r.Den; ; a, b = b, a%b {
		if b == 0 {
			return Rate{r.Num / a, r.Den / a}, nil
		}
	}
}

// StateFormat is the number of the state's encoding, the one that begins with MSS2.
const StateFormat = 2

// A Run describes a run before its first tick.
type Run struct {
	ID        ID
	Created   time.Time // for people
	Label     string    // likewise
	Seed      uint64    // master seed
	Rate      Rate
	Rules     uint32 // their version
	Format    int    // of the state: [StateFormat]
	Generator string // of random numbers: chacha8 or chacha20
	Genesis   []byte // the descriptor of the scenario, as recordings hold it (replay/DESCRIPTOR.md)
	Digest    Hash   // SHA-256 of Genesis
	Engine    string // the version of the program, for people
	First     uint64 // tick of the first link: 0, or that of the state at which a fork or a run from a state begins
	Parent    ID     // of a fork: the run that it comes from; else zeros
}

// meta returns the SHA-256 of section 1 of all states of the run (docs/STATE.md), which its row and its genesis say.
func (r *Run) meta() Hash {
	rate, _ := big.NewRat(r.Rate.Num, r.Rate.Den).Float64()
	b := binary.LittleEndian.AppendUint64(nil, r.Seed)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(1/rate))
	b = binary.LittleEndian.AppendUint32(b, r.Rules)
	b = wire.AppendBytes(b, r.Generator)
	return sha256.Sum256(append(b, r.Digest[:]...))
}

// Difference returns the name of the first column in which two rows differ; "": they are the same.
func (r *Run) Difference(o *Run) string {
	for _, x := range []struct {
		column string
		same   bool
	}{
		{"run_id", r.ID == o.ID}, {"genesis", bytes.Equal(r.Genesis, o.Genesis)}, {"genesis_digest", r.Digest == o.Digest}, {"master_seed", r.Seed == o.Seed},
		{"rate_num", r.Rate.Num == o.Rate.Num}, {"rate_den", r.Rate.Den == o.Rate.Den}, {"rules_version", r.Rules == o.Rules},
		{"state_format", r.Format == o.Format}, {"rng_alg", r.Generator == o.Generator}, {"first_tick", r.First == o.First},
		{"parent_run_id", r.Parent == o.Parent}, {"label", r.Label == o.Label}, {"created_at", r.Created.Equal(o.Created)}, {"engine_version", r.Engine == o.Engine},
	} {
		if !x.same {
			return x.column
		}
	}
	return ""
}

// A Link is the part of the chain that is committed for a tick.
type Link struct {
	Tick      uint64
	Prev      Hash   // H(T-1); zeros in the first
	Hash      Hash   // H(T)
	InputSeq  uint64 // of the last input of this tick or one before it; 0: there is none
	InputHash Hash   // E(InputSeq)
	StateLen  int64  // bytes of S(T)
	Digests   []Digest
}

// A Digest is the SHA-256 of the bytes of a section of the state.
type Digest struct {
	Section uint16
	Sum     Hash
}

// An Input is an event with its place in the chain of events.
type Input struct {
	Event
	Prev, Hash Hash // E(n-1), E(n)
}

// A Snapshot is the state S(T) of a tick. It belongs to the link of that tick if [NewLink] makes one with that hash of it.
type Snapshot struct {
	Tick  uint64
	Hash  Hash // of the link
	State []byte
}

// A Halt ends a run for good: nothing more is committed of it.
type Halt struct {
	Tick   uint64
	Code   string // such as DETERMINISM_DIVERGENCE
	Detail string // JSON
	At     time.Time
}

// Codes of halts and alerts.
const (
	Divergence      = "DETERMINISM_DIVERGENCE"
	ArithmeticFault = "ARITHMETIC_FAULT"
	ChainConflict   = "CHAIN_CONFLICT"
	EvidenceFault   = "EVIDENCE_FAULT"
	Panic           = "PANIC"
)

// A Batch is ticks that are committed together, all or none: links of consecutive ticks, the inputs of these ticks, and snapshots of
// some of them.
type Batch struct {
	Inputs    []Input
	Links     []Link
	Snapshots []Snapshot

	bytes   int      // of inputs and snapshots
	digests []Digest // of the links that a recorder has made
}

// A Store keeps a run. Its rows are never changed.
type Store interface {
	// Commit adds the ticks that come next, in one transaction. The batch and all that it refers to may be changed after it returns.
	Commit(ctx context.Context, b *Batch) error
}

// Evidence is what was committed of a run, as it stood at one moment.
type Evidence interface {
	Run() *Run

	// Inputs lists the inputs with numbers above after, by number, and Links the links from a tick on, by tick. A yielded element is valid until
	// the next one. An error ends the list.
	Inputs(ctx context.Context, after uint64) iter.Seq2[*Input, error]
	Links(ctx context.Context, from uint64) iter.Seq2[*Link, error]

	// Snapshots lists the ticks that have a snapshot, ascending, and Snapshot returns one. Whether it belongs to its link is for the caller
	// to check.
	Snapshots(ctx context.Context) ([]uint64, error)
	Snapshot(ctx context.Context, tick uint64) (*Snapshot, error)

	// Halt says why the run was halted; nil: it was not.
	Halt(ctx context.Context) (*Halt, error)
}

// The most bytes of a text of a run or a halt, and of a run's genesis document or a halt's detail.
const (
	MaxText    = 1 << 20
	MaxGenesis = commands.MaxPayload + 4<<10 // a descriptor, and the parent of a fork
)

// MaxTick is the last tick that a chain can have.
const MaxTick = math.MaxInt64
