// Runs one command line by libmurksim, prints what it prints, and exits as it does.

#include <stdio.h>
#include <stdlib.h>

#include "murksim.h"

static void print(FILE *to, murksim_handle text)
{
	uint64_t size = 0;
	if (murksim_text_size(text, &size) != MURKSIM_OK)
		exit(99);
	char *bytes = malloc(size + 1);
	if (bytes == NULL || murksim_text_copy(text, bytes, size) != MURKSIM_OK)
		exit(99);
	fwrite(bytes, 1, size, to);
	free(bytes);
	murksim_free(text);
}

int main(int argc, char **argv)
{
	int32_t exit_status = 99;
	murksim_handle out = 0, errors = 0;
	if (murksim_command(argc - 1, (const char *const *)(argv + 1), NULL, NULL, &exit_status, &out, &errors) != MURKSIM_OK)
		return 99;
	print(stdout, out);
	print(stderr, errors);
	return exit_status;
}
