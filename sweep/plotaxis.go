package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/exact"
	"github.com/murksim/murksim/internal/plot"
)

// An axis says where values lie in a picture.
type axis struct {
	lo, hi   float64 // values at from and to
	from, to float64 // pixels
	log      bool
	whole    bool     // only whole numbers have labels
	names    []string // of values 0, 1 and so on; nil: they are numbers
}

// at returns the pixel of a value.
func (a *axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		v, lo, hi = exact.Log(v), exact.Log(lo), exact.Log(hi)
	}
	return a.from + float64((v-lo)/(hi-lo)*(a.to-a.from))
}

// pitch is the distance of two names in pixels.
func (a *axis) pitch() float64 { return math.Abs(a.to-a.from) / (a.hi - a.lo) }

// newAxis returns the axis of a parameter without its place: numbers, with room around a single one, or names.
func newAxis(x *parameter) axis {
	if x.numbers == nil {
		return namesAxis(x.texts)
	}
	a := axis{lo: x.numbers[0], hi: x.numbers[len(x.numbers)-1], log: x.log}
	if v := x.interval; v != nil {
		a.lo, a.hi = v.From, v.To
	}
	a.widen(0)
	return a
}

// namesAxis returns an axis that gives each name an equal part.
func namesAxis(names []string) axis {
	return axis{lo: -0.5, hi: float64(len(names)) - 0.5, names: names}
}

// widen extends the axis at both ends by a share of its interval; around a single value it makes some room, too.
func (a *axis) widen(share float64) {
	const least = 1e-9 // of the values: less is rounding
	switch room := float64((a.hi - a.lo) * share); {
	case a.log && a.hi > a.lo*(1+least):
		f := exact.Exp((exact.Log(a.hi) - exact.Log(a.lo)) * share)
		a.lo, a.hi = a.lo/f, a.hi*f
	case a.log:
		a.lo, a.hi = a.lo/2, a.hi*2
	case a.hi-a.lo > least*max(math.Abs(a.lo), math.Abs(a.hi)):
		if a.hi += room; a.lo < 0 || a.lo > room {
			a.lo -= room
		} else if share > 0 {
			a.lo = 0
		}
	default:
		room = max(math.Abs(a.hi)/10, least)
		if a.lo == 0 {
			room = 1
		}
		a.lo, a.hi = a.lo-room, a.hi+room
	}
}

// A tick is a labelled place of an axis.
type tick struct {
	at   float64 // pixel
	text string
}

// numbers returns labels for an axis of numbers, about as many as asked for.
func (a *axis) numbers(about int) (list []tick) {
	if a.log {
		if steps := plot.LogSteps(a.lo, a.hi, about); steps != nil {
			for _, v := range steps {
				list = append(list, tick{a.at(v), plot.Label(v, v)})
			}
			return list
		}
	}
	steps, step := plot.Steps(a.lo, a.hi, about)
	for _, v := range steps {
		if (!a.log || v > 0) && (!a.whole || v == math.Floor(v)) {
			list = append(list, tick{a.at(v), plot.Label(v, step)})
		}
	}
	return list
}

// stride returns at every how many names a label of that width has room: the least that fits of 1, 2, 5, 10 and so on.
func (a *axis) stride(width float64) int {
	for unit := 1; ; unit *= 10 {
		for _, m := range [...]int{1, 2, 5} {
			if float64(m*unit)*a.pitch() >= width || m*unit >= len(a.names) {
				return m * unit
			}
		}
	}
}

// numeric reports whether all names are numbers.
func (a *axis) numeric() bool {
	return !slices.ContainsFunc(a.names, func(name string) bool { return !isNumber(name) })
}

// every lists each stride-th name. Of numbers it begins where their texts are shortest, which gives the round ones.
func (a *axis) every(stride int) (list []int) {
	first := 0
	if stride > 1 && a.numeric() {
		shortest := math.Inf(1)
		for from := range min(stride, len(a.names)) {
			letters, n := 0, 0
			for i := from; i < len(a.names); i += stride {
				letters, n = letters+len(a.names[i]), n+1
			}
			if mean := float64(letters) / float64(n); mean < shortest {
				first, shortest = from, mean
			}
		}
	}
	for i := first; i < len(a.names); i += stride {
		list = append(list, i)
	}
	return list
}

// labelHeight is the distance of labels that stand one below the other.
const labelHeight = 15

// beside returns the labels of an upright axis, each at most so many pixels wide.
func (a *axis) beside(width float64) (list []tick, widest float64) {
	if a.names == nil {
		list = a.numbers(max(int(math.Abs(a.to-a.from)/36), 2))
	} else {
		list = a.labels(a.stride(labelHeight), func(float64) float64 { return width })
	}
	for _, t := range list {
		widest = max(widest, plot.Width(t.text, textSize))
	}
	return list, widest
}

