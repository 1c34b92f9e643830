package sweep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
)

// FirstDifference compares two recordings of one job. It returns the first tick whose hashes or commands differ, or that
// only one of them has; 0: there is none.
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

// evidence records a job that came to different ends twice, once a worker if this process has several, and
// notes the first tick that differs. A fault that does not come back leaves two equal recordings. Those that differ stay, whatever comes of the job
// later: the next ones have the next two numbers.
func (p *pool) evidence(c *Check, s *scenarios.Scenario) error {
	var files [2]string
	for first := 1; ; first += 2 {
		for i := range files {
			files[i] = filepath.Join(p.Folder, EvidenceName(c.Job, first+i))
		}
		if tick, err := CompareFiles(files[0], files[1]); tick == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			break
		}
	}
	for i := range files {
		if err := os.MkdirAll(filepath.Dir(files[i]), 0o777); err != nil {
			return err
		}
		if err := recordTo(p.ctx, files[i], s, s.Ticks); err != nil {
			return err
		}
	}
	var err error
	c.Tick, err = CompareFiles(files[0], files[1])
	return err
}

// recordTo runs a job up to a tick and records it in a file.
func recordTo(ctx context.Context, path string, s *scenarios.Scenario, until uint64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = Record(ctx, s, until, f, Limits{})
	return errors.Join(err, f.Close())
}

// CompareFiles is FirstDifference for two files.
func CompareFiles(a, b string) (tick uint64, err error) {
	f, err := os.Open(a)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	return FirstDifference(f, g)
}
