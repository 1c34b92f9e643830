// Package serve shows a world that runs in real time to people: it streams to each client what
// its view may see, and takes orders from those who play.
//
// A [Server] has a view for the spectator and one for each player, and a token for each of
// them. The bytes of a view are encoded once in a tick, and all its clients get the same ones.
// Nothing that a client does, or fails to do, slows a tick or another client: what a client has
// not read yet waits in a queue of its own, and when that is full the client is dropped.
//
// Clients come by WebSocket or plain TCP, on one port. docs/SERVE.md describes both, byte by
// byte. The streams are those of package minewars.
package serve
