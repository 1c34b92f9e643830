/* Lies about the size of a buffer, which must end the program: overrun FOLDER. */
#include "check.h"

int main(int count, char **arguments)
{
	CHECK(count == 2);
	char path[4096];
	snprintf(path, sizeof path, "%s/heat.murk", arguments[1]);
	record(path, "5");
	murksim_handle r = 0;
	CHECK(murksim_recording_open(path, 0, NULL, 0, 0, NULL, NULL, &r) == MURKSIM_OK);
	float *heat = guarded(128 * 128 * 4 - 4);
	CHECK(murksim_recording_read(r, 0, 5, 1, 1, 1, heat, 128 * 128 * 4, NULL, NULL) == MURKSIM_OK);
	CHECK(murksim_free(r) == MURKSIM_OK);
	return 0;
}
