package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/murksim/murksim/tools/ci/failures/colony"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

// resumed goes on from the state of every tick in a process of its own.
func (l *lab) resumed() (*seen, error) {
	f, every := faults.Fault{}, 1
	if l.unplanted {
		f, every = faults.Fault{Name: "hidden", Tick: planted, Entity: torn}, 20
	}
	at, from, n, err := l.resume(f, every)
	if err != nil {
		return nil, err
	}
	if at != 0 {
		return nil, fmt.Errorf("restored at tick %d it differs at tick %d", from, at)
	}
	status, err := l.resumeChain()
	return &seen{by: "equal", tick: ticks, report: fmt.Sprintf("%d processes, every state after it has the same hash; a chain of ten processes is that of one", n), status: status}, err
}

// hidden does so with a memory that no state holds. Restored at tick 0 it knows all.
func (l *lab) hidden() (*seen, error) {
	id, err := l.entity(1, planted)
	if err != nil {
		return nil, err
	}
	f := faults.Fault{Name: "hidden", Tick: planted, Entity: id}
	if l.unplanted {
		f = faults.Fault{}
	}
	at, from, n, err := l.resume(f, 20)
	if err != nil {
		return nil, err
	}
	if at != planted {
		return nil, fmt.Errorf("restored at tick %d it differs at tick %d, want %d", from, at, planted)
	}
	status, err := l.committed(f)
	return &seen{
		by: fmt.Sprintf("restored in %d processes, hash and SHA-256 of the state", n), tick: at,
		report: fmt.Sprintf("restored at tick %d it goes on otherwise; detcheck does not see it", from), status: status,
	}, err
}

// resume runs the colony, and once more from each of its states. It returns the first tick
// that differs in the first process, by the tick at which it was restored, that differs.
func (l *lab) resume(f faults.Fault, every int) (at, from uint64, processes int, err error) {
	whole := l.control
	if f.Name != "" {
		if whole, err = colony.Record(setup{Fault: f}, nil); err != nil {
			return 0, 0, 0, err
		}
	}
	type answer struct {
		at  uint64
		err error
	}
	answers := make([]answer, ticks)
	slots := make(chan struct{}, runtime.NumCPU())
	var wait sync.WaitGroup
	for k := 0; k < ticks; k += every {
		processes++
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			got, err := command(l.self, colony.Order{Setup: setup{Fault: f}, Restore: true}, whole.States[k])
			if err == nil {
				answers[k].at, err = l.firstLine(whole.Lines(uint64(k)+1), got)
			}
			answers[k].err = err
		})
	}
	wait.Wait()
	for k, a := range answers {
		if a.err != nil || a.at != 0 {
			return a.at, uint64(k), processes, a.err
		}
	}
	return 0, 0, processes, nil
}

// An environment is a way to run this program.
type environment struct {
	name, program string
	workers       int
	env           string
}

// environments builds what it takes.
func (l *lab) environments(dir string, builds bool) ([]environment, error) {
	list := []environment{
		{"GOMAXPROCS=1", l.self, 1, "GOMAXPROCS=1"}, {"GOMAXPROCS=2", l.self, 2, "GOMAXPROCS=2"}, {"GOMAXPROCS=8", l.self, 8, "GOMAXPROCS=8"},
	}
	if !builds {
		return list, nil
	}
	race, err := build(dir, "race", []string{"CGO_ENABLED=1"}, "-race")
	if err != nil {
		return nil, err
	}
	narrow, err := build(dir, "386", []string{"CGO_ENABLED=0", "GOARCH=386"})
	if err != nil {
		return nil, err
	}
	return append(list, environment{"race", race, 4, ""}, environment{"386", narrow, 1, ""}), nil
}

// elsewhere runs the colony in environments and returns the first tick at which one
// differs from the first, and its name.
func (l *lab) elsewhere(f faults.Fault, builds bool) (at uint64, name string, n int, err error) {
	dir, err := os.MkdirTemp("", "failures")
	if err != nil {
		return 0, "", 0, err
	}
	defer os.RemoveAll(dir)
	list, err := l.environments(dir, builds)
	if err != nil {
		return 0, "", 0, err
	}
	var want []byte
	for i, e := range list {
		got, err := command(e.program, colony.Order{Setup: setup{Fault: f, Workers: e.workers}}, nil, e.env)
		if err != nil {
			return 0, e.name, 0, err
		}
		if i == 0 {
			want = got
		}
		if at, err = l.firstLine(want, got); err != nil || at != 0 {
			return at, e.name, 0, err
		}
	}
	return 0, "", len(list), nil
}

