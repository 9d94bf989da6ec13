/* The texts of tasks and units; which changes count; the log. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/startup.h>

#include "base/buf.h"
#include "base/mem.h"
#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "os/file.h"
#include "os/process.h"
#include "startup/unit_text.h"

static const char *const names[] = {"tensorflow", "C:\\a b\\", "say \"$x\" 100%"};
static const struct jw_startup_options options = {
	.size = sizeof options, .names = names, .name_count = 3, .environment = "/home/김 지원/venv"};

TEST(a_task_is_for_its_user_alone)
{
	const struct startup_facts facts = {.program = "C:\\Users\\김지원 & Co\\jitwarmw.exe",
										.options = &options,
										.account = "S-1-5-21-1-2-3-1001"};
	static const char *const wanted[] = {
		"<UserId>S-1-5-21-1-2-3-1001</UserId>\r\n      <Delay>PT2M</Delay>",
		"<LogonType>InteractiveToken</LogonType>",
		"<RunLevel>LeastPrivilege</RunLevel>",
		"<DisallowStartIfOnBatteries>true</DisallowStartIfOnBatteries>",
		"<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>",
		"<ExecutionTimeLimit>PT2H</ExecutionTimeLimit>",
		"<Priority>9</Priority>",
		"<Command>C:\\Users\\김지원 &amp; Co\\jitwarmw.exe</Command>",
		"<Arguments>prime --background --quiet --if-changed --environment "
		"&quot;/home/김 지원/venv&quot; -- &quot;tensorflow&quot; &quot;C:\\a b\\\\&quot; "
		"&quot;say \\&quot;$x\\&quot; 100%&quot;</Arguments>",
	};
	struct buf text = BUF_MAX(1 << 16), wide = BUF_MAX(1 << 17);

	assert_int_equal(startup_text(NULL, STARTUP_TASK, &facts, &text), 0);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		assert_non_null(strstr(buf_text(&text), wanted[i]));
	assert_int_equal(startup_utf16(NULL, buf_text(&text), &wide), 0);
	assert_memory_equal(wide.data, "\xff\xfe<\0?\0", 6);
	buf_clear(&wide);
	assert_int_equal(startup_utf16(NULL, "a\xf0\x9f\x98\x80", &wide), 0);
	assert_int_equal(wide.size, 8);
	assert_memory_equal(wide.data,
						"\xff\xfe"
						"a\0\x3d\xd8\x00\xde",
						8);
	assert_int_equal(startup_utf16(NULL, "\xff", &wide), -1);
	buf_free(&text);
	buf_free(&wide);
}

TEST(units_quote_characters_that_systemd_expands)
{
	const struct startup_facts facts = {.program = "/opt/a b/$x/jitwarm",
										.options = &options,
										.driver = "/usr/lib/100%/libcuda.so.1",
										.packages = "/home/x y/site-packages"};
	struct buf service = BUF_MAX(1 << 16), path = BUF_MAX(1 << 16);

	assert_int_equal(startup_text(NULL, STARTUP_SERVICE, &facts, &service), 0);
	assert_non_null(
		strstr(buf_text(&service),
			   "\nExecStart=\"/opt/a b/$x/jitwarm\" prime --background --quiet --if-changed "
			   "--environment \"/home/김 지원/venv\" -- \"tensorflow\" \"C:\\\\a b\\\\\" "
			   "\"say \\\"$$x\\\" 100%%\"\n"));
	assert_non_null(strstr(buf_text(&service), "\nConditionACPower=true\n"));
	assert_int_equal(startup_text(NULL, STARTUP_PATH, &facts, &path), 0);
	assert_non_null(strstr(buf_text(&path), "\nPathChanged=/usr/lib/100%%/libcuda.so.1\n"
											"PathChanged=/var/lib/jitwarm/driver-changed\n"
											"PathModified=/home/x y/site-packages\n"));
	buf_free(&service);
	buf_free(&path);
}

static char *changes(const struct jw_run_key *key, bool remember)
{
	struct jw_run_state *run;
	char *text;

	assert_int_equal(jw_run_look(NULL, key, &run, &text), 0);
	if (remember)
		assert_int_equal(jw_run_remember(NULL, run), 0);
	jw_run_state_free(run);
	return text;
}

static void expect(const struct jw_run_key *key, bool remember, const char *wanted)
{
	char *text = changes(key, remember);

	assert_string_equal(text, wanted);
	jw_text_free(text);
}

TEST(irrelevant_differences_are_not_a_change)
{
	char *inner = os_join(NULL, folder, "packages"), *library = os_join(NULL, inner, "a.so"),
		 *note = os_join(NULL, inner, "a.py"), *cache = os_join(NULL, folder, "cache"),
		 *index = os_join(NULL, cache, "index");
	const char *const name[] = {inner}, *const other_name[] = {library};
	const struct jw_run_key
		key = {.size = sizeof key, .names = name, .name_count = 1, .cache_dir = cache},
		other = {.size = sizeof other, .names = other_name, .name_count = 1, .cache_dir = cache};

	assert_int_equal(os_env_set(NULL, "JITWARM_STATE", folder), 0);
	assert_int_equal(os_env_set(NULL, "JITWARM_PCI_DEVICES", "10de:2484@0000:01:00.0"), 0);
	assert_int_equal(os_make_dirs(NULL, inner, 0700), 0);
	assert_int_equal(os_make_dirs(NULL, cache, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, library, "x", 1), 0);
	files_put_text(cache, "a/b/00000000000001", "entry");
	assert_int_equal(os_write_atomic(NULL, index, "A\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16), 0);
	expect(&key, true, "first run");
	expect(&key, false, "");
	expect(&other, true, "first run");
	expect(&key, false, "");
	assert_int_equal(os_write_atomic(NULL, note, "x", 1), 0);
	expect(&key, false, "");
	assert_int_equal(os_write_atomic(NULL, index, "A\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0more", 20), 0);
	expect(&key, false, "");
	assert_int_equal(os_write_atomic(NULL, library, "xy", 2), 0);
	assert_int_equal(os_env_set(NULL, "JITWARM_PCI_DEVICES", "10de:2204@0000:01:00.0"), 0);
	expect(&key, true, "GPUs, packages");
	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_MAXSIZE", "5"), 0);
	expect(&key, true, "settings");
	assert_int_equal(os_remove(NULL, index), 0);
	expect(&key, false, "cache");
	assert_int_equal(os_env_set(NULL, "CUDA_CACHE_MAXSIZE", NULL), 0);
	assert_int_equal(os_env_set(NULL, "JITWARM_PCI_DEVICES", NULL), 0);
	mem_free(inner);
	mem_free(library);
	mem_free(note);
	mem_free(cache);
	mem_free(index);
}

/* Nearly full by one write, then a line at a time beyond its limit. */
TEST(a_log_keeps_its_newest_lines)
{
	enum { FIRST = 10000, FULL = FIRST + 1000, LINES = FULL + 100 };
	char *path = os_join(NULL, folder, "log.jsonl"), line[1024], **lines;
	struct buf full = BUF_MAX(1 << 20);
	struct os_stat stat;
	size_t count;

	for (int i = FIRST; i < LINES; i++) {
		(void)snprintf(line, sizeof line, "{\"schema\":\"jitwarm.run/1\",\"filler\":\"%0960d\"}",
					   i);
		if (i < FULL) {
			assert_int_equal(buf_printf(NULL, &full, "%s\n", line), 0);
			continue;
		}
		if (i == FULL)
			assert_int_equal(os_write_atomic(NULL, path, full.data, full.size), 0);
		assert_int_equal(jw_log_append(NULL, path, line), 0);
	}
	buf_free(&full);
	assert_int_equal(os_stat(NULL, path, &stat), 0);
	assert_true(stat.size_bytes <= (1 << 20) + sizeof line);
	assert_int_equal(jw_log_tail(NULL, path, 2, &lines, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(lines[1], line);
	jw_lines_free(lines, count);
	/* Every line is whole. */
	assert_int_equal(jw_log_tail(NULL, path, 1000, &lines, &count), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(strlen(lines[i]), strlen(line));
	jw_lines_free(lines, count);
	mem_free(path);
}

TEST(a_foreign_file_is_not_written_as_a_log)
{
	char *path = os_join(NULL, folder, "report.json");
	struct jw_error err;
	struct os_stat stat;

	assert_int_equal(os_write_atomic(NULL, path, "{\"mine\":1}\n", 11), 0);
	assert_int_equal(jw_log_append(&err, path, "{\"schema\":\"jitwarm.run/1\"}"), -1);
	assert_non_null(strstr(err.message, "not a log"));
	assert_int_equal(os_stat(NULL, path, &stat), 0);
	assert_int_equal(stat.size_bytes, 11);
	mem_free(path);
}

RUN_TESTS(make_folder, remove_folder)
