/* Conway's Life, B3/S23. Field: alive, 0 or 1. */
#include "rival.h"

INLINE void row(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const float *restrict in = w->prev[0] + s->first;
	float *restrict out = w->next[0] + s->first;
	EACH_CELL(i, s, stride) {
		float n = degree > 0 ? sum(&in[i], p, degree) : 0;
		out[i] = (n == 3) | ((n == 2) & (in[i] == 1)) ? 1 : 0;
	}
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
}
