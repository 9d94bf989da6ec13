/* The facts that a probe learns from various entries of the driver. The workers are shell scripts.
 */
#include "folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h> /* for Linux alone: tests/unit/CMakeLists.txt */

#include "base/hash.h"
#include "cache/entry.h"
#include "driver/driver_probe.h"

static int probe_with(struct jw_error *err, const char *body, struct cache_profile *profile)
{
	char *script = keep(os_join(folder, "worker.sh"));
	const char *const command[] = {"/bin/sh", script, NULL};
	const struct protocol_device device = {.target = {.sm = 86}};
	char *text = keep(mem_printf("echo '{\"hello\":0,\"devices\":[]}'\nread -r line\n%s\n"
								 "echo '{\"answer\":0,\"result\":0}'\nread -r line\n",
								 body));
	char *inner = keep(os_join(folder, "inner"));
	int result;

	OK(os_write_atomic(why, script, text, strlen(text)));
	OK(os_remove_tree(why, inner));
	OK(os_make_dirs(why, inner, 0700));
	result = driver_probe(err, command, inner, &device, profile);
	return result;
}

/* Without an entry, the form of entries is unknown, and must not be remembered as opaque. */
TEST(a_driver_without_a_cache_is_not_opaque)
{
	struct cache_profile profile = {.trust = JW_TRUST_READ, .stamp = "Jun 25 202401:14:48"};

	GIVES(JW_ERR_DRIVER, probe_with(why, "", &profile));
	assert_int_equal(profile.trust, JW_TRUST_READ);
}

TEST(an_entry_of_another_form_is)
{
	struct cache_profile profile = {.trust = JW_TRUST_READ, .stamp = "Jun 25 202401:14:48"};

	OK(probe_with(why,
				  "mkdir -p \"$CUDA_CACHE_PATH/0/1\"\n"
				  "echo what >\"$CUDA_CACHE_PATH/0/1/23456789abcdef\"",
				  &profile));
	assert_int_equal(profile.trust, JW_TRUST_OPAQUE);
}

/* Writes the probe's entry as this driver makes it into the file `path`; returns its key. */
static uint64_t write_entry(const char *stamp, const char *path)
{
	char *container = keep(os_join(folder, "probe.fatbin")), key[4096];
	uint8_t bytes[sizeof key + CACHE_ENTRY_HEADER];
	struct buf probe = {0};
	size_t start, length, size;

	OK(driver_probe_write(why, container));
	OK(os_read_file(why, container, sizeof key / 2, &probe));
	for (start = 0; memcmp(probe.data + start, ".version", 8) != 0;)
		start++;
	while (probe.data[start - 1]) /* a comment precedes it */
		start--;
	/* The text and its zeros, except the last one, which is the first byte of the following part.
	 * */
	size = (strlen((const char *)probe.data + start) + 8) / 8 * 8 - 1;
	length = (size_t)snprintf(key, sizeof key, "%sHOST64sm_86", stamp);
	memcpy(key + length, probe.data + start, size);
	length += size;
	memcpy(key + length, "\0 ", 2);
	length += 2;
	cache_entry_header(bytes, length, 4, fnv_update(FNV_START, "code", 4));
	memcpy(bytes + CACHE_ENTRY_HEADER, key, length);
	memcpy(bytes + CACHE_ENTRY_HEADER + length, "code", 4);
	size = CACHE_ENTRY_HEADER + length + 4;
	OK(os_write_atomic(why, path, bytes, size));
	buf_free(&probe);
	return fnv_update(FNV_START, key, length);
}

/* The entry's key is as predicted, under its own name and under another one. */
TEST(the_name_of_an_entry_is_part_of_its_form)
{
	static const char stamp[] = "Jun 25 202401:14:48";
	char *entry = keep(os_join(folder, "entry")), name[CACHE_NAME_SIZE];
	const uint64_t key = write_entry(stamp, entry);

	for (unsigned other = 0; other < 2; other++) {
		struct cache_profile profile = {.trust = JW_TRUST_READ};
		char *body;

		(void)cache_entry_name(name, key ^ other);
		body =
			keep(mem_printf("mkdir -p \"$CUDA_CACHE_PATH/%.3s\"\ncp '%s' \"$CUDA_CACHE_PATH/%s\"",
							name, entry, name));
		OK(probe_with(why, body, &profile));
		assert_int_equal(profile.trust, other ? JW_TRUST_OPAQUE : JW_TRUST_CONFIRMED);
		assert_string_equal(profile.stamp, stamp);
	}
}

RUN_TESTS(make_folder, remove_folder)
