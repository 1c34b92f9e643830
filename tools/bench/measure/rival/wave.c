/* The wave equation, by the semi-implicit Euler step.
   Fields: displacement, velocity. Numbers: speed squared, damping, dt. */
#include "rival.h"

INLINE void row(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const float *restrict here = w->prev[0] + s->first, *restrict velocity = w->prev[1] + s->first;
	float *restrict next = w->next[0] + s->first, *restrict next_velocity = w->next[1] + s->first;
	const float pull = w->number[0], damping = w->number[1], dt = w->number[2], n = degree;
	EACH_CELL(i, s, stride) {
		float mean = degree > 0 ? sum(&here[i], p, degree) / n : here[i];
		float acc = pull * (mean - here[i]) - damping * velocity[i];
		float v = velocity[i] + acc * dt;
		next_velocity[i] = v;
		next[i] = here[i] + v * dt;
	}
}

static void tick(world *w) {
	EACH_SPAN(row, w)
	flip(w, 0);
	flip(w, 1);
}
