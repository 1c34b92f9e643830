package export_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/murksim/murksim/internal/export"
)

// An mcapRecord is a record and where it begins in the file.
type mcapRecord struct {
	op   byte
	at   int
	body []byte
}

func mcapRecords(t *testing.T, b []byte, at int) (list []mcapRecord) {
	t.Helper()
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint64(b[1:]))
		if 9+n > len(b) {
			t.Fatalf("record %#x at byte %d has %d bytes, of which %d are there", b[0], at, n, len(b)-9)
		}
		list = append(list, mcapRecord{b[0], at, b[9 : 9+n]})
		b, at = b[9+n:], at+9+n
	}
	return list
}

// readMCAP checks an MCAP file in every checksum, offset and count, by its specification, and
// returns the messages.
func readMCAP(t *testing.T, b []byte) (messages []map[string]any, chunks int) {
	t.Helper()
	const magic = "\x89MCAP0\r\n"
	le := binary.LittleEndian
	if string(b[:8]) != magic || string(b[len(b)-8:]) != magic {
		t.Fatal("the marks are missing")
	}
	list := mcapRecords(t, b[8:len(b)-8], 8)
	if last := list[len(list)-1]; list[0].op != 1 || last.op != 2 || len(last.body) != 20 {
		t.Fatalf("records begin with %#x and end with %#x", list[0].op, last.op)
	}
	footer := list[len(list)-1].body
	summary := int(le.Uint64(footer))
	if sum := crc32.ChecksumIEEE(b[summary : len(b)-8-4]); sum != le.Uint32(footer[16:]) {
		t.Errorf("the summary's checksum is %x, want %x", le.Uint32(footer[16:]), sum)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	ops := map[byte]int{}
	var index map[int]bool // where the messages of the last chunk are, by the indexes
	total := uint64(0)
	for _, r := range list {
		ops[r.op]++
		switch r.op {
		case 6: // a chunk
			size, sum := le.Uint64(r.body[16:]), le.Uint32(r.body[24:])
			name := int(le.Uint32(r.body[28:]))
			raw, err := z.DecodeAll(r.body[32+name+8:], nil)
			if err != nil || uint64(len(raw)) != size || crc32.ChecksumIEEE(raw) != sum || string(r.body[32:32+name]) != "zstd" {
				t.Fatalf("chunk at byte %d: %d bytes, want %d, %v", r.at, len(raw), size, err)
			}
			if len(index) != 0 {
				t.Errorf("%d messages are in no index", len(index))
			}
			index = map[int]bool{}
			for _, m := range mcapRecords(t, raw, 0) {
				index[m.at] = true
				if time := le.Uint64(m.body[6:]); time < le.Uint64(r.body) || time > le.Uint64(r.body[8:]) || time != le.Uint64(m.body[14:]) {
					t.Errorf("a message of time %d lies in a chunk from %d to %d", time, le.Uint64(r.body), le.Uint64(r.body[8:]))
				}
				var body map[string]any
				if err := json.Unmarshal(m.body[22:], &body); err != nil {
					t.Fatal(err)
				}
				body["channel"], body["sequence"] = le.Uint16(m.body), le.Uint32(m.body[2:])
				messages = append(messages, body)
			}
		case 7: // an index of messages
			for e := 6; e < len(r.body); e += 16 {
				at := int(le.Uint64(r.body[e+8:]))
				if !index[at] {
					t.Errorf("an index says that a message is at byte %d", at)
				}
				delete(index, at)
			}
		case 8: // an index of a chunk
			at, n := int(le.Uint64(r.body[16:])), int(le.Uint64(r.body[24:]))
			if b[at] != 6 || int(le.Uint64(b[at+1:]))+9 != n {
				t.Errorf("a summary says that a chunk of %d bytes is at byte %d", n, at)
			}
		case 11:
			total = le.Uint64(r.body)
			if channels, count := le.Uint32(r.body[10:]), le.Uint32(r.body[22:]); int(channels)*2 != ops[4] || int(count) != ops[6] {
				t.Errorf("%d channels and %d chunks; there are %v", channels, count, ops)
			}
		case 13:
			if at := int(le.Uint64(r.body)); b[at] != 12 {
				t.Errorf("a summary says that metadata is at byte %d", at)
			}
		case 14:
			if at := int(le.Uint64(r.body[1:])); b[at] != r.body[0] {
				t.Errorf("a summary says that records %#x begin at byte %d", r.body[0], at)
			}
		case 15:
			if sum := crc32.ChecksumIEEE(b[:r.at]); sum != le.Uint32(r.body) {
				t.Errorf("the data's checksum is %x, want %x", le.Uint32(r.body), sum)
			}
		}
	}
	if len(index) != 0 || total != uint64(len(messages)) || ops[6] != ops[8] || ops[3] != 2 || ops[14] != 5 {
		t.Errorf("%d messages, %d counted, %d in no index, records %v", len(messages), total, len(index), ops)
	}
	return messages, ops[6]
}

func TestMCAP(t *testing.T) {
	b, held, what := write(t, all, "mcap", export.Selection{}, export.Look{})
	messages, _ := readMCAP(t, b)
	if len(messages) != 10 || what != "10 messages in 4 channels" { // ground is static
		t.Errorf("%d messages: %s", len(messages), what)
	}
	for _, m := range messages {
		i := map[float64]int{0: 0, 2: 1, 4: 2}[m["tick"].(float64)]
		name := []string{"", "heat", "exact", "ground", "wind"}[m["channel"].(uint16)]
		data, err := base64.StdEncoding.DecodeString(m["data"].(string))
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for len(data) > 0 {
			switch m["dtype"] {
			case "float32":
				got, data = append(got, float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))), data[4:]
			case "float64":
				got, data = append(got, math.Float64frombits(binary.LittleEndian.Uint64(data))), data[8:]
			case "int32":
				got, data = append(got, float64(binary.LittleEndian.Uint32(data))), data[4:]
			}
		}
		shape := map[bool]string{false: "[3 4]", true: "[3 4 2]"}[name == "wind"]
		if !slices.Equal(got, held[i][name]) || fmt.Sprint(m["shape"]) != shape || m["time"] != m["tick"].(float64)/20 || int(m["sequence"].(uint32)) != i {
			t.Errorf("%s is %v, want %v", name, m, held[i][name])
		}
	}
}

func TestMCAPEntities(t *testing.T) {
	b, _, _ := write(t, all, "mcap", export.Selection{Entities: true}, export.Look{})
	messages, _ := readMCAP(t, b)
	got, err := json.Marshal(messages[1]["entities"])
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"attributes":{"energy":0.5},"cell":[1,1],"id":1048577,"kind":"bee","rank":5},` +
		`{"attributes":{"energy":7},"cell":[2,3],"id":2097153,"kind":"ant","name":"anna","rank":11}]`
	if len(messages) != 3 || string(got) != want {
		t.Errorf("%d messages, of which one is %s, want %s", len(messages), got, want)
	}
}

// A long film of messages has several chunks, which the summary finds.
func TestMCAPChunks(t *testing.T) {
	const text = "murksim: 1\nname: x\nspace: {kind: square4, rows: 500, cols: 500}\nfields: [{name: a, initial: {noise: {from: 0, to: 1}}}, {name: b}]\n"
	b, _, _ := write(t, text, "mcap", export.Selection{}, export.Look{})
	if messages, chunks := readMCAP(t, b); len(messages) != 6 || chunks != 6 {
		t.Errorf("%d messages in %d chunks", len(messages), chunks)
	}
}
