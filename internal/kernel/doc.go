// Package kernel holds the inner loops of the engine: sums over neighbours, blends,
// checks. Each is there twice, with the same bits: in plain Go, which is the
// reference and runs everywhere, and in vector code for amd64 with AVX2. What is
// used is settled when the program starts; with MURKSIM_KERNELS=plain in the
// environment it is plain Go.
//
// A file here has the formula of a family of kernels and its plain loops; the file of
// the same name in folder gen makes the vector code. Neither ever fuses a product with
// a sum.
//
// The vector code is generated assembly, and not Go's package simd/archsimd: that
// needs GOEXPERIMENT=simd in the environment of every build of a program with
// this engine. It also took 1.4 times as long for the bare sum and blend of four
// neighbours on 256² cells as World.Step takes with all its checks.
package kernel

//go:generate go run ./gen -out vector_amd64.s -stubs vector_amd64.go -pkg kernel
