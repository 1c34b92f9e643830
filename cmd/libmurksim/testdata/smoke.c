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
	CHECK(number(about, "last") == 200);
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
	puts("all as it should be");
	return 0;
}
