package propagators_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/propagators"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

func sightWorld(t testing.TB, s space.Space, viewers, walls []float64, radius, workers int) *engine.World {
	_, test := t.(*testing.T)
	return newWorld(t, engine.Config{
		Space: s, Workers: workers, Paranoid: test,
		Fields:      []fields.Def{{Name: "viewer", Initial: fields.Values(viewers)}, {Name: "wall", Initial: fields.Values(walls)}, {Name: "visible"}},
		Propagators: []engine.Propagator{propagators.Sight{Viewer: 0, Blocks: new(fields.ID(1)), Visible: 2, Radius: radius}},
	})
}

// sees is what each cell of a lattice sees: a world for each viewer.
func sees(t testing.TB, s space.Space, walls []float64, radius int) [][]float64 {
	all := make([][]float64, len(walls))
	for i := range all {
		viewers := make([]float64, len(walls))
		viewers[i] = 1
		w := sightWorld(t, s, viewers, walls, radius, 1)
		steps(t, w, 1)
		all[i] = values(w, 2)
	}
	return all
}

// sightSpaces have few cells; ties says whether points of a line may be half way along
// more than one axis.
var sightSpaces = []struct {
	s    space.Space
	ties bool
}{
	{space.Line{Length: 20}, false}, {space.Ring{Length: 14}, false}, {space.Square4{Rows: 9, Cols: 11}, false},
	{space.Square4{Rows: 8, Cols: 9, Edge: space.Wrap}, false}, {space.Square8{Rows: 9, Cols: 11, Edge: space.Clamp}, false},
	{space.Square8{Rows: 8, Cols: 10, Edge: space.Wrap}, false}, {space.Hex{Cols: 10, Rows: 9}, false},
	{space.Hex{Cols: 8, Rows: 9, Edge: space.Wrap}, false}, {space.Hex{Cols: 5, Rows: 12, Edge: space.Wrap}, false},
	{space.Hex{Cols: 6, Rows: 6, Edge: space.Clamp}, false}, {space.Product{space.Ring{Length: 4}, space.Hex{Cols: 4, Rows: 5, Edge: space.Wrap}}, true},
	{space.FCC12{W: 7, H: 6, D: 5}, true}, {space.FCC12{W: 6, H: 6, D: 4, Edge: space.Wrap}, true}, {space.FCC12{W: 9, H: 1, D: 1}, true},
	{space.Product{space.Square8{Rows: 4, Cols: 5}, space.Ring{Length: 4}}, true}, {space.Product{space.Hex{Cols: 4, Rows: 4}, space.Line{Length: 5}}, true},
}

func someWalls(r *rand.Rand, n int, odds float64) []float64 {
	walls := make([]float64, n)
	for i := range walls {
		if r.Float64() < odds {
			walls[i] = 1
		}
	}
	return walls
}

// TestSightSymmetric: a sees b if and only if b sees a, everybody sees themselves and
// their neighbours, and a wall more never shows more.
func TestSightSymmetric(t *testing.T) {
	for _, tt := range sightSpaces {
		l := lattice(t, tt.s)
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(seed, 51))
			walls := someWalls(r, l.Cells(), 0.15+0.2*float64(seed))
			radius := 1 + r.IntN(9)
			all := sees(t, tt.s, walls, radius)
			more := slices.Clone(walls)
			more[r.IntN(len(more))] = 1
			fewer := sees(t, tt.s, more, radius)
			for a := range all {
				for b := range all {
					if all[a][b] != all[b][a] {
						t.Fatalf("%v: %v sees %v: %v, the other way %v", tt.s, l.Coord(a), l.Coord(b), all[a][b], all[b][a])
					}
					if d := l.Distance(a, b); d <= 1 && all[a][b] != 1 || d > float64(radius) && all[a][b] != 0 {
						t.Fatalf("%v: %v sees %v, %v away within %d: %v", tt.s, l.Coord(a), l.Coord(b), d, radius, all[a][b])
					}
					if fewer[a][b] > all[a][b] {
						t.Fatalf("%v: a wall more shows %v from %v", tt.s, l.Coord(b), l.Coord(a))
					}
				}
			}
		}
	}
}

