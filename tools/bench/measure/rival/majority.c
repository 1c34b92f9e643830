/* A vote of the neighbours between two states; where it is a tie, a cell stays as it is.
   Field: opinion, 0 or 1. */
#include "rival.h"

INLINE void row(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const float *restrict in = w->prev[0] + s->first;
	float *restrict out = w->next[0] + s->first;
	const float tie = (float)degree / 2;
	EACH_CELL(i, s, stride) {
		float n = degree > 0 ? sum(&in[i], p, degree) : 0;
		out[i] = (n > tie) | ((n == tie) & (in[i] == 1)) ? 1 : 0;
	}
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
}
