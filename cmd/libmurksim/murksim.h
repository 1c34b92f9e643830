/* libmurksim: murksim for other languages. docs/LIBMURKSIM.md is made of this file. */
#ifndef MURKSIM_H
#define MURKSIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It grows when something is added; what is there keeps its meaning. A program compares it with
   murksim_api_version(), which must not be less. */
#define MURKSIM_API_VERSION 1

/* What a function returns. Other numbers may be added; all but 0 are failures. */
typedef int32_t murksim_status;

enum {
	MURKSIM_OK = 0,
	MURKSIM_ERROR = 1,        /* it failed for a reason that has no number of its own: see murksim_last_error */
	MURKSIM_BAD_ARGUMENT = 2, /* a null pointer, a buffer of a wrong size, a number out of range */
	MURKSIM_BAD_HANDLE = 3,   /* no such handle, or it was freed, or it is of another kind */
	MURKSIM_NOT_FOUND = 4,    /* no such file, scenario, field or tick */
	MURKSIM_DAMAGED = 5,      /* the recording, the scenario or the state is malformed or ends early */
	MURKSIM_INCOMPATIBLE = 6, /* another program or version is needed */
	MURKSIM_DIVERGED = 7,     /* a replay has another hash than was recorded */
	MURKSIM_CANCELLED = 8,    /* the poll function asked for it */
	MURKSIM_INTERNAL = 9,     /* a mistake in murksim: please report the message */
	MURKSIM_WORLD_FAILED = 10 /* the ticks of some worlds failed, and their episodes are truncated; all else was done */
};

/* A handle of a text, a recording or a batch of environments. It is a number, never a pointer, and never used twice.
   0 is none. */
typedef uint64_t murksim_handle;

/* A text that a function reads: UTF-8 that ends with a zero byte. */
typedef const char *murksim_string;

/* A list of texts. */
typedef const murksim_string *murksim_strings;

/* A function that is called about 20 times a second while another function works, on the thread that called it, with the
   pointer that it was given. If it returns other than 0, the work ends soon, and the function returns MURKSIM_CANCELLED.
   It may be null. It must not call functions with the handle that is in use. */
typedef int32_t (*murksim_poll)(void *user);

/* Numbers and flags that a function reads. */
typedef const uint64_t *murksim_numbers;
typedef const uint8_t *murksim_flags;

/* == Versions, errors, texts and handles */

/* Returns MURKSIM_API_VERSION of the library. */
int32_t murksim_api_version(void);

/* Copies the version of murksim, such as "0.1.0", with a zero byte into a buffer of so many bytes, as much as fits, and
   returns the length of the whole text without that byte. The buffer may be null if size is 0. */
uint64_t murksim_version(char *buffer, uint64_t size);

/* Copies the message of the last call on this thread that did not return MURKSIM_OK, in the manner of murksim_version. Other
   threads have messages of their own. Messages are cut after 4,095 bytes. A call that succeeds leaves it as it is. */
uint64_t murksim_last_error(char *buffer, uint64_t size);

/* Sets *size to the number of bytes of a text, which has no zero byte at its end. */
murksim_status murksim_text_size(murksim_handle text, uint64_t *size);

/* Copies a text into a buffer of exactly its size. */
murksim_status murksim_text_copy(murksim_handle text, char *buffer, uint64_t size);

/* Frees a handle of any kind. Calls that use it on other threads end first. A handle that was freed is MURKSIM_BAD_HANDLE. */
murksim_status murksim_free(murksim_handle handle);

/* == Commands and scenarios */

/* Runs a command line of murksim, without the name of the program: such as "verify", "--json", "heat.murk". *exit_status
   is that of the command; *output and *errors are new handles of the texts that it wrote to standard output and standard
   error, either of which may be null. docs/JSON.md lists what commands print with --json. Standard input is empty. Cancelling does
   what Ctrl-C does, and so leaves whole files: the command then has an exit status, and the function returns MURKSIM_CANCELLED with
   *output and *errors set. A command that fails returns MURKSIM_OK: look at the exit status. */
murksim_status murksim_command(int32_t count, murksim_strings arguments, murksim_poll poll, void *user,
	int32_t *exit_status, murksim_handle *output, murksim_handle *errors);

/* Describes a scenario, by the name of one that comes with murksim or the path of a YAML file, with values replaced as by
   run --set, such as "space.rows=64". *text is a new handle of an object of JSON, with the keys that murksim_recording_info
   has, but for those of ticks. */
