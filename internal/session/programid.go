package session

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// ProgramID tells this program from those that were built of other code: what one has computed, another would compute
// in another way. It is a SHA-256 of the build ID that the Go linker writes, or of all of the program's bytes where there is none, and of
// what the build says of itself, which alone tells a library apart that is loaded by a program that is not Go's. It is read when it is first asked for:
// soon after the start, since another program may be put in the place of this one.
var ProgramID = sync.OnceValue(func() [sha256.Size]byte {
	about := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		about = info.String()
	}
	f, err := os.Open("/proc/self/exe") // what runs, whatever stands under its name by now
	if err != nil {
		var path string
		if path, err = os.Executable(); err == nil {
			f, err = os.Open(path)
		}
	}
	if err != nil {
		return sha256.Sum256([]byte(about))
	}
	defer f.Close()
	if id := buildID(f); id != nil {
		return sha256.Sum256(append(id, about...))
	}
	all := sha256.New()
	_, _ = io.Copy(all, f)
	_, _ = io.WriteString(all, about)
	return [sha256.Size]byte(all.Sum(nil))
})

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
