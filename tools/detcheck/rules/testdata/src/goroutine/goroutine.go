package goroutine

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
)

type shared struct {
	mu sync.Mutex    // want `goroutine: sync.Mutex is for goroutines`
	n  atomic.Uint64 // want `goroutine: atomic.Uint64`
	in chan int
}

func (s *shared) start(ctx context.Context) {
	var wg sync.WaitGroup // want `goroutine: sync.WaitGroup`
	go s.work()           // want `goroutine: a goroutine is started`
	s.in = make(chan int) // want `goroutine: make of a channel`
	s.in <- 1             // want `goroutine: a value is sent`
	<-ctx.Done()          // want `goroutine: a value is received`
	for v := range s.in { // want `goroutine: a channel is ranged over`
		println(v)
	}
	select { // want `goroutine: select chooses at random`
	case v, ok := <-s.in:
		println(v, ok)
	case s.in <- 2:
	default:
		close(s.in) // want `goroutine: close of a channel`
	}
	runtime.Gosched() // want `goroutine: runtime.Gosched`
	wg.Wait()
}

func (s *shared) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n.Add(1)
}

func reflected(cases []reflect.SelectCase) int {
	n, _, _ := reflect.Select(cases) // want `goroutine: reflect.Select is for channels`
	return n
}

// Plain calls, deferred ones and cancelled contexts start nothing.
func plain(ctx context.Context, f func()) error {
	defer f()
	list := make([]int, 3)
	for _, v := range list {
		println(-v)
	}
	return ctx.Err()
}
