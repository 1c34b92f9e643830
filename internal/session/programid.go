package session

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/murksim/murksim/rng"
)

// ProgramID tells this program from those that were built of other code: what one has computed, another would compute
// in another way. It is a SHA-256 of the build ID that the Go linker writes, or of all of the program's bytes where there is none of its own, and of
// what the build says of itself. Of a library it is that of the library, whatever program has loaded it. It is read when it is first asked for:
// soon after the start, since another program may be put in the place of this one. Where it cannot be known, it is another one in each process.
var ProgramID = sync.OnceValue(func() [sha256.Size]byte {
	about := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		about = info.String()
	}
	f, ours, err := openProgram()
	if err != nil {
		return sha256.Sum256([]byte(rng.FreshID()))
	}
	defer f.Close()
	if id := buildID(f); ofContents.Match(id) {
		return sha256.Sum256(append(id, about...))
	}
	all := sha256.New()
	if _, err := io.Copy(all, f); err != nil || !ours {
		return sha256.Sum256([]byte(rng.FreshID()))
	}
	_, _ = io.WriteString(all, about)
	return [sha256.Size]byte(all.Sum(nil))
})

// ofContents matches a build ID as the go command makes it, of hashes of what is built and of what came out: cmd/go/internal/work/buildid.go. Another one was
// given to the linker, which puts it into every program.
var ofContents = regexp.MustCompile(`(^|[^0-9A-Za-z_-])[0-9A-Za-z_-]{20}(/[0-9A-Za-z_-]{20}){3}\x00*$`)

// openProgram opens the file from which this code was loaded, and reports whether it is known to be that: on other systems than Linux it may be the
// program that has loaded a library.
func openProgram() (f *os.File, ours bool, err error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		path, err := os.Executable()
		if err != nil {
			return nil, false, err
		}
		f, err = os.Open(path)
		return f, false, err
	}
	path := mappedFile(string(maps), uint64(reflect.ValueOf(openProgram).Pointer()))
	if exe, err := os.Readlink("/proc/self/exe"); err == nil && exe == path {
		path = "/proc/self/exe" // what runs, whatever stands under its name by now
	}
	f, err = os.Open(path)
	return f, true, err
}

// mappedFile returns the file that lies at an address, as /proc/PID/maps lists them, see proc(5); "": none.
func mappedFile(maps string, address uint64) string {
	for line := range strings.Lines(maps) {
		var begin, end uint64
		var mode, offset, device, inode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %s", &begin, &end, &mode, &offset, &device, &inode); n < 6 || address < begin || address >= end {
			continue
		}
		if i := strings.IndexByte(line, '/'); i >= 0 {
			return strings.TrimSuffix(line[i:], "\n")
		}
	}
	return ""
}

// buildID returns what the Go linker writes into a program, which depends on all of its code; nil: nothing. Where it stands,
// cmd/internal/buildid says: in a note of ELF, and at the beginning of the code of others.
func buildID(program io.ReaderAt) []byte {
	if f, err := elf.NewFile(program); err == nil {
		if s := f.Section(".note.go.buildid"); s != nil {
			if id, err := s.Data(); err == nil && len(id) > 0 {
				return id
			}
		}
		return nil
	}
	const begin = 1 << 20
	head := make([]byte, begin)
	n, _ := program.ReadAt(head, 0)
	_, id, ok := bytes.Cut(head[:n], []byte("\xff Go build ID: \""))
	if !ok {
		return nil
	}
	id, _, ok = bytes.Cut(id, []byte{'"'})
	if !ok || len(id) == 0 {
		return nil
	}
	return id
}
