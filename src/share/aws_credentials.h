/* The keys of AWS of this process, found as its own programs find them, in this order: the
 * environment; the profile AWS_PROFILE (or “default”) of ~/.aws/credentials and ~/.aws/config
 * (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE); the service of a container
 * (AWS_CONTAINER_CREDENTIALS_…); the role of an instance (IMDSv2). The services have a second in
 * all. Messages never contain a key. */
#pragma once

#include "share/aws_profile.h"

/* For any number of threads: asked for once, and again shortly before they expire. */
int aws_keys_now(struct jw_error *err, struct aws_keys *ret_keys);
/* What the environment and the profile say besides: "" where they do not. No keys. */
int aws_settings(struct jw_error *err, char region[64], char endpoint[AWS_TEXT]);
