package words

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/space"
)

// Times writes how often something was done.
func Times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// OrNone returns a value as it is shown, which may be missing.
func OrNone(v string) string {
	if v == "" {
		return "none"
	}
	return document.Shorten(v)
}

// Remaining writes a time for people, in one or two units.
func Remaining(seconds float64) string {
	const most = 100 * 365 * 24 * time.Hour
	if seconds >= most.Seconds() {
		return "years"
	}
	d := time.Duration(seconds * float64(time.Second))
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds())+1)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < day:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h", d/day, int((d % day).Hours()))
}

// Count writes a number of things, whose name gets an s unless there is one.
func Count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Number(n) + " " + what + "s"
}

// HexDigest writes a digest, if it is known.
func HexDigest(sum [sha256.Size]byte, known bool) string {
	if !known {
		return ""
	}
	return hex.EncodeToString(sum[:])
}

// Number writes a count with a comma between groups of three digits.
func Number(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size writes a number of bytes with a unit.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.3g KB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g GB", float64(n)/1e9)
}

// ParseSize reads a number of bytes such as 512MiB or 4GB.
func ParseSize(s string) (uint64, error) {
	digits := strings.TrimRight(s, "KMGTiB")
	n, err := strconv.ParseUint(digits, 10, 64)
	unit, known := map[string]uint64{
		"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[s[len(digits):]]
	if err != nil || !known || n > 1<<62/unit {
		return 0, fmt.Errorf("%q is no size; write it as 512MiB or 4GB", s)
	}
	return n * unit, nil
}

// Speed rounds a rate to three digits.
func Speed(v float64) string {
	if v >= 1000 {
		p := 1.0
		for v/p >= 1000 {
			p *= 10
		}
		return Number(uint64(v/p) * uint64(p))
	}
	return scenarios.Number(float64(int(v*10)) / 10)
}

// Hash16 writes a hash of 64 bits.
func Hash16(h uint64) string { return fmt.Sprintf("%016x", h) }

// CoordText writes the coordinate of a cell, such as (3, 4).
func CoordText(cell []int32) string {
	c, err := space.MakeCoord(cell)
	if err != nil {
		return fmt.Sprint(cell)
	}
	return fmt.Sprint(c)
}

// Rounded writes a number with at most six digits.
func Rounded(v float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil || short == 0 {
		return "0"
	}
	return scenarios.Number(short)
}
