package replay

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/murksim/murksim/engine"
)

// A Recorder records a world: it implements [engine.Recorder].
type Recorder struct {
	*Writer
	last uint64 // the tick that was recorded last
}

// NewRecorder begins the recording of a world at genesis; one that has gone on is
// refused, because a replay begins there. The descriptor is what [NewPlayer]'s
// builder is to rebuild the world from.
func NewRecorder(sink io.Writer, w *engine.World, descriptor []byte) (*Recorder, error) {
	if w.Tick() != 0 {
		return nil, fmt.Errorf("replay: the world is at tick %d; a recording begins at genesis", w.Tick())
	}
	wr, err := NewWriter(sink, HeaderOf(w, descriptor))
	if err != nil {
		return nil, err
	}
	return &Recorder{Writer: wr}, nil
}

// Record implements [engine.Recorder]. It refuses the tick after a reset, which a
// replay would not meet: that is another recording.
func (r *Recorder) Record(t *engine.Tick) error {
	if t.Number != r.last+1 {
		return fmt.Errorf("replay: tick %d after tick %d: the world was reset; begin another recording", t.Number, r.last)
	}
	if err := r.WriteFrame(t.Number, t.Inputs, t.Hash()); err != nil {
		return err
	}
	r.last = t.Number
	return nil
}

// HeaderOf is the header of a recording of this world by this program.
func HeaderOf(w *engine.World, descriptor []byte) Header {
	s := w.Setup(descriptor)
	return Header{
		Build: ThisBuild(), Seed: s.Seed, ConfigHash: s.Hash(),
		FieldCount: s.Fields, CellCount: s.Cells, Descriptor: descriptor,
	}
}

// ThisBuild names this program.
func ThisBuild() Build {
	b := Build{Toolchain: runtime.Version(), Target: runtime.GOOS + "/" + runtime.GOARCH, Version: engine.Version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOAMD64", "GOARM64", "GO386", "GORISCV64", "GOPPC64", "-race":
			if b.Flags != "" {
				b.Flags += " "
			}
			b.Flags += s.Key + "=" + s.Value
		}
	}
	return b
}
