package words

import (
	"strings"
	"unicode"
)

// CleanLines is a text of several lines with a dot in place of each other character that a terminal may take for a command: names, and
// what a driver says, come from anywhere.
func CleanLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return cleanRune(r)
	}, s)
}

func cleanRune(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '·'
}

// Printable is a text from a file, made fit for a terminal.
func Printable(s string) string {
	const longest = 200
	shown := []rune(Clean(s))
	if len(shown) > longest {
		return string(shown[:longest]) + "…"
	}
	return string(shown)
}

// Clean puts a dot in place of each character that a terminal may take for a command.
func Clean(s string) string { return strings.Map(cleanRune, s) }
