/* Diffusion: next = here + k*(sum - n*here), with the sum over the n neighbours.
   Fields: heat. Numbers: k. */
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
	const float k = w->number[0], n = degree;
	if (degree == 0) {
		EACH_CELL(i, s, stride)
			out[i] = in[i];
		return;
	}
	EACH_CELL(i, s, stride)
		out[i] = in[i] + k * (sum(&in[i], p, degree) - n * in[i]);
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
}
