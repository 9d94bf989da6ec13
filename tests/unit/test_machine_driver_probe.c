/* The results of a probe for various entries of the driver. The workers are shell scripts. */
#include "check.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/driver_probe.h"
#include "os/file.h"
#include "os/folders.h"

static char *folder, *script;

static int make_folder(void **state)
{
	(void)state;
	if (os_make_temp_dir(NULL, "jitwarm-probe", &folder))
		return -1;
	script = os_join(NULL, folder, "worker.sh");
	return script ? 0 : -1;
}

static int remove_folder(void **state)
{
	int result = os_remove_tree(NULL, folder);

	(void)state;
	mem_free(script);
	mem_free(folder);
	return result;
}

static int probe_with(struct jw_error *err, const char *body, struct cache_profile *profile)
{
	const char *const command[] = {"/bin/sh", script, NULL};
	const struct protocol_device device = {.target = {.sm = 86}};
	char *text = mem_printf(NULL,
							"echo '{\"hello\":0,\"devices\":[]}'\nread -r line\n%s\n"
							"echo '{\"answer\":0,\"result\":0}'\nread -r line\n",
							body);
	char *inner = os_join(NULL, folder, "inner");
	int result;

	assert_int_equal(os_write_atomic(NULL, script, text, strlen(text)), 0);
	assert_int_equal(os_remove_tree(NULL, inner), 0);
	assert_int_equal(os_make_dirs(NULL, inner, 0700), 0);
	result = driver_probe(err, command, inner, &device, profile, NULL);
	mem_free(inner);
	mem_free(text);
	return result;
}

/* Without an entry the form of entries is unknown: it must not be remembered as opaque. */
TEST(a_driver_without_a_cache_is_not_opaque)
{
	struct cache_profile profile = {.trust = CACHE_STAMP_READ, .stamp = "Jun 25 202401:14:48"};
	struct jw_error err = {0};

	assert_int_equal(probe_with(&err, "", &profile), -1);
	assert_int_equal(err.code, JW_ERR_DRIVER);
	assert_int_equal(profile.trust, CACHE_STAMP_READ);
}

TEST(an_entry_of_another_form_is)
{
	struct cache_profile profile = {.trust = CACHE_STAMP_READ, .stamp = "Jun 25 202401:14:48"};

	assert_int_equal(probe_with(NULL,
								"mkdir -p \"$CUDA_CACHE_PATH/0/1\"\n"
								"echo what >\"$CUDA_CACHE_PATH/0/1/23456789abcdef\"",
								&profile),
					 0);
	assert_int_equal(profile.trust, CACHE_STAMP_OPAQUE);
}

RUN_TESTS(make_folder, remove_folder)
