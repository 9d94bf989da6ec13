/* Functions of the library that read, in which each allocation fails once: they say so, or do their
 * work. unit-struck looks at those that write. */
#include "check.h"

#include <string.h>

#include <jitwarm/bake.h>
#include <jitwarm/cache.h>
#include <jitwarm/check.h>
#include <jitwarm/find.h>
#include <jitwarm/startup.h>
#include <jitwarm/system.h>
#include <jitwarm/tune.h>

#include <sodium.h>

#include "files.h"
#include "lacking.h"
#include "os/env.h"
#include "small_modules.h"

static char *site, *state_dir;
static struct jw_system *machine;

static void set_inside(const char *variable, const char *name)
{
	char *path = os_join(NULL, folder, name);

	assert_int_equal(os_env_set(NULL, variable, path), 0);
	mem_free(path);
}

static void put_packages(void)
{
	struct buf library = make_buf();

	small_put(&library, 1, 80, "");
	small_put(&library, 2, 80, "");
	files_put(folder, "env/lib/python3.11/site-packages/frame/lib.fatbin", library.data,
			  library.size);
	files_put(folder, "env/lib/python3.11/site-packages/nvidia/a.cubin", "none", 4);
	buf_free(&library);
	files_put_text(folder, "env/lib/python3.11/site-packages/frame-1.2.dist-info/METADATA",
				   "Name: frame\nVersion: 1.2\nRequires-Dist: other[more]>=1.0; extra == 'x'\n");
	files_put_text(folder, "env/lib/python3.11/site-packages/frame-1.2.dist-info/RECORD",
				   "frame/lib.fatbin,,\nframe/__init__.py,,\n\"frame/a,b\",,\n");
	files_put_text(folder, "env/lib/python3.11/site-packages/old-0.1.egg-info/PKG-INFO",
				   "Name: old\nVersion: 0.1\n");
	files_put_text(folder, "env/lib/python3.11/site-packages/old-0.1.egg-info/top_level.txt",
				   "frame\n");
	/* Neither's name is that of its folder */
	files_put_text(folder, "env/lib/python3.11/site-packages/far-1.dist-info/METADATA",
				   "Name: far\nVersion: 1\n");
	files_put_text(folder, "env/lib/python3.11/site-packages/far-1.dist-info/RECORD",
				   "nvidia/a.cubin,,\n");
	files_put_text(folder, "env/pyvenv.cfg", "home = /usr\n");
	files_put_text(folder, "env/bin/python3", "");
}

static void put_settings(void)
{
	files_put_text(folder, "home/.profile",
				   "export CUDA_CACHE_MAXSIZE=1000\nCUDA_CACHE_DISABLE=0\n");
	files_put_text(folder, "home/.config/environment.d/a.conf",
				   "CUDA_CACHE_PATH=~/c\nCUDA_CACHE_MAXSIZES=1\n");
	files_put_text(folder, "root/etc/environment", "CUDA_FORCE_PTX_JIT=1\n");
	files_put_text(folder, "root/etc/profile.d/a.sh", "export CUDA_CACHE_MAXSIZE=5\n");
	files_put_text(folder, "root/etc/systemd/system/a.service.d/b.conf",
				   "[Service]\nEnvironment=\"CUDA_CACHE_DISABLE=1\" 'CUDA_CACHE_PATH=/x'\n");
	files_put_text(folder, "env/conda-meta/state",
				   "{\"env_vars\":{\"CUDA_CACHE_MAXSIZE\":\"77\",\"B\":\"c\"}}");
	files_put_text(folder, "env/etc/conda/activate.d/a.sh", "export CUDA_CACHE_PATH=/y\n");
	files_put_text(folder, "root/proc/meminfo",
				   "MemTotal: 16000000 kB\nMemAvailable: 1200000 kB\n");
}

static int prepare(void **unused)
{
	static const char *const none[] = {"CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE",
									   "CUDA_FORCE_JIT",     "CUDA_FORCE_PTX_JIT",
									   "CUDA_DISABLE_JIT",   "XDG_CONFIG_HOME",
									   "XDG_STATE_HOME",     "PYTHONPATH",
									   "VIRTUAL_ENV",        "ZDOTDIR"};
	static const struct jw_target target = {.sm = 86};
	struct jw_system_options options = {0};

	if (sodium_init() < 0 || make_folder(unused))
		return -1;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_int_equal(os_env_set(NULL, none[i], NULL), 0);
	put_packages();
	put_settings();
	set_inside("PATH", "bin");
	set_inside("HOME", "home");
	set_inside("JITWARM_STATE", "state");
	set_inside("JITWARM_SYSTEM_ROOT", "root");
	set_inside("CUDA_CACHE_PATH", "cache");
	set_inside("CONDA_PREFIX", "env");
	set_inside("XDG_RUNTIME_DIR", "run");
	assert_int_equal(os_env_set(NULL, "SHELL", "/bin/bash"), 0);
	site = os_join(NULL, folder, "env/lib/python3.11/site-packages");
	state_dir = os_join(NULL, folder, "state");
	options.targets = &target;
	options.target_count = 1;
	options.driver = "550.163.01";
	assert_int_equal(jw_system_open(NULL, &options, &machine), 0);
	return 0;
}

static int clean_up(void **unused)
{
	jw_system_free(machine);
	mem_free(site);
	mem_free(state_dir);
	return remove_folder(unused);
}

/* ---- one function for each call: it returns what the call does, and frees what it made */