murksim_status murksim_scenario_info(murksim_string scenario, int32_t count, murksim_strings sets, murksim_handle *text);

/* == Recordings */

/* Opens a recording to look at any of its ticks. States are the files of saved states at which it may begin, if it does not
   hold that itself. An index beside it, PATH.idx, is used if there is one. Workers are the goroutines of a tick, 0 as many as pay;
   its world may take max_memory bytes, 0 is 4 GiB. A recording that is still being written has the ticks that are whole now; problem of
   murksim_recording_info says so. While it is open the file may grow, but what was read must not change. */
murksim_status murksim_recording_open(murksim_string path, int32_t count, murksim_strings states, int32_t workers,
	uint64_t max_memory, murksim_poll poll, void *user, murksim_handle *recording);

/* Describes a recording. *text is a new handle of an object of JSON: file, scenario, about, seed, tick_rate, first and last (the ticks
   there are; the first is that before the first frame), planned, problem (why there is no tick after the last, if not because
   the recording ends), final_hash (the recorded one of the last tick, if there is a tick), digest (of the bytes that were opened, whatever
   the file holds now: the SHA-256 of the SHA-256s of each 65,536 of them), build, space (kind, text, cells, axes, shape), fields, capacity and kinds of entities, parameters,
   propagators, systems, and environment, which is true if agents can learn in it. A field has name, dtype, shape, bytes, components, values (of categories), domain (cells or entities), static, unit, min, max, and
   engine, which is true of the columns that the engine has for itself. */
murksim_status murksim_recording_info(murksim_handle recording, murksim_handle *text);

/* Reads a field, by its place in the list of fields, at the ticks first, first+every, and so on, count in all, into a buffer of
   count times the field's bytes: tick by tick, cell by cell in canonical order (or slot by slot of the entities), components together, in the
   byte order of the machine. float32 and int32 are as they are in the world, fixed-point numbers are float64. If checked is not
   0, the hash of each tick is compared with the recorded one; another one is MURKSIM_DIVERGED, and the buffer holds the ticks
   before it. Ascending ticks are the fastest. */
murksim_status murksim_recording_read(murksim_handle recording, int32_t field, uint64_t first, uint64_t every, uint64_t count,
	int32_t checked, void *buffer, uint64_t size, murksim_poll poll, void *user);

/* Tells what a recording has of a tick. *text is a new handle of an object of JSON: tick, hash and commands, in the form of
   replay/JSONL.md. */
murksim_status murksim_recording_frame(murksim_handle recording, uint64_t tick, murksim_poll poll, void *user, murksim_handle *text);

/* Sets *width and *height to the pixels of a picture whose cells are so many pixels wide, 1 to 64; 0: as large as fits into
   512 by 512. */
murksim_status murksim_recording_picture_size(murksim_handle recording, int32_t cell, int32_t *width, int32_t *height);

/* Draws a field of cells at a tick, and the entities, into a buffer of 3 times width times height bytes: rows from the top, each pixel
   red, green and blue. Low and high are the values of the first and the last colour; if they are equal, the field's bounds, or
   the extremes of the tick where it has none. If the tick has another hash than was recorded, the status is MURKSIM_DIVERGED, and the
   picture is of what the replay gives. */
murksim_status murksim_recording_picture(murksim_handle recording, int32_t field, uint64_t tick, int32_t cell, double low,
	double high, uint8_t *buffer, uint64_t size, murksim_poll poll, void *user);

/* == Environments */

/* When a world whose episode has ended begins another, as Gymnasium defines it: in the next step, whose action it ignores; in the
   same step, with what was seen last in final_observations; or in murksim_env_reset. */
typedef int32_t murksim_autoreset;

enum {
	MURKSIM_NEXT_STEP = 0,
	MURKSIM_SAME_STEP = 1,
	MURKSIM_DISABLED = 2
};

/* Memory of the caller, in bytes. */
typedef struct {
	void *data;
	uint64_t size;
} murksim_buffer;

/* The tensors of W worlds with A agents each, of which each sees L numbers. Sizes are exact; a buffer that may be empty is
   not written. Flags are bytes that are 0 or 1. */
