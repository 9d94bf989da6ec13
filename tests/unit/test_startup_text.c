/* The texts of tasks and units. */
#include "check.h"

#include <string.h>

#include <jitwarm/startup.h>

#include "base/buf.h"
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

RUN_TESTS(NULL, NULL)
