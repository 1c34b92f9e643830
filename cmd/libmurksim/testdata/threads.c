/* Eight threads share one recording, have one each, make errors of their own, and see a handle freed: threads FOLDER. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 20 };

static const char *folder;
static murksim_handle shared;
static float heat[201];     /* cell [21, 20] at each tick */
static pthread_barrier_t freed;

static int32_t now_and_then(void *user)
{
	return ++*(int *)user > 1000000;
}

static void *work(void *of)
{
	const int n = *(int *)of;
	const uint64_t cells = 128 * 128;
	float *buffer = guarded(cells * sizeof *buffer);
	char path[4096], message[256], expected[32];
	snprintf(path, sizeof path, "%s/heat-%d.murk", folder, n);
	record(path, "50");
	murksim_handle own = 0, text = 0;
	CHECK(murksim_recording_open(path, 0, NULL, 1, 0, NULL, NULL, &own) == MURKSIM_OK);
	int polled = 0;
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t tick = (n * 37 + i * 11) % 201;
		CHECK(murksim_recording_read(shared, 0, tick, 1, 1, 0, buffer, cells * sizeof *buffer, now_and_then, &polled) == MURKSIM_OK);
		CHECK(buffer[21 * 128 + 20] == heat[tick]);
		CHECK(murksim_recording_read(own, 0, tick % 51, 1, 1, 1, buffer, cells * sizeof *buffer, NULL, NULL) == MURKSIM_OK);
		CHECK(buffer[21 * 128 + 20] == heat[tick % 51]);
		CHECK(murksim_recording_frame(own, 1000 + n, NULL, NULL, &text) == MURKSIM_NOT_FOUND);
		murksim_last_error(message, sizeof message);
		snprintf(expected, sizeof expected, "tick %d;", 1000 + n);
		CHECK(strstr(message, expected));
	}
	CHECK(murksim_free(own) == MURKSIM_OK);
	/* One thread frees what the others use. */
	pthread_barrier_wait(&freed);
	if (n == 0)
		CHECK(murksim_free(shared) == MURKSIM_OK);
	for (;;) {
		murksim_status s = murksim_recording_frame(shared, n + 1, NULL, NULL, &text);
		if (s == MURKSIM_BAD_HANDLE)
			break;
		CHECK(s == MURKSIM_OK && murksim_free(text) == MURKSIM_OK);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	CHECK(count == 2);
	folder = arguments[1];
	char path[4096];
	snprintf(path, sizeof path, "%s/shared.murk", folder);
	record(path, "200");
	CHECK(murksim_recording_open(path, 0, NULL, 0, 0, NULL, NULL, &shared) == MURKSIM_OK);
	float *buffer = malloc(128 * 128 * sizeof *buffer);
	for (int t = 0; t <= 200; t++) {
		CHECK(murksim_recording_read(shared, 0, t, 1, 1, 1, buffer, 128 * 128 * sizeof *buffer, NULL, NULL) == MURKSIM_OK);
		heat[t] = buffer[21 * 128 + 20];
	}
	free(buffer);
	pthread_barrier_init(&freed, NULL, THREADS);
	pthread_t threads[THREADS];
	int numbers[THREADS];
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	puts("all as it should be");
	return 0;
}
