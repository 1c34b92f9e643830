package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"

	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/rng"
)

// Tokens open the views of a game, each one alone. They are secrets.
type Tokens struct {
	Spectator string   `json:"spectator"`
	Players   []string `json:"players"` // of player 1 first
}

// NewTokens returns fresh tokens, which cannot be guessed.
func NewTokens(players int) Tokens {
	t := Tokens{Spectator: rng.FreshID()}
	for range players {
		t.Players = append(t.Players, rng.FreshID())
	}
	return t
}

const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// minToken is the length of the shortest token, in bytes; rng.FreshID gives 32.
const minToken = 16

// Check returns an error unless there is a token for the spectator and for each of so many
// players, all different, none too short to be a secret, and each of characters that stand for
// themselves in a URL and in a shell.
func (t Tokens) Check(players int) error {
	if len(t.Players) != players {
		return fmt.Errorf("there are tokens for %d players; the game has %d", len(t.Players), players)
	}
	for v := range players + 1 {
		if len(t.Of(v)) < minToken {
			return fmt.Errorf("the token of %s has %d characters; it must have %d at least", Name(v), len(t.Of(v)), minToken)
		}
		if strings.Trim(t.Of(v), plain) != "" {
			return fmt.Errorf("the token of %s must be letters, digits, - and _", Name(v))
		}
		for other := range v {
			if t.Of(other) == t.Of(v) {
				return fmt.Errorf("%s and %s have the same token", Name(other), Name(v))
			}
		}
	}
	return nil
}

// Of returns the token of a view.
func (t Tokens) Of(v minewars.View) string {
	if v == minewars.Spectator {
		return t.Spectator
	}
	return t.Players[v-1]
}

// Name returns what a view is called: spectator, or player 1 and so on.
func Name(v minewars.View) string {
	if v == minewars.Spectator {
		return "spectator"
	}
	return fmt.Sprintf("player %d", v)
}

// A keyring finds the view of a token in a time that says nothing about the tokens.
type keyring [][sha256.Size]byte // by view

func newKeyring(t Tokens) keyring {
	k := keyring{sha256.Sum256([]byte(t.Spectator))}
	for _, token := range t.Players {
		k = append(k, sha256.Sum256([]byte(token)))
	}
	return k
}

// open returns the view that a token opens, or -1.
func (k keyring) open(token string) minewars.View {
	view, sum := -1, sha256.Sum256([]byte(token))
	for v := range k {
		view = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], k[v][:]), v, view)
	}
	return view
}
