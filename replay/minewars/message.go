package minewars

// A Tile is a place on the map: row, then column, from the centre (0, 0). On a hexagonal
// grid they are axial coordinates.
type Tile struct{ Y, X int8 }

// An Op says what a message tells.
type Op uint8

// The kinds of messages, and the fields of a [Message] that each uses beside Op.
const (
	Activated  Op = iota // a mine is about to explode: Tiles[0]
	Digit                // hidden items next to an own tile: Number 0 to 6, Tiles[0]
	Eliminated           // a player is out: Player
	Road                 // roads: Tiles
	Explosion            // mines or decoys are gone: Item, Tiles
	Removed              // mines or decoys were taken off: Item, Tiles
	Resources            // what a city has changed by: City, Local, Export
	Production           // a city finished an item and starts the next: City, Finished, Started, Tiles of those that are roads
	Placed               // an item went from the inventory to a tile: Item, Tiles[0]
	Stunned              // a player cannot act for Ticks: Player, Ticks
	Recovered            // a player can act again: Player
	Owner                // tiles that belong to a player: Player, Tiles
)

// An Item is what cities make and players place.
type Item uint8

// The items. Explosion, Removed and Placed are of mines and decoys alone; Cancel is only ever
// finished, and says that the old item was dropped.
const (
	Mine      Item = 0
	Decoy     Item = 1
	RoadItem  Item = 2
	Cancelled Item = 15
)

// A Message tells one view one thing. Which fields mean something depends on Op; the
// others are zero.
type Message struct {
	Op                Op
	Player            uint8 // 1 to 6
	City              uint8 // 0 to 15, in the order of [Start].Cities
	Number            uint8
	Item              Item
	Finished, Started Item
	Local, Export     int8
	Ticks             uint16
	Tiles             []Tile // 1 to 16; writers sort them by Y, then X, without doubles
}

// MaxTiles is how many tiles one message can name.
const MaxTiles = 16

// MaxPlayers is how many players a game can have.
const MaxPlayers = 6

// MaxCities is how many cities a game can have.
const MaxCities = 16

// A View is one of the streams of a game: what a player knows, 1 to 6, or the [Spectator]'s.
type View = int

// Spectator is the view that sees everything.
const Spectator View = 0

// An Update is what the views learn in one tick, each in its order.
type Update struct {
	Tick  uint64
	Views [MaxPlayers + 1][]Message // by View
}

// Reset empties the update for a tick, and keeps its memory.
func (u *Update) Reset(tick uint64) {
	u.Tick = tick
	for i := range u.Views {
		u.Views[i] = u.Views[i][:0]
	}
}
