package replay_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay"
)

// An outcome is what the original reader made of an input.
type outcome struct {
	Open   json.RawMessage // "ok" or a refusal
	Frames int             `json:"frames_ok"`
	End    json.RawMessage // "eof" or a refusal
	Errors []struct {
		Frame, Command int
		Error          refusal
	} `json:"deserialize_errors"`
	Digest number

	Abort     bool `json:"process_abort"` // it died asking for memory
	Signal    int
	Stderr    string   `json:"stderr_first_line"`
	Otherwise *outcome `json:"outcome_if_allocation_had_succeeded"`
}

type refusal struct {
	Kind    string
	IOKind  string `json:"io_kind"`
	Display string
}

// kind is our kind for the original's error.
func (r *refusal) kind(t *testing.T) replay.Kind {
	t.Helper()
	switch {
	case r.Kind == "InvalidMagic":
		return replay.ErrMagic
	case r.Kind == "UnsupportedVersion":
		return replay.ErrVersion
	case r.Kind == "UnknownPayloadType":
		return replay.ErrUnknownPayload
	case r.Kind == "Io" && r.IOKind == "UnexpectedEof":
		return replay.ErrTruncated
	case r.Kind == "MalformedFrame" && strings.Contains(r.Display, "truncated frame header"):
		return replay.ErrTruncated
	case r.Kind == "MalformedFrame" && strings.Contains(r.Display, "exceeds limit"):
		return replay.ErrLimit
	case r.Kind == "MalformedFrame":
		return replay.ErrMalformed
	}
	t.Fatalf("unknown error %+v", r)
	return ""
}

// parse returns the kind of error that stands in an outcome's open or end, or "" for a string.
func parse(t *testing.T, raw json.RawMessage) replay.Kind {
	t.Helper()
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if s != "ok" && s != "eof" {
			t.Fatalf("unknown outcome %q", s)
		}
		return ""
	}
	var r refusal
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("outcome %s: %v", raw, err)
	}
	return r.kind(t)
}

func kindOf(err error) replay.Kind {
	if e, ok := errors.AsType[*replay.FormatError](err); ok {
		return e.Kind
	}
	return ""
}

// check reads an input and compares what comes of it. Where our reader is
// stricter, it says why: size known, it may find an input too short before it
// comes to the fault that the original names; and it refuses a payload with bytes
// left over, which the original drops.
func (want *outcome) check(t *testing.T, b []byte, size int64) {
	t.Helper()
	if want.Abort {
		want = want.Otherwise
	}
	r, err := replay.NewReaderSize(bytes.NewReader(b), size)
	if kind := parse(t, want.Open); kind != "" {
		if kindOf(err) != kind {
			t.Errorf("NewReader = %v, want %q as in %s", err, kind, want.Open)
		}
		return
	}
	if err != nil {
		t.Errorf("NewReader = %v, want none", err)
		return
	}
	digest, frames := fields.NewHash(), 0
	wantErrors := want.Errors
	var f replay.Frame
	for ; ; frames++ {
		if err = r.Next(&f); err != nil {
			break
		}
		digest = digest.Uint64(f.Tick)
		for i := range f.Records {
			rec := &f.Records[i]
			c, err := rec.Command()
			if len(wantErrors) > 0 && wantErrors[0].Frame == frames && wantErrors[0].Command == i {
				if kind := wantErrors[0].Error.kind(t); kindOf(err) != kind {
					t.Errorf("frame %d, command %d: %v, want %q", frames, i, err, kind)
				}
				wantErrors = wantErrors[1:]
				continue
			}
			if err != nil && !dropRest(&c, rec, err) {
				t.Errorf("frame %d, command %d: %v, want none", frames, i, err)
			}
			digest = digest.Bytes([]byte{rec.Tag}).Bytes(c.AppendPayload(nil))
		}
		digest = digest.Uint64(f.Hash)
	}
	wantEnd := parse(t, want.End)
	stricter := size >= 0 && wantEnd != "" && kindOf(err) == replay.ErrTruncated
	if (wantEnd == "") != (err == io.EOF) || kindOf(err) != wantEnd && !stricter {
		t.Errorf("after %d frames: %v, want %q as in %s", frames, err, wantEnd, want.End)
	}
	if frames != want.Frames || len(wantErrors) > 0 || uint64(digest) != uint64(want.Digest) {
		t.Errorf("%d frames, %d errors not seen, digest %016x; want %d, 0, %016x", frames, len(wantErrors), digest, want.Frames, want.Digest)
	}
}

