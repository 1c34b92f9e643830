package propagators

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/murksim/murksim/space"
)

// A Notation is what a rule says on a lattice, in whichever way it is written.
type Notation struct {
	Rule Rule // counts of live neighbours, unless the rule is of another sort

	sets   *ruleSets // which neighbours are alive; nil: only how many
	larger *Larger   // counts in a range; nil: of neighbours
	text   string    // the one spelling
}

// ParseNotation reads the rule of an automaton on a lattice: what [ParseRule] reads, and what Golly writes.
//
//	B3/S23, B2/S345/4         births, survivals and states; see ParseRule
//	B3S23, b3_s23, S23/B3     the same without a slash, with another one, the other way round
//	23/3, 345/2/4             survivals, births and states, without letters
//	B2/S34H, B13/S012V        on hexes; on squares with four neighbours
//	B2-a/S12, 2-a/12/4        with letters that say how the neighbours lie; on squares with eight of them
//	MAPARYXfhZofug…           a bit for each pattern of a cell and its neighbours
//	R5,C0,M1,S34..58,B34..45,NM, 5,34,45,34,58, R2,C2,S2-3,5,B3,NM
//	                          counts in a range, on squares; see Larger
//	B3/S23:T40,60             on a torus of 40 columns and 60 rows; P is a plane
//
// What a rule says of the space must hold for the lattice. An error says what would fit.
func ParseNotation(l *space.Lattice, s string) (Notation, error) {
	n, err := parseNotation(l, s)
	if err != nil {
		return Notation{}, fmt.Errorf("rule %q: %w", s, err)
	}
	return n, nil
}

// String returns the one spelling of the rule, which descriptors have. It says nothing of the space.
func (n *Notation) String() string { return n.text }

// Automaton returns an automaton with the rule. It has no field yet.
func (n *Notation) Automaton(l *space.Lattice) Automaton {
	if n.sets != nil {
		return Automaton{Table: n.sets.table(l)}
	}
	return Automaton{Rule: n.Rule, Larger: n.larger}
}

// Golly returns the rule as Golly writes it for a lattice of rows and columns, its edges included; "" if Golly has none such.
// It has no edges that clamp, and then the rule says nothing of edges.
func (n *Notation) Golly(l *space.Lattice) string {
	y, ok := plane(l)
	if !ok || n.Rule.States > gollyStates {
		return ""
	}
	rule := n.Rule.String()
	if n.Rule.States > 2 {
		rule = countString(n.Rule.Survive) + "/" + countString(n.Rule.Born) + "/" + strconv.Itoa(n.Rule.States)
	}
	switch {
	case n.sets != nil:
		rule = n.sets.golly()
	case n.larger != nil:
		rule = n.larger.String()
	case y.Shift != 0:
		rule += "H"
	case len(l.Directions()) == 4:
		rule += "V"
	}
	switch y.Edge {
	case space.Wrap:
		rule += fmt.Sprintf(":T%d,%d", y.Cols, y.Rows)
	case space.Absorb:
		rule += fmt.Sprintf(":P%d,%d", y.Cols, y.Rows)
	}
	return rule
}

// gollyStates is how many states a cell has at most there.
const gollyStates = 256

func parseNotation(l *space.Lattice, s string) (n Notation, err error) {
	body, topology, bounded := strings.Cut(s, ":")
	if bounded {
		if err := checkTopology(l, topology); err != nil {
			return n, err
		}
	}
	if bits, ok := strings.CutPrefix(body, "MAP"); ok {
		sets, err := readMap(l, bits)
		return n, n.take(sets, err)
	}
	if strings.Contains(body, ",") && body[0] != ',' {
		n.larger, err = readLarger(l, body)
		if err == nil {
			n.text = n.larger.String()
		}
		return n, err
	}
	if body, err = cutShape(l, body); err != nil {
		return n, err
	}
	p, err := splitRule(body)
	if b, _ := blockOf(l); err == nil && b == &block9 && strings.ContainsAny(p.born+p.survive, henselMarks) {
		sets, err := readHensel(l, &p)
		return n, n.take(sets, err)
	}
	if r, bad := ParseRule(body); bad == nil {
		n.Rule = r
		born, survive, _ := strings.Cut(body, "/")
		n.text = "B" + born[1:] + "/S" + survive[1:] // counts stay in their order: descriptors have had them so
		return n, nil
	}
	if err != nil {
		return n, err
	}
	n.Rule, err = p.rule()
	n.text = n.Rule.String()
	return n, err
}

// take makes the notation that of a rule by sets, or of the same one by counts.
func (n *Notation) take(r *ruleSets, err error) error {
	if err != nil {
		return err
	}
	if rule, ok := r.counts(); ok {
		n.Rule, n.text = rule, rule.String()
		return nil
	}
	n.sets, n.text = r, r.String()
	return nil
}

// cutShape cuts off the last letter of a rule if it says how many neighbours cells have, which must be so.
func cutShape(l *space.Lattice, s string) (string, error) {
	body, hex := strings.CutSuffix(s, "H")
	body, cross := strings.CutSuffix(body, "V")
	switch y, ok := plane(l); {
	case hex && cross:
		return "", fmt.Errorf("has both H, for hexes, and V, for squares with four neighbours")
	case hex && !(ok && y.Shift != 0):
		return "", fmt.Errorf("the end H is for hexes: the kind of the space would have to be hex, not %s", l.Kind())
	case cross && !(ok && y.Shift == 0 && len(l.Directions()) == 4):
		return "", fmt.Errorf("the end V is for squares with four neighbours: the kind of the space would have to be square4, not %s", l.Kind())
	}
	return body, nil
}

