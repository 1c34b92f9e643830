package yrep_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/murksim/murksim/replay/yrep"
)

// TestCompare finds every sort of difference, in whatever dialect the files are.
func TestCompare(t *testing.T) {
	base := func() []yrep.Instruction {
		return []yrep.Instruction{
			{ID: yrep.EntityPosition, Tracker: 1, Flags: yrep.HasX | yrep.HasZ, X: 1, Z: 2}, {ID: yrep.PlayerChat, Message: "a"}, {ID: 99, Raw: []byte{1}},
		}
	}
	for _, tt := range []struct {
		change func(list []yrep.Instruction) []yrep.Instruction
		want   *yrep.Difference
	}{
		{func(l []yrep.Instruction) []yrep.Instruction { return l }, nil},
		{func(l []yrep.Instruction) []yrep.Instruction { l[0].X = 3; return l }, &yrep.Difference{Frame: 2, Name: "ENTITY_POSITION", Field: "x", A: "1", B: "3"}},
		{func(l []yrep.Instruction) []yrep.Instruction { l[0].Flags = yrep.HasX; return l }, &yrep.Difference{Frame: 2, Name: "ENTITY_POSITION", Field: "z", A: "2"}},
		{func(l []yrep.Instruction) []yrep.Instruction { l[0].Flags |= yrep.HasYaw; return l }, &yrep.Difference{Frame: 2, Name: "ENTITY_POSITION", Field: "yaw", B: "0"}},
		{func(l []yrep.Instruction) []yrep.Instruction { l[1].ID = yrep.PlayerDeath; return l }, &yrep.Difference{Frame: 2, Index: 1, Name: "PLAYER_CHAT", Field: "instruction", A: "PLAYER_CHAT", B: "PLAYER_DEATH"}},
		{func(l []yrep.Instruction) []yrep.Instruction { return l[:2] }, &yrep.Difference{Frame: 2, Index: 2, Name: "0x0063", Field: "instruction", A: "0x0063"}},
		{func(l []yrep.Instruction) []yrep.Instruction { return append(l, l[1]) }, &yrep.Difference{Frame: 2, Index: 3, Name: "PLAYER_CHAT", Field: "instruction", B: "PLAYER_CHAT"}},
		{func(l []yrep.Instruction) []yrep.Instruction { l[2].Raw = nil; l[2].ID = 16; return l }, &yrep.Difference{Frame: 2, Index: 2, Name: "0x0063", Field: "instruction", A: "0x0063", B: "PLAYER_RESPAWN"}},
		{func(l []yrep.Instruction) []yrep.Instruction { l[2].Raw = []byte{2}; return l }, &yrep.Difference{Frame: 2, Index: 2, Name: "0x0063", Field: "raw", A: `"01"`, B: `"02"`}},
	} {
		var in [2]*yrep.Reader
		for n, b := range [...][]byte{write(t, yrep.Narrow, nil, base()), write(t, yrep.Wide, nil, tt.change(base()))} {
			var err error
			if in[n], err = yrep.NewReader(bytes.NewReader(b), yrep.Options{Dialect: yrep.Dialect(n), KeepUnknown: true}); err != nil {
				t.Fatal(err)
			}
		}
		got, equal, _, err := yrep.Compare(in[0], in[1])
		if err != nil || (got == nil) != (tt.want == nil) || got != nil && (*got != *tt.want || equal != 1) || got == nil && equal != 2 {
			t.Errorf("%+v after %d frames, %v; want %+v", got, equal, err, tt.want)
		}
	}
	whole := vector(t, "narrow/walk_one_player.yrep")
	a, err := yrep.NewReader(bytes.NewReader(whole), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := yrep.NewReader(bytes.NewReader(whole[:len(whole)-1]), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, equal, failed, err := yrep.Compare(a, b); !errors.Is(err, yrep.ErrTruncated) || failed != 1 || equal != 24 {
		t.Errorf("%d frames, file %d: %v; want 24, file 1: %s", equal, failed, err, yrep.ErrTruncated)
	}
}
