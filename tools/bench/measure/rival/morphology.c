/* Dilation: 1 where a cell within some steps, itself included, is above a threshold, else 0.
   Fields: seed, grown. Numbers: threshold, radius. The passes before the last one go over bytes. */
#include "rival.h"

typedef struct {
	uint8_t *from, *to;
} marks;

/* only compares with the threshold. */
static void only(const float *restrict in, uint8_t *restrict out, int64_t cells, float threshold) {
	FOR(i, cells, 1)
		out[i] = in[i] > threshold;
}

/* pass grows the marks by one step. */
INLINE void pass(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const marks *m = w->scratch;
	const uint8_t *restrict in = m->from + s->first;
	uint8_t *restrict out = m->to + s->first;
	EACH_CELL(i, s, stride) {
		uint8_t any = in[i];
#pragma GCC unroll 12
		for (int k = 0; k < degree; k++)
			any |= in[i + p->offset[k]];
		out[i] = any;
	}
}

/* at_once is dilation by one step. */
INLINE void at_once(const world *w, const span *s, const pattern *p, int degree, int64_t stride) {
	const float *restrict in = w->prev[0] + s->first;
	float *restrict out = w->next[1] + s->first;
	const float threshold = w->number[0];
	EACH_CELL(i, s, stride) {
		int any = in[i] > threshold;
#pragma GCC unroll 12
		for (int k = 0; k < degree; k++)
			any |= in[i + p->offset[k]] > threshold;
		out[i] = any ? 1 : 0;
	}
}

/* as_floats writes the marks into a field. */
static void as_floats(const uint8_t *restrict in, float *restrict out, int64_t cells) {
	FOR(i, cells, 1)
		out[i] = in[i];
}

static void tick(world *w) {
	int radius = (int)w->number[1];
	if (radius == 1) {
		EACH_SPAN(at_once, w)
		flip(w, 1);
		return;
	}
	if (!w->scratch) {
		marks *made = w->scratch = memory(1, sizeof *made);
		made->from = memory(w->cells, 1);
		made->to = memory(w->cells, 1);
	}
	marks *m = w->scratch;
	only(w->prev[0], m->from, w->cells, w->number[0]);
	for (int step = 0; step < radius; step++) {
		EACH_SPAN(pass, w)
		uint8_t *spare = m->from;
		m->from = m->to;
		m->to = spare;
	}
	as_floats(m->from, w->next[1], w->cells);
	flip(w, 1);
}
