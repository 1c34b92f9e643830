package commands

import "encoding/binary"

// A Reason says why a command was refused; the zero value means that it was applied.
// It is an error, so errors.Is(err, commands.QueueFull) works. The numbers are
// hashed and recorded, and never change.
type Reason uint8

// The reasons.
const (
	Applied          Reason = 0
	QueueFull        Reason = 1  // the input queue is full; the command is never taken
	Expired          Reason = 2  // Expires lies before the tick
	UnknownEntity    Reason = 3  // no live entity has this id
	UnknownField     Reason = 4  // the world has no such field, or not of cells or entities as required
	StaticField      Reason = 5  // static fields are set at genesis only
	OutsideSpace     Reason = 6  // no such cell, or no such element of a vector
	CapacityFull     Reason = 7  // no free entity slot, or too many spawns or events in one tick
	NotFinite        Reason = 8  // NaN or infinity
	Unsupported      Reason = 9  // no handler for this type id
	Stopped          Reason = 10 // the world takes no more commands; the command is never taken
	RolledBack       Reason = 11 // the tick failed and left no trace
	UnknownParameter Reason = 12 // the world has no such parameter
	BadValue         Reason = 13 // a value that the field's element or type cannot hold
	Occupied         Reason = 14 // the cell is full of entities
	UnknownEvent     Reason = 15 // no event with this id waits
	Refused          Reason = 16 // a handler's own rules do not allow it; see [Receipt.Detail]
)

var reasonNames = [...]string{
	"applied", "queue full", "expired", "unknown entity", "unknown field", "static field", "outside the space",
	"capacity full", "not finite", "unsupported", "stopped", "rolled back", "unknown parameter", "bad value",
	"occupied", "unknown event", "refused",
}

// String returns the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown reason"
}

// Error returns what String does.
func (r Reason) Error() string { return r.String() }

// AppendResults appends the results of a tick's inputs, as the hash of the state
// covers them: their number, then each as a frame holds it, with its reason. It
// skips events.
func AppendResults(b []byte, receipts []Receipt) []byte {
	start, inputs := len(b), uint32(0)
	b = append(b, 0, 0, 0, 0)
	for i := range receipts {
		r := &receipts[i]
		if r.Event {
			continue
		}
		inputs++
		if cap(b)-len(b) > plainSetField && r.isPlainSetField() { // a byte more, for the reason
			b = b[:len(b)+plainSetField+1]
			own := (*[plainSetField + 1]byte)(b[len(b)-plainSetField-1:])
			r.putSetField((*[plainSetField]byte)(own[:]))
			own[plainSetField] = byte(r.Reason)
			continue
		}
		b = append(r.Command.Append(b), byte(r.Reason))
	}
	binary.LittleEndian.PutUint32(b[start:], inputs)
	return b
}

// A Receipt is the outcome of a command. The command is not a copy, and is valid as long as
// the receipt is.
type Receipt struct {
	*Command
	Ticket Ticket // which the queue gave to the command; 0 if it is an event or was recorded
	Reason Reason // Applied, or why not
	Event  bool   // scheduled inside the world, not an input
	Made   uint64 // the id of the entity that a Spawn made, or of the event that Later did
	Detail string // what a handler said to a command that it refused, for people; no hash covers it, and a replay gives it again
}

// Why says in a few words why a command was refused. What a reason means for a custom
// command, only the documents of its handler say.
func (r *Receipt) Why() string {
	if r.Detail != "" {
		return r.Detail
	}
	if r.Kind == KindCustom && r.ID != LaterType && r.ID != CancelType && r.Reason != Unsupported && r.Reason != Expired {
		return "its rules do not allow it (" + r.Reason.String() + ")"
	}
	switch r.Reason {
	case Expired:
		return "it had expired"
	case UnknownEntity:
		return "no living entity has this id"
	case UnknownField:
		return "the world has no such field, or has it for cells and not for entities, or the reverse"
	case StaticField:
		return "a static field never changes"
	case OutsideSpace:
		return "there is no such cell, or no such component of a vector"
	case CapacityFull:
		return "there is no room for another entity or event"
	case NotFinite:
		return "a value must be finite"
	case Unsupported:
		return "this program has no handler for it"
	case UnknownParameter:
		return "the world has no such parameter"
	case BadValue:
		return "the field cannot hold the value"
	case Occupied:
		return "the cell is full"
	case UnknownEvent:
		return "no such event waits"
	}
	return r.Reason.String()
}
