// Package minewars reads and writes the streams of MineWars, a game of mines on a map of
// hexagons or squares: what the spectator and each player learn of a game, tick by tick, in
// one replay file, or one view of it for the network.
package minewars
