package sweep

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// FirstDifference compares two recordings of one job. It returns the first tick that has different hashes or commands,
// or that only one of them has; 0: there is none.
func FirstDifference(a, b io.Reader) (tick uint64, err error) {
	x, err := replay.NewReader(a)
	if err != nil {
		return 0, err
	}
	y, err := replay.NewReader(b)
	if err != nil {
		return 0, err
	}
	var f, g replay.Frame
	for {
		err1, err2 := x.Next(&f), y.Next(&g)
		switch {
		case errors.Is(err1, io.EOF) && errors.Is(err2, io.EOF):
			return 0, nil
		case errors.Is(err1, io.EOF) && err2 == nil:
			return g.Tick, nil
		case errors.Is(err2, io.EOF) && err1 == nil:
			return f.Tick, nil
		case err1 != nil || err2 != nil:
			return 0, errors.Join(err1, err2)
		case f.Hash != g.Hash || !slices.EqualFunc(f.Records, g.Records, sameRecord):
			return f.Tick, nil
		}
	}
}

func sameRecord(a, b replay.Record) bool {
	return a.Tag == b.Tag && a.Meta == b.Meta && bytes.Equal(a.Payload, b.Payload)
}

// evidence makes two recordings of a job that gave different results, one after the other, and
// notes the first tick that differs. A fault that does not recur leaves two equal recordings.
func (p *pool) evidence(c *Check, s *scenarios.Scenario) error {
	names, err := FreeEvidence(p.Folder, c.Job)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := Put(p.Folder, name, func(to io.Writer) error {
			_, err := Record(p.ctx, s, c.Until(s), to, Limits{})
			return err
		})
		if err != nil {
			return err
		}
	}
	c.Files = names[:]
	c.Tick, err = c.FirstDifference(p.Folder)
	return err
}

// Until is the tick up to which the two ends of a job are recorded.
func (c *Check) Until(s *scenarios.Scenario) uint64 {
	if c.Row.Status == Time { // all of it may take for ever
		return c.Row.Ticks
	}
	return s.Ticks
}

// FirstDifference compares the two recordings of a job in a folder, see the function FirstDifference.
func (c *Check) FirstDifference(folder string) (tick uint64, err error) {
	var files [2]io.Reader
	for i := range files {
		f, err := os.Open(filepath.Join(folder, c.Files[i]))
		if err != nil {
			return 0, err
		}
		defer f.Close()
		files[i] = f
	}
	return FirstDifference(files[0], files[1])
}