// TestSightDisk: without walls a viewer sees the disk around it, on any lattice.
func TestSightDisk(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 53))
		s := randomSpace(r, 0)
		l := lattice(t, s)
		if l.Cells() > 2000 || l.Dim() > 9 {
			continue
		}
		viewer, radius := r.IntN(l.Cells()), 1+r.IntN(6)
		viewers := make([]float64, l.Cells())
		viewers[viewer] = 1
		w := sightWorld(t, s, viewers, make([]float64, l.Cells()), radius, 2)
		steps(t, w, 1)
		for i, got := range values(w, 2) {
			want := 0.0
			if l.Distance(viewer, i) <= float64(radius) {
				want = 1
			}
			if got != want {
				t.Fatalf("seed %d, %v: %v sees %v within %d: %v, want %v", seed, s, l.Coord(viewer), l.Coord(i), radius, got, want)
			}
		}
	}
}

// nearestCells are the cells nearest to a + d·i/n, by brute force: axis by axis for
// lines and squares, by the distance of centres for hexes and fcc12.
func nearestCells(l *space.Lattice, a []int, d []int, i, n int) (cells []int) {
	best := []int{-1, -1, -1} // by part: of the distance squared; -1 none yet
	offset := make([]int, len(d))
	var try func(axis int)
	var found [][]int
	kinds := kindsOf(l.Space())
	far := func(o []int) (sum []int) {
		at := 0
		for _, k := range kinds {
			e := make([]int, 3)
			total := 0
			for x := range k.axes {
				e[x] = o[at+x]*n - d[at+x]*i
				total += e[x] * e[x]
			}
			if k.name == "hex" {
				total += (e[0] + e[1]) * (e[0] + e[1])
			}
			if k.name == "fcc12" && (o[at]+o[at+1]+o[at+2])%2 != 0 {
				total = 1 << 30
			}
			sum = append(sum, total)
			at += k.axes
		}
		return sum
	}
	try = func(axis int) {
		if axis == len(d) {
			found = append(found, slices.Clone(offset))
			return
		}
		base := d[axis] * i / n
		for o := base - 2; o <= base+2; o++ {
			offset[axis] = o
			try(axis + 1)
		}
	}
	try(0)
	for k := range kinds {
		for _, o := range found {
			if f := far(o)[k]; best[k] < 0 || f < best[k] {
				best[k] = f
			}
		}
	}
	for _, o := range found {
		if slices.Equal(far(o), best[:len(kinds)]) {
			c := space.Coord{}
			for x, axis := range l.Axes() {
				v := a[x] + o[x]
				if axis.Edge == space.Wrap {
					v = (v%axis.Extent + axis.Extent) % axis.Extent
				}
				c = c.Append(int32(v))
			}
			if rank, ok := l.Rank(c); ok {
				cells = append(cells, rank)
			}
		}
	}
	return cells
}

type kindOf struct {
	name string
	axes int
}

// kindsOf are the parts of a space; squares are two lines.
func kindsOf(s space.Space) (all []kindOf) {
	switch s := s.(type) {
	case space.Product:
		for _, p := range s {
			all = append(all, kindsOf(p)...)
		}
	case space.Square4, space.Square8:
		all = []kindOf{{"line", 1}, {"line", 1}}
	case space.Hex:
		all = []kindOf{{"hex", 2}}
	case space.FCC12:
		all = []kindOf{{"fcc12", 3}}
	case space.Line, space.Ring:
		all = []kindOf{{"line", 1}}
	default:
		panic(fmt.Sprintf("unknown kind of space %T", s))
	}
	return all
}

