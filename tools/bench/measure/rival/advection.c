/* Advection by the donor cell, on a square4 whose edges are walls.
   Fields: value, velocity (eastward and southward). Number: half of dt. */
#include "rows.h"

INLINE float passes(float share, float here, float there) { return share * (share > 0 ? here : there); }

INLINE void row(const world *w, int64_t first, const rows *r, int has_south) {
	const int64_t n = w->columns;
	const float *restrict in = w->prev[0] + first, *restrict velocity = w->prev[1] + 2 * first, half = w->number[0];
	const float *restrict north = r->north;
	float *restrict out = w->next[0] + first, *restrict east = r->east, *restrict south = r->south;
	FOR(i, n - 1, 1)
		east[i + 1] = passes((velocity[2 * i] + velocity[2 * i + 2]) * half, in[i], in[i + 1]);
	FOR(i, n, 1)
		south[i] = has_south ? passes((velocity[2 * i + 1] + velocity[2 * (i + n) + 1]) * half, in[i], in[i + n]) : 0;
	FOR(i, n, 1)
		out[i] = in[i] + north[i] - south[i] + east[i] - east[i + 1];
}

static void tick(world *w) {
	each_row(w);
	flip(w, 0);
}
