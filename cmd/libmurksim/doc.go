// Command libmurksim is murksim as a library for C and for what can call C. Build it with
//
//	go build -buildmode=c-shared -o libmurksim.so ./cmd/libmurksim
//
// The header is murksim.h, beside this file; docs/LIBMURKSIM.md describes every function. This is the only package with cgo, and
// without it an empty program. Only export*.go and thread.go have cgo; they turn what C gives into what the rest works with.
package main

func main() {}
