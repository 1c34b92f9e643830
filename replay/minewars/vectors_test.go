package minewars_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/minewars"
)

// A sidecar says what a vector holds, or what is wrong with it.
type sidecar struct {
	Vector     string
	Kind       string // "file", "stream", or one of these after "invalid-"
	Profile    string
	Size       int
	SHA256     string
	Error      minewars.Kind `json:"expect_error"`
	Canonical  bool          `json:"frames_canonical"`
	SameFrames string        `json:"same_frames_as"`
	Header     *struct {
		Header string `json:"checksum_header"`
		Data   string `json:"checksum_is_data"`
		Frames string `json:"checksum_frames"`
		Stored uint16 `json:"frames_compressed_len"`
		Raw    uint16 `json:"frames_raw_len"`
		Ranges map[string][2]int
	} `json:"file_header"`
	Start      start `json:"initialization"`
	Dictionary struct {
		Length int
		SHA256 string
		Hex    *string
	}
	Raw struct {
		Length  int
		SHA256  string
		SeaHash string
		Hex     *string
	} `json:"frames_raw"`
	Count  int    `json:"frame_count"`
	Last   uint64 `json:"last_tick"`
	Frames []frame
	Counts map[string]int `json:"messages_per_view"`
}

type start struct {
	Flags, Version, TickHz uint8 `json:"-"`
	Rate                   uint8 `json:"tick_hz"`
	Radius                 uint8
	Players, Cities        int
	Grid                   string
	Anonymous              bool
	Names                  []string
	Coords                 [][2]int8 `json:"city_coords"`
	Tiles                  string
}

func (s start) minewars() minewars.Start {
	g := minewars.Start{TickRate: s.Rate, Radius: s.Radius, Players: s.Players, Names: s.Names}
	if s.Grid == "square" || s.Grid == "sq" {
		g.Grid = minewars.Square
	}
	for _, c := range s.Coords {
		g.Cities = append(g.Cities, minewars.Tile{Y: c[0], X: c[1]})
	}
	for _, c := range s.Tiles {
		g.Map = append(g.Map, minewars.Terrain(strings.IndexRune("~*^.", c)))
	}
	return g
}

type frame struct {
	Offset   int64
	Size     int
	Delta    uint16
	Tick     uint64
	Kind     string
	Mask     uint8
	Lengths  []int
	Payload  string
	Messages []message
	Views    json.RawMessage // of numbers, or of payloads by number
}

type message struct {
	T                 string
	Player, City      uint8
	Digit             uint8
	Kind              string
	Ticks             uint16
	Local, Export     int8
	Finished, Started string
	At                *[2]int8
	Tiles             [][2]int8
	FinishedAt        *[2]int8 `json:"finished_at"`
	StartedAt         *[2]int8 `json:"started_at"`
}

var (
	ops = map[string]minewars.Op{
		"mine_active": minewars.Activated, "digit": minewars.Digit, "eliminated": minewars.Eliminated, "road": minewars.Road,
		"explosion": minewars.Explosion, "defield": minewars.Removed, "city_resources": minewars.Resources,
		"city_production": minewars.Production, "place": minewars.Placed, "stun": minewars.Stunned, "recover": minewars.Recovered,
		"owner": minewars.Owner,
	}
	items = map[string]minewars.Item{"": 0, "mine": minewars.Mine, "decoy": minewars.Decoy, "road": minewars.RoadItem, "cancel": minewars.Cancelled}
)

