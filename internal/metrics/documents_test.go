package metrics_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/murksim/murksim/replay/audit"
)

// A family is a metric as it is served.
type family struct {
	kind   string
	labels []string // but for le
}

// families returns all metrics of ours that there are, and the values that their labels have.
func families(t *testing.T) (all map[string]family, values map[string]bool) {
	t.Helper()
	s := start(t)
	_, _, chain, _ := newRun(t, s, "predators", sink{})
	if err := chain.Flush(); err != nil { // there is a committed tick
		t.Fatal(err)
	}
	s.Audit()
	sweep := s.Sweep("heat", 10, 2, []string{"ok", "failed", "halted", "panic", "memory", "time", "error", "equal"})
	sweep.Running(3)
	sweep.Job("ok", "here/1", 100)
	sweep.Recheck(true)
	s.Halted(audit.Panic)
	text := scrape(t, s)
	all, values = map[string]family{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (murksim_\w+) (\w+)$`).FindAllStringSubmatch(text, -1) {
		all[m[1]] = family{kind: m[2]}
	}
	for _, m := range regexp.MustCompile(`(?m)^(murksim_\w+)\{(.*)\} `).FindAllStringSubmatch(text, -1) {
		name, ok := base(all, m[1])
		if !ok {
			t.Fatalf("%s has no type", m[1])
		}
		f := all[name]
		for _, l := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(m[2], -1) {
			if values[l[2]] = true; l[1] != "le" && !slices.Contains(f.labels, l[1]) {
				f.labels = append(f.labels, l[1])
			}
		}
		all[name] = f
	}
	if len(all) < 15 {
		t.Fatalf("there are %d metrics: %v", len(all), all)
	}
	return all, values
}

// base returns the metric that a series belongs to.
func base(all map[string]family, series string) (name string, ok bool) {
	if _, ok := all[series]; ok {
		return series, true
	}
	name = series[:strings.LastIndexByte(series, '_')]
	parts := map[string][]string{"histogram": {"_bucket", "_sum", "_count"}, "summary": {"_sum", "_count"}}
	return name, slices.Contains(parts[all[name].kind], series[len(name):])
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// docs/METRICS.md lists every metric, with its type and its labels.
func TestPage(t *testing.T) {
	all, _ := families(t)
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+)[^|]* \\| ([^|]+) \\| [^|]+ \\|$").FindAllStringSubmatch(read(t, "METRICS.md"), -1) {
		f, ok := all[m[1]]
		if !ok || f.kind != m[2] {
			t.Errorf("the page has the %s %s, which is a %q", m[2], m[1], f.kind)
		}
		var labels []string
		for _, l := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m[3], -1) {
			labels = append(labels, l[1])
		}
		if slices.Sort(labels); !slices.Equal(labels, slices.Sorted(slices.Values(f.labels))) {
			t.Errorf("the page says that %s has the labels %v; it has %v", m[1], labels, f.labels)
		}
		listed[m[1]] = true
	}
	for name := range maps.Keys(all) {
		if !listed[name] {
			t.Errorf("the page does not list %s", name)
		}
	}
}

// What the page, the rules and the dashboard ask for is there: metrics, and values of their labels.
func TestNamesExist(t *testing.T) {
	all, values := families(t)
	for name, least := range map[string]int{"METRICS.md": 15, "metrics/alerts.yml": 6, "metrics/dashboard.json": 15} {
		text, found := read(t, name), map[string]bool{}
		for _, series := range regexp.MustCompile(`murksim_\w+`).FindAllString(text, -1) {
			if metric, ok := base(all, series); !ok {
				t.Errorf("%s: there is no %s", name, series)
			} else {
				found[metric] = true
			}
		}
		if len(found) < least {
			t.Errorf("%s names %d metrics, want %d at least", name, len(found), least)
		}
		for _, m := range regexp.MustCompile(`\b(?:verdict|stage|code|hash)=~?\\?"([^"\\]+)`).FindAllStringSubmatch(text, -1) {
			for _, v := range strings.Split(m[1], "|") {
				if !values[v] {
					t.Errorf("%s: no label has the value %q", name, v)
				}
			}
		}
	}
}

// The rules are rules, and the dashboard is one.
func TestRulesAndDashboard(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(read(t, "metrics/alerts.yml")), &rules, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	alerts := 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if alerts++; r.Alert == "" || r.Expr == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("a rule lacks something: %+v", r)
			}
		}
	}
	if alerts < 5 {
		t.Errorf("there are %d alerts", alerts)
	}
	var dashboard struct {
		Title  string
		Panels []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "metrics/dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d, %q, is there twice or shows nothing", p.ID, p.Title)
		}
		ids[p.ID] = true
	}
	if len(ids) < 10 {
		t.Errorf("the dashboard has %d panels", len(ids))
	}
}
