//go:build browser

// Package e2e tests the viewer in a real browser: Chromium, which must be installed.
package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// program is murksim, built once.
var program string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "viewer")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(folder, "murksim")
	root, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	source := "-ldflags=-X 'github.com/murksim/murksim/cli.sourceFolder=" + root + "'" // for exported pages, if paths are trimmed
	if out, err := exec.Command("go", "build", source, "-o", program, "github.com/murksim/murksim/cmd/murksim").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	status := m.Run()
	closeBrowser()
	os.RemoveAll(folder)
	os.Exit(status)
}

func command(folder string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = folder
	return c
}

// murksim runs the program in a folder and returns what it prints.
func murksim(t testing.TB, folder string, args ...string) string {
	t.Helper()
	out, err := command(folder, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("murksim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// serve starts the viewer in a folder and returns its URL.
func serve(t testing.TB, folder string, args ...string) string {
	t.Helper()
	url, _ := started(t, command(folder, append([]string{"view"}, args...)...))
	return url
}

// recorded runs a scenario for 60 ticks, opens the recording in the viewer, and returns its URL.
func recorded(t testing.TB, scenario string) string {
	t.Helper()
	folder := t.TempDir()
	murksim(t, folder, "run", scenario, "-q", "--ticks", "60", "--set", "expect=[]", "-o", scenario+".murk")
	return serve(t, folder, scenario+".murk")
}

// started starts a command that serves the viewer. It returns the URL and a function that ends the
// command.
func started(t testing.TB, c *exec.Cmd) (url string, end func()) {
	t.Helper()
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	t.Cleanup(end)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "view"); ok {
			return strings.TrimSpace(url), end
		}
	}
	t.Fatal("no URL was printed")
	return "", nil
}

// plain returns the URL of a page that does not use the graphics card. On a machine without one, SwiftShader replaces it and takes most
// of the time. So tests use plain pages to check drawing, not to check input and messages.
func plain(url string) string {
	at, fragment, _ := strings.Cut(url, "#")
	return at + "?plain#" + fragment
}

// A page is a tab.
type page struct {
	t     testing.TB
	ctx   context.Context
	close func()

	mu   sync.Mutex
	said []string // console messages
}

// browser returns the one browser of all tests, started with the first page. Each page has its own window and profile in it.
var browser = sync.OnceValues(func() (context.Context, error) {
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true),
		chromedp.Flag("disable-gpu-rasterization", true), chromedp.Flag("disable-gpu-compositing", true), // all but WebGL is faster without SwiftShader
	)
	ctx, end := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, _ = chromedp.NewContext(ctx)
	closeBrowser = end
	return ctx, chromedp.Do(ctx)
})

// closeBrowser ends the browser, if it was started.
var closeBrowser = func() {}

// browse opens a page in a new window, after some steps such as setting what a reader prefers.
func browse(t testing.TB, url string, width, height int64, before ...chromedp.Action[chromedp.Void]) *page {
	t.Helper()
	ctx, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	p := &page{t: t, close: cancel}
	t.Cleanup(p.close)
	if err := chromedp.Do(ctx); err != nil { // otherwise the window would close at the time limit, not with close
		t.Fatal(err)
	}
	p.ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	messages := chromedp.Console(p.ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if strings.Contains(fmt.Sprint(m), "GPU stall due to ReadPixels") { // the browser's own message, about SwiftShader
				continue
			}
			p.mu.Lock()
			p.said = append(p.said, fmt.Sprint(m))
			p.mu.Unlock()
		}
	}()
	p.do(chromedp.EmulateViewport(width, height))
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.do(before...)
	p.do(chromedp.Navigate(url))
	return p
}

// prefers sets a reader's preference, such as prefers("color-scheme", "dark").
func prefers(what, value string) chromedp.Action[chromedp.Void] { return media("prefers-"+what, value) }

// media sets a media feature of a page.
func media(name, value string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: name, Value: value}},
		})
		return err
	})
}

// call sends a command to the browser.
func call[P, R any](p *page, c cdp.Command[P, R], params P) (r R) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		r, err = cdp.Call(ctx, t, c, params)
		return err
	}))
	return r
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval returns the value of an expression, as text.
func (p *page) eval(expression string) string {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[any](expression))
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprint(v)
}

// until waits until an expression has a value.
func (p *page) until(expression, want string) {
	p.t.Helper()
	got := ""
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = p.eval(expression); got == want {
			return
		}
	}
	p.t.Fatalf("%s is %q, want %q; the page says %q, its console %q", expression, got, want, p.eval(`document.getElementById("message").textContent`), p.said)
}

// picture saves a screenshot, if the environment names a folder for that.
func (p *page) picture(name string) {
	p.t.Helper()
	folder := os.Getenv("PICTURES")
	if folder == "" {
		return
	}
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), b, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// quiet checks that the console has no messages.
func (p *page) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) > 0 {
		p.t.Errorf("the console says %q", p.said)
	}
}