// dropRest decodes a payload as the original does, without the bytes left over
// that made our decoder refuse it.
func dropRest(c *commands.Command, r *replay.Record, err error) bool {
	if kindOf(err) != replay.ErrMalformed || !strings.Contains(err.Error(), "left over") {
		return false
	}
	for n := len(r.Payload) - 1; n >= 0; n-- {
		if c.Decode(r.Tag, r.Payload[:n]) == nil {
			return true
		}
	}
	return false
}

// A table is a file of the malformed vectors: exactly one of its lists is filled.
type table struct {
	Schema      string
	BaseFile    string  `json:"base_file"`
	BaseLen     int     `json:"base_len"`
	BaseOutcome outcome `json:"base_outcome"`
	Cases       []struct {
		ID, Note string
		Bytes    string `json:"bytes_hex"`
		Outcome  outcome
	}
	Truncations []struct {
		Len     int
		Outcome outcome
	}
	Mutations []struct {
		Offset  int
		Byte    byte
		Outcome outcome
	}
}

// inputs yields every input of the table with its outcome.
func (v *table) inputs(t testing.TB, folder string, yield func(b []byte, want *outcome)) {
	t.Helper()
	for i := range v.Cases {
		b, err := hex.DecodeString(v.Cases[i].Bytes)
		if err != nil {
			t.Fatal(err)
		}
		yield(b, &v.Cases[i].Outcome)
	}
	if v.BaseFile == "" {
		return
	}
	base, err := os.ReadFile(filepath.Join(folder, v.BaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if v.BaseLen != 0 {
		if len(base) != v.BaseLen {
			t.Fatalf("%s has %d bytes, want %d", v.BaseFile, len(base), v.BaseLen)
		}
		yield(base, &v.BaseOutcome)
	}
	for i := range v.Truncations {
		yield(base[:v.Truncations[i].Len], &v.Truncations[i].Outcome)
	}
	for i := range v.Mutations {
		m := &v.Mutations[i]
		b := bytes.Clone(base)
		b[m.Offset] = m.Byte
		yield(b, &m.Outcome)
	}
}

func TestVectorsMalformed(t *testing.T) {
	folder := vectors.Path("murk/malformed")
	tables, bases, inputs := 0, map[string]bool{}, 0
	names := list(t, folder)
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		tables++
		t.Run(name, func(t *testing.T) {
			var v table
			readJSON(t, filepath.Join(folder, name), &v)
			bases[v.BaseFile] = true
			before := inputs
			v.inputs(t, folder, func(b []byte, want *outcome) {
				inputs++
				want.check(t, b, -1)
				want.check(t, b, int64(len(b)))
				if t.Failed() {
					t.Fatalf("the input was %x", b)
				}
			})
			if inputs == before {
				t.Errorf("no inputs in a table of schema %q", v.Schema)
			}
		})
	}
	recordings := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".json") {
			continue
		}
		recordings++
		if !bases[name] {
			t.Errorf("%s: not a table, and no table is based on it", name)
		}
	}
	t.Logf("murk/malformed: %d files: %d tables, %d recordings; %d inputs", len(names), tables, recordings, inputs)
}

// malformed returns the inputs of the tables of malformed recordings.
func malformed(t testing.TB) (all [][]byte) {
	t.Helper()
	folder := vectors.Path("murk/malformed")
	for _, name := range list(t, folder) {
		if strings.HasSuffix(name, ".json") {
			var v table
			readJSON(t, filepath.Join(folder, name), &v)
			v.inputs(t, folder, func(b []byte, _ *outcome) { all = append(all, b) })
		}
	}
	return all
}
