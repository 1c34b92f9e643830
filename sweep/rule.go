package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/scenarios/document"
)

// A rule leaves out the combinations for which all of its conditions hold.
type rule struct{ conditions []condition }

// A condition compares the value of a path with another or with a constant.
type condition struct {
	left, right int // indexes of paths; right -1: the constant
	op          string
	text        string
	number      float64
	isNumber    bool
}

// operators are in the order in which they are looked for.
var operators = []string{"<=", ">=", "!=", "==", "<", ">", "="}

// parseRule reads conditions such as "propagators.diffusion.rate > 1 and space.rows <= space.cols".
func parseRule(text string, paths []string) (r rule, err error) {
	for part := range strings.SplitSeq(text, " and ") {
		c, err := parseCondition(strings.TrimSpace(part), paths)
		if err != nil {
			return r, fmt.Errorf("%q: %w", document.Shorten(text), err)
		}
		r.conditions = append(r.conditions, c)
	}
	return r, nil
}

func parseCondition(text string, paths []string) (c condition, err error) {
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return c, fmt.Errorf("a condition compares two things, as in rate > 1")
	}
	for _, op := range operators {
		if strings.HasPrefix(text[at:], op) {
			c.op = op
			break
		}
	}
	left, right := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(c.op):])
	if c.left = slices.Index(paths, left); c.left < 0 {
		return c, fmt.Errorf("%q does not differ in this design%s", left, document.Suggestion(left, paths))
	}
	if c.op == "" || right == "" || strings.ContainsAny(right[:1], "<>=!") {
		return c, fmt.Errorf("%q is not a comparison: there are < <= > >= = and !=", document.Shorten(text))
	}
	c.right, c.text = slices.Index(paths, right), right
	c.number, err = strconv.ParseFloat(right, 64)
	c.isNumber = err == nil
	if c.right < 0 && !c.isNumber && strings.Contains(right, ".") {
		return c, fmt.Errorf("%q does not differ in this design%s", right, document.Suggestion(right, paths))
	}
	return c, nil
}

// holds reports whether all conditions hold for some values.
func (r *rule) holds(values []string) (bool, error) {
	for i := range r.conditions {
		if ok, err := r.conditions[i].holds(values); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func (c *condition) holds(values []string) (bool, error) {
	left, right := values[c.left], c.text
	b, numbers := c.number, c.isNumber
	if c.right >= 0 {
		right = values[c.right]
		var err error
		b, err = strconv.ParseFloat(right, 64)
		numbers = err == nil
	}
	a, err := strconv.ParseFloat(left, 64)
	numbers = numbers && err == nil
	switch c.op {
	case "=", "==":
		return numbers && a == b || !numbers && left == right, nil
	case "!=":
		return numbers && a != b || !numbers && left != right, nil
	}
	if !numbers {
		return false, fmt.Errorf("%s %s %s compares what are not both numbers", left, c.op, right)
	}
	switch c.op {
	case "<":
		return a < b, nil
	case "<=":
		return a <= b, nil
	case ">":
		return a > b, nil
	}
	return a >= b, nil
}

// exclude removes the combinations that meet a rule.
func (p *Plan) exclude() error {
	if len(p.Design.Exclude) == 0 {
		return nil
	}
	var rules []rule
	for _, text := range p.Design.Exclude {
		r, err := parseRule(text, p.Paths)
		if err != nil {
			return fmt.Errorf("exclude %w", err)
		}
		rules = append(rules, r)
	}
	p.kept = []uint32{}
	for i := range p.combos {
		out, values := false, p.values(i)
		for k := range rules {
			hit, err := rules[k].holds(values)
			if err != nil {
				return fmt.Errorf("exclude %q: %w", p.Design.Exclude[k], err)
			}
			out = out || hit
		}
		if !out {
			p.kept = append(p.kept, uint32(i))
		}
	}
	if len(p.kept) == 0 {
		return fmt.Errorf("exclude leaves none of %d combinations", p.combos)
	}
	return nil
}
