package sweep

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// What the texts of a row have at most, in bytes: a coordinator takes none that are longer, and no program makes them.
const (
	maxReason = 4096
	maxName   = 512 // of a worker, a build and what is kept
)

// Sign says of which job a row is, and which program made it. Every row gets its texts here as [Row.Wrong] wants them: clean, and cut
// where they are too long.
func (row *Row) Sign(job int, worker, build string) {
	row.Job, row.Worker, row.Build = job, worker, build
	row.Clean()
	row.Reason = cut(row.Reason, maxReason)
	for _, text := range []*string{&row.Worker, &row.Build, &row.Kept} {
		*text = cut(*text, maxName)
	}
}

// Wrong says why no worker can have made a row, whose texts are clean; "" if one can.
func (row *Row) Wrong() string {
	switch {
	case row.Status == Equal || !slices.Contains(Statuses(), row.Status):
		return fmt.Sprintf("its status is %.80q", row.Status)
	case len(row.Reason) > maxReason:
		return "its reason is too long"
	case row.Hash != "" && !hexadecimal(row.Hash, 8):
		return fmt.Sprintf("its final hash is %.80q", row.Hash)
	case row.Digest != "" && !hexadecimal(row.Digest, 32):
		return fmt.Sprintf("its run digest is %.80q", row.Digest)
	case len(row.Worker) > maxName || len(row.Build) > maxName || len(row.Kept) > maxName:
		return "the name of its worker, of its program or of what is kept is too long"
	case !(row.Seconds >= 0 && row.Seconds < 1e9):
		return "it took no time that can be"
	}
	return ""
}

// hexadecimal reports whether a text has so many bytes in hexadecimal digits, as a row writes them.
func hexadecimal(text string, bytes int) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == bytes && text == strings.ToLower(text)
}

// ProcessName returns the name of a process as its rows have it.
func ProcessName(name string) string {
	const core = len("#1000000")
	return cut(Process(plainText(name)), maxName-core)
}

// cut cuts a text at a rune, so that it has at most so many bytes.
func cut(text string, most int) string {
	const more = "…"
	if len(text) <= most {
		return text
	}
	end := most - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}
