#include "base/sized.h"

#include <string.h>

#include <jitwarm/version.h>

/* Larger than any struct: a size above this was never set. */
enum { MOST_SIZE = 1 << 16 };

static size_t size_of(const void *given)
{
	size_t size;

	memcpy(&size, given, sizeof size);
	return size;
}

int sized_check(struct jw_error *err, const void *result)
{
	const size_t size = result ? size_of(result) : 0;

	if (size >= sizeof size && size <= MOST_SIZE)
		return 0;
	return error_set(err, JW_ERR_USAGE,
					 "a struct without its size: begin it with JW_…_INIT, or with .size = sizeof");
}

const void *sized_take(struct jw_error *err, const void *given, void *known, size_t size)
{
	const char *bytes = given;
	size_t theirs;

	if (sized_check(err, given))
		return NULL;
	theirs = size_of(given);
	for (size_t i = size; i < theirs; i++)
		if (bytes[i]) {
			error_set(
				err, JW_ERR_USAGE,
				"options that libjitwarm %s does not know: leave them at zero, or take a newer "
				"one",
				jw_version());
			return NULL;
		}
	memset(known, 0, size);
	memcpy(known, given, theirs < size ? theirs : size);
	return known;
}

void sized_give(const void *known, size_t size, void *ret_result)
{
	const size_t theirs = size_of(ret_result), both = theirs < size ? theirs : size;

	memset((char *)ret_result + sizeof theirs, 0, theirs - sizeof theirs);
	memcpy((char *)ret_result + sizeof theirs, (const char *)known + sizeof theirs,
		   both - sizeof theirs);
}
