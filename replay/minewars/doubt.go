package minewars

// Doubt returns why a message cannot be true, by all that a spectator's board knows, such as that a mine
// explodes where none lies; "" if it can. In a whole game, and from part to part of one, every message
// can be true. Of a player's board it says nothing: the player does not see everything.
func (b *Board) Doubt(m *Message) string {
	if b.view != Spectator {
		return ""
	}
	switch m.Op {
	case Eliminated, Stunned, Recovered, Owner:
		if b.Players[m.Player].Eliminated {
			return "that player is out already"
		}
	case Activated, Explosion, Removed, Placed:
		for _, t := range m.Tiles {
			if why := b.Tiles[b.start.Grid.Index(t)].doubt(m); why != "" {
				return why
			}
		}
	case Production:
		c := &b.Cities[m.City]
		other := m.Finished != c.Making || c.Making == RoadItem && m.Tiles[0] != c.At
		if c.Making != NoItem && m.Finished != Cancelled && other {
			return "that city makes something else"
		}
	}
	return ""
}

func (t *TileState) doubt(m *Message) string {
	switch item := m.Item; {
	case m.Op == Placed && t.Item != NoItem:
		return "an item lies there already"
	case m.Op == Placed:
		return ""
	case m.Op == Activated && t.Exploding:
		return "that mine is active already"
	case t.Item != item: // Activated is of mines, the first item
		return "no such item lies there"
	}
	return ""
}
