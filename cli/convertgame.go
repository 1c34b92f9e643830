package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios/document"
)

// A gameConversion is the end of the conversion of a game with --json.
type gameConversion struct {
	Event    string `json:"event"` // "game"
	In       string `json:"in"`
	Out      string `json:"out"`
	To       string `json:"to"` // "jsonl", "mw1" or "mw1 stream"
	Frames   uint64 `json:"frames"`
	Messages uint64 `json:"messages"`
	Bytes    int64  `json:"bytes"`
	Complete bool   `json:"complete"` // to the end of the input
}

// convertGame converts a game of MineWars, and notes what it was.
func (t *transfer) convertGame(dst io.Writer, src *bufio.Reader) (uint64, error) {
	c, err := minewars.Convert(dst, src, t.stream)
	t.game = &c
	return c.Frames, err
}

// gameConverted reports the conversion of a game, which may have ended in an error.
func (t *transfer) gameConverted(err error) error {
	c := t.game
	if err != nil && (t.bytes == 0 || !session.Damaged(err)) {
		return err
	}
	r := gameConversion{"game", t.in, t.out, "mw1", c.Frames, c.Messages, t.bytes, err == nil}
	switch {
	case c.ToLines:
		r.To = "jsonl"
	case c.Stream:
		r.To = "mw1 stream"
	}
	text := fmt.Sprintf("converted  %s  %s, %s, %s", document.FileName(t.out), words.Count(c.Frames, "frame"), words.Count(c.Messages, "message"), words.Size(t.bytes))
	return errors.Join(t.Emit(r), t.Say("%s", text), err)
}