func (m message) minewars(t *testing.T) minewars.Message {
	op, known := ops[m.T]
	if !known {
		t.Fatalf("message %q is not known", m.T)
	}
	g := minewars.Message{
		Op: op, Player: m.Player, City: m.City, Number: m.Digit, Item: items[m.Kind], Ticks: m.Ticks, Local: m.Local, Export: m.Export,
		Finished: items[m.Finished], Started: items[m.Started],
	}
	for _, at := range []*[2]int8{m.At, m.FinishedAt, m.StartedAt} {
		if at != nil {
			g.Tiles = append(g.Tiles, minewars.Tile{Y: at[0], X: at[1]})
		}
	}
	for _, at := range m.Tiles {
		g.Tiles = append(g.Tiles, minewars.Tile{Y: at[0], X: at[1]})
	}
	return g
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(vectors.Path("minewars/" + name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readVector(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(vectors.Path("minewars/" + name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(b []byte, stream bool) (*minewars.Reader, error) {
	if stream {
		return minewars.NewStreamReader(bytes.NewReader(b), minewars.Options{})
	}
	return minewars.NewReader(bytes.NewReader(b), minewars.Options{})
}

// readAll returns the frames of a stream up to its end, or an error.
func readAll(r *minewars.Reader) (frames []*minewars.Frame, err error) {
	for {
		f := new(minewars.Frame)
		if err := r.Next(f); err == io.EOF {
			return frames, nil
		} else if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

// TestVectors reads all vectors: what is valid is what its sidecar says and encodes back to the same
// frames, and what is not has the error that its sidecar names.
func TestVectors(t *testing.T) {
	entries, err := os.ReadDir(vectors.Path("minewars"))
	if err != nil {
		t.Fatal(err)
	}
	valid, hostile := 0, 0
	for _, e := range entries {
		switch name := e.Name(); filepath.Ext(name) {
		case ".md":
		case ".mw1", ".mw1s", ".mw1r6":
			if _, err := os.Stat(vectors.Path("minewars/" + strings.TrimSuffix(name, filepath.Ext(name)) + ".json")); err != nil {
				t.Errorf("%s has no sidecar", name)
			}
		case ".json":
			if name == "seahash.json" || name == "messages.json" || name == "map-and-dictionary.json" {
				continue
			}
			t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
				var s sidecar
				readJSON(t, name, &s)
				b := readVector(t, s.Vector)
				if sum := sha256.Sum256(b); len(b) != s.Size || hex.EncodeToString(sum[:]) != s.SHA256 {
					t.Fatalf("%s has %d bytes of SHA-256 %x; its sidecar says %d of %s", s.Vector, len(b), sum, s.Size, s.SHA256)
				}
				switch {
				case s.Error != "" || s.Profile != "mw1":
					hostile++
					checkHostile(t, &s, b)
				default:
					valid++
					checkValid(t, &s, b)
				}
			})
		default:
			t.Errorf("%s is none of a vector, a sidecar and the index", name)
		}
	}
	if valid == 0 || hostile == 0 {
		t.Errorf("%d valid vectors and %d hostile ones; want some of each", valid, hostile)
	}
}

// wantOffset is where the errors of hostile vectors lie, found by hand from how each was made.
var wantOffset = map[string]int64{
	"x01-checksum-1-bit.mw1": 0, "x02-checksum-2-bit.mw1": 0, "x03-is-data-bit.mw1": 8, "x05-header-truncated.mw1": 27, "x06-is-truncated.mw1": 33,
	"x07-frames-truncated.mw1": 130, "x08-trailing-byte.mw1": 131, "x09-compressed-longer-than-raw.mw1": 24, "x10-version-2.mw1": 29,
	"x11-reserved-flag.mw1": 28, "x12-zero-tick-rate.mw1": 30, "x15-map-raw-length.mw1": 36, "x17-lz4-short-output.mw1": 80,
	"x19-lz4-offset-before-dictionary.mw1": 80, "x21-lz4-endless-length.mw1": 80, "x22-frames-truncated-inside-payload.mw1": 76,
	"x23-heterogeneous-empty-mask.mw1": 2, "x24-no-participants.mw1": 3, "x25-kind-conflict.mw1": 2, "x26-ambiguous-first-length.mw1": 9,
	"x27-view-out-of-range.mw1": 2, "x28-reserved-opcode-08.mw1": 4, "x31-reserved-opcode-f3.mw1": 4, "x32-message-truncated.mw1": 8,
	"x34-coordinate-outside-map.mw1": 5, "x35-player-out-of-range.mw1": 4, "x37-reserved-item.mw1": 5, "x39-name-not-utf8.mw1": 42,
	"x41-stream-ends-inside-frame.mw1s": 75, "x43-foreign-2024-map.mw1": 29, "20-r6-header-named.mw1r6": 40,
}

func checkHostile(t *testing.T, s *sidecar, b []byte) {
	r, err := open(b, s.Kind == "invalid-stream")
	if err == nil {
		_, err = readAll(r)
	}
	e, ok := errors.AsType[*minewars.Error](err)
	if !ok {
		t.Fatalf("error %v is no *minewars.Error", err)
	}
	if want, known := wantOffset[s.Vector]; s.Error != "" && e.Kind != s.Error || known && e.Offset != want {
		t.Errorf("error %v, want %s at %d", err, s.Error, want)
	}
}

func checkValid(t *testing.T, s *sidecar, b []byte) {
	r, err := open(b, s.Kind == "stream")
	if err != nil {
		t.Fatal(err)
	}
	want := s.Start.minewars()
	if got := r.Start(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Start() = %v, want %v", got, want)
	}
	if (r.Start().Names == nil) != s.Start.Anonymous {
		t.Errorf("names %q, but anonymous is %v", r.Start().Names, s.Start.Anonymous)
	}
	checkBytes(t, "dictionary", minewars.Dictionary(r.Start()), s.Dictionary.Hex, s.Dictionary.Length, s.Dictionary.SHA256)
	raw := r.RawFrames()
	if s.Header == nil {
		raw = b[len(b)-s.Raw.Length:]
	} else {
		checkSums(t, s, b)
	}
	checkBytes(t, "frames", raw, s.Raw.Hex, s.Raw.Length, s.Raw.SHA256)
	if got := fmt.Sprintf("%016x", minewars.SeaHash(raw)); got != s.Raw.SeaHash {
		t.Errorf("SeaHash of the frames = %s, want %s", got, s.Raw.SeaHash)
	}
	frames, err := readAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if s.SameFrames != "" {
		var other sidecar
		readJSON(t, strings.TrimSuffix(s.SameFrames, ".mw1")+".json", &other)
		s.Frames = other.Frames
	}
	checkFrames(t, s, frames)
	if again := encodeUpdates(t, want, frames); s.Canonical != bytes.Equal(again, raw) {
		t.Errorf("encoded again the frames are\n%x, from\n%x; canonical is %v", again, raw, s.Canonical)
	}
}

func checkBytes(t *testing.T, what string, got []byte, want *string, size int, sum string) {
	t.Helper()
	if want != nil && hex.EncodeToString(got) != *want {
		t.Errorf("%s = %x, want %s", what, got, *want)
	}
	if s := sha256.Sum256(got); len(got) != size || hex.EncodeToString(s[:]) != sum {
		t.Errorf("%s has %d bytes of SHA-256 %x, want %d of %s", what, len(got), s, size, sum)
	}
}

func checkSums(t *testing.T, s *sidecar, b []byte) {
	t.Helper()
	h := s.Header
	for i, sum := range []struct{ key, want string }{{"checksum_header", h.Header}, {"checksum_is_data", h.Data}, {"checksum_frames", h.Frames}} {
		span := h.Ranges[sum.key]
		if got := fmt.Sprintf("%016x", minewars.SeaHash(b[span[0]:span[1]])); got != sum.want || hex.EncodeToString(b[8*i:8*i+8]) != sum.want {
			t.Errorf("%s of %v = %s, in the file %x; want %s", sum.key, span, got, b[8*i:8*i+8], sum.want)
		}
	}
}

func checkFrames(t *testing.T, s *sidecar, frames []*minewars.Frame) {
	if len(frames) != s.Count || len(s.Frames) != s.Count {
		t.Fatalf("%d frames, want %d", len(frames), s.Count)
	}
	counts, last := map[string]int{}, uint64(0)
	for i, f := range frames {
		checkFrame(t, &s.Frames[i], f)
		last = f.Tick
		for v := range s.Start.Players + 1 {
			if n := len(f.For(v)); n > 0 {
				counts[strconv.Itoa(v)] += n
			}
		}
	}
	if fmt.Sprint(counts) != fmt.Sprint(s.Counts) || last != s.Last {
		t.Errorf("messages %v up to tick %d, want %v up to %d", counts, last, s.Counts, s.Last)
	}
}

func checkFrame(t *testing.T, want *frame, f *minewars.Frame) {
	kind := "heterogeneous"
	switch {
	case f.Filler():
		kind = "filler"
	case f.Homogeneous():
		kind = "homogeneous"
	}
	if f.Offset != want.Offset || f.Size != want.Size || f.Delta != want.Delta || f.Tick != want.Tick || f.Mask != want.Mask || kind != want.Kind {
		t.Errorf("frame %+v of kind %s, want %+v", f, kind, want)
	}
	if f.Homogeneous() {
		checkMessages(t, f.Lists[0], want.Payload, want.Messages)
		var views []int
		if err := json.Unmarshal(want.Views, &views); err != nil {
			t.Fatal(err)
		}
		for _, v := range views {
			checkMessages(t, f.For(v), want.Payload, want.Messages)
		}
		return
	}
	var views map[string]struct {
		Payload  string
		Messages []message
	}
	if err := json.Unmarshal(want.Views, &views); err != nil {
		t.Fatal(err)
	}
	for v := range minewars.MaxPlayers + 1 {
		checkMessages(t, f.For(v), views[strconv.Itoa(v)].Payload, views[strconv.Itoa(v)].Messages)
	}
}

func checkMessages(t *testing.T, got []minewars.Message, payload string, want []message) {
	t.Helper()
	var b []byte
	for i := range got {
		var err error
		if b, err = minewars.AppendMessage(b, &got[i]); err != nil {
			t.Error(err)
		}
		if i < len(want) {
			if w := want[i].minewars(t); fmt.Sprint(got[i]) != fmt.Sprint(w) {
				t.Errorf("message %+v, want %+v", got[i], w)
			}
		}
	}
	if len(got) != len(want) || hex.EncodeToString(b) != payload {
		t.Errorf("%d messages %x, want %d %s", len(got), b, len(want), payload)
	}
}

// updates gathers the frames of each tick; fillers that end them stay apart.
func updates(s minewars.Start, frames []*minewars.Frame) (list []*minewars.Update, end uint64) {
	for _, f := range frames {
		end = f.Tick
		if f.Filler() {
			continue
		}
		if len(list) == 0 || list[len(list)-1].Tick != f.Tick {
			list = append(list, &minewars.Update{Tick: f.Tick})
		}
		u := list[len(list)-1]
		for v := range s.Players + 1 {
			u.Views[v] = append(u.Views[v], f.For(v)...)
		}
	}
	return list, end
}

func encodeUpdates(t testing.TB, s minewars.Start, frames []*minewars.Frame) (b []byte) {
	t.Helper()
	e, err := minewars.NewEncoder(s)
	if err != nil {
		t.Fatal(err)
	}
	list, end := updates(s, frames)
	for _, u := range list {
		if b, err = e.Append(b, u); err != nil {
			t.Fatal(err)
		}
	}
	return e.AppendIdle(b, end)
}

func TestVectorsSeaHash(t *testing.T) {
	var table struct {
		Published []struct {
			Kind, Text string
			Dec        *uint64 `json:"value_dec"`
			Input      uint64  `json:"input_dec"`
			Hex        string  `json:"value_hex"`
		}
		Generated []struct {
			Description string
			Length      int
			Hex         string   `json:"value_hex"`
			Input       *string  `json:"input_hex"`
			Seed        []string `json:"seed_hex"`
		}
		Differ [][2]string `json:"must_differ"`
	}
	readJSON(t, "seahash.json", &table)
	if len(table.Published) == 0 || len(table.Generated) == 0 || len(table.Differ) == 0 {
		t.Fatal("the table has no values")
	}
	for _, p := range table.Published {
		got := minewars.Diffuse(p.Input)
		if p.Kind == "hash" {
			got = minewars.SeaHash([]byte(p.Text))
		}
		if p.Dec != nil && got != *p.Dec || p.Hex != "" && fmt.Sprintf("%016x", got) != p.Hex {
			t.Errorf("%s of %q %d = %d", p.Kind, p.Text, p.Input, got)
		}
	}
	for _, g := range table.Generated {
		b := unhex(t, g.Input)
		if g.Input == nil {
			for i := range g.Length {
				b = append(b, byte(i%251))
			}
		}
		got := minewars.SeaHash(b)
		if g.Seed != nil {
			var seed [4]uint64
			for i, s := range g.Seed {
				seed[i], _ = strconv.ParseUint(s, 16, 64)
			}
			got = minewars.SeaHashFrom(seed, b)
		}
		if s := fmt.Sprintf("%016x", got); s != g.Hex || len(b) != g.Length {
			t.Errorf("%s: %s of %d bytes, want %s of %d", g.Description, s, len(b), g.Hex, g.Length)
		}
	}
	for _, d := range table.Differ {
		if minewars.SeaHash(unhex(t, &d[0])) == minewars.SeaHash(unhex(t, &d[1])) {
			t.Errorf("%s and %s have one hash", d[0], d[1])
		}
	}
}

func unhex(t *testing.T, s *string) []byte {
	t.Helper()
	if s == nil {
		return nil
	}
	b, err := hex.DecodeString(*s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVectorsMessages(t *testing.T) {
	var table struct {
		Valid []struct {
			Hex     string
			Message message
		}
		Invalid []struct {
			Hex   string
			Error minewars.Kind
		}
	}
	readJSON(t, "messages.json", &table)
	if len(table.Valid) == 0 || len(table.Invalid) == 0 {
		t.Fatal("the table has no messages")
	}
	for _, v := range table.Valid {
		m, err := minewars.DecodeMessage(unhex(t, &v.Hex))
		if err != nil {
			t.Errorf("%s: %v", v.Hex, err)
			continue
		}
		checkMessages(t, []minewars.Message{m}, v.Hex, []message{v.Message})
	}
	for _, v := range table.Invalid {
		if m, err := minewars.DecodeMessage(unhex(t, &v.Hex)); !errors.Is(err, v.Error) {
			t.Errorf("%s = %+v, %v; want %s", v.Hex, m, err, v.Error)
		}
	}
}

func TestVectorsMap(t *testing.T) {
	var table struct {
		Rings []struct {
			Grid   string
			Radius uint8
			Tiles  int
			Bytes  int       `json:"map_bytes"`
			Order  [][2]int8 `json:"order"`
		}
		Maps []struct {
			Grid       string
			Radius     uint8
			Players    int
			Cities     int
			Rate       uint8 `json:"tick_hz"`
			Codes      string
			Packed     string `json:"packed_hex"`
			Dictionary string `json:"dictionary_hex"`
		}
	}
	readJSON(t, "map-and-dictionary.json", &table)
	if len(table.Rings) == 0 || len(table.Maps) == 0 {
		t.Fatal("the table has no maps")
	}
	for _, v := range table.Rings {
		s := start{Grid: v.Grid}.minewars()
		rings := s.Grid.Rings(int(v.Radius))
		want := make([]minewars.Tile, 0, v.Tiles)
		for _, c := range v.Order {
			want = append(want, minewars.Tile{Y: c[0], X: c[1]})
		}
		if !slices.Equal(rings, want) || len(rings) != v.Tiles || len(minewars.PackMap(make([]minewars.Terrain, v.Tiles))) != v.Bytes {
			t.Errorf("%s of radius %d: %v, want %v", v.Grid, v.Radius, rings, want)
		}
	}
	for _, v := range table.Maps {
		s := start{Grid: v.Grid, Radius: v.Radius, Players: v.Players, Rate: v.Rate}.minewars()
		s.Cities = make([]minewars.Tile, v.Cities)
		for _, c := range v.Codes {
			s.Map = append(s.Map, minewars.Terrain(c-'0'))
		}
		if got := hex.EncodeToString(minewars.PackMap(s.Map)); got != v.Packed {
			t.Errorf("map %s packed = %s, want %s", v.Codes, got, v.Packed)
		}
		if got := hex.EncodeToString(minewars.Dictionary(s)); got != v.Dictionary {
			t.Errorf("dictionary of %s = %s, want %s", v.Codes, got, v.Dictionary)
		}
	}
}