// below returns the labels of a level axis, and whether they have to be slanted.
func (a *axis) below() (list []tick, slanted bool) {
	const gap, wide = 12, 130 // pixels between labels, and between names that need not be slanted
	if a.names == nil {
		for about := 9; ; about-- {
			list = a.numbers(about)
			if about == 2 || apart(list, gap) {
				return list, false
			}
		}
	}
	widest := 0.0
	for _, name := range a.names {
		widest = max(widest, plot.Width(name, textSize))
	}
	stride := a.stride(widest + gap)
	room := func(float64) float64 { return math.Inf(1) }
	switch {
	case stride == 1 || a.numeric():
	case a.pitch() > wide:
		stride, room = 1, func(float64) float64 { return a.pitch() - gap }
	default:
		const most = 150 // pixels
		stride, slanted = a.stride(labelHeight*1.5), true
		room = func(at float64) float64 { return min(most, (at-4)/slant) }
	}
	return a.labels(stride, room), slanted
}

// slant is how far, at most, a slanted label reaches to the left and down, per pixel of its width.
const slant = 0.75

// labels returns one of so many names, each cut to the room at its place.
func (a *axis) labels(stride int, room func(at float64) float64) (list []tick) {
	var names []string
	var rooms []float64
	shown := a.every(stride)
	for _, i := range shown {
		at := a.at(float64(i))
		list, names, rooms = append(list, tick{at: at}), append(names, a.names[i]), append(rooms, room(at))
	}
	for k, text := range shorten(names, shown, rooms) {
		list[k].text = text
	}
	return list
}

// shorten cuts each name to its room. If two then look the same, it drops the beginning and the end that all names share; if they still
// do, it puts each name's number before it, from 1.
func shorten(names []string, numbers []int, rooms []float64) []string {
	short := make([]string, len(names))
	distinct := func(text func(i int) string) bool {
		taken := map[string]bool{}
		for i := range names {
			short[i] = plot.CutMiddle(text(i), textSize, rooms[i])
			if taken[short[i]] {
				return false
			}
			taken[short[i]] = true
		}
		return true
	}
	if distinct(func(i int) string { return names[i] }) {
		return short
	}
	from, to := common(names)
	before, after := strings.Repeat("…", min(from, 1)), strings.Repeat("…", min(to, 1))
	if distinct(func(i int) string { return before + names[i][from:len(names[i])-to] + after }) {
		return short
	}
	for i := range names {
		number := fmt.Sprintf("%d: ", numbers[i]+1)
		short[i] = number + plot.CutMiddle(names[i], textSize, rooms[i]-plot.Width(number, textSize))
	}
	return short
}

// common returns how many bytes all texts share at their beginning and at their end. It splits no word or number, and leaves the word before the first difference.
func common(texts []string) (from, to int) {
	first := texts[0]
	least := len(first)
	from, to = least, least
	for _, text := range texts[1:] {
		least = min(least, len(text))
		for !strings.HasPrefix(text, first[:from]) {
			from--
		}
		for !strings.HasSuffix(text, first[len(first)-to:]) {
			to--
		}
	}
	to = min(to, least-from)
	mark := func(c byte) bool { return strings.IndexByte(" ,:;/[](){}=", c) >= 0 }
	for _, stop := range [...]bool{true, false, true} { // to the word before what differs, which says what it is
		for from > 0 && mark(first[from-1]) != stop {
			from--
		}
	}
	for to > 0 && !mark(first[len(first)-to]) {
		to--
	}
	return from, to
}

// apart reports whether labels stand side by side with a gap between them.
func apart(list []tick, gap float64) bool {
	for i := 1; i < len(list); i++ {
		if list[i].at-list[i-1].at < (plot.Width(list[i].text, textSize)+plot.Width(list[i-1].text, textSize))/2+gap {
			return false
		}
	}
	return true
}

// drawBeside draws an upright axis at x, with grid lines up to right.
func (a *axis) drawBeside(c *canvas, x, right, width float64) {
	list, _ := a.beside(width)
	for _, t := range list {
		if right > x {
			c.line(x, t.at, right, t.at, gridLine)
		}
		c.text(x-8, t.at+4.5, "end", "", t.text)
	}
}

// drawBelow draws a level axis at y with its title, and returns the y at which it ends.
func (a *axis) drawBelow(c *canvas, y float64, title string) (bottom float64) {
	list, slanted := a.below()
	bottom = y + 20
	for _, t := range list {
		c.line(t.at, y, t.at, y+4, inkLine)
		if slanted {
			c.slanted(t.at+5, y+15, t.text)
			bottom = max(bottom, y+15+float64(plot.Width(t.text, textSize)*slant))
			continue
		}
		half := plot.Width(t.text, textSize) / 2
		c.text(max(half+2, min(t.at, plotWidth-half-2)), y+18, "middle", "", t.text)
	}
	bottom += 20
	const room = plotWidth - 2*plotEdge
	half := min(plot.Width(title, textSize*plot.Bold), room) / 2
	c.heading(max(half+plotEdge, min((a.from+a.to)/2, plotWidth-plotEdge-half)), bottom, "middle", title, room)
	return bottom
}
