package rules

import "slices"

// An Assignment says what becomes of a field, or of one of its components, in each cell.
type Assignment struct {
	Field     int // of the scope
	Component int // -1: all
	Formula   *Node
}

// A Rule is a rule of fields whose formulas were checked.
type Rule struct {
	Lets  []*Term // as in the scope
	Inner []*Term // those whose degree is a float32 within a term over neighbours, as they are there; nil: as elsewhere
	Where *Term   // nil: everywhere
	crowd bool    // it is computed for entities, in a statement
	Set   []*Term // as the assignments were given
	Cost  int     // about how many steps it takes for a cell
}

// certain reports whether categories of the rule are such whatever is read: those of Prev were checked.
func (r *Rule) certain() bool {
	is := true
	for _, t := range r.terms() {
		t.Walk(func(x *Term) { is = is && x.Op != As && x.Op != Now })
	}
	return is
}

// terms are all formulas: lets, where and what is set.
func (r *Rule) terms() []*Term {
	all := slices.Clone(r.Lets)
	if r.Where != nil {
		all = append(all, r.Where)
	}
	return append(all, r.Set...)
}

// Draws is how many random numbers the rule draws for a cell.
func (r *Rule) Draws() (n int) {
	for _, t := range r.terms() {
		t.Walk(func(x *Term) {
			if x.draws() {
				n++
			}
		})
	}
	return n
}

