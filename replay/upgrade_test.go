package replay_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
)

// An oldFile writes versions 1 and 2 from their description alone.
type oldFile struct {
	bytes.Buffer
	version byte
}

func (o *oldFile) number(size int, v uint64) {
	for range size {
		o.WriteByte(byte(v))
		v >>= 8
	}
}

func (o *oldFile) blob(s string) {
	o.number(4, uint64(len(s)))
	o.WriteString(s)
}

func newOldFile(version byte) *oldFile {
	o := &oldFile{version: version}
	o.WriteString("MURK")
	o.WriteByte(version)
	for _, s := range []string{"1.78.0", "x86_64-unknown-linux-gnu", "0.1.0", "release"} {
		o.blob(s)
	}
	o.number(8, 42)     // seed
	o.number(8, 0xc0de) // config hash
	o.number(4, 3)      // fields
	o.number(8, 100)    // cells
	o.blob("space")
	return o
}

// id writes a source or a sequence; nil is none.
func (o *oldFile) id(v *uint64) {
	switch {
	case o.version == 1 && v == nil:
		o.number(8, 0)
	case o.version == 1:
		o.number(8, *v)
	case v == nil:
		o.WriteByte(0)
	default:
		o.WriteByte(1)
		o.number(8, *v)
	}
}

func (o *oldFile) command(tag byte, payload string, priority byte, source, seq *uint64) {
	o.WriteByte(tag)
	o.blob(payload)
	o.WriteByte(priority)
	o.id(source)
	o.id(seq)
}

var (
	zero, five = uint64(0), uint64(5)
	despawn    = "\x07\x00\x00\x00\x00\x00\x00\x00"
)

// oldSample is a recording of an old version: three frames with none, five and one command.
func oldSample(version byte) []byte {
	o := newOldFile(version)
	o.number(8, 1) // tick
	o.number(4, 0) // commands
	o.number(8, 0x1111)
	o.number(8, 2)
	o.number(4, 5)
	o.command(2, despawn, 0, nil, nil)
	o.command(2, despawn, 1, &five, &five)
	o.command(2, despawn, 1, &five, &zero)
	o.command(2, despawn, 1, &zero, &five)
	o.command(9, "unknown", 255, nil, &five)
	o.number(8, 0x2222)
	o.number(8, 3)
	o.number(4, 1)
	o.command(5, "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f", 1, &zero, &zero)
	o.number(8, 0x3333)
	return o.Bytes()
}

// oldSampleNow is what the sample becomes.
func oldSampleNow(t testing.TB, version byte) []byte {
	t.Helper()
	w := newWriter(t, replay.Header{
		Build: replay.Build{Toolchain: "1.78.0", Target: "x86_64-unknown-linux-gnu", Version: "0.1.0", Flags: "release"},
		Seed:  42, ConfigHash: 0xc0de, FieldCount: 3, CellCount: 100, Descriptor: []byte("space"),
	})
	has := version == 2 // version 1 cannot tell zero from none
	record := func(tag uint8, payload string, arrival uint64, m commands.Meta) replay.Record {
		m.Expires, m.Arrival = math.MaxUint64, arrival
		return replay.Record{Tag: tag, Payload: []byte(payload), Meta: m}
	}
	w.copy(t, &replay.Frame{Tick: 1, Hash: 0x1111})
	w.copy(t, &replay.Frame{Tick: 2, Hash: 0x2222, Records: []replay.Record{
		record(2, despawn, 1, commands.Meta{Priority: 0}),
		record(2, despawn, 2, commands.Meta{Priority: 1, HasSource: true, Source: 5, HasSeq: true, SourceSeq: 5}),
		record(2, despawn, 3, commands.Meta{Priority: 1, HasSource: true, Source: 5, HasSeq: has}),
		record(2, despawn, 4, commands.Meta{Priority: 1, HasSource: has, HasSeq: true, SourceSeq: 5}),
		record(9, "unknown", 5, commands.Meta{Priority: 255, HasSeq: true, SourceSeq: 5}),
	}})
	w.copy(t, &replay.Frame{Tick: 3, Hash: 0x3333, Records: []replay.Record{
		record(5, "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f", 6, commands.Meta{Priority: 1, HasSource: has, HasSeq: has}),
	}})
	return w.bytes(t)
}

func upgraded(b []byte) ([]byte, replay.Upgraded, error) {
	var out bytes.Buffer
	u, err := replay.Upgrade(&out, bytes.NewReader(b))
	return out.Bytes(), u, err
}

