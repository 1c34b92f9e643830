//go:build js && wasm

// Package worker runs the engine in a web worker. The page calls murksimOpen with the bytes of a recording
// and murksimAnswer with requests.
package worker

import (
	"bytes"
	"context"
	"syscall/js"
	"time"

	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds/all"
	"github.com/murksim/murksim/view"
)

// Main serves the page of a program. It does not return.
func Main(p Program) {
	registry, err := scenarios.NewRegistry(append(all.Components(), p.Components...)...)
	if err != nil {
		panic(err)
	}
	var session *view.Session
	js.Global().Set("murksimOpen", js.FuncOf(func(_ js.Value, args []js.Value) any {
		r, err := p.open(registry, args[0].String(), take(args[1]))
		if err != nil {
			return err.Error()
		}
		session = view.NewSession(r)
		session.Pause, session.Memory = yielding(), view.PageMemory
		go session.Run(context.Background())
		return nil
	}))
	js.Global().Set("murksimAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		answer := session.Answer([]byte(args[0].String()))
		out := js.Global().Get("Uint8Array").New(len(answer))
		js.CopyBytesToJS(out, answer)
		return out
	}))
	js.Global().Call("murksimReady")
	select {}
}

func take(v js.Value) []byte {
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b
}

func (p *Program) open(registry *scenarios.Registry, name string, recording []byte) (*view.Recording, error) {
	return view.Open(view.Config{
		Name: name, Recording: bytes.NewReader(recording), Size: int64(len(recording)),
		Build: p.builder(registry, view.PageMemory),
	})
}

// yielding returns a function that now and then lets the page send requests.
func yielding() func() {
	const turn = 10 * time.Millisecond
	last := time.Now()
	return func() {
		if time.Since(last) > turn {
			time.Sleep(time.Millisecond)
			last = time.Now()
		}
	}
}
