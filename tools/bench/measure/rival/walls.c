/* Diffusion among walls, which keep their values and are no neighbours of any cell.
   Fields: heat, wall. Numbers: k. */
#include "rival.h"

/* either is which ? a : b without a branch, which the compiler makes of it otherwise, because
   some sum might trap. */
INLINE float either(int which, float a, float b) {
	uint32_t mask = -(uint32_t)which, x, y;
	memcpy(&x, &a, sizeof x);
	memcpy(&y, &b, sizeof y);
	x = (x & mask) | (y & ~mask);
	memcpy(&a, &x, sizeof a);
	return a;
}

INLINE void row(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const float *restrict in = w->prev[0] + s->first, *restrict wall = w->prev[1] + s->first;
	float *restrict out = w->next[0] + s->first;
	const float k = w->number[0];
	EACH_CELL(i, s, stride) {
		float total = -0.0f; /* which changes no sum */
		int n = 0;
#pragma GCC unroll 12
		for (int j = 0; j < degree; j++) {
			int64_t at = i + p->offset[j];
			int open = wall[at] == 0;
			total += either(open, in[at], -0.0f);
			n += open;
		}
		float v = in[i] + k * (total - (float)n * in[i]);
		out[i] = either((wall[i] == 0) & (n > 0), v, in[i]);
	}
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
}
