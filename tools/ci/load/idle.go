package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/murksim/murksim/engine"
)

// compare starts a process that only wakes 20 times a second, as late as this computer makes it:
// what the server is late beyond that is its own.
func (l *load) compare() error {
	l.idle = exec.Command(os.Args[0], "-idle")
	var out strings.Builder
	l.idle.Stdout, l.idleEnds = &out, func() idleLateness {
		var o idleLateness
		l.idleIn.Close()
		if err := l.idle.Wait(); err != nil {
			l.fail("the idle process: %v", err)
		}
		fmt.Sscan(out.String(), &o.p50, &o.p99, &o.max)
		return o
	}
	in, err := l.idle.StdinPipe()
	if err != nil {
		return err
	}
	l.idleIn = in
	return l.idle.Start()
}

// idleLateness is how late that process was, in milliseconds.
type idleLateness struct{ p50, p99, max float64 }

// lookOn is that process.
func lookOn(in io.Reader) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { io.Copy(io.Discard, in); cancel() }()
	var late []time.Duration
	for p := engine.NewPacer(0.05); p.Wait(ctx) == nil; {
		late = append(late, p.Late())
	}
	slices.Sort(late)
	at := func(share float64) float64 { return late[int(share*float64(len(late)-1))].Seconds() * 1000 }
	if len(late) > 0 {
		fmt.Println(at(0.5), at(0.99), at(1))
	}
}
