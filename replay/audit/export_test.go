package audit

// Rehash gives a link the hash of what it holds.
func (l *Link) Rehash() { l.Hash = l.hash() }
