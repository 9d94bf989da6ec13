/* Keys of AWS that expire: “aws” is asked for others in time. The clock is this program's own. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "folder.h"
#include "os/env.h"
#include "share/object_s3.h"

static time_t later_s;

__attribute__((visibility("default"))) time_t time(time_t *ret_time)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (ret_time)
		*ret_time = now.tv_sec + later_s;
	return now.tv_sec + later_s;
}

/* The key with which an object is asked for so much later. */
static const char *key_after(time_t seconds)
{
	static char user[AWS_TEXT];
	struct object_s3_request texts = {.url = NULL};
	struct web_request request = {.method = "GET"};
	struct object_s3 *s3 = object_s3_open(why, "s3://lab");

	assert_non_null(s3);
	later_s += seconds;
	OK(object_s3_sign(why, s3, "x", "", &texts, &request));
	(void)snprintf(user, sizeof user, "%s", request.sign->user);
	object_s3_forget(&texts);
	object_s3_close(s3);
	return user;
}

TEST(keys_that_expire_are_asked_for_again)
{
	static const char *const unset[] = {"AWS_ACCESS_KEY_ID",           "AWS_SECRET_ACCESS_KEY",
										"AWS_SESSION_TOKEN",           "AWS_PROFILE",
										"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"};
	char *aws = os_join(folder, "aws"), *search = mem_printf("%s:/usr/bin:/bin", folder);

	for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
		OK(os_env_set(why, unset[i], NULL));
	OK(os_env_set(why, "HOME", folder));
	OK(os_env_set(why, "PATH", search));
	OK(os_env_set(why, "COUNT", folder));
	files_put_text(folder, "aws",
				   "#!/bin/sh\necho >>\"$COUNT/asked\"\n"
				   "printf '{\"AccessKeyId\":\"k%d\",\"SecretAccessKey\":\"s\",'"
				   "'\"Expiration\":\"2026-01-01T00:00:00Z\"}' $(wc -l <\"$COUNT/asked\")\n");
	assert_int_equal(chmod(aws, 0755), 0);
	assert_string_equal(key_after(0), "k1");
	assert_string_equal(key_after(290), "k1");
	assert_string_equal(key_after(20), "k2");
	assert_string_equal(key_after(290), "k2");
	mem_free(search);
	mem_free(aws);
}

RUN_TESTS(make_folder, remove_folder)