// samples is in how many pieces a line is looked at.
func samples(l *space.Lattice, d []int) (n int) {
	abs := func(x int) int { return max(x, -x) }
	at := 0
	for _, k := range kindsOf(l.Space()) {
		switch k.name {
		case "hex":
			n = max(n, abs(d[at]), abs(d[at+1]), abs(d[at]+d[at+1]))
		case "fcc12":
			x, y, z := abs(d[at]), abs(d[at+1]), abs(d[at+2])
			n = max(n, x, y, z, (x+y+z)/2)
		default:
			n = max(n, abs(d[at]))
		}
		at += k.axes
	}
	return n
}

// wayBetween is where a cell lies and the short way from there to another; of hexes that
// of fewest steps, then across no edge, that of q, that of r, both.
func wayBetween(l *space.Lattice, a, b int) (from, d []int) {
	hex := hexAxes(nil, l.Space())
	axes := l.Axes()
	for x, axis := range axes {
		from = append(from, int(l.Coord(a).At(x)))
		d = append(d, int(l.Coord(b).At(x))-from[x])
		if axis.Edge == space.Wrap && !hex[x] && 2*d[x] > axis.Extent {
			d[x] -= axis.Extent
		} else if axis.Edge == space.Wrap && !hex[x] && 2*d[x] < -axis.Extent {
			d[x] += axis.Extent
		}
	}
	abs := func(x int) int { return max(x, -x) }
	for x := 0; x < len(axes); x++ {
		if !hex[x] {
			continue
		}
		q, r := d[x], d[x+1]
		least := max(abs(q), abs(r), abs(q+r))
		for _, turns := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			i, j := q+turns[0]*axes[x].Extent, r+turns[1]*axes[x+1].Extent
			if n := max(abs(i), abs(j), abs(i+j)); axes[x].Edge == space.Wrap && n < least {
				d[x], d[x+1], least = i, j, n
			}
		}
		x++
	}
	return from, d
}

// TestSightLines compares with points on the line and all the cells nearest to each: if
// all of them are open one sees, if all are blocked one does not. Where there are two at
// most that is all there is to say.
func TestSightLines(t *testing.T) {
	for _, tt := range sightSpaces {
		l := lattice(t, tt.s)
		r := rand.New(rand.NewPCG(7, 57))
		walls := someWalls(r, l.Cells(), 0.2)
		const radius = 9
		all := sees(t, tt.s, walls, radius)
		for a := range all {
			for b, got := range all[a] {
				from, d := wayBetween(l, a, b)
				if l.Distance(a, b) > radius {
					continue
				}
				n := samples(l, d)
				least, most := 1.0, 1.0
				for i := 1; i < n; i++ {
					blocked, near := 0, nearestCells(l, from, d, i, n)
					for _, c := range near {
						if walls[c] != 0 && c != a && c != b {
							blocked++
						}
					}
					if blocked > 0 {
						least = 0
					}
					if blocked == len(near) && blocked > 0 {
						most = 0
					}
				}
				if !tt.ties {
					least = most
				}
				if got < least || got > most {
					t.Fatalf("%v: %v sees %v: %v, want %v to %v", tt.s, l.Coord(a), l.Coord(b), got, least, most)
				}
			}
		}
	}
}

// TestSightWorkers: many viewers add up, for any number of workers.
func TestSightWorkers(t *testing.T) {
	for _, tt := range sightSpaces {
		l := lattice(t, tt.s)
		r := rand.New(rand.NewPCG(9, 59))
		walls, viewers := someWalls(r, l.Cells(), 0.2), someWalls(r, l.Cells(), 0.1)
		want := make([]float32, l.Cells())
		for i, seen := range sees(t, tt.s, walls, 5) {
			for j := range seen {
				want[j] += float32(viewers[i] * seen[j])
			}
		}
		for _, workers := range []int{1, 2, 8} {
			w := sightWorld(t, tt.s, viewers, walls, 5, workers)
			steps(t, w, 2)
			if !equalBits(t, fmt.Sprint(tt.s), w, 2, want) {
				break
			}
		}
	}
}

