/* Diffusion: next = (1-alpha)*here + alpha*(sum/n), with the sum over the n neighbours.
   Fields: heat. Numbers: alpha for 0, 1, 2, … neighbours. */
#define NARROW(row, w, degree) \
	if (s->stride == 3) \
		row(w, s, p, degree, 3); \
	else if (s->stride == 4) \
		row(w, s, p, degree, 4); \
	else
#include "rival.h"

INLINE void row(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const float *restrict in = w->prev[0] + s->first;
	float *restrict out = w->next[0] + s->first;
	const float alpha = w->number[degree], rest = 1 - alpha, n = degree;
	if (degree == 0) {
		EACH_CELL(i, s, stride)
			out[i] = in[i];
		return;
	}
	EACH_CELL(i, s, stride)
		out[i] = rest * in[i] + alpha * (sum(&in[i], p, degree) / n);
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
}
