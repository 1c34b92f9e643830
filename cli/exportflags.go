package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/murksim/murksim/export"
	"github.com/murksim/murksim/render"
	"github.com/murksim/murksim/space"
)

// formatTable lists the endings that export knows.
func formatTable() string {
	var b strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&b, "  .%-8s %s\n", f.Ending, f.About)
	}
	return b.String()
}

func mapNames() string { return strings.Join(render.Maps(), ", ") }

// parseScale reads two numbers such as 0..100.
func parseScale(s string) (r [2]float64, err error) {
	lo, hi, two := strings.Cut(s, "..")
	if two {
		if r[0], err = strconv.ParseFloat(lo, 64); err == nil {
			r[1], err = strconv.ParseFloat(hi, 64)
		}
	}
	if !two || err != nil || !(r[0] < r[1]) || math.IsInf(r[1]-r[0], 0) {
		return r, usage("--scale must be two numbers, the lower first, such as 0..100, not %q", s)
	}
	return r, nil
}

// parseRegion reads a box such as 40,0..43,100, or a list of cells such as 20,20;40,71.
func parseRegion(s string) (space.Region, error) {
	if from, to, box := strings.Cut(s, ".."); box {
		lo, err := parseCell(from)
		if err != nil {
			return nil, err
		}
		hi, err := parseCell(to)
		return space.Rect{Min: lo, Max: hi}, err
	}
	var list space.Cells
	for part := range strings.SplitSeq(s, ";") {
		c, err := parseCell(part)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func parseCell(s string) (space.Coord, error) {
	var list []int32
	for part := range strings.SplitSeq(strings.Trim(strings.TrimSpace(s), "[]"), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil {
			return space.Coord{}, usage("--region: %q is no cell; write its coordinate as in 40,71", s)
		}
		list = append(list, int32(n))
	}
	return space.MakeCoord(list)
}
