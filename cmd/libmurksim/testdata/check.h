/* What the test programs share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "murksim.h"

#define CHECK(condition)                                                                          \
	do {                                                                                          \
		if (!(condition)) {                                                                       \
			char text[4096];                                                                      \
			murksim_last_error(text, sizeof text);                                                \
			fprintf(stderr, "%s:%d: not so: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, text); \
			exit(1);                                                                              \
		}                                                                                         \
	} while (0)

/* Memory that ends where nothing may be read or written: a byte beyond ends the program. It is never freed. */
static inline void *guarded(uint64_t size)
{
	const uint64_t page = 4096, whole = (size + page - 1) / page * page;
	char *at = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(at != MAP_FAILED && mprotect(at + whole, page, PROT_NONE) == 0);
	return at + whole - size;
}

/* The text of a handle, to be freed with free; the handle is freed. */
static inline char *take(murksim_handle handle)
{
	uint64_t size = 0;
	CHECK(murksim_text_size(handle, &size) == MURKSIM_OK);
	char *held = guarded(size);
	CHECK(murksim_text_copy(handle, held, size) == MURKSIM_OK);
	char *text = calloc(size + 1, 1);
	memcpy(text, held, size);
	CHECK(murksim_free(handle) == MURKSIM_OK);
	return text;
}

/* The number after "key": in an object of JSON. */
static inline long number(const char *json, const char *key)
{
	char name[64];
	snprintf(name, sizeof name, "\"%s\":", key);
	const char *at = strstr(json, name);
	CHECK(at != NULL);
	return strtol(at + strlen(name), NULL, 10);
}

/* Records so many ticks of the scenario heat. */
static inline void record(const char *path, const char *ticks)
{
	const char *run[] = {"run", "heat", "--quiet", "--ticks", ticks, "-o", path};
	int32_t exit_status = -1;
	CHECK(murksim_command(7, run, NULL, NULL, &exit_status, NULL, NULL) == MURKSIM_OK);
	CHECK(exit_status == 0);
}
