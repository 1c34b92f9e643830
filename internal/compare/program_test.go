package compare

import (
	"bytes"
	"testing"
	"time"

	"github.com/murksim/murksim/internal/cputime"
)

// TestAnswerLength: the time that a long line takes grows as its length, and not as the square of
// it, with which this one would take a minute. A longer line is an error.
func TestAnswerLength(t *testing.T) {
	const most = 10 * time.Second
	l, piece := &answerListener{tick: 1}, bytes.Repeat([]byte{' '}, 256)
	took := cputime.Of(func() {
		for n := 0; n+len(piece) < longestAnswer; n += len(piece) {
			if _, err := l.Write(piece); err != nil {
				t.Fatalf("after %d bytes: %v", n, err)
			}
		}
	})
	if took > most {
		t.Errorf("a line of %d bytes takes %v of processor time, want %v at most", longestAnswer, took, most)
	}
	if _, err := l.Write([]byte(`{"hash":"0000000000000001"}` + "\n" + `{"hash":"0000`)); err != nil || l.found == nil {
		t.Errorf("%v: found %v, want a hash", err, l.found)
	}
	if _, err := l.Write([]byte(`000000000002"}`)); err != nil {
		t.Error(err)
	}
	if l.end(); l.found == nil || l.found.hash != "0000000000000002" {
		t.Errorf("found %+v, want that of the last line", l.found)
	}
	if _, err := l.Write(make([]byte, longestAnswer)); err == nil || l.err != err {
		t.Errorf("%v, %v, want that the line is too long", err, l.err)
	}
}
