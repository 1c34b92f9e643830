// Package tidy holds the rules of this house as tests: who may import whom, and
// how large things may grow. What code on the state path must not do, tools/detcheck says.
package tidy
