package session

import (
	"fmt"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/index"
)

// Remembers says why the same ticks may come to different things.
const Remembers = "the world remembers something outside its state, or the machine fails"

// RemembersOrShares says why the same ticks may come to different things where they are computed in another way.
const RemembersOrShares = "the world remembers something outside its state or depends on the number of workers, or the machine fails"

// Twice says of a tick that was computed twice with two outcomes which they are.
func Twice(e *index.UnsteadyError) string {
	return fmt.Sprintf("tick %s was computed twice here, and came to %s and to %s", words.Number(e.Tick), e.Came[0], e.Came[1])
}
