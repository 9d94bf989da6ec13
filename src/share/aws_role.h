/* The keys of a container's or an instance's role, from services of the link-local address. */
#pragma once

#include "share/aws_profile.h"

/* JW_ERR_NOT_FOUND: this is no such machine. Takes a second at most. */
int aws_role_keys(struct jw_error *err, struct aws_keys *ret_keys);
