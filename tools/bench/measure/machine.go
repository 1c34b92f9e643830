package measure

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/murksim/murksim/internal/kernel"
)

// A Machine is where it is measured.
type Machine struct {
	Time      string // of the measuring, RFC 3339
	Processor string
	Cores     int
	Compiler  string // its name and version, or "none"
	Kernels   string // "vector" or "plain"
}

// ThisMachine describes this machine as far as it can tell.
func ThisMachine(ctx context.Context) Machine {
	m := Machine{Time: time.Now().UTC().Format(time.RFC3339), Processor: runtime.GOARCH, Cores: runtime.NumCPU(), Compiler: "none", Kernels: "plain"}
	if kernel.Vectors() {
		m.Kernels = "vector"
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := bytes.Cut(info, []byte("model name\t: ")); ok {
			name, _, _ := bytes.Cut(rest, []byte("\n"))
			m.Processor = string(bytes.TrimSpace(name))
		}
	}
	if cc := Compiler(); cc != "" {
		if said, err := tool(ctx, "", cc, "--version"); err == nil {
			m.Compiler = said + ", " + strings.Join(CompilerFlags, " ")
		}
	}
	return m
}
