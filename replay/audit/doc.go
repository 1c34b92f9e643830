// Package audit chains the states and the inputs of a run by SHA-256, so that one hash
// vouches for everything before it.
//
//	H(T) = SHA-256( H(T-1) ‖ C(T) )       32 zero bytes before the first
//	E(n) = SHA-256( E(n-1) ‖ event n )    likewise
//
// C(T) is a commitment to S(T), the state that engine's World.Save returns: the digests of its
// sections, that of the fields by a tree of tiles. E is the chain of input events.
// docs/AUDIT.md specifies both.
package audit
