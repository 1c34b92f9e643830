/* Prints the hash of what agents see and get, as environment/golden_test.go describes it: trajectory SCENARIO AGENTS CHOICES LENGTH. */
#include "check.h"

static uint64_t hash = 0xcbf29ce484222325;

static void fold(murksim_buffer b)
{
	for (uint64_t i = 0; i < b.size; i++)
		hash = (hash ^ ((uint8_t *)b.data)[i]) * 0x100000001b3;
}

static murksim_buffer buffer(uint64_t size) { return (murksim_buffer){calloc(size, 1), size}; }

int main(int count, char **arguments)
{
	enum { WORLDS = 3, STEPS = 200 };
	CHECK(count == 5);
	const uint64_t agents = strtoul(arguments[2], NULL, 10), choices = strtoul(arguments[3], NULL, 10), length = strtoul(arguments[4], NULL, 10);
	murksim_handle env = 0;
	CHECK(murksim_env_open(arguments[1], 0, NULL, WORLDS, 0, 2, 11, MURKSIM_NEXT_STEP, 0, &env) == MURKSIM_OK);
	murksim_tensors t = {.struct_size = sizeof t, .actions = buffer(8 * WORLDS * agents), .observations = buffer(4 * WORLDS * agents * length),
		.rewards = buffer(8 * WORLDS * agents), .terminated = buffer(WORLDS * agents), .truncated = buffer(WORLDS * agents)};
	CHECK(murksim_env_bind(env, &t) == MURKSIM_OK);
	CHECK(murksim_env_reset(env, NULL, 0, NULL, 0) == MURKSIM_OK);
	fold(t.observations);
	for (uint64_t step = 0; step < STEPS; step++) {
		for (uint64_t i = 0; i < WORLDS * agents; i++)
			((int64_t *)t.actions.data)[i] = (int64_t)((7 * step + 3 * (i / agents) + i % agents) % choices);
		CHECK(murksim_env_step(env) == MURKSIM_OK);
		fold(t.observations);
		fold(t.rewards);
		fold(t.terminated);
		fold(t.truncated);
	}
	CHECK(murksim_free(env) == MURKSIM_OK);
	printf("%s\t%016llx\n", arguments[1], (unsigned long long)hash);
	return 0;
}