// plane returns the layout of a lattice of rows and columns.
func plane(l *space.Lattice) (y space.Layout, ok bool) {
	y, ok = l.Layout()
	return y, ok && l.Dim() == 2
}

// topologies are what Golly calls the ways in which edges are joined; the edge is that of murksim.
var topologies = map[byte]struct {
	name string
	edge space.Edge
	have bool
}{
	'T': {"torus", space.Wrap, true}, 'P': {"plane", space.Absorb, true},
	'K': {name: "Klein bottle"}, 'C': {name: "cross-surface"}, 'S': {name: "sphere"},
}

// checkTopology holds the end of a rule, such as T40,60, against the lattice.
func checkTopology(l *space.Lattice, s string) error {
	if s == "" {
		return fmt.Errorf("nothing stands behind the colon; a torus is :T40,60, width and height")
	}
	t, known := topologies[s[0]&^0x20]
	switch {
	case !known:
		return fmt.Errorf(":%s is not a topology; use :T for a torus or :P for a plane", s)
	case !t.have:
		return fmt.Errorf(":%s is a %s, and murksim has none; use a torus, :T, or a plane, :P", s, t.name)
	case strings.ContainsAny(s[1:], "+-*"):
		return fmt.Errorf(":%s shifts or twists an edge, which murksim does not; it joins edges as they are", s)
	}
	y, ok := plane(l)
	cols, rows := y.Cols, y.Rows
	var err error
	if s[1:] != "" {
		width, height, both := strings.Cut(s[1:], ",")
		if !both {
			height = width
		}
		if cols, err = measure(width); err == nil {
			rows, err = measure(height)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf(":%s is %w", s, err)
	case !ok:
		return fmt.Errorf(":%s is a %s of rows and columns; %s has none", s, t.name, l.Kind())
	case cols != y.Cols || rows != y.Rows || t.edge != y.Edge:
		return fmt.Errorf(":%s is a %s: the space would have to be {kind: %s, rows: %d, cols: %d, edge: %v}, not %v", s, t.name, l.Kind(), rows, cols, t.edge, l.Space())
	}
	return nil
}

// measure reads the width or the height of a bounded grid.
func measure(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	switch {
	case err != nil:
		return 0, fmt.Errorf("not a topology: %q is neither width nor height", s)
	case n == 0:
		return 0, fmt.Errorf("endless, and no space of murksim is; give width and height")
	}
	return int(n), nil
}

// ruleParts are the parts of a rule: the counts as they stand there.
type ruleParts struct {
	born, survive, states string
	bare                  bool // without letters B and S
}

const ruleForms = "must look like B3/S23 or B2/S/3, or 23/3 or /2/3 with the survivals first; what no such rule can say, a \"rule\" propagator can"

// splitRule splits a rule whose counts, states and letters may stand in any of the usual ways.
func splitRule(s string) (p ruleParts, err error) {
	parts := strings.Split(strings.ReplaceAll(s, "_", "/"), "/")
	if len(parts) == 1 {
		at := max(strings.LastIndexByte(s, 'S'), strings.LastIndexByte(s, 's'))
		if at < 1 || s[0]&^0x20 != 'B' {
			return p, errors.New(ruleForms)
		}
		parts = []string{s[:at], s[at:]}
	}
	if len(parts) > 3 {
		return p, errors.New(ruleForms)
	}
	if len(parts) == 3 {
		p.states = parts[2]
		if p.states == "" {
			return p, fmt.Errorf("states are missing after the second slash")
		}
	}
	first, firstLetter := cutLetter(parts[0])
	second, secondLetter := cutLetter(parts[1])
	switch {
	case firstLetter == 'B' && secondLetter == 'S':
		p.born, p.survive = first, second
	case firstLetter == secondLetter && firstLetter != 0:
		return p, fmt.Errorf("has %c twice; %s", firstLetter, ruleForms)
	case firstLetter == 0 && secondLetter == 0, firstLetter == 'S' && secondLetter == 'B':
		p.born, p.survive = second, first
	case firstLetter == 0:
		return p, fmt.Errorf("%q begins with neither B nor S; write both letters or none", parts[0])
	default:
		return p, fmt.Errorf("%q does not begin with %c", parts[1], 'B'+'S'-firstLetter)
	}
	p.bare = firstLetter == 0
	return p, nil
}

// cutLetter cuts B or S off the begin of counts; letter is 0 if there is neither.
func cutLetter(s string) (counts string, letter byte) {
	if s != "" {
		if c := s[0] &^ 0x20; c == 'B' || c == 'S' {
			return s[1:], c
		}
	}
	return s, 0
}

// rule reads the parts as plain counts.
func (p *ruleParts) rule() (r Rule, err error) {
	if p.bare && strings.Trim(p.born+p.survive, countDigits[:10]) != "" {
		return r, fmt.Errorf("counts above 9, which are letters, need B and S: B%s/S%s", p.born, p.survive)
	}
	if r.Born, err = parseCounts(p.born); err != nil {
		return r, err
	}
	if r.Survive, err = parseCounts(p.survive); err != nil {
		return r, err
	}
	r.States, err = parseStates(p.states)
	return r, err
}

// parseStates reads the number of states, 2 if it is left out.
func parseStates(s string) (int, error) {
	if s == "" {
		return 2, nil
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n < 2 || n > maxStates {
		return 0, fmt.Errorf("states must be 2 to %d, not %q", maxStates, s)
	}
	return int(n), nil
}
