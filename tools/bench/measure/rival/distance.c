/* The distance of each cell of a square4 from the nearest source, around obstacles, by
   breadth-first search over a grid with a border of obstacles.
   Fields: source, obstacle, distance. */
#include "rival.h"

enum { UNSEEN = -1, BLOCKED = -2 };

typedef struct {
	int32_t *distance, *queue; /* of the bordered grid; cells of it in the order of their distances */
} search;

/* begin sets all distances, and queues the sources, whose number it returns. */
static int64_t begin(const world *w, search *s, int64_t wide) {
	int64_t reached = 0;
	for (int64_t row = 0; row < w->cells / w->columns; row++) {
		const float *source = w->prev[0] + row * w->columns, *obstacle = w->prev[1] + row * w->columns;
		int32_t *restrict distance = s->distance + (row + 1) * wide + 1;
		FOR(i, w->columns, 1)
			distance[i] = obstacle[i] != 0 ? BLOCKED : UNSEEN;
		for (int64_t i = 0; i < w->columns; i++)
			if (source[i] != 0 && distance[i] == UNSEEN) {
				distance[i] = 0;
				s->queue[reached++] = (int32_t)(distance + i - s->distance);
			}
	}
	return reached;
}

static void spread(int32_t *restrict distance, int32_t *restrict queue, int64_t reached, int32_t wide) {
	const int32_t step[] = {-wide, wide, -1, 1};
	for (int64_t at = 0; at < reached; at++) {
		int32_t cell = queue[at], next = distance[cell] + 1;
		for (int k = 0; k < 4; k++) {
			int32_t to = cell + step[k];
			int32_t was = distance[to];
			queue[reached] = to; /* without a branch, which no processor could predict */
			reached += was == UNSEEN;
			distance[to] = was == UNSEEN ? next : was;
		}
	}
}

static void tick(world *w) {
	const int64_t wide = w->columns + 2, grid = wide * (w->cells / w->columns + 2);
	if (!w->scratch) {
		search *made = w->scratch = memory(1, sizeof *made);
		*made = (search){memory(grid, sizeof(int32_t)), memory(grid, sizeof(int32_t))};
		for (int64_t i = 0; i < grid; i++)
			made->distance[i] = BLOCKED;
	}
	search *s = w->scratch;
	spread(s->distance, s->queue, begin(w, s, wide), (int32_t)wide);
	for (int64_t row = 0; row < w->cells / w->columns; row++) {
		const int32_t *restrict distance = s->distance + (row + 1) * wide + 1;
		float *restrict out = w->next[2] + row * w->columns;
		FOR(i, w->columns, 1)
			out[i] = (float)(distance[i] < 0 ? -1 : distance[i]);
	}
	flip(w, 2);
}
