/* What the rivals in C share: how they get a world, how they are told to compute, and loops
   over its cells. A family's file has only its formula, in a function tick.

   A rival reads from standard input, in the machine's byte order,

     int64 cells, columns, patterns, spans, fields, numbers
     each pattern: int64 neighbours, int64 offset of each
     each span:    int64 first, count, stride, pattern
     each field:   int64 components, float value of each element
     each number:  float, a parameter of the family

   and then orders: int64 n > 0 computes n ticks and answers with two int64, the nanoseconds
   that they took and those that they took of the processor; 0 answers with all values of all
   fields; the end of the input ends it.

   A span is count cells, stride apart, that have the same neighbours: at these offsets, in
   this order. No product is fused with a sum (-ffp-contract=off). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 12 /* neighbours of a cell */
#define MOST_FIELDS 4
#define MOST_NUMBERS 16

typedef struct {
	int64_t degree, offset[MOST];
} pattern;

typedef struct {
	int64_t first, count, stride, pattern;
} span;

typedef struct {
	int64_t cells, columns, patterns, spans, fields, numbers;
	pattern *pattern;
	span *span;
	int64_t elements[MOST_FIELDS];
	float *prev[MOST_FIELDS], *next[MOST_FIELDS];
	float number[MOST_NUMBERS];
	void *scratch; /* of the family, which makes it in its first tick */
} world;

/* tick computes one tick of a world. Afterwards prev holds the result: see flip. */
static void tick(world *w);

/* flip makes what was written to a field's next its prev. */
static inline void flip(world *w, int field) {
	float *spare = w->prev[field];
	w->prev[field] = w->next[field];
	w->next[field] = spare;
}

/* EACH_SPAN calls row(w, span, pattern, degree, stride) for each span of a world. A row is
   inlined, once for each number of neighbours and each usual stride, so that the compiler
   knows both in its loop. The copies are there because it knows that nothing written to a
   field can change them. */
#define EACH_SPAN(row, w) \
	for (int64_t n = 0; n < (w)->spans; n++) { \
		const span one = (w)->span[n], *s = &one; \
		const pattern its = (w)->pattern[s->pattern], *p = &its; \
		switch (p->degree) { \
			ROW_OF(row, w, 0) ROW_OF(row, w, 1) ROW_OF(row, w, 2) ROW_OF(row, w, 3) ROW_OF(row, w, 4) \
			ROW_OF(row, w, 5) ROW_OF(row, w, 6) ROW_OF(row, w, 7) ROW_OF(row, w, 8) ROW_OF(row, w, 9) \
			ROW_OF(row, w, 10) ROW_OF(row, w, 11) ROW_OF(row, w, 12) \
		} \
	}
#define ROW_OF(row, w, degree) \
	case degree: \
		if (s->stride == 1) \
			row(w, s, p, degree, 1); \
		else NARROW(row, w, degree) \
			row(w, s, p, degree, s->stride); \
		break;
#ifndef NARROW /* a family whose rows count on lattices that are a few cells wide has cases for their strides */
#define NARROW(row, w, degree)
#endif

#define INLINE static inline __attribute__((always_inline))

/* FOR lets i go from 0 to below n in some steps, in any order: no step writes what another reads. */
#define FOR(i, n, step) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i += (step))

/* EACH_CELL lets i go over the cells of a span, as seen from its first. */
#define EACH_CELL(i, s, stride) FOR(i, ((s)->count - 1) * (stride) + 1, stride)

/* sum is that of the neighbours of the cell at in, from left to right. */
INLINE float sum(const float *in, const pattern *p, int degree) {
	float total = in[p->offset[0]];
#pragma GCC unroll 12
	for (int k = 1; k < degree; k++)
		total += in[p->offset[k]];
	return total;
}

static void get(void *to, size_t bytes) {
	if (fread(to, 1, bytes, stdin) != bytes)
		exit(1);
}

static int64_t number(int64_t most) {
	int64_t n;
	get(&n, sizeof n);
	if (n < 0 || n > most)
		exit(1);
	return n;
}

static void put(const void *from, size_t bytes) {
	if (fwrite(from, 1, bytes, stdout) != bytes || fflush(stdout))
		exit(1);
}

static void *memory(int64_t count, size_t bytes) {
	size_t size = ((size_t)count * bytes + 127) / 64 * 64;
	void *p = aligned_alloc(64, size);
	if (!p)
		exit(1);
	return memset(p, 0, size);
}

static int64_t now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void read_world(world *w) {
	const int64_t many = (int64_t)1 << 40;
	w->cells = number(many), w->columns = number(many), w->patterns = number(many), w->spans = number(many);
	w->fields = number(MOST_FIELDS), w->numbers = number(MOST_NUMBERS);
	w->pattern = memory(w->patterns, sizeof *w->pattern);
	w->span = memory(w->spans, sizeof *w->span);
	for (pattern *p = w->pattern; p < w->pattern + w->patterns; p++) {
		p->degree = number(MOST);
		get(p->offset, (size_t)p->degree * sizeof *p->offset);
	}
	get(w->span, (size_t)w->spans * sizeof *w->span);
	for (int64_t f = 0; f < w->fields; f++) {
		w->elements[f] = number(many) * w->cells;
		w->prev[f] = memory(w->elements[f], sizeof *w->prev[f]);
		w->next[f] = memory(w->elements[f], sizeof *w->next[f]);
		get(w->prev[f], (size_t)w->elements[f] * sizeof *w->prev[f]);
	}
	get(w->number, (size_t)w->numbers * sizeof *w->number);
}

int main(void) {
	world w = {0};
	int64_t order;
	read_world(&w);
	while (fread(&order, 1, sizeof order, stdin) == sizeof order) {
		if (order == 0) {
			for (int64_t f = 0; f < w.fields; f++)
				put(w.prev[f], (size_t)w.elements[f] * sizeof *w.prev[f]);
			continue;
		}
		int64_t start = now(CLOCK_MONOTONIC), spent = now(CLOCK_PROCESS_CPUTIME_ID);
		for (int64_t t = 0; t < order; t++)
			tick(&w);
		int64_t took[] = {now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID) - spent};
		put(took, sizeof took);
	}
	return 0;
}
