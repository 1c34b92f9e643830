package kernel

// Age lets cells of an automaton with more than two states pass through those from 2 on. Next
// has what [Census.Count] makes of them, 1 or 0:
//
//	next = next, or 2 if that is 0         where was is 1
//	next = was + 1, or 0 at the last one   where was is 2 to states-1
//
// Any other value of was is dead. There are at most 65,536 states. Next must not share memory with was.
func Age(next, was []float32, states int) {
	n, limit := len(next), float32(states)
	if !vectors || n == 0 {
		agePlain(next, was, limit)
		return
	}
	_ = was[n-1]
	ageVectors(&was[0], &next[0], n, &limit)
}

func agePlain(next, was []float32, states float32) {
	was = was[:len(next)]
	for i, v := range was {
		switch {
		case v == 1:
			if next[i] == 0 {
				next[i] = 2
			}
		case v >= 2 && v < states && v == float32(int(v)):
			if next[i] = v + 1; v+1 >= states {
				next[i] = 0
			}
		}
	}
}
