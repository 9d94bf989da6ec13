/* The running and the next driver are recognised, and a former call's notes are believed only as
 * far as they make sense. */
#include "environments.h"

#include <jitwarm/ahead.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/platform.h"

#define VERSION_FILE "system/proc/driver/nvidia/version"

/* Writes Linux' file of the kernel module; Windows has other sources. */
static void runs(const char *release)
{
	char text[128];

	if (os_is_windows)
		skip();
	(void)snprintf(text, sizeof text, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Mon Jan",
				   release);
	put(VERSION_FILE, text);
	set("JITWARM_SYSTEM_ROOT", "system");
	set("JITWARM_STATE", "state");
}

static struct jw_ahead look_at(const char *library)
{
	struct jw_ahead ahead = {.state = JW_AHEAD_FAILED};
	char *path;

	put(library, "no library");
	path = keep(at(library));
	OK(jw_ahead_find(why, path, &ahead));
	return ahead;
}

static void expect(const struct jw_ahead *ahead, enum jw_ahead_state state, bool pending,
				   size_t ready)
{
	assert_string_equal(jw_ahead_state_name(ahead->state), jw_ahead_state_name(state));
	assert_int_equal(ahead->pending, pending);
	assert_int_equal(ahead->ready, ready);
}

static void put_record(const char *text)
{
	char *document = keep(mem_printf("{\"schema\":\"jitwarm.state/1\",\"ahead\":%s}", text));

	put("state/state.json", document);
}

static void record(const char *state, const char *more)
{
	char text[2048];

	(void)snprintf(text, sizeof text,
				   "{\"schema\":\"jitwarm.ahead/1\",\"state\":\"%s\",\"running\":\"535.309.01\","
				   "\"next\":\"550.163.01\",\"stamp\":\"Jun 25 202401:14:48\",\"modules\":7,"
				   "\"ready\":5%s}",
				   state, more);
	put_record(text);
}

CASE(another_one_is_installed)
{
	struct jw_ahead ahead;
	char *path;

	runs("535.309.01");
	ahead = look_at("libcuda.so.550.163.01");
	expect(&ahead, JW_AHEAD_NOTICED, true, 0);
	assert_string_equal(ahead.next, "550.163.01");
	/* The next driver may be older, too. */
	ahead = look_at("libcuda.so.470.256.02");
	expect(&ahead, JW_AHEAD_NOTICED, true, 0);
	/* If nobody knows which driver runs, nothing is claimed. */
	put(VERSION_FILE, "NVRM version: none");
	ahead = look_at("libcuda.so.550.163.01");
	expect(&ahead, JW_AHEAD_NONE, false, 0);
	/* A named library of unknown release was not compared. */
	put("libcuda.so.1", "no library");
	path = keep(at("libcuda.so.1"));
	GIVES(JW_ERR_UNSUPPORTED, jw_ahead_find(why, path, &ahead));
}

CASE(a_record_says_how_far_it_came)
{
	static const struct {
		const char *state, *running, *library;
		enum jw_ahead_state expected;
		bool pending;
	} samples[] = {
		{"ready", "535.309.01", "libcuda.so.550.163.01", JW_AHEAD_READY, true},
		{"no-room", "535.309.01", "libcuda.so.550.163.01", JW_AHEAD_NO_ROOM, true},
		{"no-compiler", "535.309.01", "libcuda.so.550.163.01", JW_AHEAD_NO_COMPILER, true},
		{"failed", "535.309.01", "libcuda.so.550.163.01", JW_AHEAD_FAILED, true},
		/* the process of that call was killed */
		{"compiling", "535.309.01", "libcuda.so.550.163.01", JW_AHEAD_UNFINISHED, true},
		/* after the boot, or the upgrade was undone */
		{"ready", "550.163.01", "libcuda.so.550.163.01", JW_AHEAD_LIVE, false},
		{"compiling", "550.163.01", "libcuda.so.550.163.01", JW_AHEAD_LIVE, false},
		{"ready", "535.309.01", "libcuda.so.535.309.01", JW_AHEAD_UNDONE, false},
		/* a state of a former version; then not a state */
		{"carried", "535.309.01", "libcuda.so.550.163.01", JW_AHEAD_NOTICED, true},
		{"nonsense", "535.309.01", "libcuda.so.550.163.01", JW_AHEAD_NOTICED, true},
	};

	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		struct jw_ahead ahead;

		runs(samples[i].running);
		record(samples[i].state, "");
		ahead = look_at(samples[i].library);
		expect(&ahead, samples[i].expected, samples[i].pending, 5);
	}
}

CASE(a_second_upgrade_begins_anew)
{
	struct jw_ahead ahead;

	runs("535.309.01");
	record("ready", "");
	ahead = look_at("libcuda.so.555.58.02");
	expect(&ahead, JW_AHEAD_NOTICED, true, 0);
	assert_string_equal(ahead.next, "555.58.02");
}

CASE(hostile_records_are_none)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"schema\":\"jitwarm.ahead/2\",\"state\":\"ready\",\"ready\":5}",
		"{\"schema\":\"jitwarm.ahead/1\",\"state\":7,\"next\":[],\"modules\":-1,\"ready\":1e300}",
	};
	struct jw_ahead ahead;
	char more[900];

	runs("535.309.01");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		put_record(texts[i]);
		ahead = look_at("libcuda.so.550.163.01");
		expect(&ahead, JW_AHEAD_NOTICED, true, 0);
	}
	(void)snprintf(more, sizeof more, ",\"why\":\"%0800d\"", 0);
	record("failed", more);
	ahead = look_at("libcuda.so.550.163.01");
	expect(&ahead, JW_AHEAD_FAILED, true, 5);
	assert_int_equal(strlen(ahead.why), sizeof ahead.why - 1);
}

/* Two processes that prepare would compile everything twice, and overwrite each other's record. */
CASE(one_process_prepares_at_a_time)
{
	char *library = keep(at("libcuda.so.550.163.01")), *path = keep(at("state/ahead-lock"));
	const struct jw_ahead_options options = {.library = library};
	struct jw_ahead ahead = {.state = JW_AHEAD_FAILED};
	struct os_file *lock;
	bool taken = false;
	int status;
	pid_t other;

	runs("535.309.01");
	record("compiling", "");
	put("state/ahead-lock", "");
	put("libcuda.so.550.163.01", "no library");
	OK(os_file_open(why, path, OS_OPEN_UPDATE, &lock));
	OK(os_file_lock(why, lock, true, &taken));
	assert_true(taken);
	other = fork();
	if (!other)
		_exit(jw_ahead_find(NULL, library, &ahead) || ahead.state != JW_AHEAD_COMPILING ? 1
			  : !jw_ahead_prepare(why, &options, &ahead) || why->code != JW_ERR_BUSY    ? 2
																						: 0);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	os_file_close(lock);
	/* The call gets further then, and lacks the compiler. */
	assert_int_equal(jw_ahead_prepare(why, &options, &ahead), -1);
	assert_int_not_equal(why->code, JW_ERR_BUSY);
}

RUN_TESTS(NULL, NULL)
