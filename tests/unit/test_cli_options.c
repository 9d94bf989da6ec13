/* Options, sizes and durations are read, mistakes are named, and exit statuses are combined as the
 * help says. */
#include "check.h"

#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"

static const struct cli_option table[] = {
	CLI_LIST("target", "SM", "x", .letter = 't'),
	CLI_VALUE("driver", "V", "x"),
	CLI_NUMBER("workers", "N", "x", .letter = 'j', .most = 64),
	CLI_SIZE("max-mem", "SIZE", "x"),
	CLI_DURATION("timeout", "TIME", "x"),
	CLI_FLAG("modules", "x", .letter = 'm'),
	CLI_FLAG("seam", "x", .hidden = true),
	{0}};

/* Splits at spaces; "_" is an empty argument. */
static int split(char *line, char *argv[16])
{
	int argc = 0;

	for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
		argv[argc++] = word;
		if (!strcmp(word, "_"))
			*word = 0;
	}
	return argc;
}

TEST(everything_is_read)
{
	char line[] = "a --target sm_80 -tsm_86 --workers=4 -mq b --max-mem 2GB --driver --its=own "
				  "--driver 12.4 - -- --json";
	char *argv[16];
	struct options options;

	OK(options_read(why, table, false, split(line, argv), argv, &options));
	assert_int_equal(options.operand_count, 4);
	assert_string_equal(options.operands[0], "a");
	assert_string_equal(options.operands[1], "b");
	assert_string_equal(options.operands[2], "-");
	assert_string_equal(options.operands[3], "--json");
	assert_int_equal(options_count(&options, "target"), 2);
	assert_string_equal(options_item(&options, "target", 0), "sm_80");
	assert_string_equal(options_item(&options, "target", 1), "sm_86");
	assert_null(options_item(&options, "target", 2));
	assert_string_equal(options_value(&options, "driver"), "12.4");
	assert_int_equal(options_number(&options, "workers"), 4);
	assert_true(options_number(&options, "max-mem") == 2000000000u);
	assert_true(options_given(&options, "modules"));
	assert_true(options_given(&options, "quiet"));
	assert_false(options_given(&options, "json"));
	options_free(&options);
}

TEST(an_empty_cache_is_sound)
{
	char *argv[1] = {NULL};
	struct options options;

	OK(options_read(why, NULL, false, 0, argv, &options));
	assert_int_equal(options.operand_count, 0);
	assert_false(options_given(&options, "help"));
	options_free(&options);
	OK(options_read(why, table, false, 0, argv, &options));
	assert_int_equal(options_number(&options, "workers"), 0);
	assert_null(options_value(&options, "driver"));
	options_free(&options);
}

