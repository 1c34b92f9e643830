package runtimes

import (
	"runtime"
	"runtime/debug"
	"weak"
)

type body struct{ mass int }

func watches(b *body) uint64 {
	runtime.SetFinalizer(b, nil)           // want `runtime: runtime.SetFinalizer is the runtime's business`
	runtime.AddCleanup(b, func(int) {}, 1) // want `runtime: runtime.AddCleanup`
	debug.SetGCPercent(50)                 // want `runtime: debug.SetGCPercent`
	var m runtime.MemStats
	runtime.ReadMemStats(&m) // want `runtime: runtime.ReadMemStats`
	p := weak.Make(b)        // want `runtime: weak.Make depends on the collector`
	if p.Value() == nil {    // want `runtime: weak.Pointer.Value`
		return uint64(runtime.NumGoroutine()) // want `runtime: runtime.NumGoroutine`
	}
	return m.HeapAlloc
}

func keeps(b *body) int {
	m := b.mass
	runtime.KeepAlive(b)
	return m
}
