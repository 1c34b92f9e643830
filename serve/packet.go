package serve

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// A carrier is a way to a client.
type carrier int

const (
	webSocket carrier = iota // binary and text messages
	framed                   // TCP: records of a kind, a length and a payload
	raw                      // TCP: the stream and nothing else
	carriers
)

// The kinds of records on a framed connection.
const (
	recordStream byte = 's'
	recordJSON   byte = 'j'
)

// Bits and codes of WebSocket frames, RFC 6455 section 5.2.
const (
	wsText   byte = 0x81 // a whole message
	wsBinary byte = 0x82
	wsClose  byte = 0x88
	wsPing   byte = 0x89
	wsPong   byte = 0x8a
)

// A packet is what a client gets at a time. It is encoded once for all clients, and must not be
// changed.
type packet struct {
	forms [carriers][]byte // nil: clients of that carrier do not get it
}

// streamPacket returns a packet of a view's stream, which it does not keep.
func streamPacket(stream []byte) *packet {
	p := &packet{}
	p.forms[webSocket] = appendWebSocket(nil, wsBinary, stream)
	p.forms[framed] = appendRecord(nil, recordStream, stream)
	p.forms[raw] = p.forms[framed][recordHeader:]
	return p
}

// jsonPacket returns a packet of an object for people's programs. Raw streams have no room for it.
func jsonPacket(v any) *packet {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("serve: invariant: an object of ours is JSON: %v", err))
	}
	p := &packet{}
	p.forms[webSocket] = appendWebSocket(nil, wsText, b)
	p.forms[framed] = appendRecord(nil, recordJSON, b)
	return p
}

// pingPacket asks a WebSocket for a sign of life.
var pingPacket = &packet{forms: [carriers][]byte{webSocket: {wsPing, 0}}}

// recordHeader is the length of a record's kind and length.
const recordHeader = 5

func appendRecord(b []byte, kind byte, payload []byte) []byte {
	b = append(b, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// appendWebSocket appends a frame as servers send it: without a mask.
func appendWebSocket(b []byte, first byte, payload []byte) []byte {
	b = append(b, first)
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// closeFrame says why a WebSocket is closed.
func closeFrame(code int, reason string) []byte {
	const most = 123 // bytes
	payload := binary.BigEndian.AppendUint16(nil, uint16(code))
	return appendWebSocket(nil, wsClose, append(payload, cut(reason, most)...))
}

// cut cuts a text to so many bytes, between characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most]
}
