package diff

import (
	"crypto/sha256"
	"fmt"
)

// Bisect finds a tick at which two runs differ while they are equal at the one before: tick lo must be equal and tick hi not. Where two that
// have differed never become equal again, it is the first that differs. It calls equal at most ⌈log2(hi-lo)⌉ times, and returns how often.
func Bisect(lo, hi uint64, equal func(tick uint64) (bool, error)) (first uint64, asked int, err error) {
	if lo >= hi {
		return 0, 0, fmt.Errorf("diff: tick %d, where the runs are equal, must be before tick %d, where they differ", lo, hi)
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		asked++
		same, err := equal(mid)
		if err != nil {
			return 0, asked, fmt.Errorf("diff: tick %d: %w", mid, err)
		}
		if same {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi, asked, nil
}

// A Result is a state that a repeated step reached, and how often.
type Result struct {
	State [sha256.Size]byte // its SHA-256
	Times int
}

// Repeat computes a state several times. One result means that the step is stable: two
// runs that diverge there had different code or data. Several mean that it is unstable: it
// depends on more than the state before. Results are in the order of their first occurrence.
func Repeat(times int, step func() (state []byte, err error)) (results []Result, err error) {
next:
	for range times {
		state, err := step()
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(state)
		for i := range results {
			if results[i].State == digest {
				results[i].Times++
				continue next
			}
		}
		results = append(results, Result{digest, 1})
	}
	return results, nil
}
