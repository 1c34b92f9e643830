package rules

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

func TestUnits(t *testing.T) {
	for text, want := range map[string]string{
		"K": "K", "m/s": "m/s", "m²/s": "m²/s", "kg·m^2": "kg·m²", "m s⁻²": "m/s²", "1/s": "1/s", "s^-1": "1/s", "m/m": "", "g/cell": "g/cell", "°C": "°C", "m^99": "m^99", "%": "%", "m/s/s": "m/s²", "²": "²",
	} {
		if got := parseUnit(text).String(); got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}

// TestWarnings: what has no common unit is told, and nothing else.
func TestWarnings(t *testing.T) {
	l, _ := space.Square4{Rows: 3, Cols: 3, Edge: space.Wrap}.Build()
	for text, want := range map[string]string{
		"u + v":                             "u is in m, and v is in m/s",
		"u + dt * v":                        "",
		"u + 2 * tick":                      "",
		"k * v + u":                         "", // a parameter has a unit that nobody knows
		"mean(u where u > v else u)":        "u is in m, and v is in m/s",
		"max(u, 3, v)":                      "u is in m, and v is in m/s",
		"if v < 1 then u else v * v":        "u is in m, and v * v is in m²/s²",
		"sqrt(u * u + pow(u, 2))":           "",
		"sqrt(u) * sqrt(u)":                 "",
		"sqrt(sqrt(u))":                     "sqrt(sqrt(u)) is in m^(1/4), and u is set, which is in m",
		"sqrt(sqrt(sqrt(u)))":               "", // not known any more
		"v":                                 "v is in m/s, and u is set, which is in m",
		"sum(u) - degree * u":               "",
		"exp(u / u) * u":                    "",
		"exp(u) * u":                        "exp takes a number without a unit, and u is in m",
		"pow(2, u) * u":                     "an exponent has no unit, and u is in m",
		"length(wind) * dt":                 "",
		"dot(wind, wind) * dt":              "dot(wind, wind) * dt is in m²/s, and u is set, which is in m",
		"speed * dt":                        "",
		"speed":                             "speed is in m/s, and u is set, which is in m",
		"if u > 0 then 1 else 0":            "",
		"clamp(u, 0, 1) + abs(-floor(u))":   "",
		"number(u == v) + u":                "u is in m, and v is in m/s",
		"uniform(0, u) + normal()":          "",
		"least(at(v, north)) + u":           "another",
		"at(v, north) + most(u) + one(u)":   "at(v, north) is in m/s, and most(u) is in m",
		"wind[0] + wind.y * u / u + u / dt": "wind[0] + wind[1] * u / u + u / dt is in m/s, and u is set, which is in m",
		"u * 0 + [u, v][0]":                 "u is in m, and v is in m/s",
	} {
		s := &Scope{Lattice: l, World: []string{"k"}, Fields: []Field{{Name: "u", Unit: "m"}, {Name: "v", Unit: "m/s"}, {Name: "wind", N: 2, Unit: "m/s"}}}
		speed, _ := Parse("u / dt")
		s.Lets = []Let{{"speed", speed}}
		n, err := Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		set := []Assignment{{0, -1, n}}
		r, err := Check(s, nil, set)
		if err != nil {
			if !strings.Contains(err.Error(), want) || want == "" {
				t.Error(text, err)
			}
			continue
		}
		got := ""
		for _, w := range r.Warnings(s, set) {
			got += w.Reason
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
