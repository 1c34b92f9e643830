package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// killedStats: a run that is killed leaves whole lines of its table, up to some tick, none
// missing. The system may end the last write early; what then follows the last line's end is no
// line. (That every write is of whole lines, a test of export shows.)
func (p program) killedStats(t *testing.T) {
	for i, name := range []string{"a.csv", "b.jsonl", "c.csv", "d.jsonl"} {
		c := p.command("run", "decay", "--ticks", "1000000000", "--no-record", "--stats", name)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		p.grows(t, name, int64(1<<20+i*12345))
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil {
			t.Error("a killed run succeeds")
		}
		b := p.read(t, name)
		whole := b[:bytes.LastIndexByte(b, '\n')]
		lines := strings.Split(string(whole), "\n")
		if strings.HasSuffix(name, "csv") {
			names := lines[0]
			lines = lines[1:]
			for tick, line := range lines {
				if !strings.HasPrefix(line, fmt.Sprint(tick)+",") || strings.Count(line, ",") != strings.Count(names, ",") {
					t.Fatalf("%s: tick %d: %s", name, tick, line)
				}
			}
			continue
		}
		for tick, line := range lines {
			var row struct{ Tick int }
			if err := json.Unmarshal([]byte(line), &row); err != nil || row.Tick != tick {
				t.Fatalf("%s: tick %d: %s: %v", name, tick, line, err)
			}
		}
	}
}

// interruptedTables: Ctrl-C leaves whole tables of the ticks that there were: the same bytes that
// export makes of the recording, and a row of statistics a tick.
func (p program) interruptedTables(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no interrupts that one process may send to another
	}
	for _, ending := range []string{".csv", ".parquet"} {
		c := p.command("run", "heat", "--ticks", "1000000000", "-o", "tables.murk", "--stats", "stats"+ending, "--export", "cells"+ending, "--export-region", "0,0..1,1")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		p.grows(t, "tables.murk", header+1000)
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("an interrupted run: %v", err)
		}
		p.run(t, p.command("export", "tables.murk", "-o", "again"+ending, "--region", "0,0..1,1"))
		if !bytes.Equal(p.read(t, "cells"+ending), p.read(t, "again"+ending)) {
			t.Errorf("%s: the run and export of its recording write other bytes", ending)
		}
		if ending != ".csv" {
			continue
		}
		rows := bytes.Count(p.read(t, "stats.csv"), []byte{'\n'}) - 1
		cells := bytes.Count(p.read(t, "cells.csv"), []byte{'\n'}) - 1
		if rows < 2 || cells != 4*rows {
			t.Errorf("%d rows of statistics and %d of 4 cells", rows, cells)
		}
		if err := os.Remove(filepath.Join(p.dir, "tables.murk")); err != nil {
			t.Fatal(err)
		}
	}
}