func (l *lab) processors() (*seen, error) {
	f := faults.Fault{}
	if l.unplanted {
		f = faults.Fault{Name: "processors", Tick: planted, Entity: torn}
	}
	at, name, n, err := l.elsewhere(f, !l.unplanted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if at != 0 {
		return nil, fmt.Errorf("%s differs at tick %d", name, at)
	}
	for _, n := range []string{"1", "2", "8"} {
		v, err := l.auditWith([]string{"GOMAXPROCS=" + n}, l.desk.dsn, "--run", l.control.ID.String(), "--workers", n)
		if err != nil || v.Verdict != "PASS" || v.status != 0 {
			return nil, fmt.Errorf("the audit with %s processors gives %v (%w)", n, v, err)
		}
	}
	return &seen{by: "equal", tick: ticks, report: fmt.Sprintf("%d environments, every state has the same hash; audits with 1, 2 and 8 processors pass", n)}, nil
}

func (l *lab) parts() (*seen, error) {
	id, err := l.entity(1, planted)
	if err != nil {
		return nil, err
	}
	f := faults.Fault{Name: "processors", Tick: planted, Entity: id}
	if l.unplanted {
		f = faults.Fault{}
	}
	at, name, _, err := l.elsewhere(f, false)
	if err != nil {
		return nil, err
	}
	if at != planted {
		return nil, fmt.Errorf("%q differs at tick %d, want %d", name, at, planted)
	}
	finding, err := l.found("environment")
	if err != nil {
		return nil, err
	}
	status, err := l.committed(f)
	return &seen{
		by: "processes, hash and SHA-256 of the state", tick: at,
		report: fmt.Sprintf("%s differs from GOMAXPROCS=1; detcheck: %s", name, finding), status: status,
	}, err
}

// twice runs the colony alone in a process, and as the second run of another.
func (l *lab) twice(f faults.Fault) (at uint64, err error) {
	alone, err := command(l.self, colony.Order{Setup: setup{Fault: f}}, nil)
	if err != nil {
		return 0, err
	}
	second, err := command(l.self, colony.Order{Setup: setup{Fault: f}, Unrelated: true}, nil)
	if err != nil {
		return 0, err
	}
	if f.Name == "" {
		if at, err := l.firstLine(l.control.Lines(1), alone); err != nil || at != 0 {
			return at, err
		}
	}
	return l.firstLine(alone, second)
}

func (l *lab) second() (*seen, error) {
	f := faults.Fault{}
	if l.unplanted {
		f = faults.Fault{Name: "package", Tick: planted, Entity: torn}
	}
	at, err := l.twice(f)
	if err != nil {
		return nil, err
	}
	if at != 0 {
		return nil, fmt.Errorf("it differs at tick %d", at)
	}
	status, err := l.passes(l.control)
	return &seen{by: "equal", tick: ticks, report: "alone, second, and among all runs of the lab: every state has the same hash", status: status}, err
}

func (l *lab) global() (*seen, error) {
	id, err := l.entity(1, planted)
	if err != nil {
		return nil, err
	}
	f := faults.Fault{Name: "package", Tick: planted, Entity: id}
	if l.unplanted {
		f = faults.Fault{}
	}
	at, err := l.twice(f)
	if err != nil {
		return nil, err
	}
	if at != planted {
		return nil, fmt.Errorf("it differs at tick %d, want %d", at, planted)
	}
	finding, err := l.found("pkgvar")
	if err != nil {
		return nil, err
	}
	status, err := l.committed(f)
	return &seen{
		by: "two processes, hash and SHA-256 of the state", tick: at,
		report: "the second run of a process differs from one alone; detcheck: " + finding, status: status,
	}, err
}

// committed runs the colony with a fault here, and audits it.
func (l *lab) committed(f faults.Fault) (status int, err error) {
	r, err := l.record(setup{Fault: f})
	if err != nil {
		return 0, err
	}
	return l.fails(r, f.Tick, nil)
}