// seen draws what the viewer @ sees of a map: · for dark.
func seen(t testing.TB, kind string, radius int, rows ...string) string {
	t.Helper()
	drawn := strings.Join(rows, "")
	walls, viewers := make([]float64, len(drawn)), make([]float64, len(drawn))
	for i := range drawn {
		switch drawn[i] {
		case '#':
			walls[i] = 1
		case '@':
			viewers[i] = 1
		}
	}
	var s space.Space = space.Square8{Rows: len(rows), Cols: len(rows[0])}
	if kind == "square4" {
		s = space.Square4{Rows: len(rows), Cols: len(rows[0])}
	}
	w := sightWorld(t, s, viewers, walls, radius, 1)
	steps(t, w, 1)
	b := []byte(drawn)
	for i, v := range values(w, 2) {
		if v == 0 {
			b[i] = ' '
		}
	}
	var lines []string
	for row := range rows {
		lines = append(lines, string(b[row*len(rows[0]):][:len(rows[0])]))
	}
	return strings.Join(lines, "\n")
}

// TestSightMaps: shadows of a pillar and of a wall with a door, drawn by hand.
func TestSightMaps(t *testing.T) {
	for _, tt := range []struct {
		kind      string
		radius    int
		rows, out []string
	}{
		{"square8", 9, []string{
			"............",
			"............",
			"............",
			"@..#........",
			"............",
			"............",
			"............",
		}, []string{
			"..........  ",
			"..........  ",
			".......     ",
			"@..#        ",
			".......     ",
			"..........  ",
			"..........  ",
		}},
		{"square8", 9, []string{
			"............",
			".....#......",
			".....#......",
			"@...........",
			".....#......",
			".....#......",
			"............",
		}, []string{
			".......     ",
			".....#      ",
			".....#      ",
			"@.........  ",
			".....#      ",
			".....#      ",
			".......     ",
		}},
		{"square4", 4, []string{
			"......#..",
			".........",
			"....@.#..",
			".........",
			"....#....",
			".........",
			".........",
		}, []string{
			"  ....#  ",
			" ....... ",
			"....@.#  ",
			" ....... ",
			"  ..#..  ",
			"   . .   ",
			"         ",
		}},
	} {
		got := seen(t, tt.kind, tt.radius, tt.rows...)
		if want := strings.Join(tt.out, "\n"); got != want {
			t.Errorf("%s, radius %d: sees\n%s\nwant\n%s", tt.kind, tt.radius, got, want)
		}
	}
}

func TestSightCheck(t *testing.T) {
	for _, tt := range []struct {
		p    propagators.Sight
		want string
	}{
		{propagators.Sight{Radius: 3}, `viewer and visible are both field "a"`},
		{propagators.Sight{Viewer: 3, Visible: 1, Radius: 3}, `viewer: field "d" has 2 components`},
		{propagators.Sight{Visible: 1, Blocks: new(fields.ID(1)), Radius: 3}, `blocks and visible are both field "b"`},
		{propagators.Sight{Visible: 1}, "radius must be 1 to 16384, not 0"},
		{propagators.Sight{Visible: 1, Radius: 1 << 20}, "radius must be 1 to 16384, not 1048576"},
	} {
		refused(t, space.Square4{Rows: 4, Cols: 4}, tt.p, tt.want)
	}
}

