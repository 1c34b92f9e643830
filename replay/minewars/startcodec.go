package minewars

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

const (
	version       = 1
	fixedSize     = 10 // bytes of the initialization sequence before the names
	flagAnonymous = 1 << 4
	flagSquare    = 1 << 3
	maxRadius     = 127
	maxName       = 255
)

// AppendStart appends the initialization sequence. It compresses the map if that makes it
// smaller.
func AppendStart(dst []byte, s Start) ([]byte, error) { return appendStart(dst, s, nil) }

// appendStart takes the map's bytes as they are to be stored, or nil.
func appendStart(dst []byte, s Start, block []byte) ([]byte, error) {
	if err := s.check(); err != nil {
		return dst, err
	}
	packed := packMap(s.Map)
	if block == nil {
		block = packed
		if small := compress(nil, packed, nil); len(small) < len(packed) {
			block = small
		}
	}
	flags := byte(0)
	if s.Names == nil {
		flags |= flagAnonymous
	}
	if s.Grid == Square {
		flags |= flagSquare
	}
	dst = append(dst, flags, version, s.TickRate, s.Radius, byte(s.Players), byte(len(s.Cities)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(block)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(packed)))
	for _, name := range s.Names {
		dst = append(append(dst, byte(len(name))), name...)
	}
	for _, c := range s.Cities {
		dst = append(dst, byte(c.Y), byte(c.X))
	}
	return append(dst, block...), nil
}

// check returns an error if there is no initialization sequence for it.
func (s *Start) check() error {
	switch {
	case s.Grid > Square:
		return unwritable(ErrValue, "grid %d is neither Hex nor Square", s.Grid)
	case s.TickRate == 0:
		return unwritable(ErrTickRate, "the tick rate is 0")
	case s.Radius == 0 || s.Radius > maxRadius:
		return unwritable(ErrRadius, "the radius is %d, not 1 to %d", s.Radius, maxRadius)
	case s.Players < 1 || s.Players > MaxPlayers:
		return unwritable(ErrPlayerCount, "%d players, not 1 to %d", s.Players, MaxPlayers)
	case len(s.Cities) < 1 || len(s.Cities) > MaxCities:
		return unwritable(ErrCityCount, "%d cities, not 1 to %d", len(s.Cities), MaxCities)
	case len(s.Map) != s.Grid.count(int(s.Radius)):
		return unwritable(ErrMapLength, "the map has %d tiles; radius %d has %d", len(s.Map), s.Radius, s.Grid.count(int(s.Radius)))
	case s.Names != nil && len(s.Names) != s.Players:
		return unwritable(ErrPlayerCount, "%d names of %d players", len(s.Names), s.Players)
	case slices.Max(s.Map) > Land:
		return unwritable(ErrValue, "terrain %d is none of the four", slices.Max(s.Map))
	}
	for i, name := range s.Names {
		if len(name) > maxName || !utf8.ValidString(name) {
			return unwritable(ErrNameUTF8, "the name of player %d must be UTF-8 of at most %d bytes", i+1, maxName)
		}
	}
	for i, c := range s.Cities {
		if !s.has(c) {
			return unwritable(ErrCoordinate, "city %d at %s is off the map", i, c)
		}
	}
	return nil
}

// has reports whether a tile is on the map.
func (s *Start) has(t Tile) bool { return s.Grid.Distance(t) <= int(s.Radius) }

// packMap puts four tiles into a byte, the first on top.
func packMap(tiles []Terrain) []byte {
	b := make([]byte, (len(tiles)+3)/4)
	for i, t := range tiles {
		b[i/4] |= byte(t) << (6 - i%4*2)
	}
	return b
}

// A startReader reads the initialization sequence in the steps in which its errors are to be found.
type startReader struct {
	raw    []byte // all of it
	base   int    // its offset
	names  []span
	cities int // offsets in raw: of the city list, D
	block  int // of the map block
}

type span struct{ from, to int }

// read reads all bytes and checks the fixed part as soon as it is there, so that its lengths say how
// many bytes follow.
func (r *startReader) read(src io.Reader, reserved bool) error {
	if err := r.take(src, fixedSize); err != nil {
		return err
	}
	if err := r.fixed(reserved); err != nil {
		return err
	}
	if r.raw[0]&flagAnonymous == 0 {
		for range int(r.raw[4]) {
			if err := r.take(src, 1); err != nil {
				return err
			}
			from := len(r.raw)
			if err := r.take(src, int(r.raw[from-1])); err != nil {
				return err
			}
			r.names = append(r.names, span{from, len(r.raw)})
		}
	}
	r.cities = len(r.raw)
	if err := r.take(src, 2*int(r.raw[5])); err != nil {
		return err
	}
	r.block = len(r.raw)
	if err := r.take(src, int(r.stored())); err != nil {
		return err
	}
	for i, name := range r.names {
		if !utf8.Valid(r.raw[name.from:name.to]) {
			return bad(ErrNameUTF8, r.base+name.from, "the name of player %d is not UTF-8", i+1)
		}
	}
	return nil
}