// TestUpgrade upgrades recordings built here, which are those in testdata.
func TestUpgrade(t *testing.T) {
	for version, want := range map[byte]replay.Upgraded{
		1: {Version: 1, Frames: 3, Commands: 6, NoSource: 4, NoSeq: 1},
		2: {Version: 2, Frames: 3, Commands: 6},
	} {
		name := filepath.Join("testdata", "v"+string('0'+version))
		old, err := os.ReadFile(name + ".murkreplay")
		if err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(name + "-upgraded.murkreplay")
		if err != nil {
			t.Fatal(err)
		}
		if built := oldSample(version); !bytes.Equal(old, built) {
			t.Errorf("%s.murkreplay is %x, want %x", name, old, built)
		}
		if built := oldSampleNow(t, version); !bytes.Equal(now, built) {
			t.Errorf("%s-upgraded.murkreplay is %x, want %x", name, now, built)
		}
		got, u, err := upgraded(old)
		if err != nil || u != want || !bytes.Equal(got, now) {
			t.Errorf("version %d: %+v, %v, want %+v; bytes\n%x, want\n%x", version, u, err, want, got, now)
		}
		if _, _, err := copied(t, bytes.NewReader(old), -1); kindOf(err) != replay.ErrVersion {
			t.Errorf("version %d: Reader = %v, want %q", version, err, replay.ErrVersion)
		}
	}
}

func TestUpgradeRefuses(t *testing.T) {
	good := func(version byte) []byte { return oldSample(version) }
	head := newOldFile(1).Len()
	with := func(version byte, at int, v ...byte) []byte {
		b := good(version)
		copy(b[at:], v)
		return b
	}
	first := head + 20 + 12 // the first command
	for name, tt := range map[string]struct {
		input []byte
		want  replay.FormatError
	}{
		"empty":     {nil, replay.FormatError{Frame: -1, Kind: replay.ErrTruncated, Detail: "magic is cut short: 0 of 1 bytes"}},
		"magic":     {with(1, 0, 'm'), replay.FormatError{Frame: -1, Kind: replay.ErrMagic}},
		"version 0": {with(1, 4, 0), replay.FormatError{Offset: 4, Frame: -1, Kind: replay.ErrVersion, Found: 0}},
		"version 3": {with(1, 4, 3), replay.FormatError{Offset: 4, Frame: -1, Kind: replay.ErrCurrent, Found: 3}},
		"version 4": {with(1, 4, 4), replay.FormatError{Offset: 4, Frame: -1, Kind: replay.ErrVersion, Found: 4}},
		"not UTF-8": {with(2, 9, 0xff), replay.FormatError{Offset: 9, Frame: -1, Kind: replay.ErrMalformed, Detail: "toolchain is not UTF-8"}},
		"long string": {with(2, 5, 1, 0, 0x10), replay.FormatError{Offset: 5, Frame: -1, Kind: replay.ErrLimit,
			Detail: "toolchain: 1048577, the limit is 1048576"}},
		"many commands": {with(1, head+20+8, 0x41, 0x42, 0x0f), replay.FormatError{Offset: int64(head + 28), Tick: 2, Frame: 1, Kind: replay.ErrLimit,
			Detail: "command count: 1000001, the limit is 1000000"}},
		"long payload": {with(2, first+1, 1, 0, 0, 4), replay.FormatError{Offset: int64(first + 1), Tick: 2, Frame: 1, Command: 1, Commands: 5, Kind: replay.ErrLimit,
			Detail: "payload bytes: 67108865, the limit is 67108864"}},
		"flag": {with(2, first+14, 2), replay.FormatError{Offset: int64(first + 14), Tick: 2, Frame: 1, Command: 1, Commands: 5, Kind: replay.ErrMalformed,
			Detail: "presence flag of the source is 2, neither 0 nor 1"}},
	} {
		_, _, err := upgraded(tt.input)
		if got, ok := errors.AsType[*replay.FormatError](err); !ok || *got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, err, &tt.want)
		}
	}
	if _, err := replay.Upgrade(&full{io.Discard, 3, io.ErrClosedPipe, false}, bytes.NewReader(good(2))); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Upgrade into a full sink = %v, want %v", err, io.ErrClosedPipe)
	}
}