// The shadow of two pillars, from a corner of a room.
func ExampleSight() {
	room := []string{
		"...........",
		"..#........",
		"...........",
		"...#.......",
		"@..........",
	}
	const viewer, wall, visible = fields.ID(0), fields.ID(1), fields.ID(2)
	viewers, walls := make([]float64, 55), make([]float64, 55)
	for i := range walls {
		switch room[i/11][i%11] {
		case '@':
			viewers[i] = 1
		case '#':
			walls[i] = 1
		}
	}
	world, err := engine.New(engine.Config{
		Space: space.Square8{Rows: 5, Cols: 11},
		Fields: []fields.Def{
			{Name: "viewer", Initial: fields.Values(viewers)}, {Name: "wall", Initial: fields.Values(walls)}, {Name: "visible"},
		},
		Propagators: []engine.Propagator{propagators.Sight{Viewer: viewer, Blocks: new(wall), Visible: visible, Radius: 12}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := world.Step(); err != nil {
		fmt.Println(err)
		return
	}
	for i := range walls {
		if c := room[i/11][i%11]; world.Value(visible, i) > 0 {
			fmt.Printf("%c", c)
		} else {
			fmt.Print("?")
		}
		if i%11 == 10 {
			fmt.Println()
		}
	}
	// Output:
	// ...?.....??
	// ..#....????
	// .....??????
	// ...#??.....
	// @..........
}

func BenchmarkSight(b *testing.B) {
	const side, radius = 256, 16
	for _, tt := range []struct {
		name string
		s    space.Space
	}{
		{"square8", space.Square8{Rows: side, Cols: side}}, {"hex", space.Hex{Cols: side, Rows: side}}, {"fcc12", space.FCC12{W: 64, H: 64, D: 32}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			l := lattice(b, tt.s)
			walls, viewers := someWalls(rand.New(rand.NewPCG(1, 1)), l.Cells(), 0.05), make([]float64, l.Cells())
			viewers[l.Cells()/2+side/2] = 1
			w := sightWorld(b, tt.s, viewers, walls, radius, 1)
			looked := 0
			for i := range l.Cells() {
				if l.Distance(l.Cells()/2+side/2, i) <= radius {
					looked++
				}
			}
			for b.Loop() {
				if _, err := w.Step(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(looked)*float64(b.N)/b.Elapsed().Seconds(), "looks/s")
		})
	}
}

// BenchmarkSightShared is what many viewers take in all, by the number of workers who share it.
func BenchmarkSightShared(b *testing.B) {
	for _, tt := range []struct {
		name string
		s    space.Space
	}{
		{"square8", space.Square8{Rows: 256, Cols: 256}}, {"hex", space.Hex{Cols: 256, Rows: 256, Edge: space.Wrap}}, {"fcc12", space.FCC12{W: 64, H: 64, D: 32}},
	} {
		for _, workers := range []int{1, 2, 64} {
			b.Run(fmt.Sprintf("%s/%d", tt.name, workers), func(b *testing.B) {
				l, r := lattice(b, tt.s), rand.New(rand.NewPCG(1, 1))
				walls, viewers := someWalls(r, l.Cells(), 0.05), someWalls(r, l.Cells(), 0.001)
				w := sightWorld(b, tt.s, viewers, walls, 20, workers)
				for b.Loop() {
					if _, err := w.Step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestTooMuchWorkIsRefused: ticks that would take minutes are refused when the world is built,
// whatever the lattice, and at the tick where the viewers come later.
func TestTooMuchWorkIsRefused(t *testing.T) {
	def := func(name string, value float64) fields.Def {
		return fields.Def{Name: name, Initial: fields.Fill(value)}
	}
	for _, tt := range []struct {
		space  space.Space
		value  float64
		part   engine.Propagator
		refuse bool
	}{
		{space.Square4{Rows: 1000, Cols: 1000}, 1, propagators.Sight{Viewer: 0, Visible: 1, Radius: 16384}, true},
		{space.Square4{Rows: 1000, Cols: 1000}, 1, propagators.Sight{Viewer: 0, Visible: 1, Radius: 20}, false},
		{space.Square4{Rows: 1000, Cols: 1000}, 0, propagators.Sight{Viewer: 0, Visible: 1, Radius: 16384}, false},
		{space.Line{Length: 1 << 20}, 1, propagators.Morphology{Field: 0, Output: 1, Radius: 1 << 20}, true},
		{space.Square4{Rows: 1000, Cols: 1000}, 1, propagators.Morphology{Field: 0, Output: 1, Radius: 1 << 30}, false},
	} {
		_, err := engine.New(engine.Config{
			Space: tt.space, TickRate: 1, Fields: []fields.Def{def("a", tt.value), def("b", 0)}, Propagators: []engine.Propagator{tt.part},
		})
		if errors.Is(err, engine.ErrWork) != tt.refuse || err != nil != tt.refuse {
			t.Errorf("%T %+v of %v: %v", tt.part, tt.part, tt.space, err)
		}
	}
}
