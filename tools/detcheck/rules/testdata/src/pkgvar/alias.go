package pkgvar

import "math/rand/v2"

var (
	total  = config{}
	shared = &config{}
	dice   = rand.New(rand.NewPCG(1, 2))
	names  []string
)

func through(n int) int {
	p := &total // want `pkgvar: total is written through p after start`
	p.most++
	q := shared // want `pkgvar: shared is written through q`
	q.most = n
	m := cache // want `pkgvar: cache is written through m`
	delete(m, "n")
	var list = names // want `pkgvar: names is written through list`
	list[0] = "n"
	shared.raise()       // want `pkgvar: shared may be written by its method raise`
	return dice.IntN(16) // want `pkgvar: dice may be written by its method IntN`
}

// Copies, and what is only read.
func copies(n int) int {
	own := total
	own.most = n
	list := append([]string(nil), names...)
	list[0] = "n"
	m := cache
	table := &table
	if shared.room(n) {
		m = map[string]int{}
	}
	return own.most + m["n"] + int(table[1])
}
