package yrep

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// A State is what the frames of a file up to one of them have made. The zero State is that before the first
// frame; it is the result of the frames and of nothing else.
type State struct {
	Frame    int32 // number of the last one; 0 before the first
	entities map[int32]*Entity
	blocks   map[[3]int32]Block
}

// An Entity is a player or a projectile. It keeps its data between its lifetimes.
type Entity struct {
	Tracker   int32
	Player    bool // else a projectile
	Lifetimes []Lifetime

	X, Y, Z    float64
	Yaw, Pitch float32

	// Of a player:
	UUID                           UUID
	Name, SkinValue, SkinSignature string
	Sneaking, Sprinting            bool
	Inventory                      [Slots]string // items; "" is an empty slot

	// Of a projectile:
	Launcher int32 // tracker; -1 is unknown
	Item     string
}

// A Lifetime of an entity: it is there after the frames from Start to the one before End, and gone after
// frame End. That is 0 while the lifetime is open.
type Lifetime struct{ Start, End int32 }

// Alive reports whether the entity is there.
func (e *Entity) Alive() bool {
	n := len(e.Lifetimes)
	return n > 0 && e.Lifetimes[n-1].End == 0
}

// A Finding is something that does not fit in the instructions of a file that is well-formed.
type Finding struct {
	Kind    FindingKind
	Frame   int32
	Index   int // of the instruction in the frame, from 0
	Tracker int32
	Detail  string
}

// String returns the finding for people.
func (f Finding) String() string {
	return fmt.Sprintf("%s in frame %d, instruction %d: %s", f.Kind, f.Frame, f.Index+1, f.Detail)
}

// A FindingKind says what does not fit.
type FindingKind string

// The kinds of findings.
const (
	LifetimeOverlap      FindingKind = "lifetime_overlap"       // a start while the entity is there
	RespawnUnknownEntity FindingKind = "respawn_unknown_entity" // of a tracker that nothing had before

	UnknownTracker FindingKind = "unknown_tracker" // which no instruction has given to an entity
	OtherIdentity  FindingKind = "other_identity"  // than the entity had at first, which stays
	OtherKind      FindingKind = "other_kind"      // of entity than the instruction is for
	OtherBlock     FindingKind = "other_block"     // than the instruction says was there
)

// Semantic reports whether the finding is a semantic error, for which a file is not played. Others are
// warnings.
func (k FindingKind) Semantic() bool { return k == LifetimeOverlap || k == RespawnUnknownEntity }

// Apply applies the next frame. It calls report, unless nil, for everything that does not fit and therefore
// has no effect, or less.
func (s *State) Apply(f *Frame, report func(Finding)) {
	s.Frame = f.Number
	for n := range f.Instructions {
		i := &f.Instructions[n]
		if i.Raw != nil {
			continue
		}
		kind, detail := s.apply(i)
		if kind != "" && report != nil {
			report(Finding{kind, f.Number, n, i.Tracker, detail()})
		}
	}
}

// apply applies one instruction, and returns what does not fit.
func (s *State) apply(i *Instruction) (FindingKind, func() string) {
	e := s.entities[i.Tracker]
	switch i.ID {
	case BlockChange:
		return s.change(i)
	case AddPlayer, ItemProjectileSpawn, PlayerRespawn:
		return s.start(e, i)
	}
	if e == nil {
		return UnknownTracker, func() string { return fmt.Sprintf("%s for tracker %d, which nothing has", i.ID, i.Tracker) }
	}
	switch i.ID {
	case RemovePlayer, EntityDespawn, PlayerDeath:
		if e.Alive() {
			e.Lifetimes[len(e.Lifetimes)-1].End = s.Frame
		}
	case EntityPosition:
		e.move(i)
	case PlayerMotionStatus, PlayerInventory:
		if !e.Player {
			return OtherKind, func() string { return fmt.Sprintf("%s for tracker %d, a projectile", i.ID, i.Tracker) }
		}
		if i.ID == PlayerInventory {
			e.Inventory[i.Slot] = i.Item
		} else {
			e.Sneaking, e.Sprinting = i.Flags&Sneaking != 0, i.Flags&Sprinting != 0
		}
	}
	return "", nil
}

