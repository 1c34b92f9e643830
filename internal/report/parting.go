package report

import (
	"context"
	"time"
)

// PartingTime is how long a program that was interrupted goes on with what is to be told or kept of what it has done.
const PartingTime = 5 * time.Second

// After returns a context that ends so long after another one, with what is finished then, such as a verdict that is to be kept.
func After(ctx context.Context, long time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(long):
			cancel()
		case <-later.Done():
		}
	})
	return later, func() {
		stop()
		cancel()
	}
}
