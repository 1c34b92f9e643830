package observe_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/space"
)

// everything is a spec with every region, transform and kernel that MOBS has.
var everything = observe.Spec{Entries: []observe.Entry{
	{},
	{Source: observe.Source{Field: 1 << 31}, Region: observe.Fixed(space.Disk{Center: space.At(1, -2), Radius: 3}), Transform: observe.Normalize(-0.5, 2)},
	{Region: observe.Fixed(space.Rect{Min: space.At(1, 2, 3), Max: space.At(4, 5, 6)}), Pool: observe.Pool{Kernel: observe.Mean, Size: 1, Stride: 2}},
	{Region: observe.Fixed(space.Neighbours{Center: space.At(7)}), Pool: observe.Pool{Kernel: observe.Max, Size: 3, Stride: 1}},
	{Region: observe.Fixed(space.Cells{space.At(2, 1), space.At(0, 0)}), Pool: observe.Pool{Kernel: observe.Min, Size: 1<<31 - 1, Stride: 1<<31 - 1}},
	{Region: observe.AgentDisk(1<<31 - 1), Pool: observe.Pool{Kernel: observe.Sum, Size: 1, Stride: 1}},
	{Region: observe.AgentRect(0, 5)},
}}

func TestMOBS(t *testing.T) {
	b, err := observe.AppendMOBS([]byte("before"), everything)
	if err != nil {
		t.Fatal(err)
	}
	b = b[len("before"):]
	got, err := observe.DecodeMOBS(b)
	if err != nil || !reflect.DeepEqual(got, everything) {
		t.Errorf("DecodeMOBS = %+v, %v; want %+v", got, err, everything)
	}
	for n := range b {
		if _, err := observe.DecodeMOBS(b[:n]); !errors.Is(err, observe.ErrTruncated) {
			t.Errorf("the first %d of %d bytes: %v, want %v", n, len(b), err, observe.ErrTruncated)
		}
	}
}

func TestMOBSRejects(t *testing.T) {
	const head = "4d4f425301000100" + "00000000" // the magic number, version 1, one entry, of field 0
	const rest = "00" + "00" + "00"              // identity, float32, no pool
	for _, tt := range []struct {
		name, input string
		want        observe.FormatError
	}{
		{"empty", "", observe.FormatError{Offset: 0, Entry: -1, Kind: observe.ErrTruncated}},
		{"other magic", "4d4f425401000000", observe.FormatError{Offset: 0, Entry: -1, Kind: observe.ErrMagic}},
		{"version 0", "4d4f425300000000", observe.FormatError{Offset: 4, Entry: -1, Kind: observe.ErrVersion}},
		{"version 2", "4d4f425302000000", observe.FormatError{Offset: 4, Entry: -1, Kind: observe.ErrVersion}},
		{"no entry", "4d4f425301000100", observe.FormatError{Offset: 8, Kind: observe.ErrTruncated}},
		{"all with a parameter", head + "00" + "0100" + "00000000" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"disk without a cell", head + "01" + "0100" + "00000000" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"negative radius", head + "01" + "0200" + "00000000" + "ffffffff" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"odd rectangle", head + "02" + "0300" + strings.Repeat("00000000", 3) + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"no cells", head + "04" + "0200" + "01000000" + "00000000" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"too few cells", head + "04" + "0300" + "01000000" + "02000000" + "00000000" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"two radii", head + "05" + "0200" + "01000000" + "02000000" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"no half extents", head + "06" + "0000" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"negative half extent", head + "06" + "0100" + "ffffffff" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"parameters cut", head + "06" + "ffff" + "00000000", observe.FormatError{Offset: 15, Kind: observe.ErrTruncated}},
		{"region 7", head + "07" + "0000" + rest, observe.FormatError{Offset: 12, Kind: observe.ErrMalformed}},
		{"transform 2", head + "00" + "0000" + "02" + "00" + "00", observe.FormatError{Offset: 15, Kind: observe.ErrMalformed}},
		{"element 1", head + "00" + "0000" + "00" + "01" + "00", observe.FormatError{Offset: 16, Kind: observe.ErrMalformed}},
		{"kernel 5", head + "00" + "0000" + "00" + "00" + "05", observe.FormatError{Offset: 17, Kind: observe.ErrMalformed}},
		{"size 0", head + "00" + "0000" + "00" + "00" + "01" + "00000000" + "01000000", observe.FormatError{Offset: 18, Kind: observe.ErrMalformed}},
		{"stride 2^31", head + "00" + "0000" + "00" + "00" + "01" + "01000000" + "00000080", observe.FormatError{Offset: 22, Kind: observe.ErrMalformed}},
		{"left over", head + "00" + "0000" + rest + "00", observe.FormatError{Offset: 18, Entry: -1, Kind: observe.ErrMalformed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := hex.DecodeString(tt.input)
			if err != nil {
				t.Fatal(err)
			}
			_, err = observe.DecodeMOBS(b)
			got, ok := errors.AsType[*observe.FormatError](err)
			if !ok || got.Detail == "" {
				t.Fatalf("DecodeMOBS = %v, want %v", err, &tt.want)
			}
			tt.want.Detail = got.Detail
			if *got != tt.want || !errors.Is(err, tt.want.Kind) {
				t.Errorf("DecodeMOBS = %v, want %v", err, &tt.want)
			}
		})
	}
}

