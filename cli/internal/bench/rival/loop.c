/* Diffusion in C: the loop that murksim's is measured against.

   It reads from standard input, in the machine's byte order,

     int64 cells, int64 patterns, int64 spans
     each pattern: int64 neighbours, float alpha, int64 offset of each neighbour
     each span:    int64 first, int64 count, int64 stride, int64 pattern
     each cell:    float value

   and then orders: int64 n > 0 computes n ticks and answers with the nanoseconds they
   took, as int64; 0 answers with all values; the end of the input ends it.

   A tick is next = (1-alpha)*here + alpha*(sum/n): the sum from left to right over the
   neighbours in order, and no product fused with a sum (-ffp-contract=off). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 12 /* neighbours of a cell */

typedef struct {
	int64_t degree, offset[MOST];
	float alpha;
} pattern;

typedef struct {
	int64_t first, count, stride, pattern;
} span;

static void get(void *to, size_t bytes) {
	if (fread(to, 1, bytes, stdin) != bytes)
		exit(1);
}

static int64_t number(void) {
	int64_t n;
	get(&n, sizeof n);
	return n;
}

static void *memory(int64_t count, size_t bytes) {
	void *p = aligned_alloc(64, ((size_t)count * bytes + 127) / 64 * 64);
	if (!p)
		exit(1);
	return p;
}

static void put(const void *from, size_t bytes) {
	if (fwrite(from, 1, bytes, stdout) != bytes || fflush(stdout))
		exit(1);
}

/* A loop for each number of neighbours and each constant stride, so that the compiler
   knows both. */
#define LOOP(sum, n, stride) \
	for (int64_t i = 0; i < end; i += stride) \
		out[i] = rest * in[i] + alpha * ((sum) / n);
#define CASE(n, sum) \
	case n: \
		if (s->stride == 1) { \
			LOOP(sum, n##.0f, 1) \
		} else if (s->stride == 3) { \
			LOOP(sum, n##.0f, 3) \
		} else if (s->stride == 4) { \
			LOOP(sum, n##.0f, 4) \
		} else { \
			LOOP(sum, n##.0f, s->stride) \
		} \
		break;

#define SUM1 a[i]
#define SUM2 SUM1 + b[i]
#define SUM3 SUM2 + c[i]
#define SUM4 SUM3 + d[i]
#define SUM5 SUM4 + e[i]
#define SUM6 SUM5 + f[i]
#define SUM7 SUM6 + g[i]
#define SUM8 SUM7 + h[i]
#define SUM9 SUM8 + j[i]
#define SUM10 SUM9 + k[i]
#define SUM11 SUM10 + l[i]
#define SUM12 SUM11 + m[i]

static void diffuse(float *restrict next, const float *restrict prev, const span *s, const pattern *p) {
	float *restrict out = next + s->first;
	const float *restrict in = prev + s->first;
	const float *a = in + p->offset[0], *b = in + p->offset[1], *c = in + p->offset[2], *d = in + p->offset[3];
	const float *e = in + p->offset[4], *f = in + p->offset[5], *g = in + p->offset[6], *h = in + p->offset[7];
	const float *j = in + p->offset[8], *k = in + p->offset[9], *l = in + p->offset[10], *m = in + p->offset[11];
	const float alpha = p->alpha, rest = 1 - p->alpha;
	const int64_t end = (s->count - 1) * s->stride + 1;
	switch (p->degree) {
		CASE(1, SUM1)
		CASE(2, SUM2)
		CASE(3, SUM3)
		CASE(4, SUM4)
		CASE(5, SUM5)
		CASE(6, SUM6)
		CASE(7, SUM7)
		CASE(8, SUM8)
		CASE(9, SUM9)
		CASE(10, SUM10)
		CASE(11, SUM11)
		CASE(12, SUM12)
	default:
		LOOP(in[i], 1.0f, s->stride)
	}
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void) {
	int64_t cells = number(), patterns = number(), spans = number(), order;
	pattern *p = memory(patterns, sizeof *p);
	span *s = memory(spans, sizeof *s);
	float *prev = memory(cells, sizeof *prev), *next = memory(cells, sizeof *next);
	for (int64_t i = 0; i < patterns; i++) {
		p[i] = (pattern){.degree = number()};
		if (p[i].degree < 0 || p[i].degree > MOST)
			return 1;
		get(&p[i].alpha, sizeof p[i].alpha);
		get(p[i].offset, (size_t)p[i].degree * sizeof *p[i].offset);
	}
	get(s, (size_t)spans * sizeof *s);
	get(prev, (size_t)cells * sizeof *prev);
	while (fread(&order, 1, sizeof order, stdin) == sizeof order) {
		if (order == 0) {
			put(prev, (size_t)cells * sizeof *prev);
			continue;
		}
		int64_t start = now();
		for (int64_t t = 0; t < order; t++) {
			for (int64_t i = 0; i < spans; i++)
				diffuse(next, prev, &s[i], &p[s[i].pattern]);
			float *spare = prev;
			prev = next;
			next = spare;
		}
		int64_t took = now() - start;
		put(&took, sizeof took);
	}
	return 0;
}
