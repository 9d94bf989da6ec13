/* The texts of tasks and units have every needed line, quote every value, and are refused rather
 * than cut. */
#include "check.h"

#include <string.h>

#include "setup/unit_text.h"

static const char *const names[] = {"a", "b c"}, *const odd[] = {"C:\\a b\\", "say \"$x\" 100%"},
						 *const bad[] = {"a\nb\r\x7f'", "김", "\xfe"};
static const struct jw_startup_options full = {.names = names,
											   .name_count = 2,
											   .environment = "/e %",
											   .account = "me"},
									   quoting = {.names = odd, .name_count = 2},
									   hostile = {.names = bad, .name_count = 3}, least = {0},
									   of_service = {.service = "s"},
									   of_everyone = {.everyone = true};

static const struct {
	enum startup_form form;
	struct startup_facts facts;
	const char *has, *lacks;
} cases[] = {
	{STARTUP_TASK,
	 {.program = "p&<>\"", .options = &full, .account = "S-1"},
	 "<UserId>S-1</UserId>\r\n      <LogonType>InteractiveToken",
	 "<GroupId>"},
	{STARTUP_TASK,
	 {.program = "p&<>\"", .options = &full, .account = "S-1"},
	 "<Command>p&amp;&lt;&gt;&quot;</Command>",
	 "Parallel"},
	{STARTUP_TASK,
	 {.program = "p", .options = &of_everyone, .account = "S-1"},
	 "<GroupId>S-1-5-32-545</GroupId>\r\n      <RunLevel>",
	 "S-1<"},
	{STARTUP_TASK,
	 {.program = "p", .options = &of_everyone, .account = "S-1"},
	 "<MultipleInstancesPolicy>Parallel<",
	 "InteractiveToken"},
	{STARTUP_SERVICE,
	 {.program = "/p", .options = &full},
	 "prime --background --quiet --if-changed --environment \"/e %%\" -- \"a\" \"b c\"\n",
	 "ReadWritePaths"},
	{STARTUP_SERVICE,
	 {.program = "/p", .options = &least},
	 "prime --background --quiet --if-changed\n",
	 " -- "},
	{STARTUP_SERVICE, {.program = "/p", .options = &least}, "\nConditionACPower=true\n", " -- "},
	{STARTUP_SERVICE,
	 {.program = "/a b/$x", .options = &quoting},
	 "\nExecStart=\"/a b/$x\" prime --background --quiet --if-changed -- \"C:\\\\a b\\\\\" "
	 "\"say \\\"$$x\\\" 100%%\"\n",
	 "--environment"},
	/* Neither a control character nor a byte that is not UTF-8 ends a line or takes its meaning. */
	{STARTUP_SERVICE,
	 {.program = "/김\xff", .options = &hostile},
	 "\nExecStart=\"/\\xea\\xb9\\x80\\xff\" prime --background --quiet --if-changed -- "
	 "\"a\\x0ab\\x0d\\x7f'\" \"김\" \"\\xfe\"\n",
	 "\xff"},
	{STARTUP_TASK,
	 {.program = "C:\\김 & Co\\p.exe", .options = &quoting, .account = "S-1"},
	 "<Command>C:\\김 &amp; Co\\p.exe</Command>\r\n      <Arguments>prime --background --quiet "
	 "--if-changed -- &quot;C:\\a b\\\\&quot; &quot;say \\&quot;$x\\&quot; 100%&quot;</Arguments>",
	 "<GroupId>"},
	{STARTUP_TASK,
	 {.program = "p", .options = &least, .account = "S-1"},
	 "<DisallowStartIfOnBatteries>true</DisallowStartIfOnBatteries>",
	 "<GroupId>"},
	{STARTUP_SERVICE, {.program = "/p", .options = &least}, "AF_NETLINK\n", "AF_INET"},
	{STARTUP_PATH,
	 {.program = "/p", .options = &least, .driver = "/d"},
	 "PathChanged=/d\nPathChanged=/var/lib/jitwarm/driver-changed\n",
	 "PathModified"},
	{STARTUP_TIMER, {.program = "/p", .options = &least}, "OnUnitInactiveSec=1d\n", "/p"},
	{STARTUP_TASK,
	 {.program = "p", .options = &least, .account = "S-1"},
	 "EventID=20001]]&lt;/Select&gt;",
	 "--fetch"},
	{STARTUP_INSTANCE,
	 {.program = "/p", .options = &full, .home = "/h%"},
	 "User=me\nExecStart=\"/p\" prime --background",
	 "\nUser=root"},
	{STARTUP_INSTANCE,
	 {.program = "/p", .options = &of_service, .home = "/h%"},
	 "User=root\nExecStart=\"/p\" prime --quiet --if-changed\nProtectHome=read-only\n"
	 "ReadWritePaths=-/h%%\n",
	 "--background"},
	{STARTUP_INSTANCE, {.program = "/p", .options = &least}, "ExecStart", "ProtectHome"},
	{STARTUP_INSTANCE,
	 {.program = "/p", .options = &least, .home = "/"},
	 "ExecStart",
	 "ProtectHome"},
	{STARTUP_INSTANCE,
	 {.program = "/p", .options = &least, .home = "h"},
	 "ExecStart",
	 "ProtectHome"},
	{STARTUP_INSTANCE, {.program = "/p", .options = &least, .home = "/h h"}, "ExecStart", "Paths"},
	{STARTUP_INSTANCE, {.program = "/p", .options = &least, .home = "/h\""}, "ExecStart", "Paths"},
	{STARTUP_TEMPLATE, {.program = "/p", .options = &least}, "Before=%i.service\n", "ExecStart="},
	{STARTUP_TIMER, {.program = "/p", .options = &least}, "OnStartupSec=2min\n", "{"},
	{STARTUP_PATH,
	 {.program = "/p", .options = &least, .driver = "/d%", .packages = "/f"},
	 "PathChanged=/d%%\nPathChanged=/var/lib/jitwarm/driver-changed\nPathModified=/f\n",
	 "{"},
	{STARTUP_PATH,
	 {.program = "/p", .options = &least, .driver = "/d\n", .packages = "/f"},
	 "Unit=jitwarm.service\nPathChanged=/var/lib/jitwarm/driver-changed\nPathModified=/f\n",
	 "=/d"},
	{STARTUP_PATH, {.program = "/p", .options = &least, .packages = "/김 b"}, "=/김 b\n", "{"},
	{STARTUP_PATH, {.program = "/p", .options = &least, .packages = "/f "}, "Unit=", "Modified"},
	{STARTUP_PATH, {.program = "/p", .options = &least, .packages = "/f\\"}, "Unit=", "Modified"},
	{STARTUP_PATH, {.program = "/p", .options = &least, .packages = "/\xff"}, "Unit=", "Modified"},
	{STARTUP_PATH,
	 {.program = "/p", .options = &least, .packages = "/f\r"},
	 "driver-changed\n\n[Install]",
	 "Path"
	 "Modified"},
};

