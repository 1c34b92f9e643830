package audit

import (
	"encoding/binary"
	"fmt"

	"github.com/murksim/murksim/commands"
)

// sourceOf returns the UUID of a command's source: 8 zero bytes and its number, big-endian. The operator, who has
// no number, is all zeros.
func sourceOf(c *commands.Command) (id [16]byte) {
	if c.HasSource {
		binary.BigEndian.PutUint64(id[8:], c.Source)
	}
	return id
}

// An EventError reports an event that no command of its tick can be.
type EventError struct {
	Seq, Tick uint64
	Reason    string
}

// Error implements error.
func (e *EventError) Error() string {
	return fmt.Sprintf("audit: event %d of tick %d: %s", e.Seq, e.Tick, e.Reason)
}

// Command returns the command that an event stands for: its payload is the command as a frame of a recording holds it
// (replay/FORMAT.md), its kind the payload's tag, its source that of the command. The command's data aliases the payload.
// An error is an [*EventError].
func (e *Event) Command() (c commands.Command, err error) {
	n, err := c.DecodeFrom(e.Payload)
	switch {
	case err != nil:
		return c, &EventError{e.Seq, e.Tick, err.Error()}
	case n != len(e.Payload):
		return c, &EventError{e.Seq, e.Tick, fmt.Sprintf("%d bytes follow the command", len(e.Payload)-n)}
	case e.Kind != uint16(c.Kind):
		return c, &EventError{e.Seq, e.Tick, fmt.Sprintf("its kind is %d, that of its command %d", e.Kind, c.Kind)}
	case e.Source != sourceOf(&c):
		return c, &EventError{e.Seq, e.Tick, "its source is not that of its command"}
	}
	return c, nil
}
