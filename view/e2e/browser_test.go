//go:build browser

// Package e2e looks at the viewer in a real browser: Chromium, which must be installed.
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
	if out, err := exec.Command("go", "build", "-o", program, "github.com/murksim/murksim/cmd/murksim").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	status := m.Run()
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

// serve runs the viewer in a folder and returns its URL.
func serve(t testing.TB, folder string, args ...string) string {
	t.Helper()
	url, _ := started(t, command(folder, append([]string{"view"}, args...)...))
	return url
}

// started starts a command that serves the viewer, and returns its URL and what ends it.
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

// A page is a tab.
type page struct {
	t   testing.TB
	ctx context.Context

	mu   sync.Mutex
	said []string // in the console
}

// browse opens a page in a new browser and waits until it shows a state.
func browse(t testing.TB, url string, width, height int64, options ...chromedp.ExecAllocatorOption) *page {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true),
	)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(flags, options...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	p := &page{t: t, ctx: ctx}
	p.do(chromedp.EmulateViewport(width, height))
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			p.mu.Lock()
			p.said = append(p.said, fmt.Sprint(m))
			p.mu.Unlock()
		}
	}()
	p.do(chromedp.Navigate(url))
	return p
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
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = p.eval(expression); got == want {
			return
		}
	}
	p.t.Fatalf("%s is %q, want %q; the page says %q, its console %q", expression, got, want, p.eval(`document.getElementById("message").textContent`), p.said)
}

// picture writes what the page looks like to a file, if the environment names a folder for that.
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

// quiet holds that nothing was said in the console.
func (p *page) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) > 0 {
		p.t.Errorf("the console says %q", p.said)
	}
}
