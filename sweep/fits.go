package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// Fits returns an error unless a file can be what was kept of a row, whose job has the scenario s: by its ending .state a state of the row's
// last tick, else a recording that ends with the row's tick and hash. If s is nil, a recording must have the row's ID, and a state may be of any scenario. The hash of a state is not compared: it covers the commands of its
// tick, which a state does not hold. An error of the disk is a [*io/fs.PathError].
func (row *Row) Fits(s *scenarios.Scenario, path string) error {
	if filepath.Ext(path) == ".state" {
		return row.fitsState(s, path)
	}
	of := row
	if s != nil {
		of = nil
	}
	tick, hash, err := lastOf(s, of, path)
	if err != nil {
		return err
	}
	return row.FitsEnd(row.ID, tick, hash)
}

// FitsEnd returns an error unless a recording of the job with an id, which ends with a tick and its hash, can be what was kept of the row.
func (row *Row) FitsEnd(id ID, tick uint64, hash string) error {
	switch err := row.FitsJob(id); {
	case err != nil:
		return err
	case tick != row.Ticks:
		return fmt.Errorf("it ends with tick %d; the row has %d ticks", tick, row.Ticks)
	case tick > 0 && hash != row.Hash && !(row.Hash == "" && row.Status == Panic): // one outside of a tick leaves no hash
		return fmt.Errorf("it ends with the hash %s; the row has %s", hash, row.Hash)
	}
	return nil
}

// FitsJob returns an error unless a recording of the job with an id is of the row's job, whatever its end.
func (row *Row) FitsJob(id ID) error {
	if id != row.ID {
		return errAnother
	}
	return nil
}

// errAnother reports a recording that is not of a row's job.
var errAnother = errors.New("it is the recording of another job")

// LastOf returns the last tick of a recording of a scenario, and its hash; tick 0 if it has no frame. A recording of anything else is an error;
// if s is nil, there is nothing else.
func LastOf(s *scenarios.Scenario, path string) (tick uint64, hash string, err error) {
	return lastOf(s, nil, path)
}

// idOf is the ID of the job that a recording with this descriptor is of.
func idOf(descriptor []byte) ID {
	const unsaid = 1000 // ticks of a scenario that does not say how many
	planned := struct{ Ticks uint64 }{unsaid}
	if json.Unmarshal(descriptor, &planned) != nil {
		return ID{} // of no scenario
	}
	return sha256.Sum256(binary.LittleEndian.AppendUint64(bytes.Clone(descriptor), planned.Ticks))
}

// lastOf is LastOf, and if there is no scenario, of a recording of a row's job.
func lastOf(s *scenarios.Scenario, row *Row, path string) (tick uint64, hash string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer in.Close()
	r, err := replay.NewReader(in)
	if err != nil {
		return 0, "", err
	}
	if s != nil && !bytes.Equal(r.Header.Descriptor, s.Descriptor()) {
		return 0, "", errAnother
	}
	if row != nil {
		if err := row.FitsJob(idOf(r.Header.Descriptor)); err != nil {
			return 0, "", err
		}
	}
	var f replay.Frame
	last, frames := uint64(0), replay.InOrder(r)
	for {
		switch err := frames.Next(&f); {
		case err == io.EOF:
			return tick, fmt.Sprintf("%016x", last), nil
		case err != nil:
			return 0, "", err
		}
		tick, last = f.Tick, f.Hash
	}
}

func (row *Row) fitsState(s *scenarios.Scenario, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if b, err = engine.Unseal(b); err != nil {
		return err
	}
	state, err := engine.ReadState(b)
	switch {
	case err != nil:
		return err
	case s != nil && state.Descriptor != sha256.Sum256(s.Descriptor()):
		return errors.New("it is the state of another job")
	case state.Tick != row.Ticks:
		return fmt.Errorf("it is the state of tick %d; the row has %d ticks", state.Tick, row.Ticks)
	}
	return nil
}

// Recordings calls visit with the name in the folder of each recording that the sweep names: those that its rows keep, and those of jobs that
// came to different ends. fits reads one and returns an error unless it is a regular file that can be what the sweep means. Of a job that came
// to different ends, what was kept may show either, and a recording of the difference any.
func (j *Journal) Recordings(folder string, visit func(name string, fits func() error)) error {
	for job := range j.places {
		if !j.Has(job) {
			continue
		}
		row, err := j.Row(job)
		if err != nil {
			return err
		}
		check := j.Checks[job]
		if filepath.Ext(row.Kept) == ".murk" {
			visit(row.Kept, func() error {
				path, err := FindKept(folder, row.Kept)
				if err != nil {
					return errors.Unwrap(err)
				}
				if err = row.Fits(nil, path); err != nil && j.differs(job) && check.Row.Fits(nil, path) == nil {
					err = nil
				}
				return err
			})
		}
		for _, name := range check.Files {
			visit(name, func() error {
				path, err := FindKept(folder, name)
				if err != nil {
					return errors.Unwrap(err)
				}
				_, _, err = lastOf(nil, row, path)
				return err
			})
		}
	}
	return nil
}

// IsKeptName reports whether a path, from the folder of a sweep, is that of a recording which a sweep keeps.
func IsKeptName(path string) bool {
	path = filepath.ToSlash(path)
	return plainKept.MatchString(path) || plainEvidence.MatchString(path)
}
