package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve"
)

// judge prints the table, and notes what is not as it should be.
func (l *load) judge(end served, p *players, idle idleLateness) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	if end.Tick != l.ticks {
		l.fail("%d ticks were told, want %d", end.Tick, l.ticks)
	}
	verdict := "under 5 ms"
	if end.Late.P99 >= limitMS {
		verdict = "NOT under 5 ms"
	}
	limit := math.Inf(1)
	switch {
	case l.strict:
		limit = limitMS
	case idle.p99 < quietMS && !busy():
		limit = tickMS
	}
	if end.Late.P99 >= limit {
		l.fail("1 tick in 100 began late by %.2f ms or more; the limit is %.0f ms. An idle process is late by %.2f ms here", end.Late.P99, limit, idle.p99)
	}
	fmt.Fprintf(w, "tick began late\tp50 %.2f ms\tp99 %.2f ms\tmax %.2f ms\t%s\n", end.Late.P50, end.Late.P99, end.Late.Max, verdict)
	fmt.Fprintf(w, "idle process late\tp50 %.2f ms\tp99 %.2f ms\tmax %.2f ms\tso much is not the server's\n", idle.p50, idle.p99, idle.max)
	late := l.clientLateness()
	at := func(share float64) float64 { return late[int(share*float64(len(late)-1))].Seconds() * 1000 }
	if len(late) > 0 {
		fmt.Fprintf(w, "clients had it late\tp50 %.2f ms\tp99 %.2f ms\tmax %.2f ms\t%d looked at the time\n", at(0.5), at(0.99), at(1), (l.spectators+48)/50)
	}
	for v := range len(l.tokens.Players) + 1 {
		l.judgeView(w, v)
	}
	l.judgeLate(w)
	l.judgeEnds(w, end)
	sent, applied, refused := p.sent.Load(), p.applied.Load(), p.refused.Load()
	fmt.Fprintf(w, "orders\t%d sent\t%d applied\t%d refused\t\n", sent, applied, refused)
	if applied == 0 || sent != applied+refused {
		l.fail("%d orders have %d receipts", sent, applied+refused)
	}
	fmt.Fprintf(w, "server\t%.1f MB sent\t%.0f MB of memory\t%.0f KB a client\t\n", float64(end.Bytes)/1e6, float64(l.memory)/1e6, float64(l.memory)/1e3/float64(l.good()))
	w.Flush()
}

// busy reports whether, in the last minute, processes had more to do than there are processors.
func busy() bool {
	b, err := os.ReadFile("/proc/loadavg")
	var load float64
	if _, scan := fmt.Sscan(string(b), &load); err != nil || scan != nil {
		return true // it is not known
	}
	return load > float64(runtime.NumCPU())
}

// clientLateness returns how late ticks were with those who looked, sorted. A tick is due by the
// earliest of those of the last second, because time that the server loses is not made up.
func (l *load) clientLateness() (late []time.Duration) {
	const tick, second = 50 * time.Millisecond, 20
	slices.SortFunc(l.seen, func(a, b seen) int { return a.at.Compare(b.at) })
	first := map[uint64]time.Time{} // when tick 0 was, by the first arrival of each tick
	for _, s := range l.seen {
		if _, ok := first[s.tick]; !ok {
			first[s.tick] = s.at.Add(-time.Duration(s.tick) * tick)
		}
	}
	for _, s := range l.seen {
		zero := first[s.tick]
		for t := s.tick - min(s.tick, second); t < s.tick; t++ {
			if z, ok := first[t]; ok && z.Before(zero) {
				zero = z
			}
		}
		late = append(late, s.at.Sub(zero.Add(time.Duration(s.tick)*tick)))
	}
	slices.Sort(late)
	return late
}

// judgeView compares the bytes of all clients of a view who were there from the start.
func (l *load) judgeView(w *tabwriter.Writer, v minewars.View) {
	sums, n, size := map[uint64]int{}, 0, 0
	for _, r := range l.results {
		if r.view == v && !r.late {
			sums[r.sum.Sum64()]++
			n, size = n+1, r.bytes
		}
	}
	want, verdict := 2, "identical"
	if v == minewars.Spectator {
		want = l.spectators
	}
	if len(sums) != 1 {
		verdict = "DIFFERENT"
		l.fail("%s: clients have %d different streams", serve.Name(v), len(sums))
	}
	if n != want {
		l.fail("%s: %d clients came to the end, want %d", serve.Name(v), n, want)
	}
	fmt.Fprintf(w, "%s\t%d clients\t%d bytes each\t%s\t\n", serve.Name(v), n, size, verdict)
}

// judgeLate compares the streams of those who came late with one that is whole: the boards at
// the end, and the bytes from the first tick on that both have.
func (l *load) judgeLate(w *tabwriter.Writer) {
	var whole *result
	for _, r := range l.results {
		if r.view == minewars.Spectator && !r.late && len(r.stream) > 0 {
			whole = r
		}
	}
	if whole == nil {
		l.fail("no stream of a spectator is whole")
		return
	}
	want, shared, n := fold(whole.stream), 0, 0
	for _, r := range l.results {
		if !r.late {
			continue
		}
		n++
		same := common(whole.stream, r.stream)
		if shared == 0 || same < shared {
			shared = same
		}
		if got := fold(r.stream); want == nil || !reflect.DeepEqual(got, want) || same == 0 {
			l.fail("one who came late has another board at the end, or %d bytes as others have them", same)
		}
	}
	if n != l.late {
		l.fail("%d late clients came to the end, want %d", n, l.late)
	}
	fmt.Fprintf(w, "came late\t%d clients\t%d bytes or more shared\tequal boards\t\n", n, shared)
}

// common returns how many bytes at the end two streams share.
func common(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// fold returns what a spectator knows at the end of a stream; nil: it is not whole.
func fold(stream []byte) *minewars.Board {
	r, err := minewars.NewStreamReader(bytes.NewReader(stream), minewars.Options{})
	if err != nil {
		return nil
	}
	b := minewars.NewBoard(r.Start(), minewars.Spectator)
	var f minewars.Frame
	for {
		switch err := r.Next(&f); {
		case err == nil:
			b.Apply(f.Tick, f.For(minewars.Spectator))
		case err.Error() == "EOF":
			return b
		default:
			return nil
		}
	}
}

// judgeEnds compares why connections ended with what was planted.
func (l *load) judgeEnds(w *tabwriter.Writer, end served) {
	planted := map[serve.End]int{}
	for _, b := range badClients {
		planted[b.why] += l.each
	}
	planted[serve.EndGame] = l.good() + l.late
	for _, b := range badClients {
		fmt.Fprintf(w, "planted\t%s\t%d\t%s\t\n", b.name, l.each, b.why)
	}
	for why, n := range planted {
		if got := end.Ended[string(why)]; got != uint64(n) {
			l.fail("%d connections ended: %s; %d should have", got, why, n)
		}
	}
	for why, n := range end.Ended {
		if _, ok := planted[serve.End(why)]; !ok {
			l.fail("%d connections ended: %s; none should have", n, why)
		}
	}
}
