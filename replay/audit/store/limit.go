package store

import (
	"cmp"
	"context"
	"time"
)

// statementLimit is how long one statement may take. One of ours takes seconds at most, on the largest database that is known.
const statementLimit = 5 * time.Minute

// partingLimit is how long a statement may take that leaves a database as it should be, after an error or an interrupt.
const partingLimit = 5 * time.Second

// limit returns a context for one statement, which ends it with [ErrSlow] if the database does not answer.
func (d *DB) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(d.Patience, statementLimit))
}

// parting returns a context for a statement that is to be carried out although its caller was interrupted.
func parting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), partingLimit)
}
