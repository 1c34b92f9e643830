package commands_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/murksim/murksim/commands"
)

// TestLater holds that an event's command comes back as it was, and the bytes of one.
func TestLater(t *testing.T) {
	for _, s := range samples {
		c := s.command.From(4, 5)
		c.Priority, c.Expires = 0, 99
		later := commands.Later(1<<40, c)
		due, got, err := commands.DecodeLater(later.Data)
		if err != nil || due != 1<<40 || !equal(got, c) {
			t.Errorf("%s: DecodeLater = %d, %+v, %v; want %d, %+v", c.Kind, due, got, err, uint64(1<<40), c)
		}
		for n := range later.Data {
			if _, _, err := commands.DecodeLater(later.Data[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes are taken", c.Kind, n, len(later.Data))
			}
		}
		var payload *commands.PayloadError
		_, _, err = commands.DecodeLater(append(later.Data, 0))
		if !errors.As(err, &payload) || payload.Offset != len(later.Data) {
			t.Errorf("%s: a byte left over: %v, want it named at byte %d", c.Kind, err, len(later.Data))
		}
	}
	later := commands.Later(3, commands.Despawn(7))
	const want = "0300000000000000" + "02" + "08000000" + "0700000000000000" + "01" + "00" + "00" + "ffffffffffffffff" + "0000000000000000"
	if got := hex.EncodeToString(later.Data); got != want || later.Kind != commands.KindCustom || later.ID != commands.LaterType {
		t.Errorf("Later is %s %#x %s, want custom %#x %s", later.Kind, later.ID, got, commands.LaterType, want)
	}
}

// TestCancelCommand holds its bytes, and that no others are taken.
func TestCancelCommand(t *testing.T) {
	c := commands.Cancel(1<<40 | 7)
	if event, err := commands.DecodeCancel(c.Data); err != nil || event != 1<<40|7 || c.ID != commands.CancelType {
		t.Errorf("Cancel is of type %#x, event %d, %v; want %#x, %d", c.ID, event, err, commands.CancelType, uint64(1<<40|7))
	}
	for n := range 12 {
		_, err := commands.DecodeCancel(binary.LittleEndian.AppendUint64(c.Data, 0)[:n])
		if (err == nil) != (n == 8) {
			t.Errorf("%d bytes: %v; only 8 are an event's id", n, err)
		}
	}
}
