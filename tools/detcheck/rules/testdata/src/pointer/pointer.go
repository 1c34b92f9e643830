package pointer

import (
	"fmt"
	"reflect"
	"unsafe"
)

type agent struct {
	name string
	next *agent
}

type pair struct{ a, b *agent }

func addresses(a *agent, n *int, f func()) string {
	seen := map[*agent]bool{} // want `pointer: the keys of this map are addresses`
	var pairs map[pair]int    // want `pointer: the keys of this map are addresses`
	seen[a] = len(pairs) > 0
	p := unsafe.Pointer(a)            // want `pointer: unsafe.Pointer looks behind the language`
	h := uintptr(p)                   // want `pointer: uintptr holds an address`
	h ^= reflect.ValueOf(a).Pointer() // want `pointer: reflect.Value.Pointer is an address`
	s := fmt.Sprintf("%8p %d", a, h)  // want `pointer: %p prints an address` `pointer: fmt prints a as an address`
	s += fmt.Sprint([]*agent{a})      // want `pointer: fmt prints \[\]\*agent{…} as an address`
	s += fmt.Sprint(pairs)            // want `pointer: fmt prints pairs as an address`
	s += fmt.Sprint(n)                // want `pointer: fmt prints n as an address`
	return s + fmt.Sprintln(f)        // want `pointer: fmt prints f as an address`
}

type id int

func (i *id) String() string { return fmt.Sprint(int(*i)) }

// Values behind pointers, and pointers that print themselves.
func values(a agent, i *id, n *int, err error) string {
	fmt.Println([]*id{i}, []error{err}, &agentKey{a.name, 2}, map[string][]agentKey{})
	seen := map[agentKey]bool{{a.name, 1}: true}
	fmt.Sscan("3", n)
	return fmt.Sprintf("%d %v 100%%p %v %v", *n, i, err, len(seen))
}

type agentKey struct {
	name string
	tick int
}
