package audit

// Rehash gives a link the hash of what it holds.
func (l *Link) Rehash() { l.Hash = l.hash() }

// Keep lets a checker keep the hashes of so many links, or of none below 0. It is called before the first check.
func (c *Checker) Keep(links int) { c.keep = links }
