package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"
)

// A progress follows the journal of the sweep.
type progress struct {
	path string
	all  int

	mu     sync.Mutex
	offset int64
	rest   []byte // of a line
	has    map[int]bool
	times  []time.Time          // when rows came
	by     map[string]time.Time // when the last one of a host came
}

func newProgress(path string, all int) *progress {
	return &progress{path: path, all: all, has: map[int]bool{}, by: map[string]time.Time{}}
}

// follow reads what is appended, until done is closed.
func (p *progress) follow(done <-chan struct{}) {
	for {
		p.read()
		select {
		case <-done:
			return
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func (p *progress) read() {
	f, err := os.Open(p.path)
	if err != nil {
		return
	}
	defer f.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if info, err := f.Stat(); err == nil && info.Size() < p.offset { // a write that failed was taken back
		p.offset, p.rest = info.Size(), nil
	}
	b, err := io.ReadAll(io.NewSectionReader(f, p.offset, 1<<40))
	if err != nil {
		return
	}
	p.offset += int64(len(b))
	p.rest = append(p.rest, b...)
	for {
		line, rest, ok := bytes.Cut(p.rest, []byte{'\n'})
		if !ok {
			return
		}
		p.rest = rest
		p.take(line)
	}
}

// take takes in a line.
func (p *progress) take(line []byte) {
	var r struct {
		Row *struct {
			Job    int
			Worker string
		}
	}
	if len(line) < 9 || json.Unmarshal(line[9:], &r) != nil || r.Row == nil || p.has[r.Row.Job] {
		return
	}
	p.has[r.Row.Job] = true
	now := time.Now()
	p.times = append(p.times, now)
	p.by[hostOf(r.Row.Worker)] = now
}

// done returns how many jobs have a row.
func (p *progress) done() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.has)
}

// since returns how many rows have come since a moment.
func (p *progress) since(t time.Time) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.times) - 1; i >= 0 && p.times[i].After(t); i-- {
		n++
	}
	return n
}

// last returns when the last row of a host came.
func (p *progress) last(host string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by[host]
}

// pause returns the longest time without a row from a moment until now.
func (p *progress) pause(from time.Time) (most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := from
	for _, t := range p.times {
		if t.After(from) {
			most, at = max(most, t.Sub(at)), t
		}
	}
	if len(p.has) < p.all {
		most = max(most, time.Since(at))
	}
	return most
}
