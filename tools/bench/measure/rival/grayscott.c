/* Gray and Scott's reaction of two substances.
   Fields: u, v. Numbers: spread of u, spread of v, feed, loss, dt, all but the last times dt. */
#include "rival.h"

INLINE void row(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const float *restrict u = w->prev[0] + s->first, *restrict v = w->prev[1] + s->first;
	float *restrict next_u = w->next[0] + s->first, *restrict next_v = w->next[1] + s->first;
	const float spread_u = w->number[0], spread_v = w->number[1], feed = w->number[2], loss = w->number[3], dt = w->number[4];
	const float n = degree > 0 ? degree : 1;
	EACH_CELL(i, s, stride) {
		float sum_u = degree > 0 ? sum(&u[i], p, degree) : u[i], sum_v = degree > 0 ? sum(&v[i], p, degree) : v[i];
		float eaten = dt * (u[i] * (v[i] * v[i]));
		next_u[i] = u[i] + spread_u * (sum_u - n * u[i]) - eaten + feed * (1 - u[i]);
		next_v[i] = v[i] + spread_v * (sum_v - n * v[i]) + eaten - loss * v[i];
	}
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
	flip(w, 1);
}
