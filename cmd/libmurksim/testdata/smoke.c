/* Calls every function, rightly and wrongly: smoke FOLDER. Valgrind looks on. */
#include "check.h"

static int32_t at_once(void *user)
{
	++*(int *)user;
	return 1;
}

static int32_t go_on(void *user)
{
	++*(int *)user;
	return 0;
}

static void texts(void)
{
	char version[64], small[3];
	CHECK(murksim_api_version() == MURKSIM_API_VERSION);
	uint64_t length = murksim_version(version, sizeof version);
	CHECK(length == strlen(version) && length > 2);
	CHECK(murksim_version(small, sizeof small) == length && strlen(small) == 2);
	CHECK(murksim_version(NULL, 0) == length);

	uint64_t size;
	CHECK(murksim_text_size(0, &size) == MURKSIM_BAD_HANDLE);
	CHECK(murksim_text_size(1ull << 63, &size) == MURKSIM_BAD_HANDLE);
	CHECK(murksim_text_size(1, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_free(12345) == MURKSIM_BAD_HANDLE);
	CHECK(murksim_last_error(small, sizeof small) > 2 && strlen(small) == 2);
}

static void commands(const char *path)
{
	int32_t exit_status = -1;
	murksim_handle out = 0, errors = 0;
	const char *verify[] = {"verify", "--json", path};
	CHECK(murksim_command(3, verify, NULL, NULL, &exit_status, &out, &errors) == MURKSIM_OK);
	CHECK(exit_status == 0);
	char *said = take(out);
	CHECK(strstr(said, "\"status\":\"ok\"") && number(said, "ticks") == 200);
	free(said);
	free(take(errors));

	const char *wrong[] = {"verify", "--nonsense"};
	CHECK(murksim_command(2, wrong, NULL, NULL, &exit_status, NULL, &errors) == MURKSIM_OK);
	CHECK(exit_status == 2);
	said = take(errors);
	CHECK(strstr(said, "nonsense"));
	free(said);

	const char *hole[] = {"verify", NULL};
	CHECK(murksim_command(2, hole, NULL, NULL, &exit_status, NULL, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_command(1, NULL, NULL, NULL, &exit_status, NULL, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_command(-1, hole, NULL, NULL, &exit_status, NULL, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_command(1, hole, NULL, NULL, NULL, NULL, NULL) == MURKSIM_BAD_ARGUMENT);

	int polled = 0;
	const char *longer[] = {"run", "heat", "--no-record", "--ticks", "1000000000"};
	CHECK(murksim_command(5, longer, at_once, &polled, &exit_status, NULL, NULL) == MURKSIM_CANCELLED);
	CHECK(polled == 1);
}

static void scenario(void)
{
	murksim_handle text = 0;
	const char *sets[] = {"space.rows=256", "seed=7"};
	CHECK(murksim_scenario_info("heat", 2, sets, &text) == MURKSIM_OK);
	char *about = take(text);
	CHECK(number(about, "seed") == 7 && strstr(about, "\"shape\":[256,128]"));
	free(about);
	CHECK(murksim_scenario_info("heet", 0, NULL, &text) == MURKSIM_NOT_FOUND);
	CHECK(murksim_scenario_info("heat", 1, sets + 1, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_scenario_info(NULL, 0, NULL, &text) == MURKSIM_BAD_ARGUMENT);
	const char *bad[] = {"space.rows=many"};
	CHECK(murksim_scenario_info("heat", 1, bad, &text) == MURKSIM_DAMAGED);
}

static void recording(const char *path, const char *missing)
{
	murksim_handle r = 0, text = 0;
	CHECK(murksim_recording_open(missing, 0, NULL, 0, 0, NULL, NULL, &r) == MURKSIM_NOT_FOUND);
	CHECK(murksim_recording_open(path, 0, NULL, -1, 0, NULL, NULL, &r) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_recording_open(path, 0, NULL, 0, 1000, NULL, NULL, &r) != MURKSIM_OK);
	CHECK(murksim_recording_open(path, 0, NULL, 0, 0, NULL, NULL, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_recording_open(path, 0, NULL, 0, 0, NULL, NULL, &r) == MURKSIM_OK && r != 0);

	CHECK(murksim_recording_info(r, &text) == MURKSIM_OK);
	char *about = take(text);
	CHECK(number(about, "last") == 200 && strstr(about, "\"final_hash\":\"") && strstr(about, "\"digest\":\""));
	free(about);
	CHECK(murksim_text_size(r, &(uint64_t){0}) == MURKSIM_BAD_HANDLE);

	const uint64_t bytes = 128 * 128 * 4;
	float *heat = guarded(3 * bytes);
	int polled = 0;
	CHECK(murksim_recording_read(r, 0, 0, 100, 3, 1, heat, 3 * bytes, go_on, &polled) == MURKSIM_OK);
	CHECK(heat[0] == 20 && heat[128 * 128 + 20 * 128 + 20] > 20);
	CHECK(murksim_recording_read(r, 0, 0, 100, 3, 1, heat, 3 * bytes - 1, NULL, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_recording_read(r, 0, 0, 100, 4, 1, heat, 4 * bytes, NULL, NULL) == MURKSIM_NOT_FOUND);
	CHECK(murksim_recording_read(r, 0, 0, 1, UINT64_MAX, 1, heat, bytes, NULL, NULL) == MURKSIM_NOT_FOUND);
	CHECK(murksim_recording_read(r, 0, 0, 0, 1, 1, heat, bytes, NULL, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_recording_read(r, 9, 0, 1, 1, 1, heat, bytes, NULL, NULL) == MURKSIM_NOT_FOUND);
	CHECK(murksim_recording_read(r, 0, 0, 1, 1, 1, NULL, bytes, NULL, NULL) == MURKSIM_BAD_ARGUMENT);

	CHECK(murksim_recording_frame(r, 1, NULL, NULL, &text) == MURKSIM_OK);
	char *frame = take(text);
	CHECK(number(frame, "tick") == 1 && strstr(frame, "\"commands\":["));
	free(frame);
	CHECK(murksim_recording_frame(r, 201, NULL, NULL, &text) == MURKSIM_NOT_FOUND);

	int32_t width = 0, height = 0;
	CHECK(murksim_recording_picture_size(r, 2, &width, &height) == MURKSIM_OK);
	CHECK(width == 256 && height == 256);
	CHECK(murksim_recording_picture_size(r, 65, &width, &height) == MURKSIM_BAD_ARGUMENT);
	uint64_t size = 3 * 256 * 256;
	uint8_t *pixels = guarded(size);
	CHECK(murksim_recording_picture(r, 0, 50, 2, 0, 0, pixels, size, NULL, NULL) == MURKSIM_OK);
	CHECK(memcmp(pixels, pixels + size / 2, 3) == 0 || pixels[0] || pixels[1] || pixels[2]);
	CHECK(murksim_recording_picture(r, 0, 50, 2, 0, 0, pixels, size - 1, NULL, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_recording_picture(r, 1, 201, 2, 0, 0, pixels, size, NULL, NULL) == MURKSIM_NOT_FOUND);

	CHECK(murksim_free(r) == MURKSIM_OK);
	CHECK(murksim_free(r) == MURKSIM_BAD_HANDLE);
	CHECK(murksim_recording_info(r, &text) == MURKSIM_BAD_HANDLE);
}

/* Tensors of heat_seeker for so many worlds. */
static murksim_tensors tensors(const char *about, uint64_t worlds, uint64_t choices)
{
	const uint64_t length = number(about, "length"), masks = number(about, "mask_length");
	murksim_tensors t = {.struct_size = sizeof t};
	t.actions = (murksim_buffer){guarded(8 * choices), 8 * choices};
	t.observations = (murksim_buffer){guarded(4 * worlds * length), 4 * worlds * length};
	t.final_observations = (murksim_buffer){guarded(4 * worlds * length), 4 * worlds * length};
	t.mask = (murksim_buffer){guarded(worlds * masks), worlds * masks};
	t.rewards = (murksim_buffer){guarded(8 * worlds), 8 * worlds};
	t.terminated = (murksim_buffer){guarded(worlds), worlds};
	t.truncated = (murksim_buffer){guarded(worlds), worlds};
	t.alive = (murksim_buffer){guarded(worlds), worlds};
	t.began = (murksim_buffer){guarded(worlds), worlds};
	t.steps = (murksim_buffer){guarded(8 * worlds), 8 * worlds};
	t.returns = (murksim_buffer){guarded(8 * worlds), 8 * worlds};
	return t;
}

static void environments(const char *folder)
{
	enum { WORLDS = 3 };
	murksim_handle env = 0, text = 0;
	const char *sets[] = {"environment.steps=40"};
	CHECK(murksim_env_open("heat", 0, NULL, 1, 0, 1, 1, MURKSIM_SAME_STEP, 0, &env) != MURKSIM_OK);
	CHECK(murksim_env_open("heat_seeker", 0, NULL, 0, 0, 1, 1, MURKSIM_SAME_STEP, 0, &env) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_env_open("heat_seeker", 0, NULL, 1, 0, 1, 1, 3, 0, &env) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_env_open("heat_seeker", 0, NULL, 1, 0, 1, 1, 0, 0, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_env_open("heat_seeker", 1, sets, WORLDS, 5, 2, 1, MURKSIM_SAME_STEP, 0, &env) == MURKSIM_OK);
	CHECK(murksim_env_info(env, &text) == MURKSIM_OK);
	char *about = take(text);
	CHECK(number(about, "worlds") == WORLDS && number(about, "first_world") == 5 && number(about, "steps") == 40);
	murksim_tensors t = tensors(about, WORLDS, WORLDS), wrong = t;
	free(about);
	CHECK(murksim_env_step(env) != MURKSIM_OK);
	wrong.struct_size--;
	CHECK(murksim_env_bind(env, &wrong) == MURKSIM_BAD_ARGUMENT);
	murksim_buffer *all[] = {&t.actions, &t.observations, &t.final_observations, &t.mask, &t.rewards, &t.terminated, &t.truncated, &t.alive, &t.began, &t.steps, &t.returns};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const uint64_t size = all[i]->size;
		all[i]->size = size - 1;
		CHECK(murksim_env_bind(env, &t) == MURKSIM_BAD_ARGUMENT);
		all[i]->size = 2 * size;
		CHECK(murksim_env_bind(env, &t) == MURKSIM_BAD_ARGUMENT);
		all[i]->size = size;
	}
	CHECK(murksim_env_bind(env, NULL) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_env_bind(env, &t) == MURKSIM_OK);
	CHECK(murksim_env_step(env) != MURKSIM_OK); /* it was never reset */
	const uint64_t seeds[WORLDS] = {7, 8, 9};
	const uint8_t flags[WORLDS] = {0, 1, 0};
	CHECK(murksim_env_reset(env, seeds, WORLDS - 1, NULL, 0) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_env_reset(env, NULL, 0, flags, WORLDS - 1) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_env_reset(env, seeds, WORLDS, NULL, 0) == MURKSIM_OK);
	CHECK(murksim_env_record_every(env, 2, "/nowhere") == MURKSIM_NOT_FOUND);
	CHECK(murksim_env_record_every(env, 2, folder) == MURKSIM_OK);
	int ended = 0;
	for (int i = 0; i < 100; i++) {
		CHECK(murksim_env_policy(env) == MURKSIM_OK);
		CHECK(murksim_env_step(env) == MURKSIM_OK);
		for (int w = 0; w < WORLDS; w++)
			ended += ((uint8_t *)t.terminated.data)[w] || ((uint8_t *)t.truncated.data)[w];
	}
	CHECK(ended >= 2 * WORLDS);
	((int64_t *)t.actions.data)[1] = 99;
	CHECK(murksim_env_step(env) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_env_reset(env, NULL, 0, flags, WORLDS) == MURKSIM_OK);

	char path[4096];
	snprintf(path, sizeof path, "%s/episode.murk", folder);
	CHECK(murksim_env_save(env, WORLDS, path) == MURKSIM_NOT_FOUND);
	CHECK(murksim_env_save(env, 0, path) == MURKSIM_OK);
	CHECK(murksim_env_save(env, 0, path) == MURKSIM_ERROR);
	char other[4096];
	snprintf(other, sizeof other, "%s/heat_seeker-5-0.murk", folder);
	const char *verify[] = {"verify", path, other};
	int32_t exit_status = -1;
	CHECK(murksim_command(3, verify, NULL, NULL, &exit_status, NULL, NULL) == MURKSIM_OK && exit_status == 0);

	int32_t width = 0, height = 0;
	CHECK(murksim_env_picture_size(env, 4, &width, &height) == MURKSIM_OK && width > 0);
	uint64_t size = 3ull * width * height;
	uint8_t *pixels = guarded(size);
	CHECK(murksim_env_picture(env, 1, 0, 4, 0, 0, pixels, size) == MURKSIM_OK);
	CHECK(murksim_env_picture(env, WORLDS, 0, 4, 0, 0, pixels, size) == MURKSIM_NOT_FOUND);
	CHECK(murksim_env_picture(env, 1, 0, 4, 0, 0, pixels, size - 3) == MURKSIM_BAD_ARGUMENT);

	CHECK(murksim_env_state(env, &text) == MURKSIM_OK);
	char *state = take(text);
	CHECK(murksim_env_restore(env, "{}", 2) == MURKSIM_DAMAGED);
	CHECK(murksim_env_policy(env) == MURKSIM_OK && murksim_env_step(env) == MURKSIM_OK);
	double rewards[WORLDS];
	memcpy(rewards, t.rewards.data, sizeof rewards);
	CHECK(murksim_env_restore(env, state, strlen(state)) == MURKSIM_OK);
	CHECK(murksim_env_policy(env) == MURKSIM_OK && murksim_env_step(env) == MURKSIM_OK);
	CHECK(memcmp(rewards, t.rewards.data, sizeof rewards) == 0);
	strstr(state, "\"hash\":")[strlen("\"hash\":")] ^= 1; /* a first digit is never 0 */
	CHECK(murksim_env_restore(env, state, strlen(state)) != MURKSIM_OK);
	free(state);
	CHECK(murksim_env_state(env, NULL) == MURKSIM_BAD_ARGUMENT && murksim_env_restore(env, NULL, 1) == MURKSIM_BAD_ARGUMENT);
	CHECK(murksim_free(env) == MURKSIM_OK);
	CHECK(murksim_env_step(env) == MURKSIM_BAD_HANDLE);
}

int main(int count, char **arguments)
{
	CHECK(count == 2);
	char path[4096], missing[4096];
	snprintf(path, sizeof path, "%s/heat.murk", arguments[1]);
	snprintf(missing, sizeof missing, "%s/missing.murk", arguments[1]);
	texts();
	record(path, "200");
	commands(path);
	scenario();
	recording(path, missing);
	environments(arguments[1]);
	puts("all as it should be");
	return 0;
}