static int looks_at_startup(struct jw_error *err, void *service)
{
	const char *names[] = {site, "frame"};
	struct jw_startup_options options = {0};
	struct jw_startup *startup = NULL;
	int result;

	options.names = names;
	options.name_count = 2;
	options.service = service;
	options.everyone = false;
	result = jw_startup_look(err, &options, &startup);
	jw_startup_free(startup);
	return result;
}

static int lists_services(struct jw_error *err, void *unused)
{
	char **names = NULL;
	size_t count = 0;
	int result = jw_startup_services(err, &names, &count);

	(void)unused;
	if (!result)
		jw_lines_free(names, count);
	return result;
}

static int reads_settings(struct jw_error *err, void *unused)
{
	struct jw_settings *settings = NULL;
	int result = jw_settings_read(err, &settings);

	(void)unused;
	jw_settings_free(settings);
	return result;
}

static int advises(struct jw_error *err, void *unused)
{
	struct jw_tune_question question = {0};
	struct jw_tune_advice *advice = NULL;
	int result = jw_tune_advise(err, machine, &question, &advice);

	(void)unused;
	if (!result)
		assert_true(advice->limit_bytes > 0);
	jw_tune_advice_free(advice);
	return result;
}

static int opens_a_system(struct jw_error *err, void *asleep)
{
	static const struct jw_target target = {.sm = 86};
	struct jw_system_options options = {0};
	struct jw_system *system = NULL;
	int result;

	options.asleep = asleep != NULL;
	options.targets = asleep ? NULL : &target;
	options.target_count = asleep ? 0 : 1;
	options.driver = asleep ? NULL : "550.163.01";
	result = jw_system_open(err, &options, &system);
	jw_system_free(system);
	return result;
}

static int finds(struct jw_error *err, void *name)
{
	const char *names[] = {name};
	struct jw_find_options options = {0};
	struct jw_found *found = NULL;
	int result;

	options.names = names;
	options.name_count = name ? 1 : 0;
	result = jw_find(err, &options, &found);
	if (!result)
		assert_true(found->file_count == (name ? 1 : 2) || found->trouble_count > 0);
	jw_found_free(found);
	return result;
}

static int checks(struct jw_error *err, void *unused)
{
	const char *paths[] = {site};
	struct jw_check_options options = {0};
	struct jw_check_result *found = NULL;
	int result;

	(void)unused;
	options.paths = paths;
	options.path_count = 1;
	options.system = machine;
	options.explain = true;
	result = jw_check(err, &options, &found);
	/* a.cubin is none */
	if (!result)
		assert_true(found->troubles > 0);
	jw_check_result_free(found);
	return result;
}

static int remembers_a_run(struct jw_error *err, void *unused)
{
	const char *names[] = {site};
	struct jw_run_key key = {0};
	struct jw_run_state *run = NULL;
	char *changes = NULL;
	int result;

	(void)unused;
	key.names = names;
	key.name_count = 1;
	result = jw_run_look(err, &key, &run, &changes) || jw_run_remember(err, run) ? -1 : 0;
	jw_run_state_free(run);
	jw_text_free(changes);
	return result;
}

static int looks_at_the_cache(struct jw_error *err, void *unused)
{
	struct jw_cache_options options = {0};
	struct jw_cache_report *report = NULL;
	struct jw_cache_listing *list = NULL;
	struct jw_cache_repaired repaired;
	int result = jw_cache_verify(err, &options, &report) || jw_cache_list(err, &options, &list) ||
						 jw_cache_repair(err, &options, &repaired)
					 ? -1
					 : 0;

	(void)unused;
	jw_cache_report_free(report);
	jw_cache_list_free(list);
	return result;
}

/* With all of its memory it works. Where it fails without, it blames nothing else; where it does
 * its work all the same, a setting may have been missed, which the program says at its end
 * (cli/cli.c). */
static void lacks(const char *name, int (*does)(struct jw_error *err, void *context), void *context)
{
	struct jw_error err = {0};

	if (does(&err, context))
		fail_msg("%s: %s", name, err.message);
	for (size_t n = 1, well = 0; well < LACKING_NO_MORE; n++) {
		assert_true(n < LACKING_MOST);
		err = (struct jw_error){0};
		mem_fail_after(n);
		well = does(&err, context) ? 0 : well + 1;
		mem_fail_after(0);
		if (well && err.code)
			fail_msg("%s: allocation %zu: success, and an error: %s", name, n, err.message);
		if (!well && err.code != JW_ERR_MEMORY)
			fail_msg("%s: allocation %zu fails: %d, %s", name, n, (int)err.code, err.message);
	}
}

TEST(functions_say_that_memory_is_short)
{
	static char ollama[] = "ollama", frame[] = "frame", far[] = "far", old[] = "old",
				asleep[] = "asleep";
	const struct {
		const char *name;
		int (*does)(struct jw_error *err, void *context);
		void *context;
	} calls[] = {
		{"jw_startup_look", looks_at_startup, NULL},
		{"jw_startup_look of a service", looks_at_startup, ollama},
		{"jw_startup_services", lists_services, NULL},
		{"jw_settings_read", reads_settings, NULL},
		{"jw_tune_advise", advises, NULL},
		{"jw_system_open elsewhere", opens_a_system, NULL},
		{"jw_system_open asleep", opens_a_system, asleep},
		{"jw_find of a package", finds, frame},
		{"jw_find of a package by its record", finds, far},
		{"jw_find of a package by its modules", finds, old},
		{"jw_find", finds, NULL},
		{"jw_check", checks, NULL},
		{"jw_run_look, _remember", remembers_a_run, NULL},
		{"jw_cache_verify, _list, _repair", looks_at_the_cache, NULL},
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		lacks(calls[i].name, calls[i].does, calls[i].context);
}

RUN_TESTS(prepare, clean_up)
