/* Messages of supervisor and worker are read back as they were written; all others are refused. */
#include "check.h"

#include <string.h>

#include "worker/protocol.h"

TEST(a_job_arrives_as_it_was_sent)
{
	static struct protocol_job sent, got;
	struct buf line = BUF_MAX(PROTOCOL_MOST_LINE);
	static const enum cache_key_form forms[] = {CACHE_KEY_LOAD, CACHE_KEY_LINK, CACHE_KEY_TEXT};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		sent = (struct protocol_job){.id = 7,
									 .device = 3,
									 .form = forms[i],
									 .offset = UINT64_C(5000000000),
									 .size_bytes = 344,
									 .entry_offset = 80};
		memcpy(sent.path, "/a \"b\"/\xed\x95\x9c", sizeof "/a \"b\"/\xed\x95\x9c");
		memcpy(sent.output, i ? "/out\xff" : "", i ? 6 : 1);
		buf_clear(&line);
		assert_int_equal(protocol_put_job(NULL, &line, &sent), 0);
		assert_int_equal(line.data[line.size - 1], '\n');
		assert_int_equal(protocol_get_job(NULL, buf_text(&line), line.size - 1, &got), 0);
		assert_int_equal(got.id, sent.id);
		assert_int_equal(got.device, sent.device);
		assert_int_equal(got.form, sent.form);
		assert_int_equal(got.offset, sent.offset);
		assert_int_equal(got.size_bytes, sent.size_bytes);
		assert_int_equal(got.entry_offset, sent.entry_offset);
		assert_string_equal(got.path, sent.path);
		assert_string_equal(got.output, sent.output);
	}
	buf_free(&line);
}

TEST(a_hello_arrives_with_its_devices)
{
	static struct protocol_hello sent, got;
	struct buf line = BUF_MAX(PROTOCOL_MOST_LINE);

	sent = (struct protocol_hello){
		.cuda = 12040, .device_count = 2, .library = "/usr/lib/libcuda.so.1"};
	sent.devices[0] = (struct protocol_device){
		.target = {.sm = 86}, .name = "A GPU", .bus = "0000:01:00.0", .memory_bytes = 8};
	sent.devices[1] =
		(struct protocol_device){.ordinal = 1, .target = {.sm = 120}, .compute_mode = 3};
	assert_int_equal(protocol_put_hello(NULL, &line, &sent), 0);
	assert_int_equal(protocol_get_hello(NULL, buf_text(&line), line.size - 1, &got), 0);
	assert_int_equal(got.cuda, 12040);
	assert_int_equal(got.device_count, 2);
	assert_string_equal(got.library, sent.library);
	assert_string_equal(got.devices[0].name, "A GPU");
	assert_int_equal(got.devices[1].target.sm, 120);
	assert_int_equal(got.devices[1].compute_mode, 3);
	buf_free(&line);
}

RUN_TESTS(NULL, NULL)