// take reads n more bytes.
func (r *startReader) take(src io.Reader, n int) error {
	from := len(r.raw)
	r.raw = append(r.raw, make([]byte, n)...)
	got, err := io.ReadFull(src, r.raw[from:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return bad(ErrStartTruncated, r.base+from+got, "the input ends inside the initialization sequence")
	}
	return err
}

// stored and packed are the lengths of the map block as it is, and decompressed.
func (r *startReader) stored() uint16 { return binary.BigEndian.Uint16(r.raw[6:]) }
func (r *startReader) packed() uint16 { return binary.BigEndian.Uint16(r.raw[8:]) }

// fixed checks the fixed part.
func (r *startReader) fixed(reserved bool) error {
	b := r.raw
	grid := r.grid()
	fail := func(at int, kind Kind, format string, args ...any) error {
		return bad(kind, r.base+at, format, args...)
	}
	switch other := b[0] &^ (flagAnonymous | flagSquare); {
	case b[1] != version:
		return fail(1, ErrVersion, "protocol version %d; this program reads version %d", b[1], version)
	case other != 0 && !reserved:
		return fail(0, ErrReservedFlags, "flags %08b: the bits %08b are reserved", b[0], other)
	case b[2] == 0:
		return fail(2, ErrTickRate, "the tick rate is 0")
	case b[4] < 1 || b[4] > MaxPlayers:
		return fail(4, ErrPlayerCount, "%d players, not 1 to %d", b[4], MaxPlayers)
	case b[5] < 1 || b[5] > MaxCities:
		return fail(5, ErrCityCount, "%d cities, not 1 to %d", b[5], MaxCities)
	case b[3] < 1 || b[3] > maxRadius:
		return fail(3, ErrRadius, "the radius is %d, not 1 to %d", b[3], maxRadius)
	case int(r.packed()) != (grid.count(int(b[3]))+3)/4:
		return fail(8, ErrMapLength, "a packed map of %d bytes; radius %d has %d", r.packed(), b[3], (grid.count(int(b[3]))+3)/4)
	case r.stored() > r.packed():
		return fail(6, ErrMapLength, "the map block has %d bytes, the packed map only %d", r.stored(), r.packed())
	}
	return nil
}

func (r *startReader) grid() Grid {
	if r.raw[0]&flagSquare != 0 {
		return Square
	}
	return Hex
}

// start decodes what has passed the other checks.
func (r *startReader) start() (s Start, err error) {
	b := r.raw
	s = Start{Grid: r.grid(), TickRate: b[2], Radius: b[3], Players: int(b[4])}
	for _, name := range r.names {
		s.Names = append(s.Names, string(b[name.from:name.to]))
	}
	packed := b[r.block:]
	if r.stored() < r.packed() {
		if packed, err = decompress(b[r.block:], int(r.packed()), nil); err != nil {
			return s, bad(ErrMapLZ4, r.base+r.block, "%v", err)
		}
	}
	s.Map = make([]Terrain, s.Grid.count(int(s.Radius)))
	for i := range s.Map {
		s.Map[i] = Terrain(packed[i/4] >> (6 - i%4*2) & 3)
	}
	if used := len(s.Map) % 4 * 2; used > 0 && packed[len(packed)-1]<<used != 0 {
		return s, bad(ErrMapPadding, r.base+len(b)-1, "the last %d bits of the map must be 0", 8-used)
	}
	for i := r.cities; i < r.block; i += 2 {
		c := Tile{int8(b[i]), int8(b[i+1])}
		if s.Cities = append(s.Cities, c); !s.has(c) {
			return s, bad(ErrCoordinate, r.base+i, "city %d at %s is off the map", len(s.Cities)-1, c)
		}
	}
	return s, nil
}

// dictionary returns the bytes that stand before the frames for their compression.
func (s *Start) dictionary() []byte {
	const stunSeconds = 5
	land := make([]byte, 0, 2*len(s.Map))
	var mountains []byte
	for t, terrain := range s.sorted() {
		switch terrain {
		case Mined, Land:
			land = append(land, byte(t.Y), byte(t.X))
		case Mountain:
			mountains = append(mountains, byte(t.Y), byte(t.X))
		}
	}
	d := append(land, mountains...)
	for p := range byte(s.Players) {
		d = append(d, 3, playerMask(p+1), 0b00000111)
	}
	for p := range byte(s.Players) {
		d = append(d, 1, 0xff, 0b10001001+p)
	}
	for p := range byte(s.Players) {
		d = append(d, 3, 0xff, 0b10000001+p)
		d = binary.BigEndian.AppendUint16(d, stunSeconds*uint16(s.TickRate))
	}
	for _, export := range []byte{1, 0} {
		for c := range byte(len(s.Cities)) {
			for p := range byte(s.Players) {
				d = append(d, 5, playerMask(p+1), 0b01100000|c, 1, export, 0b10000000|(p+1)<<4)
			}
		}
	}
	return d
}

// playerMask names a player and the spectator in a homogeneous frame.
func playerMask(p byte) byte { return 0x80 | 1<<p | 1 }

// sorted yields the tiles of the map by row, then column.
func (s *Start) sorted() func(yield func(Tile, Terrain) bool) {
	return func(yield func(Tile, Terrain) bool) {
		r := int(s.Radius)
		for y := -r; y <= r; y++ {
			for x := -r; x <= r; x++ {
				if t := (Tile{int8(y), int8(x)}); s.has(t) && !yield(t, s.Map[s.Grid.Index(t)]) {
					return
				}
			}
		}
	}
}

// String returns the tile as y,x.
func (t Tile) String() string { return fmt.Sprintf("%d,%d", t.Y, t.X) }
