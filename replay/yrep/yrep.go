// Package yrep reads, writes and plays YREP files, replays of matches in a block world. FORMAT.md
// specifies every byte:
//
//	header:      magic | version i16 | protocol version | metadata
//	frame:       number i32 | instruction count i16 | instructions
//	instruction: id i16 | length, i16 or i32 | payload
//
// A frame is one tick of 1/20 second. A [Reader] reads a file frame by frame, a [Writer] writes one, and
// [Convert] makes JSON lines of a file or a file of JSON lines. A [State] is what the frames so far have
// made, and a [Playback] goes to the state after any frame.
//
// A YREP file records effects, not inputs: nothing here can verify that they came about rightly.
//
// Input is untrusted: bytes that are no YREP file yield an [*Error], never a panic, and
// nothing is allocated that the bytes already read cannot account for.
package yrep

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Magic is what a file begins with.
const Magic = "\x0d\x00\x07\x21"

const (
	version         = 0x011a
	maxInstructions = 32767 // in a frame
	maxNarrow       = 32767 // bytes of a payload
	maxBytes        = 1<<31 - 1
)

// DefaultProtocol is the protocol version that a file gets unless told otherwise.
const DefaultProtocol = "v1_8_R3"

// A Dialect says how wide the length of an instruction is, in which alone files differ. A file does not
// say which dialect it is in.
type Dialect uint8

// The dialects.
const (
	Narrow Dialect = iota // 2 bytes, as the format's document says
	Wide                  // 4 bytes, as the original program writes
	Auto                  // for reading: Narrow if the file is whole so, else Wide
)

var dialects = [...]string{"narrow", "wide", "auto"}

// String returns "narrow", "wide" or "auto".
func (d Dialect) String() string { return dialects[d] }

// ParseDialect returns the dialect of a name.
func ParseDialect(name string) (Dialect, error) {
	if i := slices.Index(dialects[:], name); i >= 0 {
		return Dialect(i), nil
	}
	return 0, fmt.Errorf("there is no dialect %q; there are %s", name, strings.Join(dialects[:], ", "))
}

// width returns how many bytes the length of an instruction has.
func (d Dialect) width() int {
	if d == Wide {
		return 4
	}
	return 2
}

// A Header begins a file.
type Header struct {
	Protocol string // of the server, such as "v1_8_R3"; written as [DefaultProtocol] if empty
	Metadata []byte // free, not always text
}

// A Frame is one tick.
type Frame struct {
	Number       int32 // from 1
	Instructions []Instruction
	Offset       int64    // where it begins in the file; 0 in JSON lines
	Warnings     []*Error // of a lenient reader
}

// An Instruction is something that happened in a tick. Its ID says which fields it has; the others are
// zero.
type Instruction struct {
	ID      ID
	Tracker int32  // the number of the entity
	Raw     []byte // not nil: the payload, not decoded; then there are no other fields
	Offset  int64  // where it begins in the file; 0 in JSON lines

	UUID                           UUID   // of a player
	Name, SkinValue, SkinSignature string // of a player

	Flags                           uint8   // which of the fields of a position are there, or the bits of a motion status
	X, Y, Z                         float64 // a place
	Yaw                             float32
	Pitch                           float32
	VelocityX, VelocityY, VelocityZ float64

	Message  string
	Slot     int8   // see [SlotName]
	Item     string // text of the item; "" is an empty slot
	Launcher int32  // tracker; -1 is unknown
	Pearl    int32  // tracker

	At       [3]int32 // x, y and z of a block
	Old, New Block
	Progress int8 // 0 to 9: how far the block is cracked; otherwise not at all
}

// A Block is what stands at a place.
type Block struct {
	Material int32
	Data     int8
}

// The flags of an ENTITY_POSITION and of a PLAYER_MOTION_STATUS.
const (
	HasX uint8 = 1 << iota
	HasY
	HasZ
	HasYaw
	HasPitch

	Sneaking  uint8 = 1 << 0
	Sprinting uint8 = 1 << 1
)

// An ID says what an instruction is.
type ID int16

// The ids of all instructions.
const (
	AddPlayer ID = 1 + iota
	RemovePlayer
	EntityPosition
	PlayerMotionStatus
	PlayerArmSwing
	PlayerChat
	PlayerDamage
	PlayerDeath
	PlayerInventory
	BlockChange
	BlockBreakProgress
	ItemProjectileSpawn
	EntityDespawn
	PotionSplash
	PearlTeleport
	PlayerRespawn
)

var names = [...]string{
	AddPlayer: "ADD_PLAYER", RemovePlayer: "REMOVE_PLAYER", EntityPosition: "ENTITY_POSITION",
	PlayerMotionStatus: "PLAYER_MOTION_STATUS", PlayerArmSwing: "PLAYER_ARM_SWING", PlayerChat: "PLAYER_CHAT",
	PlayerDamage: "PLAYER_DAMAGE", PlayerDeath: "PLAYER_DEATH", PlayerInventory: "PLAYER_INVENTORY",
	BlockChange: "BLOCK_CHANGE", BlockBreakProgress: "BLOCK_BREAK_PROGRESS", ItemProjectileSpawn: "ITEM_PROJECTILE_SPAWN",
	EntityDespawn: "ENTITY_DESPAWN", PotionSplash: "POTION_SPLASH", PearlTeleport: "PEARL_TELEPORT",
	PlayerRespawn: "PLAYER_RESPAWN",
}

// known reports whether the id is in the table.
func (id ID) known() bool { return id > 0 && int(id) < len(names) }

// String returns the name of an instruction, such as ADD_PLAYER, or the number of an unknown one as
// in 0x0011.
func (id ID) String() string {
	if id.known() {
		return names[id]
	}
	return fmt.Sprintf("0x%04x", uint16(id))
}

var slots = [...]string{"MAINHAND", "HELMET", "CHESTPLATE", "LEGGINGS", "BOOTS"}

// Slots is how many slots a player has.
const Slots = len(slots)

// SlotName returns the name of a slot: MAINHAND, HELMET, CHESTPLATE, LEGGINGS or BOOTS.
func SlotName(slot int8) string { return slots[slot] }

// A UUID names a player.
type UUID [16]byte

// String returns the UUID in its usual form with hyphens.
func (u UUID) String() string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// parseUUID reads the usual form.
func parseUUID(s string) (u UUID, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, false
	}
	n, err := hex.Decode(u[:], []byte(strings.ReplaceAll(s, "-", "")))
	return u, err == nil && n == len(u)
}

// isProtocol reports whether a protocol version is well-formed: v, digits, _, digits, _R, digits, letters in
// either case.
func isProtocol(s string) bool {
	parts := strings.Split(s, "_")
	if len(parts) != 3 {
		return false
	}
	for i, prefix := range [...]string{"vV", "", "rR"} {
		p := parts[i]
		if prefix != "" {
			if p == "" || !strings.Contains(prefix, p[:1]) {
				return false
			}
			p = p[1:]
		}
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return true
}
