package serve

import (
	"encoding/json"
	"fmt"

	"github.com/murksim/murksim/replay/minewars"
)

// The objects that a server sends beside the stream. Event says what an object is.
type (
	// A JoinedObject is the first that a client gets.
	JoinedObject struct {
		Event    string        `json:"event"` // "joined"
		View     minewars.View `json:"view"`
		Tick     uint64        `json:"tick"` // of the world now
		TickRate uint8         `json:"tick_rate"`
		Players  int           `json:"players"`
		Orders   bool          `json:"orders"` // whether the client can give some
	}

	// A SeatObject says who plays.
	SeatObject struct {
		Event  string        `json:"event"` // "seat"
		Player minewars.View `json:"player"`
		Tick   uint64        `json:"tick,omitempty"`
		Taken  bool          `json:"taken"`            // by people
		Reason string        `json:"reason,omitempty"` // why it is not as it was asked for
	}

	// A ReceiptObject says what became of an order.
	ReceiptObject struct {
		Event   string  `json:"event"`          // "receipt"
		ID      *uint64 `json:"id,omitempty"`   // as the client numbered the order
		Tick    uint64  `json:"tick,omitempty"` // that took it; 0: it came to none
		Applied bool    `json:"applied"`
		Reason  string  `json:"reason,omitempty"` // why not
	}

	// An EndObject is the last that a client gets by TCP.
	EndObject struct {
		Event  string `json:"event"` // "end"
		Reason End    `json:"reason"`
	}

	// An ErrorObject is the answer to a hello that is no good, and the last of its connection.
	ErrorObject struct {
		Event string `json:"event"` // "error"
		Error string `json:"error"`
	}
)

// ParseObject returns the object that a server has sent as one of the types above, or nil if it is of another
// kind.
func ParseObject(text []byte) (any, error) {
	var kind struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, fmt.Errorf("serve: the server sent %.100q, which is no object", text)
	}
	var o any
	switch kind.Event {
	case "joined":
		o = new(JoinedObject)
	case "seat":
		o = new(SeatObject)
	case "receipt":
		o = new(ReceiptObject)
	case "end":
		o = new(EndObject)
	case "error":
		o = new(ErrorObject)
	default:
		return nil, nil
	}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, fmt.Errorf("serve: the server sent %.100q, which is not of the protocol", text)
	}
	return o, nil
}

// A hello is the first line on a TCP connection.
type hello struct {
	Token    string `json:"token"`
	Receipts bool   `json:"receipts"` // whether the stream comes in records, among objects
}

// A request is what a client sends after that.
type request struct {
	ID    *uint64         `json:"id"` // of its own choice; nil: none
	Order json.RawMessage `json:"order"`
}
