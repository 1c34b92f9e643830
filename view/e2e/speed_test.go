//go:build browser

package e2e

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/profiler"
	"github.com/chromedp/chromedp"
)

// large records a world of 256×256 cells, and returns the folder.
func large(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	murksim(t, folder, "run", "waves", "-q", "--set", "space.rows=256", "--set", "space.cols=256", "--set", "expect=[]", "-o", "waves.murk")
	return folder
}

// firstPaint opens a page and returns the milliseconds until it shows the world.
func firstPaint(t testing.TB, url string) float64 {
	t.Helper()
	p := browse(t, url, 1280, 720)
	defer p.close()
	p.until(`performance.getEntriesByName("world").length > 0`, "true")
	var at float64
	p.value(`performance.getEntriesByName("world")[0].startTime`, &at)
	if os.Getenv("PROFILE") != "" {
		t.Log(p.eval(`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource"), ...performance.getEntriesByType("paint")]
			.map((e) => e.name.split("/").pop() + " " + e.startTime.toFixed() + " to " + (e.responseEnd ?? e.startTime).toFixed()).join(", ")`))
	}
	return at
}

// TestFirstPaint measures how soon a world of 256×256 cells appears. It compares that with a world of a quarter of the cells, so that a
// slow machine does not matter.
func TestFirstPaint(t *testing.T) {
	small := t.TempDir()
	murksim(t, small, "run", "waves", "-q", "--set", "expect=[]", "-o", "waves.murk")
	for _, query := range []string{"", "?plain"} {
		var least [2]float64
		for i, folder := range []string{small, large(t)} {
			url, times := serve(t, folder, "waves.murk"), make([]float64, 5)
			for k := range times {
				times[k] = firstPaint(t, url+query)
			}
			slices.Sort(times)
			t.Logf("first paint of %d×%[1]d cells %s: %.0f ms in the median, %.0f to %.0f ms", []int{128, 256}[i], query, times[2], times[0], times[4])
			least[i] = times[0]
		}
		if least[1] > 4*least[0] {
			t.Errorf("the large world is seen after %.0f ms, the small one after %.0f ms; want 4 times as long at most", least[1], least[0])
		}
	}
}

func BenchmarkFirstPaint(b *testing.B) {
	url := serve(b, large(b), "waves.murk")
	sum := 0.0
	for b.Loop() {
		sum += firstPaint(b, url)
	}
	b.ReportMetric(sum/float64(b.N), "ms/paint")
}

// TestFrames measures the frames per second while a world of 256×256 cells plays, and the cost of each to the page itself: the
// processor time of its main thread. The limits leave room for slow machines.
func TestFrames(t *testing.T) {
	url := serve(t, large(t), "waves.murk")
	for _, query := range []string{"", "?plain"} {
		p := browse(t, url+query, 1280, 720)
		p.until(verdict, "verified")
		p.fill("#speed", "8") // 240 ticks a second: all of it takes 4 seconds
		call(p, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
		if os.Getenv("PROFILE") != "" {
			call(p, profiler.Enable, cdp.Empty{})
			call(p, profiler.Start, cdp.Empty{})
		}
		p.eval(`(() => {
			window.count = {frames: 0, states: 0};
			new MutationObserver(() => window.count.states++).observe(document.body, {attributeFilter: ["data-tick"]});
			const frame = () => { window.count.frames++; requestAnimationFrame(frame); };
			frame();
			return "";
		})()`)
		begin := p.work()
		p.do(chromedp.KeyEvent(" "), chromedp.Sleep(3*time.Second))
		var count struct{ Frames, States float64 }
		p.value("window.count", &count)
		end := p.work()
		took := end["Timestamp"] - begin["Timestamp"]
		each := func(name string) float64 { return 1000 * (end[name] - begin[name]) / count.Frames }
		t.Logf("playing 256×256 cells %s: %.0f frames and %.0f states a second; a frame takes %.1f ms of the page's processor time, of it %.1f in scripts, %.1f for style and layout",
			query, count.Frames/took, count.States/took, each("TaskDuration"), each("ScriptDuration"), each("LayoutDuration")+each("RecalcStyleDuration"))
		if got := each("TaskDuration"); got > 160 {
			t.Errorf("a frame takes %.0f ms of the page, want 160 at most", got)
		}
		if os.Getenv("PROFILE") != "" {
			hot(t, call(p, profiler.Stop, cdp.Empty{}).Profile)
		}
		p.quiet()
		p.close()
	}
}

// work returns the seconds spent so far, by kind of work.
func (p *page) work() map[string]float64 {
	p.t.Helper()
	m := map[string]float64{}
	for _, x := range call(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		m[x.Name] = x.Value
	}
	return m
}

// hot lists the functions that take the most time in a profile.
func hot(t *testing.T, profile *profiler.Profile) {
	t.Helper()
	name, hits, all := map[int64]string{}, map[string]int{}, 0
	for _, n := range profile.Nodes {
		name[n.ID] = fmt.Sprintf("%s:%d", n.CallFrame.FunctionName, n.CallFrame.LineNumber+1)
	}
	for _, id := range profile.Samples {
		hits[name[id]]++
		all++
	}
	var list []string
	for f := range hits {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b string) int { return hits[b] - hits[a] })
	for _, f := range list[:min(14, len(list))] {
		t.Logf("%5.1f %%  %s", 100*float64(hits[f])/float64(all), f)
	}
}
