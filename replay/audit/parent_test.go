package audit

import (
	"bytes"
	"strings"
	"testing"
)

// A genesis document gives back the descriptor of its world and its parent, and takes no other spelling.
func TestParent(t *testing.T) {
	world := []byte(`{"rules":"murksim@1","name":"a \",\"parent\":{\"run\":\"","parameters":{"parent":{"key":1,"value":2}}}`)
	if w, p, err := SplitGenesis(world); err != nil || p != nil || !bytes.Equal(w, world) {
		t.Fatalf("%s, %v, %v", w, p, err)
	}
	one := Parent{ID{1, 15: 2}, 499, Hash{3, 31: 4}}
	genesis, err := one.Describe(world)
	if err != nil {
		t.Fatal(err)
	}
	w, p, err := SplitGenesis(genesis)
	if err != nil || *p != one || !bytes.Equal(w, world) {
		t.Fatalf("%s, %v, %v", w, p, err)
	}
	text := string(genesis)
	for _, bad := range []string{
		strings.Replace(text, `"tick":499`, `"tick":0499`, 1), strings.Replace(text, `"tick":499`, `"tick":-1`, 1), strings.Replace(text, `"hash":"03`, `"hash":"0`, 1),
		strings.Replace(text, `"run":"01`, `"run":"0G`, 1), text + " ", text[:len(text)-1], text[:len(text)-40], strings.Replace(text, `,"hash"`, `, "hash"`, 1),
	} {
		if bad == text {
			t.Fatal("nothing is changed")
		}
		if _, p, err := SplitGenesis([]byte(bad)); err == nil {
			t.Errorf("%s names %v", bad, p)
		}
	}
}
