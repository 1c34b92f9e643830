package cli

import (
	"context"
	"os"
	"os/signal"
)

// listen catches the signals that end the program.
func listen() chan os.Signal {
	signals := make(chan os.Signal, 1)
	notify(signals)
	return signals
}

// untilSignal returns a context that ends with the first such signal, so that what is at
// hand can be finished; the second one ends the program at once.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := listen()
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel()
	}()
	return ctx, cancel
}