TEST(each_line_has_its_case)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf text = BUF_MAX(1 << 16);

		OK(startup_text(why, cases[i].form, &cases[i].facts, &text));
		if (!strstr(buf_text(&text), cases[i].has) || strstr(buf_text(&text), cases[i].lacks))
			fail_msg("%zu: %s", i, buf_text(&text));
		assert_non_null(strstr(buf_text(&text), startup_mark));
		buf_free(&text);
	}
}

/* A line has 64 KiB at most: a longer one is not cut in silence. */
TEST(a_command_is_whole_or_refused)
{
	static char program[(1 << 16) + 2];
	unsigned whole = 0, refused = 0;

	for (size_t size = (1 << 16) - 140; size < sizeof program - 1; size++) {
		const struct startup_facts facts = {.program = program, .options = &full};
		struct buf text = BUF_MAX(1 << 20);

		memset(program, 'p', sizeof program);
		program[size] = '\0';
		if (startup_text(why, STARTUP_SERVICE, &facts, &text)) {
			assert_int_equal(why->code, JW_ERR_LIMIT);
			refused++;
		} else {
			assert_non_null(strstr(buf_text(&text), " prime --background --quiet --if-changed "
													"--environment \"/e %%\" -- \"a\" \"b c\"\n"));
			assert_int_equal(refused, 0);
			whole++;
		}
		buf_free(&text);
	}
	assert_true(whole > 0 && refused > 70);
}

/* In a unit's line, such a name would mean something else; a task has a number. */
TEST(names_that_are_none_are_refused)
{
	static const char *const wrong[] = {"a b", "a\tb", "a\rb", "a\nb",
										"a%b", "a\\b", "a\"b", "a'b"};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct jw_startup_options options = least;
		const struct startup_facts facts = {.program = "p", .options = &options, .account = "S-1"};
		struct buf text = BUF_MAX(1 << 16);

		options.account = wrong[i];
		GIVES(JW_ERR_USAGE, startup_text(why, STARTUP_INSTANCE, &facts, &text));
		OK(startup_text(why, STARTUP_TASK, &facts, &text));
		assert_non_null(strstr(buf_text(&text), "S-1<"));
		buf_free(&text);
	}
}

TEST(letters_become_one_unit_or_two)
{
	static const char text[] = "a\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
	static const uint8_t wanted[] = {0xff, 0xfe, 'a',  0,    0xff, 0xff, 0,
									 0xd8, 0,    0xdc, 0xff, 0xdb, 0xff, 0xdf};

	for (size_t most = 0; most <= sizeof wanted; most++) {
		struct buf wide = BUF_MAX(most);

		GIVES(most < sizeof wanted ? JW_ERR_LIMIT : JW_OK, startup_utf16(why, text, &wide));
		if (most == sizeof wanted)
			assert_memory_equal(wide.data, wanted, sizeof wanted);
		buf_free(&wide);
	}
}

RUN_TESTS(NULL, NULL)
