package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
)

// partName is the name of a recording: heat.2.murk behind heat.murk.
func (j *runJob) partName(n int) string {
	ending := filepath.Ext(j.output)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(j.output, ending), n, ending)
}

// numbered matches what partName puts before the ending.
var numbered = regexp.MustCompile(`^\.[1-9][0-9]{0,8}$`)

// nextPart returns the recording beside a part of a run --split that goes on from its last tick: heat.2.murk behind heat.murk,
// heat.3.murk behind heat.2.murk. It returns "" if there is none of the same world and seed.
func nextPart(path string, h *replay.Header, last uint64) string {
	ending := filepath.Ext(path)
	stem := strings.TrimSuffix(path, ending)
	names := []string{fmt.Sprintf("%s.2%s", stem, ending)}
	for _, of := range []struct{ path, ending string }{{stem, ending}, {path, ""}} { // game.2 has no other ending
		if number := filepath.Ext(of.path); numbered.MatchString(number) {
			n, _ := strconv.Atoi(number[1:])
			names = append(names, fmt.Sprintf("%s.%d%s", strings.TrimSuffix(of.path, number), n+1, of.ending))
		}
	}
	for _, name := range names {
		if ours, err := files.Begins(name, session.RecordingMark); err != nil || !ours {
			continue
		}
		next, err := headOf(name)
		if err != nil || next.Seed != h.Seed || !bytes.Equal(next.World(), h.World()) {
			continue
		}
		if begin, err := next.Begin(); err == nil && begin != nil && begin.Tick == last {
			return name
		}
	}
	return ""
}

// headOf reads the header of a recording.
func headOf(name string) (*replay.Header, error) {
	f, size, err := files.OpenSeekable(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	frames, err := replay.NewReader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, err
	}
	return frames.Head(), nil
}

// checkPart refuses a name of a part, or of the state at which it begins, that is taken.
func (j *runJob) checkPart(n int) error {
	part := j.partName(n)
	state := stateBeside(part)
	for _, path := range []string{part, state} {
		if err := j.spareOwn(path); err != nil {
			return err
		}
		info, err := os.Lstat(path)
		switch {
		case err == nil && !j.force:
			return fmt.Errorf("%s exists, maybe of an earlier run; choose another name with --output, or replace it with --force",
				document.FileName(path))
		case err == nil && path == state && !info.Mode().IsRegular(): // such as a link
			return fmt.Errorf("%s exists and is no regular file; choose another name with --output", document.FileName(path))
		}
	}
	return cmp.Or(replaceable(part, session.RecordingMark, "recording"), replaceable(state, session.StateMark, "saved state"))
}

// ownFiles lists the files that the run reads, and those that it writes beside the parts.
func (j *runJob) ownFiles() []string {
	list := []string{j.output, j.state, j.hashes, j.stats.path, j.export.path, j.saveState, j.auditing.dsn}
	if !worlds.IsEmbedded(j.source) {
		list = append(list, j.source)
	}
	return slices.DeleteFunc(list, func(path string) bool { return path == "" })
}

// spareOwn refuses a file that the run reads, or writes for something else than --split.
func (j *runJob) spareOwn(path string) error {
	same := func(own string) bool { return files.Same(own, path) || samePlace(own, path) }
	if j.savedTo(path) > 0 || slices.ContainsFunc(j.ownFiles(), same) {
		return report.Usage("--split writes to %s, which this run also reads or writes; choose another name with --output",
			document.FileName(path))
	}
	return sparesSource(path, j.auditing.dsn)
}

// spareParts refuses a file of the run whose name is that of any part, or of its state.
func (j *runJob) spareParts() error {
	number := regexp.MustCompile(`[0-9]+`)
	for _, own := range j.ownFiles() {
		for _, digits := range number.FindAllString(filepath.Base(own), -1) {
			n, err := strconv.Atoi(digits)
			if err != nil || n < 2 || uint64(n) > 1+(j.last()-1)/j.split.every-j.start/j.split.every {
				continue
			}
			for _, path := range []string{j.partName(n), stateBeside(j.partName(n))} {
				if err := j.spareOwn(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// samePlace reports whether two paths name the same place, also if nothing is there.
func samePlace(a, b string) bool {
	folder, errA := os.Stat(filepath.Dir(a))
	other, errB := os.Stat(filepath.Dir(b))
	return filepath.Base(a) == filepath.Base(b) && errA == nil && errB == nil && os.SameFile(folder, other)
}

// stateBeside is the file of the state at which a recording begins that does not hold it.
func stateBeside(recording string) string {
	return strings.TrimSuffix(recording, session.RecordingEnding) + ".state"
}

// splittable refuses what --split cannot do, once the name of the recording is known.
func (j *runJob) splittable() error {
	switch {
	case j.split.every == 0:
		return nil
	case files.IsPipe(j.output):
		return report.Usage("--split needs a recording in a file")
	}
	return cmp.Or(j.spareParts(), j.checkPart(2))
}
