package commands

import (
	"encoding/binary"

	"github.com/murksim/murksim/internal/wire"
)

// Type ids of Custom commands that every world handles itself; no handler may have them.
const (
	LaterType  uint32 = 0x4d53_0001
	CancelType uint32 = 0x4d53_0002
)

// Later makes c an event: once applied, it waits inside the world, as state, until
// tick due, which must be after the tick that takes it. Its receipt holds the event's
// id. The command's data is copied.
//
// On the wire it is a Custom command of [LaterType]: LE64 due, then c as a frame
// holds it. The arrival number in it is ignored; the event's id takes its place.
func Later(due uint64, c Command) Command {
	return Custom(LaterType, c.Append(binary.LittleEndian.AppendUint64(nil, due)))
}

// DecodeLater reads the data of a Custom command of [LaterType]. Data of c aliases it.
// The error is a [*PayloadError] or an [*UnknownKindError], with offsets into data.
func DecodeLater(data []byte) (due uint64, c Command, err error) {
	d := wire.Of(data)
	due = d.Uint64("due tick")
	if err := payloadError(KindCustom, d); err != nil {
		return 0, c, err
	}
	head := int(d.Offset())
	n, err := c.DecodeFrom(data[head:])
	if e, ok := err.(*PayloadError); ok {
		e.Offset += head
	}
	if err == nil && head+n < len(data) {
		err = &PayloadError{KindCustom, head + n, "bytes are left over"}
	}
	return due, c, err
}

// Cancel takes back a waiting event, by its id; if there is none with that id, it is
// refused with [UnknownEvent]. An event that is due in the tick that takes the command no
// longer waits, even if it comes later in the order.
//
// On the wire it is a Custom command of [CancelType] with the LE64 id.
func Cancel(event uint64) Command {
	return Custom(CancelType, binary.LittleEndian.AppendUint64(nil, event))
}

// DecodeCancel reads the data of a Custom command of [CancelType].
func DecodeCancel(data []byte) (event uint64, err error) {
	d := wire.Of(data)
	event = d.Uint64("event id")
	d.End()
	return event, payloadError(KindCustom, d)
}
