package session

import "github.com/murksim/murksim/internal/words"

// A ChangesError reports a recording whose ticks come to other hashes, each time, if the whole state is hashed than if only what parts of the world
// report to have changed is hashed anew, as it is in a recording: a part does not report all.
type ChangesError struct {
	Err error // what a replay finds that hashes the whole state after each tick
}

// Error implements error.
func (e *ChangesError) Error() string {
	return "it matches by the changes that are reported, but not by the whole state: " + words.Bare(e.Err)
}

// Unwrap returns what is found in the whole state.
func (e *ChangesError) Unwrap() error { return e.Err }