// start begins a lifetime of an entity, which is nil if there is none yet.
func (s *State) start(e *Entity, i *Instruction) (kind FindingKind, detail func() string) {
	switch {
	case e == nil && i.ID == PlayerRespawn:
		return RespawnUnknownEntity, func() string { return fmt.Sprintf("tracker %d respawns, but nothing had it before", i.Tracker) }
	case e == nil:
		e = newEntity(i)
		if s.entities == nil {
			s.entities = map[int32]*Entity{}
		}
		s.entities[i.Tracker] = e
	case e.Alive():
		since := e.Lifetimes[len(e.Lifetimes)-1].Start
		return LifetimeOverlap, func() string {
			return fmt.Sprintf("%s for tracker %d, which is there since frame %d", i.ID, i.Tracker, since)
		}
	case i.ID != PlayerRespawn:
		if other := newEntity(i); other.Player != e.Player || other.UUID != e.UUID || other.Name != e.Name || other.SkinValue != e.SkinValue ||
			other.SkinSignature != e.SkinSignature || other.Launcher != e.Launcher || other.Item != e.Item {
			kind, detail = OtherIdentity, func() string {
				return fmt.Sprintf("%s gives tracker %d another identity; the first stays", i.ID, i.Tracker)
			}
		}
	}
	e.Lifetimes = append(e.Lifetimes, Lifetime{Start: s.Frame})
	return kind, detail
}

// newEntity returns the entity that an instruction makes.
func newEntity(i *Instruction) *Entity {
	if i.ID == AddPlayer {
		return &Entity{Tracker: i.Tracker, Player: true, UUID: i.UUID, Name: i.Name, SkinValue: i.SkinValue, SkinSignature: i.SkinSignature}
	}
	return &Entity{Tracker: i.Tracker, Launcher: i.Launcher, Item: i.Item, X: i.X, Y: i.Y, Z: i.Z, Yaw: i.Yaw, Pitch: i.Pitch}
}

// move sets what an ENTITY_POSITION has.
func (e *Entity) move(i *Instruction) {
	if i.Flags&HasX != 0 {
		e.X = i.X
	}
	if i.Flags&HasY != 0 {
		e.Y = i.Y
	}
	if i.Flags&HasZ != 0 {
		e.Z = i.Z
	}
	if i.Flags&HasYaw != 0 {
		e.Yaw = i.Yaw
	}
	if i.Flags&HasPitch != 0 {
		e.Pitch = i.Pitch
	}
}

// change sets a block.
func (s *State) change(i *Instruction) (FindingKind, func() string) {
	was, known := s.blocks[i.At]
	if s.blocks == nil {
		s.blocks = map[[3]int32]Block{}
	}
	s.blocks[i.At] = i.New
	if !known || was == i.Old {
		return "", nil
	}
	return OtherBlock, func() string {
		return fmt.Sprintf("block %v was %d:%d, not %d:%d", i.At, was.Material, was.Data, i.Old.Material, i.Old.Data)
	}
}

// Entities returns all entities there have been, by ascending trackers. They belong to the state.
func (s *State) Entities() []*Entity {
	return slices.SortedFunc(maps.Values(s.entities), func(a, b *Entity) int { return cmp.Compare(a.Tracker, b.Tracker) })
}

// Entity returns the entity of a tracker; nil if there has been none.
func (s *State) Entity(tracker int32) *Entity { return s.entities[tracker] }

// Blocks yields the blocks that have changed, by ascending x, y and z.
func (s *State) Blocks() iter.Seq2[[3]int32, Block] {
	places := slices.SortedFunc(maps.Keys(s.blocks), func(a, b [3]int32) int { return slices.Compare(a[:], b[:]) })
	return func(yield func([3]int32, Block) bool) {
		for _, at := range places {
			if !yield(at, s.blocks[at]) {
				return
			}
		}
	}
}

// clone returns a copy that shares nothing with the state.
func (s *State) clone() *State {
	c := &State{Frame: s.Frame, entities: make(map[int32]*Entity, len(s.entities)), blocks: maps.Clone(s.blocks)}
	for tracker, e := range s.entities {
		one := *e
		one.Lifetimes = slices.Clone(e.Lifetimes)
		c.entities[tracker] = &one
	}
	return c
}

// bytes returns about how many bytes a clone occupies, rather more than less. Texts that entities have for
// ever are not among them, since clones share them.
func (s *State) bytes() int {
	const ofBlock, ofEntity = 48, 512 // of a map that has just grown
	n := len(s.blocks)*ofBlock + len(s.entities)*ofEntity
	for _, e := range s.entities {
		n += len(e.Lifetimes) * 8
		for _, item := range e.Inventory {
			n += len(item)
		}
	}
	return n
}

// IsEvent reports whether an instruction leaves the state as it is and is an event of its frame.
func (i *Instruction) IsEvent() bool {
	switch i.ID {
	case PlayerArmSwing, PlayerChat, PlayerDamage, BlockBreakProgress, PotionSplash, PearlTeleport:
		return i.Raw == nil
	}
	return false
}
