package cluster

import "time"

// SetSilence sets how long a worker that is recording a job may say nothing, and returns what undoes that.
func SetSilence(d time.Duration) (undo func()) {
	before := silence
	silence = d
	return func() { silence = before }
}
