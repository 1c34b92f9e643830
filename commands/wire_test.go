package commands_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/space"
)

// samples are commands of every kind, plain and extreme, with their payloads in hex.
var samples = []struct {
	command commands.Command
	payload string
}{
	{commands.Move(1, space.At(-1)), "0100000000000000" + "01000000ffffffff"},
	{commands.Move(math.MaxUint64, space.Coord{}), "ffffffffffffffff" + "00000000"},
	{commands.Spawn(space.At(2, 3)), "020000000200000003000000" + "00000000"},
	{commands.Spawn(space.At(math.MinInt32), commands.FieldValue{Field: 7, Value: 1}, commands.FieldValue{Field: math.MaxUint32, Value: float32(math.Inf(-1))}),
		"0100000000000080" + "02000000" + "070000000000803f" + "ffffffff000080ff"},
	{commands.Despawn(0x0102030405060708), "0807060504030201"},
	{commands.SetField(space.At(1, -2), 9, -2.5), "0200000001000000feffffff" + "09000000" + "000020c0"},
	{commands.SetField(space.At(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 0, math.Float32frombits(0x7fc0dead)),
		"0c000000000000000100000002000000030000000400000005000000060000000700000008000000090000000a0000000b000000" + "00000000" + "addec07f"},
	{commands.SetField(commands.EntityCoord(0xfffffffe00000001), 1, 0), "02000000feffffff01000000" + "01000000" + "00000000"},
	{commands.Custom(5, nil), "05000000" + "00000000"},
	{commands.Custom(math.MaxUint32, []byte("ab")), "ffffffff" + "02000000" + "6162"},
	{commands.SetParameter(3, 0.5), "03000000" + "000000000000e03f"},
	{commands.SetParameter(3, math.Float64frombits(0x7ff800000000beef)), "03000000" + "efbe00000000f87f"},
	{commands.SetParameterBatch(), "00000000"},
	{commands.SetParameterBatch(commands.Parameter{Key: 1, Value: 1}, commands.Parameter{Key: 2, Value: math.Copysign(0, -1)}),
		"02000000" + "01000000000000000000f03f" + "020000000000000000000080"},
}

func equal(a, b commands.Command) bool {
	data := bytes.Equal(a.Data, b.Data)
	return data && a.Kind == b.Kind && a.Meta == b.Meta && a.ID == b.ID && a.Entity == b.Entity && a.Bits == b.Bits && a.Coord == b.Coord
}

func TestPayloads(t *testing.T) {
	for _, s := range samples {
		c := s.command
		payload := c.AppendPayload([]byte("x"))
		if got := hex.EncodeToString(payload[1:]); got != s.payload || c.PayloadSize() != len(payload)-1 {
			t.Errorf("%s: payload = %s, size %d, want %s", c.Kind, got, c.PayloadSize(), s.payload)
		}
		used := commands.Custom(99, []byte("old"))
		used.Entity, used.Bits, used.Coord, used.Meta = 1, 2, space.At(3, 4, 5), c.Meta
		if err := used.Decode(uint8(c.Kind), payload[1:]); err != nil || !equal(used, c) {
			t.Errorf("%s: Decode = %+v, %v, want %+v", c.Kind, used, err, c)
		}
		if cap(used.Data) != len(used.Data) {
			t.Errorf("%s: decoded data can grow over what follows it: %d bytes of %d", c.Kind, len(used.Data), cap(used.Data))
		}
	}
}

func TestAppend(t *testing.T) {
	c := commands.Despawn(1)
	for _, tt := range []struct {
		meta commands.Meta
		want string
	}{
		{commands.Meta{Priority: 1, Expires: commands.NoExpiry, Arrival: 2}, "01" + "00" + "00" + "ffffffffffffffff" + "0200000000000000"},
		{commands.Meta{HasSource: true}, "00" + "010000000000000000" + "00" + "0000000000000000" + "0000000000000000"},
		{commands.Meta{Source: 5, SourceSeq: 6}, "00" + "00" + "00" + "0000000000000000" + "0000000000000000"}, // absent
		{commands.Meta{Priority: 255, HasSeq: true, SourceSeq: 3, HasSource: true, Source: 4, Expires: 7},
			"ff" + "010400000000000000" + "010300000000000000" + "0700000000000000" + "0000000000000000"},
		{commands.Meta{HasSeq: true, SourceSeq: 3}, "00" + "00" + "010300000000000000" + "0000000000000000" + "0000000000000000"},
	} {
		c.Meta = tt.meta
		want := "02" + "08000000" + "0100000000000000" + tt.want
		if got := hex.EncodeToString(c.Append(nil)); got != want {
			t.Errorf("%+v: Append = %s, want %s", tt.meta, got, want)
		}
	}
}

// TestAppendResults holds that the results of a tick are those of each input, and of
// no event, whatever room there is.
func TestAppendResults(t *testing.T) {
	var receipts []commands.Receipt
	want := []byte("before\x00\x00\x00\x00")
	for i := range samples {
		for _, meta := range metas() {
			c := samples[i].command
			c.Meta = meta.Meta
			r := commands.Receipt{Command: &c, Reason: commands.Reason(len(receipts) % 16), Event: len(receipts)%5 == 2}
			receipts = append(receipts, r)
			if !r.Event {
				want[6]++
				want = append(c.Append(want), byte(r.Reason))
			}
		}
	}
	for room := range len(want) + 2 {
		got := commands.AppendResults(append(make([]byte, 0, 6+room), "before"...), receipts)
		if !bytes.Equal(got, want) {
			t.Fatalf("with room for %d bytes: %x, want %x", room, got, want)
		}
	}
}

// TestDecodeShort cuts and lengthens every payload: nothing but its own length decodes.
func TestDecodeShort(t *testing.T) {
	for _, s := range samples {
		payload := s.command.AppendPayload(nil)
		for n := range payload {
			var c commands.Command
			err := c.Decode(uint8(s.command.Kind), payload[:n])
			if e, ok := errors.AsType[*commands.PayloadError](err); !ok || e.Kind != s.command.Kind || e.Offset > n {
				t.Errorf("%s payload cut to %d bytes: %v, want a PayloadError within", s.command.Kind, n, err)
			}
		}
		var c commands.Command
		err := c.Decode(uint8(s.command.Kind), append(payload, 0))
		if e, ok := errors.AsType[*commands.PayloadError](err); !ok || e.Offset != len(payload) {
			t.Errorf("%s payload with a byte left over: %v, want a PayloadError at %d", s.command.Kind, err, len(payload))
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	for _, tt := range []struct {
		kind    commands.Kind
		payload string
		offset  int
		text    string
	}{
		{commands.KindDespawn, "0102", 0, "commands: despawn payload, byte 0: entity id is cut short: 2 of 8 bytes"},
		{commands.KindDespawn, "0000000000000000ffff", 8, "commands: despawn payload, byte 8: 2 bytes are left over"},
		{commands.KindMove, "0000000000000000" + "ffffffff", 8, "commands: move payload, byte 8: coordinate components: 4294967295, the limit is 12"},
		{commands.KindSetField, "0d000000" + "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" + "0000000000000000",
			0, "commands: set_field payload, byte 0: coordinate components: 13, the limit is 12"},
		{commands.KindSetField, "00000000" + "01000000" + "00", 8, "commands: set_field payload, byte 8: value is cut short: 1 of 4 bytes"},
		{commands.KindSpawn, "00000000" + "ffffffff" + "00", 4, "commands: spawn payload, byte 4: field values: 4294967295, but only 1 bytes are left"},
		{commands.KindCustom, "00000000" + "02000000" + "61", 4, "commands: custom payload, byte 4: data: 2, but only 1 bytes are left"},
		{commands.KindSetParameterBatch, "00000080", 0, "commands: set_parameter_batch payload, byte 0: parameters: 2147483648, but only 0 bytes are left"},
	} {
		b, err := hex.DecodeString(tt.payload)
		if err != nil {
			t.Fatal(err)
		}
		var c commands.Command
		err = c.Decode(uint8(tt.kind), b)
		if e, ok := errors.AsType[*commands.PayloadError](err); !ok || e.Kind != tt.kind || e.Offset != tt.offset || e.Error() != tt.text {
			t.Errorf("%s %s: Decode = %v, want %s", tt.kind, tt.payload, err, tt.text)
		}
	}
	for _, tag := range []uint8{7, 8, 128, 255} {
		c := commands.Despawn(1)
		err := c.Decode(tag, nil)
		if e, ok := errors.AsType[*commands.UnknownKindError](err); !ok || e.Tag != tag || !equal(c, commands.Despawn(1)) {
			t.Errorf("Decode of tag %d = %v, want an UnknownKindError and the command as it was", tag, err)
		}
	}
}

func TestIterators(t *testing.T) {
	spawn := commands.Spawn(space.At(0), commands.FieldValue{Field: 1, Value: 2}, commands.FieldValue{Field: 3, Value: 4})
	if got, want := slices.Collect(spawn.FieldValues()), []commands.FieldValue{{Field: 1, Value: 2}, {Field: 3, Value: 4}}; !slices.Equal(got, want) {
		t.Errorf("FieldValues = %v, want %v", got, want)
	}
	batch := commands.SetParameterBatch(commands.Parameter{Key: 1, Value: 2}, commands.Parameter{Key: 3, Value: 4})
	if got, want := slices.Collect(batch.Parameters()), []commands.Parameter{{Key: 1, Value: 2}, {Key: 3, Value: 4}}; !slices.Equal(got, want) {
		t.Errorf("Parameters = %v, want %v", got, want)
	}
	for range spawn.FieldValues() {
		break // stopping early is fine
	}
	for range batch.Parameters() {
		break
	}
	if c := commands.SetField(space.At(0), 0, 1.5); c.Float32() != 1.5 {
		t.Errorf("Float32 = %v, want 1.5", c.Float32())
	}
	if c := commands.SetParameter(0, 1.5); c.Float64() != 1.5 {
		t.Errorf("Float64 = %v, want 1.5", c.Float64())
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range samples {
		f.Add(uint8(s.command.Kind), s.command.AppendPayload(nil))
		f.Add(uint8(s.command.Kind), []byte{0xff, 0xff, 0xff, 0xff})
	}
	f.Add(uint8(7), []byte{})
	f.Fuzz(func(t *testing.T, tag uint8, payload []byte) {
		var c commands.Command
		err := c.Decode(tag, payload)
		if e, ok := errors.AsType[*commands.PayloadError](err); ok && (e.Offset < 0 || e.Offset > len(payload)) {
			t.Errorf("%d %x: %v lies outside of the payload", tag, payload, err)
		}
		if err != nil {
			return
		}
		if got := c.AppendPayload(nil); !bytes.Equal(got, payload) || c.PayloadSize() != len(payload) {
			t.Errorf("%d %x decodes, but encodes as %x", tag, payload, got)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	c := commands.SetField(space.At(3, 4), 1, 2).From(5, 6)
	buf := c.Append(nil)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		buf = c.Append(buf[:0])
	}
}

func BenchmarkDecode(b *testing.B) {
	c := commands.SetField(space.At(3, 4), 1, 2)
	payload := c.AppendPayload(nil)
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if err := c.Decode(uint8(commands.KindSetField), payload); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDecodeFrom holds that DecodeFrom is the inverse of Append, leaves what follows
// alone, and refuses every part.
func TestDecodeFrom(t *testing.T) {
	for i := range samples {
		c := samples[i].command.From(uint64(i), 7)
		b := c.Append(nil)
		for n := range b {
			var d commands.Command
			if _, err := d.DecodeFrom(b[:n]); err == nil {
				t.Fatalf("%v: %d of %d bytes are taken for all", c.Kind, n, len(b))
			}
		}
		var got commands.Command
		if n, err := got.DecodeFrom(append(b, 1, 2, 3)); err != nil || n != len(b) || !equal(got, c) {
			t.Errorf("%v: %+v of %d bytes, %v; want %+v of %d", c.Kind, got, n, err, c, len(b))
		}
	}
	c := commands.Despawn(7).From(1, 2)
	b := c.Append(nil)
	b[len(b)-8-8-9-9] = 2 // the flag of the source
	if _, err := c.DecodeFrom(b); err == nil || !strings.Contains(err.Error(), "presence flag of the source is 2") {
		t.Errorf("a flag of 2: %v", err)
	}
}

// TestDecodersAgree: the fast decoder takes what the slow one takes, and makes the
// same of it, whatever the payload.
func TestDecodersAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var taken, refused int
	for range 200_000 {
		p := make([]byte, random.IntN(40))
		for i := range p {
			if p[i] = byte(random.IntN(4)); random.IntN(3) > 0 {
				p[i] = 0
			}
		}
		tag := uint8(random.IntN(7))
		fast, slow := commands.Custom(9, []byte("old")), commands.Custom(9, []byte("old"))
		ok, err := commands.Decode(&fast, commands.Kind(tag), p), commands.DecodeSlowly(&slow, tag, p)
		if ok != (err == nil) || ok && !equal(fast, slow) {
			t.Fatalf("tag %d, payload %x: %v with %+v, slowly %v with %+v", tag, p, ok, fast, err, slow)
		}
		if ok {
			taken++
		} else {
			refused++
		}
	}
	if taken < 1000 || refused < 1000 {
		t.Errorf("%d payloads taken, %d refused; want many of both", taken, refused)
	}
}

// TestMetaDecodeFrom: metadata reads back, cut anywhere it is too short, and a bad
// flag is a fault.
func TestMetaDecodeFrom(t *testing.T) {
	for _, c := range metas() {
		b := c.Meta.Append(nil)
		var got commands.Meta
		want := c.Meta
		if !want.HasSource {
			want.Source = 0
		}
		if !want.HasSeq {
			want.SourceSeq = 0
		}
		if used, whole := got.DecodeFrom(append(b, 7)); used != len(b) || !whole || got != want {
			t.Errorf("%x gives %+v, %d, %v; want %+v, %d", b, got, used, whole, want, len(b))
		}
		for n := range b {
			if used, whole := got.DecodeFrom(b[:n]); used != 0 || whole {
				t.Errorf("%x gives %d, %v; want that it is too short", b[:n], used, whole)
			}
		}
		b[1] = 2
		if used, whole := got.DecodeFrom(b); used != 0 || !whole {
			t.Errorf("%x gives %d, %v; want a fault", b, used, whole)
		}
	}
}

func BenchmarkDecodeFrom(b *testing.B) {
	c := commands.SetField(space.At(3, 4), 1, 2).From(5, 6)
	buf := c.Append(nil)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.DecodeFrom(buf); err != nil {
			b.Fatal(err)
		}
	}
}
