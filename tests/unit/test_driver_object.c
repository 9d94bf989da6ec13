/* The lines between the supervisor and a shared folder's worker are read back as they were written,
 * and all other lines are refused; so are names of objects, and claims. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "driver/protocol.h"
#include "share/object_entry.h"

TEST(a_setup_arrives_as_it_was_sent)
{
	struct jw_system system = {.cache.path = (char[]){"/cache"},
							   .driver = {.version = {12040, {550, 163, 1}},
										  .stamp = "Feb 29 202423:59:58",
										  .trust = JW_TRUST_CONFIRMED}};
	const struct jw_share_options options = {
		.folder = "/p \"l\"", .sign_key = "k", .state_dir = "/state", .allow_unsigned = true};
	const struct object_setup sent = {"/run", &system, &options};
	struct buf line = BUF_MAX(PROTOCOL_MAX_LINE);
	static struct object_received got;

	OK(object_put_setup(why, &line, &sent));
	assert_int_equal(line.data[line.size - 1], '\n');
	OK(object_get_setup(why, buf_text(&line), line.size - 1, &got));
	assert_string_equal(got.setup.folder, "/run");
	assert_string_equal(got.options.folder, "/p \"l\"");
	assert_string_equal(got.options.sign_key, "k");
	assert_string_equal(got.options.state_dir, "/state");
	assert_true(got.options.allow_unsigned);
	assert_string_equal(got.system.cache.path, "/cache");
	assert_string_equal(got.system.driver.stamp, system.driver.stamp);
	assert_int_equal(got.system.driver.trust, JW_TRUST_CONFIRMED);
	assert_memory_equal(&got.system.driver.version, &system.driver.version,
						sizeof system.driver.version);
	object_received_free(&got);
	assert_int_equal(object_get_setup(NULL, "{\"share\":\"/p\"}", 14, &got), -1);
	buf_free(&line);
}

TEST(a_line_that_memory_lacks_for_is_not_sent)
{
	static char cache[] = "/cache";
	static struct jw_system system = {.cache.path = cache, .driver.stamp = "Feb 29"};
	static const struct jw_share_options options = {
		.folder = "/p", .sign_key = "k", .state_dir = "/state"};
	static const struct object_setup setup = {"/run", &system, &options};
	static const struct object_job job = {1, OBJECT_PUT, 2, 86, 3, 4, "5"};
	static const struct object_answer answer = {1, OBJECT_FIND, OBJECT_THEIRS, 2, 4, "so"};
	struct buf lines[] = {BUF_MAX(PROTOCOL_MAX_LINE), BUF_MAX(PROTOCOL_MAX_LINE),
						  BUF_MAX(PROTOCOL_MAX_LINE)};
	static struct object_received given;
	static struct object_job got_job;
	static struct object_answer got;

	OK(object_put_setup(why, &lines[0], &setup));
	buf_free(&lines[0]);
	OK(object_put_job(why, &lines[1], &job));
	buf_free(&lines[1]);
	OK(object_put_answer(why, &lines[2], &answer));
	buf_free(&lines[2]);
	OK(object_put_setup(why, &lines[0], &setup));
	OK(object_put_job(why, &lines[1], &job));
	OK(object_put_answer(why, &lines[2], &answer));
	OK(object_get_setup(why, buf_text(&lines[0]), lines[0].size - 1, &given));
	object_received_free(&given);
	OK(object_get_job(why, buf_text(&lines[1]), lines[1].size - 1, &got_job));
	OK(object_get_answer(why, buf_text(&lines[2]), lines[2].size - 1, &got));
	for (size_t i = 0; i < 3; i++)
		buf_free(&lines[i]);
}

/* Workers run foreign code, and read strangers' files: numbers beyond the last known one are
 * refused. */
