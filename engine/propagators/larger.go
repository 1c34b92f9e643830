package propagators

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/space"
)

// Larger is a rule of an [Automaton] that counts the live cells around a cell up to a range: Larger than Life. It needs a
// lattice of squares; how many neighbours the lattice gives a cell does not matter.
//
// The cells are those at the offsets (r, c) of rows and columns of its shape. Where an offset leads beyond the lattice, rows and
// columns are looked at by themselves: an edge that absorbs has nothing there, one that clamps its last row or column, one that
// wraps what comes after it has gone round, as often as it takes. A cell counts once for each offset that leads to it.
//
// K. Evans, Larger than Life: it's so nonlinear, 1996. The notation is that of Mirek Wójtowicz and of Golly.
type Larger struct {
	Range         int        // 1 to 500
	States        int        // 2 or 0: dead and alive; more: a cell that dies passes through states 2 to States-1; at most 256
	Self          bool       // a live cell counts itself
	Shape         Shape      // which offsets
	Born, Survive []Interval // counts; ascending, and apart from each other
}

// An Interval is the numbers from Lo to Hi.
type Interval struct{ Lo, Hi int }

// A Shape says which offsets belong to a range R.
type Shape byte

// The shapes, as Golly calls them.
const (
	Moore      Shape = 'M' // all with |r| ≤ R and |c| ≤ R
	VonNeumann Shape = 'N' // |r| + |c| ≤ R
	Circular   Shape = 'C' // r² + c² ≤ R² + R
)

const largestRange = 500

// A shapeWidths has by row offset, without its sign, the largest column offset.
type shapeWidths [largestRange + 1]int32

// widths fills in the widths of the shape.
func (g *Larger) widths(w *shapeWidths) {
	c := 0
	for r := g.Range; r >= 0; r-- {
		switch g.Shape {
		case VonNeumann:
			c = g.Range - r
		case Circular:
			for (c+1)*(c+1)+r*r <= g.Range*g.Range+g.Range {
				c++
			}
		default:
			c = g.Range
		}
		w[r] = int32(c)
	}
}

// size returns how many offsets there are, (0, 0) among them.
func (g *Larger) size() int {
	var w shapeWidths
	g.widths(&w)
	n := int(2*w[0] + 1)
	for _, c := range w[1 : g.Range+1] {
		n += int(2 * (2*c + 1))
	}
	return n
}

// check returns what is wrong with the rule on a lattice.
func (g *Larger) check(l *space.Lattice) error {
	y, ok := plane(l)
	switch {
	case !ok || y.Shift != 0:
		return fmt.Errorf("needs a space of squares, square4 or square8, not %s", l.Kind())
	case g.Range < 1 || g.Range > largestRange:
		return fmt.Errorf("the range must be 1 to %d, not %d", largestRange, g.Range)
	case g.States < 0 || g.States > gollyStates:
		return fmt.Errorf("states must be 0 to %d, not %d", gollyStates, g.States)
	case g.Shape != Moore && g.Shape != VonNeumann && g.Shape != Circular:
		return errors.New("the shape must be M, N or C")
	}
	size := g.size()
	for _, list := range [2][]Interval{g.Survive, g.Born} {
		last := -2
		for _, i := range list {
			if i.Lo <= last+1 || i.Hi < i.Lo || i.Hi > size {
				return fmt.Errorf("counts must be 0 to %d here, the smaller first, not %d to %d", size, i.Lo, i.Hi)
			}
			last = i.Hi
		}
	}
	return nil
}

// normal returns the rule as it is written: a cell counts itself only if that is one of births and one of survivals in intervals.
func (g *Larger) normal() Larger {
	n := *g
	if n.States <= 2 {
		n.States = 0
	}
	if n.single() || !n.Self {
		return n
	}
	n.Self, n.Survive = false, nil // a live cell has one less
	for _, i := range g.Survive {
		if i.Hi > 0 {
			n.Survive = append(n.Survive, Interval{max(i.Lo, 1) - 1, i.Hi - 1})
		}
	}
	return n
}

// single reports whether there is one interval of births and one of survivals.
func (g *Larger) single() bool { return len(g.Survive) == 1 && len(g.Born) == 1 }

// String returns the rule as Golly writes it: with one interval of births and one of survivals as in
// R5,C0,M1,S34..58,B34..45,NM, else as in R2,C0,S2-3,5,B3,NM.
func (g *Larger) String() string {
	n := g.normal()
	if n.single() {
		self, s, b := 0, n.Survive[0], n.Born[0]
		if n.Self {
			self = 1
		}
		return fmt.Sprintf("R%d,C%d,M%d,S%d..%d,B%d..%d,N%c", n.Range, n.States, self, s.Lo, s.Hi, b.Lo, b.Hi, n.Shape)
	}
	return fmt.Sprintf("R%d,C%d,S%s,B%s,N%c", n.Range, n.States, listed(n.Survive), listed(n.Born), n.Shape)
}

