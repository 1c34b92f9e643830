// Package checkpoint signs the state of a run at a tick, in a form that other programs can check.
//
// A signed checkpoint is a file of text: a signed note of C2SP (c2sp.org/signed-note) whose text is a checkpoint
// (c2sp.org/tlog-checkpoint). The first signature is by the operator of the run. Witnesses add theirs below it
// (c2sp.org/tlog-cosignature). docs/AUDIT.md says what each byte is and what a signature states.
//
//	murksim/run/01234567-89ab-cdef-0123-456789abcdef   the run
//	1000                                               the tick
//	e3Rwl1Arp3Xy1ZEXNkCOcJP…                           its world hash
//	inputs wKF4WKIKmP1y+jTsXsBQt…                      the hash of the inputs up to it
//
//	— murksim/run/01234567-89ab-cdef-0123-456789abcdef mX2Fq8…
//	— witness.example.com/w1 9a7hdw…
//
// [Read] accepts only one way to write a checkpoint: so what is signed has one meaning.
package checkpoint

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/murksim/murksim/replay/audit"
)

// Mark is what a signed checkpoint begins with.
const Mark = "murksim/run/"

// inputsMark is what the line of the inputs begins with.
const inputsMark = "inputs "

// textLines is how many lines a checkpoint has.
const textLines = 4

// A Checkpoint is a claim that a run had a hash at a tick, and had taken certain inputs by then. Its signer cannot make another claim
// later. The world hash alone covers the states, but not what changes no state, such as the source of a command.
type Checkpoint struct {
	Run    audit.ID
	Tick   uint64
	Hash   audit.Hash // H(T)
	Inputs audit.Hash // E of the last input of the tick or one before it
}

// Origin is the name under which the run signs.
func (c *Checkpoint) Origin() string { return Mark + c.Run.String() }

// Text is what is signed: four lines.
func (c *Checkpoint) Text() string {
	base := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s\n%d\n%s\n%s%s\n", c.Origin(), c.Tick, base(c.Hash[:]), inputsMark, base(c.Inputs[:]))
}

// An Error says which line keeps a file from being a signed checkpoint.
type Error struct {
	Line   int // from 1
	Reason string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("checkpoint: line %d: %s", e.Line, e.Reason) }

// parse reads the lines that [Checkpoint.Text] writes, and no others.
func parse(lines []string) (c Checkpoint, err error) {
	wrong := func(line int, format string, args ...any) error { return &Error{line, fmt.Sprintf(format, args...)} }
	if c.Run, err = audit.ParseID(strings.TrimPrefix(lines[0], Mark)); err != nil || lines[0] != c.Origin() {
		return c, wrong(1, "%q names no run; it must be %s and an id such as 01234567-89ab-cdef-0123-456789abcdef", short(lines[0]), Mark)
	}
	if c.Tick, err = strconv.ParseUint(lines[1], 10, 64); err != nil || lines[1] != strconv.FormatUint(c.Tick, 10) {
		return c, wrong(2, "%q is no tick; it must be a number in decimal digits, without zeros before it", short(lines[1]))
	}
	if !decode(c.Hash[:], lines[2]) {
		return c, wrong(3, "%q is no world hash; it must be 32 bytes in base64", short(lines[2]))
	}
	inputs, ok := strings.CutPrefix(lines[3], inputsMark)
	if !ok || !decode(c.Inputs[:], inputs) {
		return c, wrong(4, "%q is no hash of inputs; it must be the word inputs and 32 bytes in base64", short(lines[3]))
	}
	return c, nil
}

// decode reads a hash in base64, as [base64.StdEncoding] writes it.
func decode(hash []byte, text string) bool {
	b, err := base64.StdEncoding.DecodeString(text)
	return err == nil && copy(hash, b) == len(b) && len(b) == len(hash) && base64.StdEncoding.EncodeToString(b) == text
}

// short is the beginning of a text that may be long.
func short(text string) string {
	if len(text) > 80 {
		return strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}