TEST(what_a_worker_cannot_mean_is_refused)
{
	static const struct {
		enum object_what what;
		enum object_outcome said;
		uint32_t sm;
		enum jw_trust trust;
		enum jw_code answer, hello, setup;
	} cases[] = {
		{OBJECT_WHATS - 1, OBJECT_OUTCOMES - 1, 10, JW_TRUST_OPAQUE, JW_OK, JW_OK, JW_OK},
		{OBJECT_WHATS, 0, 999, JW_TRUST_OPAQUE + 1, JW_ERR_FORMAT, JW_OK, JW_ERR_FORMAT},
		{0, OBJECT_OUTCOMES, 9, 0, JW_ERR_FORMAT, JW_ERR_FORMAT, JW_OK},
		{0, 0, 1000, 0, JW_OK, JW_ERR_FORMAT, JW_OK},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct object_answer answer = {.what = cases[i].what, .said = cases[i].said};
		const struct protocol_hello hello = {.device_count = 1,
											 .devices = {{.target.sm = (uint16_t)cases[i].sm}}};
		struct jw_system system = {.cache.path = (char[]){"/cache"},
								   .driver.trust = cases[i].trust};
		const struct jw_share_options options = {.folder = "/p"};
		struct buf lines[] = {BUF_MAX(PROTOCOL_MAX_LINE), BUF_MAX(PROTOCOL_MAX_LINE),
							  BUF_MAX(PROTOCOL_MAX_LINE)};
		static struct object_answer got_answer;
		static struct protocol_hello got_hello;
		static struct object_received given;

		OK(object_put_answer(why, &lines[0], &answer));
		OK(protocol_put_hello(why, &lines[1], &hello));
		OK(object_put_setup(why, &lines[2], &(struct object_setup){"/run", &system, &options}));
		GIVES(cases[i].answer,
			  object_get_answer(why, buf_text(&lines[0]), lines[0].size - 1, &got_answer));
		GIVES(cases[i].hello,
			  protocol_get_hello(why, buf_text(&lines[1]), lines[1].size - 1, &got_hello));
		GIVES(cases[i].setup,
			  object_get_setup(why, buf_text(&lines[2]), lines[2].size - 1, &given));
		object_received_free(&given);
		for (size_t k = 0; k < 3; k++)
			buf_free(&lines[k]);
	}
}

TEST(a_job_arrives_as_it_was_sent)
{
	static const struct protocol_job job = {.id = 7,
											.device = 1,
											.form = CACHE_KEY_LINK,
											.path = "/a b",
											.offset = 1,
											.size_bytes = 2,
											.spare_bytes = 3,
											.entry_offset = 4,
											.output = "/o"};
	static struct protocol_job got;
	struct buf line = BUF_MAX(PROTOCOL_MAX_LINE);

	OK(protocol_put_job(why, &line, &job));
	OK(protocol_get_job(why, buf_text(&line), line.size - 1, &got));
	assert_memory_equal(&got, &job, sizeof job);
	GIVES(JW_ERR_FORMAT, protocol_get_job(why, "{\"job\":7}", 9, &got));
	GIVES(JW_ERR_FORMAT, protocol_get_job(why, "{", 1, &got));
	buf_free(&line);
}

TEST(a_claim_and_a_name_are_as_they_are_documented)
{
	static const char text[] = "{\"claim\": \"00000000000000aa\"}\n";
	uint64_t claim = 0;
	char *name = object_name("Feb 29 202423:59:58", 86, UINT64_C(0x0cf4a095517216f1));

	assert_true(object_claim_read(text, strlen(text), &claim));
	assert_int_equal(claim, 0xaa);
	assert_string_equal(name, "v1/Feb-29-202423-59-58/sm_86/0c/f4a095517216f1");
	mem_free(name);
	/* No stamp makes a path that leaves the place. */
	name = object_name("../../../etc/passwd", 86, 1);
	assert_string_equal(name, "v1/---------etc-passwd/sm_86/00/00000000000001");
	mem_free(name);
}

RUN_TESTS(NULL, NULL)