func listed(list []Interval) string {
	parts := make([]string, len(list))
	for k, i := range list {
		if parts[k] = strconv.Itoa(i.Lo); i.Hi > i.Lo {
			parts[k] += "-" + strconv.Itoa(i.Hi)
		}
	}
	return strings.Join(parts, ",")
}

// readLarger reads a rule such as R5,C0,M1,S34..58,B34..45,NM, its form with lists of counts, or five numbers.
func readLarger(l *space.Lattice, s string) (*Larger, error) {
	g := &Larger{Shape: Moore}
	var err error
	if s[0] >= '0' && s[0] <= '9' {
		err = g.readFive(s)
	} else {
		err = g.readParts(s)
	}
	if err == nil {
		err = g.check(l)
	}
	n := g.normal()
	return &n, err
}

// readFive reads range, births and survivals, as Kellie Evans writes them; a cell counts itself.
func (g *Larger) readFive(s string) (err error) {
	parts := strings.Split(s, ",")
	if len(parts) != 5 {
		return errors.New("five numbers are needed: range, births from, to, survivals from, to")
	}
	var n [5]int
	for i, part := range parts {
		if n[i], err = smallNumber(part); err != nil {
			return err
		}
	}
	g.Range, g.Self, g.Born, g.Survive = n[0], true, []Interval{{n[1], n[2]}}, []Interval{{n[3], n[4]}}
	return nil
}

const largerForm = "must look like R5,C0,M1,S34..58,B34..45,NM or R2,C2,S2-3,5,B3,NM"

// readParts reads the parts that begin with a letter each: R, C, M, S, B and N in this order. M, and N, may be left out.
func (g *Larger) readParts(s string) (err error) {
	const order = "RCMSBN"
	at, last := -1, byte(0)
	for part := range strings.SplitSeq(s, ",") {
		counts := part
		if part != "" && (part[0] < '0' || part[0] > '9') {
			last, counts = part[0]&^0x20, part[1:]
			k := strings.IndexByte(order, last)
			if k <= at || k > at+1 && k != 3 { // M may be left out
				return errors.New(largerForm)
			}
			at = k
		} else if part == "" || last != 'S' && last != 'B' {
			return errors.New(largerForm)
		}
		switch last {
		case 'R':
			g.Range, err = smallNumber(counts)
		case 'C':
			g.States, err = smallNumber(counts)
		case 'M':
			if g.Self = counts == "1"; counts != "0" && counts != "1" {
				err = fmt.Errorf("the part M must be 0 or 1, not %q", counts)
			}
		case 'S':
			g.Survive, err = appendCounts(g.Survive, counts)
		case 'B':
			g.Born, err = appendCounts(g.Born, counts)
		case 'N':
			if len(counts) == 1 {
				g.Shape = Shape(counts[0] &^ 0x20)
			}
			if len(counts) != 1 || strings.IndexByte("MNC", byte(g.Shape)) < 0 {
				err = fmt.Errorf("the shape N%s is a neighbourhood that murksim does not have; it has NM, NN and NC, and a \"rule\" propagator counts others", counts)
			}
		}
		if err != nil {
			return err
		}
	}
	if at < strings.IndexByte(order, 'B') {
		return errors.New(largerForm)
	}
	g.Survive, g.Born = merged(g.Survive), merged(g.Born)
	return nil
}

// appendCounts reads a count or an interval of them; nothing is no count.
func appendCounts(list []Interval, s string) ([]Interval, error) {
	if s == "" {
		return list, nil
	}
	lo, hi, two := strings.Cut(s, "..")
	if !two {
		lo, hi, two = strings.Cut(s, "-")
	}
	if !two {
		hi = lo
	}
	var i Interval
	var err error
	if i.Lo, err = smallNumber(lo); err == nil {
		i.Hi, err = smallNumber(hi)
	}
	if err == nil && i.Hi < i.Lo {
		err = fmt.Errorf("%s: the first number is the greater one", s)
	}
	return append(list, i), err
}

func smallNumber(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 24)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number, or too large", s)
	}
	return int(n), nil
}

// merged sorts intervals and joins those that touch.
func merged(list []Interval) (to []Interval) {
	slices.SortStableFunc(list, func(a, b Interval) int { return a.Lo - b.Lo })
	for _, i := range list {
		if n := len(to); n > 0 && i.Lo <= to[n-1].Hi+1 {
			to[n-1].Hi = max(to[n-1].Hi, i.Hi)
			continue
		}
		to = append(to, i)
	}
	return to
}
