// Package tidy holds the rules of this house as tests: who may import whom, what
// code on the state path must not do, and how large things may grow.
package tidy
