/* A resource that is eaten where something is present, and regrows by the logistic law.
   Fields: resource, presence. Numbers: what is eaten in a tick, regrowth, capacity, dt. */
#include "rival.h"

static void tick(world *w) {
	float *restrict v = w->prev[0];
	const float *restrict presence = w->prev[1];
	const float eaten = w->number[0], rate = w->number[1], capacity = w->number[2], dt = w->number[3];
	FOR(i, w->cells, 1) {
		float less = v[i] - eaten, x = presence[i] != 0 ? less : v[i];
		float more = x + rate * x * (1 - x / capacity) * dt;
		x = x > 0 ? more : x;
		x = x < 0 ? 0 : x;
		v[i] = x > capacity ? capacity : x;
	}
}