// TestUpgradePrefixes cuts old recordings at every byte: what is whole is upgraded.
func TestUpgradePrefixes(t *testing.T) {
	for _, version := range []byte{1, 2} {
		old, now := oldSample(version), oldSampleNow(t, version)
		ends := []int{newOldFile(version).Len(), newOldFile(version).Len() + 20, len(old), len(old)}
		ends[2] -= map[byte]int{1: 12 + 22 + 12 + 8, 2: 12 + 8 + 16 + 12 + 8}[version]
		for n := range old {
			got, u, err := upgraded(old[:n])
			whole := uint64(0)
			for whole < 3 && ends[whole+1] <= n {
				whole++
			}
			clean := n == ends[whole]
			if u.Frames != whole || !bytes.HasPrefix(now, got) || (len(got) > 0) != (n >= ends[0]) || (err == nil) != clean || !clean && kindOf(err) != replay.ErrTruncated {
				t.Fatalf("version %d cut at %d of %v: %d frames, %d bytes, %v; want %d frames", version, n, ends, u.Frames, len(got), err, whole)
			}
		}
	}
}

// TestUpgradeMemory: 1 MiB takes less than 96 MiB, whatever it claims. Commands of 8
// bytes, the smallest of version 2, take the most.
func TestUpgradeMemory(t *testing.T) {
	const size, limit = 1 << 20, 96 << 20
	for _, version := range []byte{1, 2} {
		for name, write := range map[string]func(o *oldFile){
			"most commands": func(o *oldFile) { o.number(8, 1); o.number(4, 1_000_000) },
			"long payload":  func(o *oldFile) { o.number(8, 1); o.number(4, 1); o.number(1, 4); o.number(4, 64<<20) },
		} {
			o := newOldFile(version)
			write(o)
			o.Write(make([]byte, size))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := replay.Upgrade(io.Discard, &o.Buffer)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > limit || err == nil {
				t.Errorf("version %d, %s: allocated %d bytes, want at most %d; error %v", version, name, got, limit, err)
			}
		}
	}
}

// TestVectorsUpgrade writes the recordings of the vectors as version 2 and upgrades
// them: but for expiry and arrival, they come back.
func TestVectorsUpgrade(t *testing.T) {
	files := 0
	for name, b := range recordings(t) {
		r, err := replay.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		h := &r.Header
		o := &oldFile{version: 2}
		o.WriteString("MURK\x02")
		for _, s := range []string{h.Build.Toolchain, h.Build.Target, h.Build.Version, h.Build.Flags} {
			o.blob(s)
		}
		o.number(8, h.Seed)
		o.number(8, h.ConfigHash)
		o.number(4, uint64(h.FieldCount))
		o.number(8, h.CellCount)
		o.blob(string(h.Descriptor))
		want, arrival := newWriter(t, *h), uint64(0)
		optional := func(has bool, v uint64) *uint64 {
			if !has {
				return nil
			}
			return &v
		}
		var f replay.Frame
		for r.Next(&f) == nil {
			o.number(8, f.Tick)
			o.number(4, uint64(len(f.Records)))
			for i := range f.Records {
				rec := &f.Records[i]
				o.command(rec.Tag, string(rec.Payload), rec.Priority, optional(rec.HasSource, rec.Source), optional(rec.HasSeq, rec.SourceSeq))
				arrival++
				rec.Expires, rec.Arrival = math.MaxUint64, arrival
			}
			o.number(8, f.Hash)
			want.copy(t, &f)
		}
		got, u, err := upgraded(o.Bytes())
		if err != nil || u.Commands != arrival || !bytes.Equal(got, want.bytes(t)) {
			t.Errorf("%s: %+v, %v; %d bytes, not the %d expected", name, u, err, len(got), want.sink.Len())
		}
		files++
	}
	t.Logf("%d recordings", files)
}

func FuzzUpgrade(f *testing.F) {
	f.Add(oldSample(1))
	f.Add(oldSample(2))
	for _, b := range recordings(f) {
		for _, version := range []byte{1, 2} {
			if len(b) < 2000 {
				old := bytes.Clone(b)
				old[4] = version
				f.Add(old)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, u, err := upgraded(b)
		if len(got) == 0 {
			if err == nil {
				t.Errorf("%x: nothing comes of it, and no error", b)
			}
			return
		}
		again, ends, readErr := copied(t, bytes.NewReader(got), -1)
		if readErr != nil || !bytes.Equal(again, got) || uint64(len(ends)) != u.Frames+1 {
			t.Errorf("%x becomes %x: %d frames, %v; want %d", b, got, len(ends)-1, readErr, u.Frames)
		}
		if _, _, err := upgraded(got); kindOf(err) != replay.ErrCurrent {
			t.Errorf("%x upgraded again = %v, want %q", got, err, replay.ErrCurrent)
		}
	})
}
