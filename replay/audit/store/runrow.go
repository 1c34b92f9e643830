package store

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/murksim/murksim/replay/audit"
)

// The most bytes that a value of a run or a halt has. This package writes no larger one, and reads none.
const (
	maxText    = audit.MaxText
	maxGenesis = audit.MaxGenesis
)

// cells are the values of a row, as a driver returns them. They keep the first value that this package cannot have written; from then on all are
// zeros.
type cells struct {
	values []any
	wrong  string
}

// scanned reads a row of so many columns.
func scanned(columns int, scan func(...any) error) (*cells, error) {
	c := &cells{values: make([]any, columns)}
	into := make([]any, columns)
	for i := range into {
		into[i] = &c.values[i]
	}
	return c, scan(into...)
}

func (c *cells) next() (v any) {
	v, c.values = c.values[0], c.values[1:]
	return v
}

// odd notes a value that its column cannot have.
func (c *cells) odd(column, must string, v any) {
	if c.wrong != "" {
		return
	}
	switch v := v.(type) {
	case nil:
		c.wrong = fmt.Sprintf("its %s must be %s, not NULL, and not too long", column, must)
	case []byte:
		c.wrong = fmt.Sprintf("its %s must be %s, not a blob of %d bytes", column, must, len(v))
	default:
		c.wrong = fmt.Sprintf("its %s must be %s, not %.40q", column, must, fmt.Sprint(v))
	}
}

func (c *cells) integer(column string, least, most int64) int64 {
	v := c.next()
	if n, ok := v.(int64); ok && n >= least && n <= most {
		return n
	}
	c.odd(column, fmt.Sprintf("a number from %d to %d", least, most), v)
	return 0
}

func (c *cells) text(column string) string {
	v := c.next()
	if text, ok := v.(string); ok {
		return text
	}
	c.odd(column, "a text", v)
	return ""
}

// json is a text that Postgres returns as bytes.
func (c *cells) json(column string) string {
	if b, ok := c.values[0].([]byte); ok {
		c.values[0] = string(b)
	}
	return c.text(column)
}

func (c *cells) blob(column string) []byte {
	v := c.next()
	if b, ok := v.([]byte); ok {
		return b
	}
	if v != nil && v != "" { // SQLite returns an empty blob as nothing
		c.odd(column, "a blob", v)
	}
	return nil
}

func (c *cells) id(column string) audit.ID {
	v := c.next()
	text, _ := v.(string)
	id, err := audit.ParseID(text)
	if err != nil {
		c.odd(column, "the id of a run", v)
	}
	return id
}

func (c *cells) time(column string) time.Time {
	v := c.next()
	switch v := v.(type) {
	case int64:
		return time.UnixMicro(v).UTC()
	case time.Time:
		return v.UTC()
	}
	c.odd(column, "a time", v)
	return time.Time{}
}

// seed is a decimal number of 64 bits.
func (c *cells) seed(column string) uint64 {
	v := c.next()
	text, _ := v.(string)
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		c.odd(column, "a number from 0 to 18446744073709551615", v)
	}
	return n
}

// key names a row, even one whose id is not valid.
func key(v any) string {
	switch v := v.(type) {
	case string:
		if _, err := audit.ParseID(v); err == nil {
			return v
		}
		return fmt.Sprintf("%.40q", v)
	case []byte:
		return "x'" + hex.EncodeToString(v[:min(len(v), 16)]) + "'"
	}
	return fmt.Sprint(v)
}

// runColumns are what [cells.run] reads.
func (d *DB) runColumns() string {
	b := d.backend
	return b.plain("r.run_id") + ", " + b.plain("r.created_at") + ", " + b.bounded("r.label", maxText) + ", " + b.plain("r.master_seed") + ", " + b.plain("r.rate_num") + ", " +
		b.plain("r.rate_den") + ", " + b.plain("r.rules_version") + ", " + b.plain("r.state_format") + ", " + b.bounded("r.rng_alg", maxText) + ", " +
		b.bounded("r.engine_version", maxText) + ", " + b.plain("r.first_tick") + ", " + b.plain("r.parent_run_id") + ", " + b.plain("r.fork_tick")
}

const runWidth = 13

// run reads the columns of a run.
func (c *cells) run(r *audit.Run) {
	r.ID, r.Created, r.Label, r.Seed = c.id("run_id"), c.time("created_at"), c.text("label"), c.seed("master_seed")
	r.Rate = audit.Rate{Num: c.integer("rate_num", math.MinInt64, math.MaxInt64), Den: c.integer("rate_den", math.MinInt64, math.MaxInt64)}
	r.Rules, r.Format = uint32(c.integer("rules_version", 0, math.MaxUint32)), int(c.integer("state_format", 0, math.MaxInt32))
	r.Generator, r.Engine, r.First = c.text("rng_alg"), c.text("engine_version"), uint64(c.integer("first_tick", 0, math.MaxInt64))
	if c.values[0] == nil { // it is no fork
		if c.next(); c.next() != nil && c.wrong == "" {
			c.wrong = "its fork_tick is that of a fork, and it has no parent_run_id"
		}
		return
	}
	r.Parent = c.id("parent_run_id")
	if fork := uint64(c.integer("fork_tick", 0, math.MaxInt64)); fork != r.First && c.wrong == "" {
		c.wrong = fmt.Sprintf("its fork_tick is %d, and its first_tick %d", fork, r.First)
	}
}

// haltColumns are what [cells.halt] reads.
func (d *DB) haltColumns() string {
	b := d.backend
	return b.plain("h.tick") + ", " + b.bounded("h.code", maxText) + ", " + b.bounded(b.text("h.detail"), maxGenesis) + ", " + b.plain("h.halted_at")
}

const haltWidth = 4

// halt reads the columns of a halt.
func (c *cells) halt() *audit.Halt {
	return &audit.Halt{Tick: uint64(c.integer("tick", 0, math.MaxInt64)), Code: c.text("code"), Detail: c.json("detail"), At: c.time("halted_at")}
}

// odd returns the error of a row that this package cannot have written; nil: the row is right.
func odd(table string, row any, c *cells) error {
	if c.wrong == "" {
		return nil
	}
	return &audit.EvidenceError{Table: table, Row: key(row), Reason: c.wrong}
}
