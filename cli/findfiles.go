package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/sweep"
)

// A searched is a file to look in. In the folder of a sweep, fits says whether it is the recording that the journal means; elsewhere it is nil.
type searched struct {
	name string
	fits func() error
}

// recordingsIn returns the files of these names, and instead of a folder the recordings in it. It warns of recordings in the folder of a
// sweep that belong to no row of it, and leaves them out.
func (j *findJob) recordingsIn(names []string) (list []searched, err error) {
	for _, name := range names {
		if name == "-" {
			return nil, report.Usage("find takes files, not standard input")
		}
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			list = append(list, searched{name: name}) // of which it is told when it is opened
			continue
		}
		found, err := j.recordingsOf(name)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no recording (.murk) is in this folder", document.FileName(name))
		}
		list = append(list, found...)
	}
	return list, nil
}

// recordingsOf returns the recordings in a folder and the folders in it, in the order of their names; then those that a sweep has kept and that
// are not there.
func (j *findJob) recordingsOf(folder string) (list []searched, err error) {
	kept, gone := map[string]searched{}, []string{}
	seen, sweeps := map[string]bool{}, map[string]bool{}
	err = filepath.WalkDir(filepath.Clean(folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return words.About(folder, err)
		}
		if e.IsDir() && kept[path].fits == nil {
			more, is, err := keptIn(path)
			sweeps[path] = is
			for _, x := range more {
				kept[x.name] = x
				gone = append(gone, x.name)
			}
			return err
		}
		in := filepath.Dir(filepath.Dir(path))
		switch x, is := kept[path]; {
		case is:
			list, seen[path] = append(list, x), true
			if e.IsDir() {
				return filepath.SkipDir
			}
		case !e.Type().IsRegular() || !strings.HasSuffix(path, ".murk"):
		case sweeps[in] && sweep.IsKeptName(strings.TrimPrefix(path, in+string(filepath.Separator))):
			return j.Warn("%s: no row of the sweep names it, so it is left out", document.FileName(path))
		default:
			list = append(list, searched{name: path})
		}
		return nil
	})
	for _, name := range gone {
		if !seen[name] {
			list = append(list, kept[name])
		}
	}
	return list, err
}

// keptIn returns the recordings that the rows and checks of a sweep name, if a folder is that of a sweep. Each must be that of its row, or, if
// the job has come to another end, of its job.
func keptIn(folder string) (list []searched, is bool, err error) {
	path := filepath.Join(folder, journalName)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, false, nil
	}
	journal, err := sweep.OpenJournal(path, true)
	if errors.Is(err, sweep.ErrNoJournal) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, words.About(path, err)
	}
	err = journal.Recordings(folder, func(name string, fits func() error) { list = append(list, searched{filepath.Join(folder, name), fits}) })
	return list, true, errors.Join(err, journal.Close())
}
