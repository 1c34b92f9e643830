package propagators

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// henselLetters name the ways in which live neighbours lie on squares, by their number: in the order of Alan Hensel. There
// is one way for none and for all eight.
var henselLetters = [9]string{1: "ce", 2: "cekain", 3: "cekainyqjr", 4: "cekainyqjrtwz", 5: "cekainyqjr", 6: "cekain", 7: "ce"}

// henselMarks are the characters that only rules with letters have.
const henselMarks = "cekainyqjrtwz-"

// henselSets has for each letter one set of neighbours; the others follow by turning and mirroring it. Bit i is neighbour i in the
// order of reading: northwest, north, northeast, west, east, southwest, south, southeast. Of 5 to 7 it is the neighbours that are dead.
var henselSets = [5]string{
	1: "\x01\x02",
	2: "\x05\x0a\x0c\x03\x18\x24",
	3: "\x25\x1a\x32\x0b\x07\x0d\x31\x26\x0e\x19",
	4: "\xa5\x5a\x33\x0f\x1d\x27\x35\x36\x3a\x1b\x39\x2e\x3c",
}

// henselLetter returns the letter of a set of neighbours, 0 for none and for all.
func henselLetter(set uint8) byte {
	n := bits.OnesCount8(set)
	if n > 4 {
		set = ^set
	}
	for range 4 {
		for _, s := range [2]uint8{set, mirrored(set)} {
			if k := strings.IndexByte(henselSets[min(n, 8-n)], s); k >= 0 {
				return henselLetters[n][k]
			}
		}
		set = turned(set)
	}
	return 0
}

// turned turns a set by a quarter, clockwise.
func turned(set uint8) (to uint8) {
	for i, at := range [8]int{5, 3, 0, 6, 1, 7, 4, 2} { // whose place neighbour i takes
		to |= set >> at & 1 << i
	}
	return to
}

// mirrored exchanges left and right.
func mirrored(set uint8) (to uint8) {
	for i, at := range [8]int{2, 1, 0, 4, 3, 7, 6, 5} {
		to |= set >> at & 1 << i
	}
	return to
}

// parseHensel reads counts with letters behind them, such as 2-a3cnq, into the sets for which they hold.
func parseHensel(s string) (sets stateSets, err error) {
	for s != "" {
		n := int(s[0] - '0')
		if s[0] < '0' || n > 8 {
			return sets, fmt.Errorf("%q is not a count of neighbours; use 0 to 8", s[:1])
		}
		s = s[1:]
		rest, but := strings.CutPrefix(s, "-")
		end := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
		if end < 0 {
			end = len(rest)
		}
		letters := rest[:end]
		s = rest[end:]
		for _, c := range letters {
			if !strings.ContainsRune(henselLetters[n], c) {
				return sets, fmt.Errorf("%d neighbours cannot lie as %q says; letters of %d are %q", n, c, n, henselLetters[n])
			}
		}
		for set := range 256 {
			if bits.OnesCount8(uint8(set)) != n {
				continue
			}
			if letters == "" || strings.IndexByte(letters, henselLetter(uint8(set))) >= 0 != but {
				sets.add(uint8(set))
			}
		}
	}
	return sets, nil
}

// henselString is the inverse of parseHensel, in as few letters as it takes; ok is false if the sets are not all that a letter
// stands for.
func henselString(sets *stateSets) (text string, ok bool) {
	var have, all [9]string // letters, each once
	for set := range 256 {
		n, letter := bits.OnesCount8(uint8(set)), string(henselLetter(uint8(set)))
		in, seen := strings.Contains(have[n], letter), strings.Contains(all[n], letter)
		if seen && in != sets.has(uint8(set)) {
			return "", false
		}
		if !seen {
			all[n] += letter
			if sets.has(uint8(set)) {
				have[n] += letter
			}
		}
	}
	for n := range have {
		digit := string(countDigits[n])
		switch missing := without(all[n], have[n]); {
		case have[n] == "":
		case missing == "":
			text += digit
		case len(missing)+1 < len(have[n]):
			text += digit + "-" + missing
		default:
			text += digit + without(all[n], missing)
		}
	}
	return text, true
}

// without returns the letters that are not among others, in the order of the alphabet.
func without(letters, others string) string {
	var left []byte
	for _, c := range []byte(letters) {
		if strings.IndexByte(others, c) < 0 {
			left = append(left, c)
		}
	}
	slices.Sort(left)
	return string(left)
}
