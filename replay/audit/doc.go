// Package audit chains the states and the inputs of a run by SHA-256, so that one hash
// vouches for everything before it.
//
//	H(0) = SHA-256( 32 zero bytes ‖ S(0) )    H(T) = SHA-256( H(T-1) ‖ S(T) )
//	E(0) = 32 zero bytes                      E(n) = SHA-256( E(n-1) ‖ event n )
//
// S(T) is the state that engine's World.Save returns, E the chain of input events.
package audit
