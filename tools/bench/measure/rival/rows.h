/* Rows of a square4 whose edges are walls, for families that compute what passes a face once, for
   the cell to the west or north of it; a row needs that of the row before. */
#include "rival.h"

/* rows hold what leaves the cells of a row to the east, from element 1 on, and to the south, and
   what left those of the row before to the south. Element 0 is for the wall in the west. */
typedef struct {
	float *east, *south, *north;
} rows;

/* row computes a row, as a family does; there may be one to the south of it. */
INLINE void row(const world *w, int64_t first, const rows *r, int has_south);

/* each_row computes all rows. */
static void each_row(world *w) {
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
}
