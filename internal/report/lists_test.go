package report

import (
	"encoding/json"
	"testing"
)

type inner struct {
	Names []string `json:"names"`
}

type (
	embedded struct {
		Ticks []int `json:"ticks"`
	}
	object struct {
		embedded
		*inner
		Parts   []inner         `json:"parts"`
		Some    []inner         `json:"some,omitempty"`
		Next    *object         `json:"next,omitempty"`
		Any     any             `json:"any,omitempty"`
		Raw     json.RawMessage `json:"raw,omitempty"`
		Digest  []byte          `json:"digest"`
		Hidden  []int           `json:"-"`
		private []int
	}
)

// TestLists holds that a list is never null, wherever it stands.
func TestLists(t *testing.T) {
	v := object{inner: &inner{}, Parts: []inner{{}, {Names: []string{"a"}}}, Next: &object{inner: &inner{}}, Any: inner{}}
	b, err := json.Marshal(Lists(v))
	const want = `{"ticks":[],"names":[],"parts":[{"names":[]},{"names":["a"]}],"next":{"ticks":[],"names":[],"parts":[],"digest":null},"any":{"names":[]},"digest":null}`
	if string(b) != want || err != nil {
		t.Errorf("%s, %v", b, err)
	}
	if v.Ticks != nil || v.private != nil || Lists(nil) != nil {
		t.Error("the object itself is changed")
	}
}