typedef struct {
	uint64_t struct_size;              /* sizeof(murksim_tensors) */
	murksim_buffer actions;            /* read: W x A int64 (choices), or W x A x controls float */
	murksim_buffer observations;       /* W x A x L of the element that murksim_env_info tells */
	murksim_buffer final_observations; /* the same with MURKSIM_SAME_STEP: what agents saw last in an episode that ended; may be empty */
	murksim_buffer mask;               /* W x A x M flags: which numbers are those of cells; may be empty */
	murksim_buffer rewards;            /* W x A double */
	murksim_buffer terminated;         /* W x A flags */
	murksim_buffer truncated;          /* W x A flags */
	murksim_buffer alive;              /* W x A flags: the episode goes on for the agent; may be empty */
	murksim_buffer began;              /* W flags: an episode has begun in the step; may be empty */
	murksim_buffer steps;              /* W uint64: of the episode, of the one that has ended in the step if one has; may be empty */
	murksim_buffer returns;            /* W x A double: its sums of rewards; may be empty */
} murksim_tensors;

/* Makes so many worlds of a scenario that has an environment, whose indices count from first. Workers are goroutines; no bit depends on
   them. What happens in a world depends on the seed, its index and the actions alone. The worlds may take max_memory bytes each; 0 is
   4 GiB. */
murksim_status murksim_env_open(murksim_string scenario, int32_t count, murksim_strings sets, int32_t worlds, uint64_t first,
	int32_t workers, uint64_t seed, murksim_autoreset autoreset, uint64_t max_memory, murksim_handle *env);

/* Describes environments. *text is a new handle of an object of JSON, with the keys of murksim_scenario_info and worlds, first_world, agents (names), choices
   (names; none if actions are continuous), controls (names), low and high (of each control), steps (after which an episode is truncated), and
   observation: dtype, length, mask_length, shape (of one agent's), and parts with name, shape, offset, length, low and high; a bound that is null is
   not known. */
murksim_status murksim_env_info(murksim_handle env, murksim_handle *text);

/* Binds tensors: from now on the library reads actions from them and writes what it has to tell to them. The struct is copied. The
   buffers must stay where they are until others are bound or the handle is freed. */
murksim_status murksim_env_bind(murksim_handle env, murksim_tensors *tensors);

/* Begins episodes in the worlds whose flag is not 0; no flags (null and 0) are all. Seeds are new master seeds, one for all worlds or one
   for each, with which episodes are counted from 0 again; none (null and 0) go on with the next episode. */
murksim_status murksim_env_reset(murksim_handle env, murksim_numbers seeds, uint64_t seed_count, murksim_flags flags, uint64_t flag_count);

/* Takes a step in all worlds with the actions that are bound. */
murksim_status murksim_env_step(murksim_handle env);

/* Writes what the policy of the scenario would do in the next step to the actions that are bound. */
murksim_status murksim_env_policy(murksim_handle env);

/* Returns where all worlds stand, as a text of JSON: the seed of each, the number of its episode, and what its agents have done in it. */
murksim_status murksim_env_state(murksim_handle env, murksim_handle *text);

/* Brings the worlds to where murksim_env_state found them, whose text has so many bytes, or those of another handle with the same worlds of the same scenario. It
   computes the episodes again; one that comes to another hash, or that has another seed, is MURKSIM_DIVERGED, and then no world has an
   episode. What cannot be a state of these worlds is MURKSIM_DAMAGED, and nothing has changed. Observations are then what agents see; rewards and ends are 0. */
murksim_status murksim_env_restore(murksim_handle env, murksim_string state, uint64_t size);

/* Writes the episode that is under way in a world, or before its first step the one before it, as a recording that murksim verify
   proves. An episode that has failed is written up to the tick before. World counts from 0. A file that is there is an error. */
murksim_status murksim_env_save(murksim_handle env, int32_t world, murksim_string path);

/* Records the episodes whose number is a multiple of every, of each world, to files in a folder that is there, such as
   heat_seeker-0-100.murk. 0 records none from now on. */
murksim_status murksim_env_record_every(murksim_handle env, uint64_t every, murksim_string folder);

/* Sets *width and *height as murksim_recording_picture_size does. */
murksim_status murksim_env_picture_size(murksim_handle env, int32_t cell, int32_t *width, int32_t *height);

/* Draws a field of cells in a world as it is, in the manner of murksim_recording_picture. */
murksim_status murksim_env_picture(murksim_handle env, int32_t world, int32_t field, int32_t cell, double low, double high,
	uint8_t *buffer, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
