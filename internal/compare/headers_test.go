package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay"
)

// TestHeaderValues holds which values of two scenarios are told, and by which paths.
func TestHeaderValues(t *testing.T) {
	long := strings.Repeat("x", 600)
	for _, tt := range []struct{ a, b, want string }{
		{`{"name":"x"}`, `{"name":"x"}`, ""},
		{`{"name":"x"}`, `{"name":"y"}`, "name x|y"},
		{`{"name":"x","seed":7}`, `{"name":"x"}`, "seed 7|"},
		{`{"at":[1,2]}`, `{"at":[1,3]}`, "at [1, 2]|[1, 3]"},
		{`{"at":[]}`, `{"at":3}`, "at []|3"},
		{`{"about":""}`, `{}`, `about ""|`},
		{`{"f":[{"name":"heat","min":0},{"name":"wall"}]}`, `{"f":[{"name":"wall"},{"name":"heat","min":1}]}`, "f.heat.min 0|1"},
		{`{"f":[{"name":"heat"}]}`, `{"f":[{"name":"heat"},{"name":"wall","max":3}]}`, "f.wall |{name: wall, max: 3}"},
		{`{"p":[{"decay@1":{"name":"decay","rate":1}}]}`, `{"p":[{"decay@2":{"name":"decay","rate":2}}]}`, "p.decay decay@1|decay@2; p.decay.rate 1|2"},
		{`{"p":[{"decay@1":{"rate":1}},{"decay@1":{"rate":3}}]}`, `{"p":[{"decay@1":{"rate":1}},{"decay@1":{"rate":4}}]}`, "p.1.rate 3|4"},
		{`{"p":[{"rule@1":{"name":"r","set":[["a","a + 1"],["b","b"]]}}]}`, `{"p":[{"rule@1":{"name":"r","set":[["a","a + 2"],["c","c"]]}}]}`, "p.r.set.a a + 1|a + 2; p.r.set.b b|; p.r.set.c |c"},
		{`{"at":[[1,2],[3,4]]}`, `{"at":[[1,2],[3,5]]}`, "at.1 [3, 4]|[3, 5]"},
		{`{"c":[{"tick":1},{"tick":2}]}`, `{"c":[{"tick":1}]}`, "c.1 {tick: 2}|"},
		{`{"about":"` + long + `"}`, `{}`, "about " + long[:500] + "…|"},
		{"a game", "a game", ""},
		{"a game", "another", "descriptor 6 B|7 B, others"},
		{`{"name":"x"}`, "another", "descriptor 12 B|7 B, others"},
	} {
		var got []string
		for _, h := range headerValues(&replay.Header{Descriptor: []byte(tt.a)}, &replay.Header{Descriptor: []byte(tt.b)}) {
			got = append(got, h.Key+" "+h.A+"|"+h.B)
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%.60s and %.60s: %.200q, want %.200q", tt.a, tt.b, text, tt.want)
		}
	}
	got := headerValues(&replay.Header{Seed: 1, ConfigHash: 2, FieldCount: 3, CellCount: 4}, &replay.Header{ConfigHash: 3, FieldCount: 3, CellCount: 5})
	if want := []headerValue{{"seed", valuePair{"1", "0"}}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v: the config hash follows from the seed", got, want)
	}
	got = headerValues(&replay.Header{ConfigHash: 2, FieldCount: 3, CellCount: 4000}, &replay.Header{ConfigHash: 3, FieldCount: 3, CellCount: 5})
	if want := []headerValue{{"config hash", valuePair{"0000000000000002", "0000000000000003"}}, {"cells", valuePair{"4,000", "5"}}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
