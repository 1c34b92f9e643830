package session

import (
	"context"
	"fmt"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
)

// A Cursor is a recording whose world goes to any tick, by the index of the recording where that is trusted.
type Cursor struct {
	*replay.Cursor
	Scenario *scenarios.Scenario
	opener   *Session
	index    *OpenedIndex
	build    replay.Builder
}

// Cursor opens a recording, for so many worlds at the same time. An error is that of [replay.OpenFile], or of the index.
func (j *Visitor) Cursor(ctx context.Context, name string, worlds int) (*Cursor, error) {
	rec := &Recording{Session: j.Opener, Name: name}
	limit := j.MaxMemory
	if worlds > 1 {
		limit = limit.Share(uint64(worlds))
	}
	c := &Cursor{opener: j.Opener, build: rec.Builder(ctx, 1, limit)}
	var err error
	if c.Cursor, err = replay.OpenFile(name, rec.Builder(ctx, j.Workers, limit)); err != nil {
		return nil, err
	}
	c.Scenario, c.Stop = rec.Scenario, ctx.Err
	if c.index, err = j.IndexOf(name); err == nil {
		err = j.CheckIndex(c.index, c.Head())
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	if c.index != nil {
		c.Use(c.index.Index)
	}
	return c, nil
}

// Another builds another world like that of the cursor, where the recording begins. It has one worker, so that several compute at the same time.
func (c *Cursor) Another() (*engine.World, error) { return c.build(c.Head()) }

// Has is the error for a tick that the recording does not have: that of its damage, if there is one.
func (c *Cursor) Has(name string, tick uint64) error {
	switch first, last := c.Ticks(); {
	case tick > last && c.Damage() != nil:
		return c.opener.Diverged(name, c.Damage())
	case tick < first:
		return fmt.Errorf("%s: it has no tick %s; it begins at the state of tick %s", words.Argument(name), words.Number(tick), words.Number(first))
	case tick > last:
		return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", words.Argument(name), words.Number(tick), words.Number(last))
	}
	return nil
}

// Close closes the files.
func (c *Cursor) Close() {
	c.index.Close()
	c.Cursor.Close()
}

var _ replay.Keyframes = (*index.Index)(nil)
