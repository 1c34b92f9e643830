package main

import (
	"errors"
	"sync"
)

// A resource is what a handle stands for. Its methods are called by one goroutine at a time.
type resource interface{ close() }

// An entry is a resource and the lock of those who use it.
type entry struct {
	mu sync.Mutex
	r  resource // nil: it was freed
}

// handles has the resources by their handles.
var handles = struct {
	sync.Mutex
	entries map[uint64]*entry
	last    uint64
}{entries: map[uint64]*entry{}}

var errBadHandle = &failure{statusBadHandle, errors.New("there is no such handle, or it was freed, or it is of another kind")}

// newHandle returns a handle of a resource.
func newHandle(r resource) uint64 {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.entries[handles.last] = &entry{r: r}
	return handles.last
}

// with calls f with the resource of a handle, and excludes all other users meanwhile.
func with[T resource](handle uint64, f func(T) error) error {
	handles.Lock()
	e := handles.entries[handle]
	handles.Unlock()
	if e == nil {
		return errBadHandle
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	r, ok := e.r.(T)
	if !ok {
		return errBadHandle
	}
	return f(r)
}

// free frees a handle once it is no longer in use.
func free(handle uint64) error {
	handles.Lock()
	e := handles.entries[handle]
	delete(handles.entries, handle)
	handles.Unlock()
	if e == nil {
		return errBadHandle
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.r.close()
	e.r = nil
	return nil
}

// A text is the resource of bytes that C copies.
type text []byte

func (text) close() {}