// Check finds out what the formulas of a rule of fields mean. It writes canonical names into the trees, so that their texts are those of a descriptor. The
// error is an [*Error] with the place of the formula.
func Check(s *Scope, where *Node, set []Assignment) (*Rule, error) {
	c := newChecker(s)
	r := &Rule{}
	if err := c.names(); err != nil {
		return nil, err
	}
	for i := range s.Lets {
		of, err := c.letOf(s.Lets[i].Formula, i)
		if err != nil {
			return nil, err
		}
		r.Lets, r.Inner = append(r.Lets, of.Term), append(r.Inner, nil)
		if of.degree && !of.near {
			if r.Inner[i], err = c.innerLet(i); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if where != nil {
		if r.Where, err = c.formula("where", where); err == nil {
			err = placed("where", c.boolean(r.Where))
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range set {
		t, err := c.assign(&set[i])
		if err != nil {
			return nil, err
		}
		r.Set = append(r.Set, t)
	}
	return r, c.limit(r, where, set)
}

// names refuses lets and parameters that a formula could not name, or that would hide each other or a field.
func (c *checker) names() error {
	taken := map[string]string{} // looked up only
	for i := range c.Fields {
		taken[c.Fields[i].Name] = "field"
	}
	check := func(name, what, place string) error {
		var err error
		switch {
		case isWord(name) || slices.Contains(c.words, name) || name == "c" || name == "step":
			err = c.wrong(&Node{}, "%s is a word of the language, and cannot name a %s", name, what)
		case taken[name] != "":
			err = c.wrong(&Node{}, "%s is a %s already, and cannot name a %s", name, taken[name], what)
		}
		taken[name] = what
		return placed(place, err)
	}
	for _, name := range c.Own {
		if err := check(name, "parameter", "parameters."+name); err != nil {
			return err
		}
	}
	for i := range c.Lets {
		if err := check(c.Lets[i].Name, "let", "let."+c.Lets[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// Unused is a parameter of the rule that none of its formulas names; "": there is none.
func (r *Rule) Unused(s *Scope) string { return unused(s, r.terms()) }

// unused is a parameter that none of these terms names; "": there is none.
func unused(s *Scope, all []*Term) string {
	used := make([]bool, len(s.Own))
	for _, t := range all {
		t.Walk(func(x *Term) {
			if x.Op == Own {
				used[x.Index] = true
			}
		})
	}
	if i := slices.Index(used, false); i >= 0 {
		return s.Own[i]
	}
	return ""
}

// let is a let, as it is within a term over neighbours or elsewhere.
func (r *Rule) let(i int, inner bool) *Term {
	if inner && r.Inner[i] != nil {
		return r.Inner[i]
	}
	return r.Lets[i]
}

// placed says in which formula an error is.
func placed(place string, err error) error {
	if e, ok := err.(*Error); ok && e.Place == "" {
		e.Place = place
	}
	return err
}

// Place is the name of what an assignment writes, as places of draws have it: set.FIELD, or set.FIELD[k].
func (s *Scope) Place(a *Assignment) string {
	place := "set." + s.Fields[a.Field].Name
	if a.Component >= 0 {
		place += "[" + string(appendInt(nil, a.Component)) + "]"
	}
	return place
}

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

// assign checks a formula and that its field can hold what it gives.
func (c *checker) assign(a *Assignment) (*Term, error) {
	f := &c.Fields[a.Field]
	place := c.Place(a)
	t, err := c.formula(place, a.Formula)
	if err != nil {
		return nil, err
	}
	want := c.typeOf(f)
	if a.Component >= 0 {
		want.N = 0
	}
	t, err = c.held(t, want, f.Name)
	return t, placed(place, err)
}

// held checks that something of a type and name can hold what a formula gives.
func (c *checker) held(t *Term, want Type, name string) (*Term, error) {
	switch n := t.Node; {
	case t.Type == want:
		return t, nil
	case want.Base == Fixed && want.N == 0 && t.Type.scalar():
		one := []*Term{t}
		err := c.fix(one)
		return one[0], err
	case t.Type.Base == Boolean:
		return nil, c.wrong(n, "%s is true or false, which no field holds; write number(…), or if %s then … else …", n, n)
	case want.Base == Category && t.Type.Base == Category:
		return nil, c.otherList(&Term{Node: &Node{Kind: Name, Text: name}, Op: Get, Type: want}, t)
	default:
		return nil, c.wrong(n, "%s is %s, %s is %s", name, c.describe(want), n, c.describe(t.Type))
	}
}

// A Use is a field that a rule reads: in Prev or in Now, at the cell itself or at others.
type Use struct {
	Field     int
	Now, Near bool
}

// Uses lists what a rule reads, by field.
func (r *Rule) Uses() (all []Use) {
	type use struct {
		let  int
		near bool
	}
	looked := map[use]bool{} // looked up only
	var look func(t *Term, near bool)
	look = func(t *Term, near bool) {
		if t == nil {
			return
		}
		switch u := (use{t.Index, near}); {
		case t.Op == Get, t.Op == Now:
			all = append(all, Use{t.Index, t.Op == Now, near})
		case t.Op == UseLet && !looked[u]:
			looked[u] = true
			look(r.Lets[t.Index], near)
		}
		within := near || t.Op >= Sum && t.Op <= At
		for _, a := range t.Args {
			look(a, within && t.Op != AtCell)
		}
		look(t.Where, within)
		look(t.Else, near)
	}
	for _, t := range r.terms() {
		look(t, false)
	}
	rank := func(u Use) (n int) {
		if n = 4 * u.Field; u.Now {
			n += 2
		}
		if u.Near {
			n++
		}
		return n
	}
	//detcheck:allow sort those of one rank are the same
	slices.SortFunc(all, func(a, b Use) int { return rank(a) - rank(b) })
	return slices.Compact(all)
}

// InPlace reports whether an assignment leaves some of its field as it is, or the rule reads the field as earlier parts of the tick left it.
func (r *Rule) InPlace(a Assignment) bool {
	return r.Where != nil || a.Component >= 0 || slices.ContainsFunc(r.Uses(), func(u Use) bool { return u.Now && u.Field == a.Field })
}

// Columns is about how many numbers for each cell the rule's propagator keeps, beside its scratch memory: where offsets lead to, coordinates, and degrees.
func (r *Rule) Columns() (n int) {
	coordinates := map[int]bool{} // looked up only
	for _, t := range r.terms() {
		t.Walk(func(x *Term) {
			switch {
			case x.Op == At && x.Direction < 0:
				n++
			case x.Op == Coordinate && !coordinates[x.Index]:
				coordinates[x.Index] = true
				n++
			}
		})
	}
	return n + 1
}

// fixed reports whether the rule computes with fixed numbers, or reads or sets a field of such elements.
func (r *Rule) fixed(s *Scope, set []Assignment) bool {
	fixed := slices.ContainsFunc(set, func(a Assignment) bool { return s.Fields[a.Field].Fixed })
	for _, t := range r.terms() {
		t.Walk(func(x *Term) {
			fixed = fixed || x.Type.Base == Fixed || (x.Op == Get || x.Op == Now) && s.Fields[x.Index].Fixed
		})
	}
	return fixed
}

// Keeps reports whether an assignment keeps what is there: the rule has a condition, or its formula reads in Now all the components that it sets.
func (r *Rule) Keeps(i int, a Assignment) bool {
	n := r.Set[i].components()
	read := make([]bool, max(n, a.Component+1))
	looked := make([]bool, len(r.Lets))
	var look func(t *Term)
	look = func(t *Term) {
		switch {
		case t == nil:
			return
		case t.Op == UseLet && !looked[t.Index]:
			looked[t.Index] = true
			look(r.Lets[t.Index])
		case t.Op == Now && t.Index == a.Field:
			for k := range read {
				read[k] = true
			}
		case t.Op == Component && t.Args[0].Op == Now && t.Args[0].Index == a.Field:
			if t.Index < len(read) {
				read[t.Index] = true
			}
			return
		}
		for _, x := range append(slices.Clone(t.Args), t.Where, t.Else) {
			look(x)
		}
	}
	look(r.Set[i])
	first := max(0, a.Component)
	return r.Where != nil || !slices.Contains(read[first:first+n], false)
}

// reads lists the fields that a rule reads in Prev and in Now, ascending, and those that it reads in Now at other cells.
func (r *Rule) reads() (prev, now, far []int) {
	for _, u := range r.Uses() {
		switch {
		case !u.Now:
			prev = append(prev, u.Field)
		case u.Near:
			far = append(far, u.Field)
			fallthrough
		default:
			now = append(now, u.Field)
		}
	}
	return slices.Compact(prev), slices.Compact(now), far
}
