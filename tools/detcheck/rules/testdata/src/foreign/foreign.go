package foreign

import _ "unsafe" // want `foreign: cgo or go:linkname is used; write it in Go`

//go:linkname nanotime runtime.nanotime
func nanotime() int64 // want `foreign: nanotime has no body in Go`

func fast(x float64) float64 // want `foreign: fast has no body`

func later() int64 { return nanotime() + int64(len("later")) }
