package scenarios

import "math"

// NextCommands returns the first tick after the given one at which the scenario submits
// commands; math.MaxUint64 if there is none.
func (s *Scenario) NextCommands(after uint64) uint64 {
	next := uint64(math.MaxUint64)
	if after == 0 && s.Entities != nil && len(s.Entities.Spawn) > 0 {
		next = 1
	}
	for i := range s.Commands {
		next = min(next, s.Commands[i].next(after))
	}
	return next
}

// next returns the first tick after the given one at which the command is done.
func (c *Command) next(after uint64) uint64 {
	next, _ := c.first()
	if after >= next {
		if c.Every == 0 {
			return math.MaxUint64
		}
		next = after + c.Every - (after-next)%c.Every
	}
	if next <= after || c.Until != 0 && next > c.Until { // beyond 2^64, or past the end
		return math.MaxUint64
	}
	return next
}

// Next returns the first tick after the given one at which [Checker.Observe] must look;
// math.MaxUint64 if there is none. Expectations that have failed look no more.
func (c *Checker) Next(after uint64) uint64 {
	c.begin(after)
	if c.run != nil {
		return after + 1
	}
	next := uint64(math.MaxUint64)
	for i := range c.states {
		if e := &c.states[i]; e.failed == "" && !c.elsewhere(e) {
			next = min(next, e.next(after, c.s.Ticks))
		}
	}
	return next
}

// next returns the first tick after the given one for which looks is true, in a run that ends
// after a last one.
func (e *expectation) next(after, last uint64) uint64 {
	switch only := e.only(); {
	case only > after:
		return only
	case only != 0:
		return math.MaxUint64
	}
	next := max(after+1, e.From)
	if r := next % e.Every; r != 0 {
		next += e.Every - r
	}
	if after < last && last >= e.From { // the last tick counts whatever its number
		next = min(next, last)
	}
	return next
}

// only is the one tick that the expectation is about; 0 if it is about several.
func (e *expectation) only() uint64 {
	switch {
	case e.Tick != 0:
		return e.Tick
	case e.Hash != "" || e.Digest != "":
		return e.last
	}
	return 0
}
