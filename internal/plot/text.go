package plot

import (
	"strings"
	"unicode/utf8"
)

// Escape writes a text so that XML has it as it is.
func Escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// Width returns how wide a text is at most in a common sans-serif font of a size, in pixels. Which font it will be is
// unknown; this is about that of the wide ones, such as DejaVu Sans or Verdana.
func Width(s string, size float64) float64 {
	const narrow, usual, capital, wide = 0.4, 0.64, 0.76, 1.0 // of the size
	width := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune(" .,:;|'!iljtfrI()[]", r):
			width += narrow
		case strings.ContainsRune("mwMW%@—…+−=<>×", r), r >= 0x1100 && r != '…' && r != '−':
			width += wide
		case r >= 'A' && r <= 'Z':
			width += capital
		default:
			width += usual
		}
	}
	return float64(width * size) // rounded, so that no processor adds to it before
}

// Bold is how many times as wide as others bold letters are. Their size, times it, is for Width, Cut and Wrap.
const Bold = 1.12

// Cut shortens a text that is wider than so many pixels, and ends it with an ellipsis.
func Cut(s string, size, width float64) string {
	if Width(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if short := strings.TrimRight(string(runes[:n]), " ") + "…"; Width(short, size) <= width {
			return short
		}
	}
	return "…"
}

// CutMiddle shortens a text likewise, but leaves its beginning and its end, in which names of one kind differ.
func CutMiddle(s string, size, width float64) string {
	if Width(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 1; n-- {
		if short := string(runes[:(n+1)/2]) + "…" + string(runes[len(runes)-n/2:]); Width(short, size) <= width {
			return short
		}
	}
	return Cut(s, size, width)
}

// CutPath shortens a path likewise, but leaves its last parts, which tell most.
func CutPath(s string, size, width float64) string {
	if Width(s, size) <= width {
		return s
	}
	end := s
	for more := true; more; {
		var after string
		if _, after, more = strings.Cut(end, "."); more {
			if end = after; Width("…"+end, size) <= width {
				return "…" + end
			}
		}
	}
	for i := range end {
		if short := "…" + end[i:]; Width(short, size) <= width {
			return short
		}
	}
	return "…"
}

// Wrap breaks a text into lines at its blanks, each at most so many pixels wide. A longer word is broken behind a mark such as a dot, or
// anywhere.
func Wrap(s string, size, width float64) (lines []string) {
	for word := range strings.FieldsSeq(s) {
		if n := len(lines); n > 0 && Width(lines[n-1]+" "+word, size) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, broken(word, size, width)...)
		}
	}
	return lines
}

// broken breaks a word into parts, each at most so many pixels wide.
func broken(word string, size, width float64) (parts []string) {
	for Width(word, size) > width {
		at, most := 0, 0
		for i, r := range word {
			next := i + utf8.RuneLen(r)
			if most > 0 && Width(word[:next], size) > width {
				break
			}
			if most = next; strings.ContainsRune("._+/,", r) {
				at = next
			}
		}
		if at == 0 {
			at = most
		}
		parts, word = append(parts, word[:at]), word[at:]
	}
	return append(parts, word)
}
