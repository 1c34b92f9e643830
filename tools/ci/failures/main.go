// Command failures provokes what determinism must not allow, each by a planted fault, and
// checks that it is caught, at which tick, and how it is reported: docs/DETERMINISM.md has
// the list. The same worlds without a fault must pass.
//
// It is called by tools/ci/failures.sh, in the root of the module. Exit status: 0 all is
// seen as it must be, 1 something is not, 2 usage.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/murksim/murksim/tools/ci/failures/colony"
)

func main() {
	number := flag.Int("row", -1, "provoke one row `N` only")
	asJSON := flag.Bool("json", false, "print one JSON object a line")
	selfTest := flag.Bool("self-test", false, "check that every row fails if its fault is not planted, and if nothing is found to differ")
	program := flag.String("murksim", "", "the program `FILE`, built from ./tools/ci/failures/murksim")
	child := flag.String("child", "", "be the process that runs an `order`")
	flag.Parse()
	known := slices.ContainsFunc(rows(), func(r row) bool { return r.number == *number })
	if flag.NArg() > 0 || *number != -1 && !known {
		fmt.Fprintln(os.Stderr, "failures: there is no such row; --help tells more")
		os.Exit(2)
	}
	var err error
	if *child != "" {
		err = colony.Obey(*child)
	} else {
		err = all(os.Stdout, *program, *number, *asJSON, *selfTest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
}

// newLab runs the worlds without a fault. Its desk must be closed.
func newLab(murksim string) (*lab, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &lab{self: self}
	if l.desk, err = newDesk(murksim); err != nil {
		return nil, err
	}
	if l.control, err = l.record(setup{}); err == nil {
		l.feast, err = l.record(setup{Feast: true})
	}
	if err != nil {
		l.desk.close()
		return nil, err
	}
	return l, nil
}

// A line is what is printed of a row.
type line struct {
	Row      int     `json:"row"`
	Provoked string  `json:"provoked"`
	OK       bool    `json:"ok"`
	Seen     string  `json:"seen,omitempty"`
	Tick     uint64  `json:"tick"`
	Status   int     `json:"exit_status"` // of murksim; -1: it was not asked
	Report   string  `json:"report"`
	Seconds  float64 `json:"seconds"`
}

// all provokes the rows, or the one of the number.
func all(w io.Writer, murksim string, number int, asJSON, selfTest bool) error {
	l, err := newLab(murksim)
	if err != nil {
		return err
	}
	defer l.desk.close()
	bad, n, failures := 0, 0, map[int]bool{}
	for _, r := range rows() {
		if number >= 0 && r.number != number {
			continue
		}
		n++
		v := l.try(&r, selfTest)
		if !v.OK {
			bad++
		} else if r.number > 0 {
			failures[r.number] = true
		}
		if err := v.print(w, asJSON); err != nil {
			return err
		}
	}
	switch {
	case bad > 0:
		return fmt.Errorf("%d of %d lines are not as they must be", bad, n)
	case asJSON:
	case selfTest:
		fmt.Fprintf(w, "%d of %d lines fail without their faults, and without eyes\n", n, n)
	default:
		fmt.Fprintf(w, "%d of %d lines are as they must be: %d of 22 failures\n", n, n, len(failures))
	}
	return nil
}

// try provokes a row; for the self-test, in a way that it must not be content with.
func (l *lab) try(r *row, selfTest bool) line {
	started := time.Now()
	v := line{Row: r.number, Provoked: r.provoked, OK: true, Status: none}
	if selfTest {
		v.Seen = "unplanted"
		v.OK = l.mustFail(r, &lab{unplanted: true}, &v) && (r.passes || l.mustFail(r, &lab{blind: toAll}, &v))
	} else if s, err := r.look(l); err != nil {
		v.OK, v.Report = false, err.Error()
	} else {
		v.Seen, v.Tick, v.Report, v.Status = s.by, s.tick, s.report, s.status
	}
	v.Seconds = time.Since(started).Seconds()
	return v
}

// mustFail tries a row with something missing.
func (l *lab) mustFail(r *row, how *lab, v *line) bool {
	how.control, how.feast, how.desk, how.self, how.findings = l.control, l.feast, l.desk, l.self, l.findings
	s, err := r.look(how)
	if err == nil {
		v.Report = fmt.Sprintf("it is content, though unplanted is %v and blind %d: %s", how.unplanted, how.blind, s.report)
		return false
	}
	if v.Report != "" {
		v.Seen, v.Report = v.Seen+", blind", v.Report+"; "
	}
	v.Report += err.Error()
	return true
}

func (v *line) print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
	result := "ok"
	if !v.OK {
		result = "FAIL"
	}
	status := "no exit status"
	if v.Status != none {
		status = fmt.Sprintf("exit status %d", v.Status)
	}
	_, err := fmt.Fprintf(w, "%2d  %-4s  %-55s  seen as %s  |  tick %d  |  %s  |  %s  (%.1fs)\n",
		v.Row, result, v.Provoked, v.Seen, v.Tick, status, v.Report, v.Seconds)
	return err
}
