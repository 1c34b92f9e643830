// Package foreign replays recordings that were not made by this engine. Such a
// recording does not describe its world; a world file does: a JSON document
// with the space, the fields, the propagators, the time step, the seed and, where
// ticks failed or the world was reset, the steps that the recording cannot hold.
//
// The worlds follow the rules of the original Murk engine, version 0.1.9, so that
// its recordings can be checked hash by hash.
package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A File is a world file.
type File struct {
	Space       Space       `json:"space"`
	Fields      []Field     `json:"fields"`
	Propagators Propagators `json:"propagators"`
	Dt          float64     `json:"dt"`   // seconds
	Seed        Number      `json:"seed"` // of the world; the original's propagators draw nothing from it
	Queue       int         `json:"max_ingress_queue"`
	StepCount   int         `json:"step_count"` // step calls that were made, including failed ones; 0: one a frame
	Steps       []Step      `json:"steps"`      // those that the recording does not hold in full, by ascending number

	name string
	remarks
}

// remarks are other contents of a world file, which are ignored.
type remarks struct {
	Schema          remark `json:"schema"`
	ID              remark `json:"id"`
	Kind            remark `json:"kind"`
	Exercises       remark `json:"exercises"`
	DtBits          remark `json:"dt_bits"`
	RingBuffer      remark `json:"ring_buffer_size"`
	Init            remark `json:"init"`
	Build           remark `json:"build_metadata"`
	HasErrors       remark `json:"has_errors"`
	InitialHash     remark `json:"initial_hash"`
	Hashes          remark `json:"hashes"`
	FinalHash       remark `json:"final_hash"`
	FinalTick       remark `json:"final_tick"`
	FinalParameter  remark `json:"final_parameter_version"`
	FinalGeneration remark `json:"final_generation"`
	Checkpoints     remark `json:"checkpoints"`
	FinalFields     remark `json:"final_fields"`
	ReplayFile      remark `json:"replay_file"`
	ReplayFNV1a     remark `json:"replay_fnv1a"`
	FinalFieldsFile remark `json:"final_fields_file"`
}

// A remark is a value that is ignored.
type remark struct{}

// UnmarshalJSON implements [json.Unmarshaler].
func (*remark) UnmarshalJSON([]byte) error { return nil }

// A Number is an unsigned number of 64 bits: a JSON number, or a string where a
// number would lose digits.
type Number uint64

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(strings.Trim(string(b), `"`), 10, 64)
	if err != nil {
		return &valueError{bytes.Clone(b), fmt.Errorf("%s is not a whole number of 0 to %d", b, uint64(math.MaxUint64))}
	}
	*n = Number(v)
	return nil
}

// A Space is a lattice in the original's words.
type Space struct {
	Type       string  `json:"type"` // line1d, ring1d, square4, square8, hex2d, fcc12 or product
	Len        int     `json:"len"`
	Rows       int     `json:"rows"`
	Cols       int     `json:"cols"`
	W          int     `json:"w"`
	H          int     `json:"h"`
	D          int     `json:"d"`
	Edge       string  `json:"edge"` // absorb, clamp or wrap
	Components []Space `json:"components"`
}

// A Field is a field; units, bounds and boundary had no effect.
type Field struct {
	ID         *int   `json:"id"`
	Name       string `json:"name"`
	Type       string `json:"type"` // scalar, vector or categorical
	Dims       int    `json:"dims"`
	Values     int    `json:"n_values"`
	Mutability string `json:"mutability"` // per_tick, sparse or static
	Units      remark `json:"units"`
	Bounds     remark `json:"bounds"`
	Boundary   remark `json:"boundary"`
}

// A Step is what the recording of a step call does not hold.
type Step struct {
	Step      int             `json:"step"`       // which call, from 1
	ResetSeed *Number         `json:"reset_seed"` // the world was reset with it before
	Actions   []Action        `json:"actions"`    // pushed to the movement of agents before
	Commands  []Command       `json:"commands"`   // submitted, in this order; read if the tick failed
	Error     json.RawMessage `json:"error"`      // present, and not null, if the tick failed

	TickAfter remark `json:"tick_after"`
	Receipts  remark `json:"receipts"`
	HashAfter remark `json:"snapshot_hash_after"`
	Disabled  remark `json:"tick_disabled"`
	Rollbacks remark `json:"consecutive_rollbacks"`
}

// An Error says what is wrong with a world file, and where.
type Error struct {
	File         string
	Line, Column int // of the JSON text, from 1; 0: not known
	Err          error
}

// Error implements error.
func (e *Error) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	return at + ": " + strings.ReplaceAll(e.Err.Error(), "json: ", "")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// The largest world file, how many objects and arrays it may have, which take far more
// memory than text, and how many propagators, as many as a scenario may have.
const (
	MaxFile        = 64 << 20 // bytes
	MaxParts       = 1 << 21
	maxPropagators = 1024
)

// Parse reads a world file; name is for errors, which are of type [*Error].
func Parse(name string, r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFile {
		return nil, &Error{File: name, Err: fmt.Errorf("more than %d bytes", MaxFile)}
	}
	if n := bytes.Count(data, []byte("{")) + bytes.Count(data, []byte("[")); n > MaxParts {
		return nil, &Error{File: name, Err: fmt.Errorf("more than %d objects and arrays", MaxParts)}
	}
	if err := json.Unmarshal(data, new(remark)); err != nil { // well-formed?
		return nil, locate(name, data, err)
	}
	f := &File{name: name}
	if at, err := scan(data, f); err != nil {
		return nil, placed(name, data, int64(at)+1, err)
	}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, locate(name, data, err)
	}
	if err := f.check(); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	return f, nil
}

