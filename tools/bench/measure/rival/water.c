/* Shallow water over a bed, on a square4 whose edges are walls.
   Fields: depth, flux (to the east and to the south), bed.
   Numbers: keep, most, pull, smooth, share; see engine/propagators/water.go. */
#include "rows.h"

#define DROP 1e-30f /* a depth that does not run */

typedef struct {
	float keep, most, pull, smooth, share;
} factors;

INLINE float above(float depth, float bed, float sill) {
	float h = depth + bed - sill;
	return h > 0 ? h : 0;
}

INLINE float between(float least, float v, float most) {
	v = v < least ? least : v;
	return v > most ? most : v;
}

/* face returns what moves from a cell of depth a over a bed x to one of depth b over a bed y. */
INLINE float face(const factors *k, float a, float x, float b, float y, float before, float *flux) {
	float sill = x > y ? x : y, s = above(a, x, sill), t = above(b, y, sill);
	float most = k->most * a, least = k->most * b;
	most = a < DROP ? 0 : most;
	least = 0 - (b < DROP ? 0 : least);
	float now = between(least, (before + k->pull * (s + t) * (s - t)) * k->keep, most);
	float all = between(least, now + k->smooth * (s - t), most) * k->share;
	*flux = s + t > 0 ? now : 0;
	return s + t > 0 ? all : 0;
}

INLINE void row(const world *w, int64_t first, const rows *r, int has_south) {
	const int64_t n = w->columns;
	const float *restrict depth = w->prev[0] + first, *restrict before = w->prev[1] + 2 * first, *restrict bed = w->prev[2] + first;
	const float *restrict north = r->north;
	float *restrict next = w->next[0] + first, *restrict flux = w->next[1] + 2 * first;
	float *restrict east = r->east, *restrict south = r->south;
	const factors k = {w->number[0], w->number[1], w->number[2], w->number[3], w->number[4]};
	FOR(i, n - 1, 1)
		east[i + 1] = face(&k, depth[i], bed[i], depth[i + 1], bed[i + 1], before[2 * i], &flux[2 * i]);
	flux[2 * (n - 1)] = east[n] = 0;
	FOR(i, n, 1)
		if (has_south)
			south[i] = face(&k, depth[i], bed[i], depth[i + n], bed[i + n], before[2 * i + 1], &flux[2 * i + 1]);
		else
			south[i] = flux[2 * i + 1] = 0;
	FOR(i, n, 1)
		next[i] = depth[i] + north[i] - south[i] + east[i] - east[i + 1];
}

static void tick(world *w) {
	each_row(w);
	flip(w, 0);
	flip(w, 1);
}