// TestMOBSRefuses: what the format does not hold, or no reader takes, is not written.
func TestMOBSRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		entry observe.Entry
		want  observe.Fault
	}{
		{"count", observe.Entry{Source: observe.Source{Count: true}}, observe.ErrRules},
		{"kinds", observe.Entry{Source: observe.Source{Kinds: []int32{}}}, observe.ErrRules},
		{"others", observe.Entry{Source: observe.Source{Others: true}}, observe.ErrRules},
		{"clip", observe.Entry{Transform: observe.Clip(0, 1)}, observe.ErrRules},
		{"uint8", observe.Entry{Element: observe.Uint8}, observe.ErrRules},
		{"self", observe.Entry{Region: observe.Self()}, observe.ErrRegion},
		{"nil", observe.Entry{Region: observe.Fixed(nil)}, observe.ErrRegion},
		{"radius", observe.Entry{Region: observe.AgentDisk(-1)}, observe.ErrRegion},
		{"no half extents", observe.Entry{Region: observe.AgentRect()}, observe.ErrRegion},
		{"disk", observe.Entry{Region: observe.Fixed(space.Disk{Center: space.At(1), Radius: -1})}, observe.ErrRegion},
		{"disk around nothing", observe.Entry{Region: observe.Fixed(space.Disk{})}, observe.ErrRegion},
		{"rectangle", observe.Entry{Region: observe.Fixed(space.Rect{Min: space.At(1), Max: space.At(1, 2)})}, observe.ErrRegion},
		{"no cells", observe.Entry{Region: observe.Fixed(space.Cells{})}, observe.ErrRegion},
		{"cells of two sizes", observe.Entry{Region: observe.Fixed(space.Cells{space.At(1), space.At(1, 2)})}, observe.ErrRegion},
		{"many cells", observe.Entry{Region: observe.Fixed(make(space.Cells, 1<<16))}, observe.ErrRegion},
		{"pool", observe.Entry{Pool: observe.Pool{Kernel: observe.Max, Size: 1}}, observe.ErrPool},
		{"no kernel", observe.Entry{Pool: observe.Pool{Size: 1, Stride: 1}}, observe.ErrPool},
	} {
		_, err := observe.AppendMOBS(nil, observe.Spec{Entries: []observe.Entry{{}, tt.entry}})
		if e, ok := errors.AsType[*observe.Error](err); !ok || e.Fault != tt.want || e.Entry != 1 {
			t.Errorf("%s: AppendMOBS = %v, want %q of entry 1", tt.name, err, tt.want)
		}
	}
	if _, err := observe.AppendMOBS(nil, observe.Spec{Entries: make([]observe.Entry, 1<<16)}); !errors.Is(err, observe.ErrLimit) {
		t.Errorf("AppendMOBS of 65,536 entries = %v, want %q", err, observe.ErrLimit)
	}
}

// TestMOBSPage: the example of docs/OBSERVE.md is what it says.
func TestMOBSPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/OBSERVE.md")
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for _, m := range regexp.MustCompile(`(?m)^((?:[0-9a-f]{2} )+) +\S`).FindAllSubmatch(page, -1) {
		digits.WriteString(strings.ReplaceAll(string(m[1]), " ", ""))
	}
	got, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	want, err := observe.AppendMOBS(nil, observe.Spec{Entries: []observe.Entry{{
		Source: observe.Source{Field: 2}, Region: observe.AgentDisk(3), Transform: observe.Normalize(-1, 1),
		Pool: observe.Pool{Kernel: observe.Mean, Size: 3, Stride: 2},
	}}})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the page has %x, want %x, %v", got, want, err)
	}
}

func FuzzMOBS(f *testing.F) {
	b, err := observe.AppendMOBS(nil, everything)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("MOBS\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := observe.DecodeMOBS(b) // whatever b holds: no panic, no huge allocation
		if err != nil {
			if e, ok := errors.AsType[*observe.FormatError](err); !ok || e.Offset < 0 || e.Offset > int64(len(b)) {
				t.Errorf("DecodeMOBS = %v for %d bytes", err, len(b))
			}
			return
		}
		if again, err := observe.AppendMOBS(nil, s); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x decodes, but is written as %x, %v", b, again, err)
		}
		l := build(t, space.Square4{Rows: 5, Cols: 4})
		if plan, err := observe.Compile(s, l, randomDefs); err == nil && plan.Len() > 1<<26 {
			t.Errorf("a plan of %d elements", plan.Len())
		}
	})
}