TEST(mistakes_are_named)
{
	static const struct {
		const char *line, *part;
	} cases[] = {
		{"--tagret sm_80", "did you mean --target?"},
		{"--zzzzzzzz", "unknown option --zzzzzzzz"},
		{"--sea", "unknown option --sea"},
		{"-x", "unknown option -x"},
		{"-mx", "unknown option -x"},
		{"--driver", "--driver needs a value (V)"},
		{"-t", "--target needs a value (SM)"},
		{"--target --modules", "needs a value (SM), not the option “--modules”"},
		{"--driver=", "not empty"},
		{"--driver _", "not empty"},
		{"--modules=1", "--modules takes no value"},
		{"--workers 65", "up to 64"},
		{"--workers -1", "up to 64"},
		{"--workers 4x", "“4x”"},
		{"--max-mem lots", "“lots”"},
		{"--timeout soon", "“soon”"},
		{"--=x", "unknown option --"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char line[128], *argv[16];
		struct options options;

		memcpy(line, cases[i].line, strlen(cases[i].line) + 1);
		GIVES(JW_ERR_USAGE, options_read(why, table, false, split(line, argv), argv, &options));
		if (!strstr(why->message, cases[i].part))
			fail_msg("“%s”: “%s” does not say “%s”", cases[i].line, why->message, cases[i].part);
		options_free(&options);
	}
}

/* --json decides about the form of the error, and --help takes precedence over it. */
TEST(a_mistake_leaves_the_options_behind_it)
{
	char line[] = "--nonsense --target --driver= one --json --help", *argv[16];
	struct options options;

	GIVES(JW_ERR_USAGE, options_read(why, table, false, split(line, argv), argv, &options));
	assert_non_null(strstr(why->message, "--nonsense"));
	assert_true(options_given(&options, "json") && options_given(&options, "help"));
	assert_int_equal(options.operand_count, 1);
	options_free(&options);
}

TEST(durations_are_read)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} good[] = {{"90", 90000},      {"0", 0},       {"250ms", 250},   {"1s", 1000},
				{"1h30m", 5400000}, {"5m", 300000}, {"2min", 120000}, {"1d", 86400000}};
	static const char *const bad[] = {"",     "m",   "5x",         "5 m",  "1m1h", "1s1s",
									  "1h30", "-5s", "9999999999", "1.5s", "5mm"};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		uint64_t ms = 1;

		if (!options_parse_duration(good[i].text, &ms) || ms != good[i].ms)
			fail_msg("“%s”: %llu ms", good[i].text, (unsigned long long)ms);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		uint64_t ms;

		if (options_parse_duration(bad[i], &ms))
			fail_msg("“%s” is taken for a time", bad[i]);
	}
}

TEST(sizes_are_read)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused, except for "0" */
	} cases[] = {
		{"0", 0},
		{"1500", 1500},
		{"512M", 536870912},
		{"512MB", 512000000},
		{"1G", 1073741824},
		{"1g", 1073741824},
		{"2 GB", 2000000000},
		{"1GiB", 1073741824},
		{"1kib", 1024},
		{"3b", 3},
		{"1T", 1099511627776},
		{"", 0},
		{"M", 0},
		{"1X", 0},
		{"1MM", 0},
		{"-1", 0},
		{"99999999T", 0},
		{"99999999999999999999", 0},
		{"1i", 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t bytes = 0;
		bool ok = options_parse_size(cases[i].text, &bytes);

		assert_int_equal(ok, cases[i].bytes || !strcmp(cases[i].text, "0"));
		assert_true(bytes == cases[i].bytes);
	}
}

TEST(the_nearest_name_is_offered)
{
	static const char *const names[] = {"scan", "status", "check", "prime", "cache list"};
	static const struct {
		const char *typed, *nearest;
	} cases[] = {
		{"sacn", "scan"},   {"prmie", "prime"},    {"chek", "check"},
		{"stat", "status"}, {"cac", "cache list"}, {"xyzzy", NULL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct suggest suggest = suggest_for(cases[i].typed, strlen(cases[i].typed));

		for (size_t j = 0; j < sizeof names / sizeof *names; j++)
			suggest_offer(&suggest, names[j]);
		assert_int_equal(suggest.best != NULL, cases[i].nearest != NULL);
		if (suggest.best)
			assert_string_equal(suggest.best, cases[i].nearest);
	}
}

TEST(statuses_are_combined)
{
	/* from the weakest to the strongest */
	static const enum exit_status order[] = {EXIT_DONE, EXIT_CANNOT, EXIT_COLD, EXIT_FAILED,
											 EXIT_BAD_USAGE};
	enum { COUNT = sizeof order / sizeof *order };

	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; j < COUNT; j++)
			assert_int_equal(exit_combine(order[i], order[j]), order[i > j ? i : j]);
	assert_int_equal(exit_of(JW_ERR_USAGE), 64);
	assert_int_equal(exit_of(JW_ERR_INTERRUPTED), 130);
	assert_int_equal(exit_of(JW_ERR_IO), 3);
}

RUN_TESTS(NULL, NULL)
