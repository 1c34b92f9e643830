package measure

import (
	"bytes"
	"io"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// busyInputs are 50 commands as a busy tick has them: mostly cells set by hand.
func busyInputs() []commands.Command {
	var inputs []commands.Command
	for i := range 50 {
		at := space.At(int32(i), int32(2*i))
		var c commands.Command
		switch i % 10 {
		case 3:
			c = commands.Move(uint64(i), at)
		case 5:
			c = commands.Spawn(at, commands.FieldValue{Field: 3, Value: 1}, commands.FieldValue{Field: 4, Value: 2})
		case 7:
			c = commands.SetParameter(uint32(i), 0.5)
		case 9:
			c = commands.Custom(7, []byte("sixteen bytes ok"))
		default:
			c = commands.SetField(at, 1, float32(i))
		}
		if i%2 == 0 {
			c = c.From(9, uint64(i))
		}
		c.Arrival = uint64(i + 1)
		inputs = append(inputs, c)
	}
	return inputs
}

// encode measures the writing of frames of 50 commands, in bytes.
func encode(r *run) ([]reading, error) {
	w, err := replay.NewWriter(io.Discard, replay.Header{})
	if err != nil {
		return nil, err
	}
	start, inputs, tick := w.Offset(), busyInputs(), uint64(0)
	write := func(n int) error {
		for range n {
			tick++
			if err := w.WriteFrame(tick, inputs, tick); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(1); err != nil {
		return nil, err
	}
	return r.alone(float64(w.Offset()-start), timed(write))
}

// decode measures the reading of such frames, every command decoded, in bytes.
func decode(r *run) ([]reading, error) {
	const frames = 500
	var file bytes.Buffer
	w, err := replay.NewWriter(&file, replay.Header{})
	if err != nil {
		return nil, err
	}
	start, inputs := w.Offset(), busyInputs()
	for i := range uint64(frames) {
		if err := w.WriteFrame(i+1, inputs, i); err != nil {
			return nil, err
		}
	}
	size := w.Offset() - start
	if err := w.Flush(); err != nil {
		return nil, err
	}
	var f replay.Frame
	return r.alone(float64(size), timed(func(n int) error {
		for range n {
			if err := readAll(file.Bytes(), &f); err != nil {
				return err
			}
		}
		return nil
	}))
}

// readAll reads a recording and decodes its commands.
func readAll(file []byte, f *replay.Frame) error {
	rd, err := replay.NewReader(bytes.NewReader(file))
	if err != nil {
		return err
	}
	for {
		if err := rd.Next(f); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for i := range f.Records {
			if _, err := f.Records[i].Command(); err != nil {
				return err
			}
		}
	}
}