// locate adds to an error its place in the file, if that is known.
func locate(name string, data []byte, err error) error {
	offset := int64(0)
	_, inside := errors.AsType[*elementError](err)
	v, _ := errors.AsType[*valueError](err)
	key, unknown := errors.AsType[*unknownKeyError](err)
	if v != nil {
		if bytes.Count(data, v.text) != 1 {
			return &Error{File: name, Err: err}
		}
		offset = int64(bytes.Index(data, v.text)) + 1
	} else if e, ok := errors.AsType[*json.SyntaxError](err); ok && !inside {
		if offset = e.Offset; strings.HasPrefix(e.Error(), "unexpected end") {
			err = errors.New("the document ends here, unfinished")
		} else if strings.HasSuffix(e.Error(), "after top-level value") {
			err = errors.New("something follows the document")
		}
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && !inside {
		offset = e.Offset
	} else if unknown && bytes.Count(data, key.quoted()) == 1 {
		offset = int64(bytes.Index(data, key.quoted())) + 1
	} else {
		return &Error{File: name, Err: err}
	}
	return placed(name, data, offset, err)
}

// placed adds to an error the place of the byte with that number, from 1.
func placed(name string, data []byte, offset int64, err error) error {
	before := data[:min(max(offset-1, 0), int64(len(data)))]
	return &Error{
		File: name, Line: 1 + bytes.Count(before, []byte("\n")), Column: len(before) - bytes.LastIndexByte(before, '\n'), Err: err,
	}
}

// check checks what the check of the world's configuration does not cover.
func (f *File) check() error {
	last := 0
	for i, s := range f.Steps {
		if s.Step <= last || f.StepCount > 0 && s.Step > f.StepCount {
			return fmt.Errorf("steps[%d]: step %d; steps ascend from 1 to step_count", i, s.Step)
		}
		last = s.Step
	}
	for i := range f.Fields {
		if id := f.Fields[i].ID; id != nil && *id != i {
			return fmt.Errorf("fields[%d]: its id is %d; fields stand in the order of their ids", i, *id)
		}
	}
	switch {
	case f.Dt == 0:
		return errors.New("dt is missing or 0")
	case f.StepCount < 0:
		return fmt.Errorf("step_count is %d", f.StepCount)
	}
	return nil
}

// lastStep returns the last step call in the file; 0: none.
func (f *File) lastStep() int {
	if f.StepCount == 0 && len(f.Steps) > 0 {
		return f.Steps[len(f.Steps)-1].Step
	}
	return f.StepCount
}

// config returns the world's configuration. The propagators are new ones, since those of the
// original keep things between ticks.
func (f *File) config(workers int) (engine.Config, *actionQueue, error) {
	c := engine.Config{Rules: engine.Murk019, Timestep: f.Dt, Seed: uint64(f.Seed), QueueSize: f.Queue, Workers: workers}
	var err error
	if c.Space, err = f.Space.Build(); err != nil {
		return c, nil, fmt.Errorf("space: %w", err)
	}
	for i := range f.Fields {
		d, err := f.Fields[i].def()
		if err != nil {
			return c, nil, fmt.Errorf("fields[%d]: %w", i, err)
		}
		c.Fields = append(c.Fields, d)
	}
	cells, _, err := space.Estimate(c.Space)
	if err != nil {
		return c, nil, fmt.Errorf("space: %w", err)
	}
	b := builder{cells: int(cells), actions: new(actionQueue)}
	for i, p := range f.Propagators {
		b.name = fmt.Sprintf("%s %d", p.Type, i)
		built, err := p.params.build(&b)
		if err != nil {
			return c, nil, fmt.Errorf("propagators[%d]: %w", i, err)
		}
		c.Propagators = append(c.Propagators, built)
	}
	return c, b.actions, nil
}

// Build returns the space that s describes.
func (s *Space) Build() (space.Space, error) {
	edge := space.Absorb
	if s.Edge != "" {
		var err error
		if edge, err = space.ParseEdge(s.Edge); err != nil {
			return nil, err
		}
	}
	switch s.Type {
	case "line1d":
		return space.Line{Length: s.Len, Edge: edge}, nil
	case "ring1d":
		return space.Ring{Length: s.Len}, nil
	case "square4":
		return space.Square4{Rows: s.Rows, Cols: s.Cols, Edge: edge}, nil
	case "square8":
		return space.Square8{Rows: s.Rows, Cols: s.Cols, Edge: edge}, nil
	case "hex2d":
		return space.Hex{Cols: s.Cols, Rows: s.Rows}, nil
	case "fcc12":
		return space.FCC12{W: s.W, H: s.H, D: s.D, Edge: edge}, nil
	case "product":
		var p space.Product
		for i := range s.Components {
			part, err := s.Components[i].Build()
			if err != nil {
				return nil, fmt.Errorf("components[%d]: %w", i, err)
			}
			p = append(p, part)
		}
		return p, nil
	}
	return nil, fmt.Errorf("there is no space %q; use line1d, ring1d, square4, square8, hex2d, fcc12 or product", s.Type)
}

func (f *Field) def() (fields.Def, error) {
	d := fields.Def{Name: f.Name}
	switch f.Type {
	case "scalar":
	case "vector":
		d.Type = fields.Vector(f.Dims)
	case "categorical":
		d.Type = fields.Categorical(f.Values)
	default:
		return d, fmt.Errorf("there is no type %q; use scalar, vector or categorical", f.Type)
	}
	for _, m := range []fields.Mutability{fields.PerTick, fields.Sparse, fields.Static} {
		if f.Mutability == m.String() {
			d.Mutability = m
			return d, nil
		}
	}
	return d, fmt.Errorf("there is no mutability %q; use per_tick, sparse or static", f.Mutability)
}
