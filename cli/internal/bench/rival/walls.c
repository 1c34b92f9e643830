/* Diffusion among walls, which keep their values and are no neighbours of any cell.
   Fields: heat, wall. Numbers: alpha for 0, 1, 2, … neighbours. */
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
	const float *restrict alphas = w->number;
	EACH_CELL(i, s, stride) {
		float total = -0.0f; /* which changes no sum */
		int n = 0;
#pragma GCC unroll 12
		for (int k = 0; k < degree; k++) {
			int64_t at = i + p->offset[k];
			int open = wall[at] == 0;
			total += either(open, in[at], -0.0f);
			n += open;
		}
		float alpha = alphas[n], v = (1 - alpha) * in[i] + alpha * (total / (float)n);
		out[i] = either((wall[i] == 0) & (n > 0), v, in[i]);
	}
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
}
