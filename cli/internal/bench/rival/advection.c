/* Advection by the donor cell, on a square4 whose edges are walls. What passes a face is
   computed once, for the cell to the west or north of it; a row needs that of the row before.
   Fields: value, velocity (eastward and southward). Number: half of dt. */
#include "rival.h"

/* rows hold what leaves the cells of a row to the east, from element 1 on, and to the south, and
   what left those of the row before to the south. Element 0 is for the wall in the west. */
typedef struct {
	float *east, *south, *north;
} rows;

INLINE float passes(float share, float here, float there) { return share * (share > 0 ? here : there); }

/* row computes a row; there may be one to the south of it. */
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
	const int64_t n = w->columns;
	if (!w->scratch) {
		rows *made = w->scratch = memory(1, sizeof *made);
		*made = (rows){memory(n + 1, 4), memory(n, 4), memory(n, 4)};
	}
	rows *r = w->scratch;
	memset(r->north, 0, (size_t)n * sizeof *r->north);
	int64_t first = 0;
	for (; first < w->cells - n; first += n) {
		row(w, first, r, 1);
		float *spare = r->north;
		r->north = r->south;
		r->south = spare;
	}
	row(w, first, r, 0);
	flip(w, 0);
}
