#include <jitwarm/target.h>

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Reads up to `most` digits from *at; returns their number. */
static size_t read_digits(const char **at, size_t most, unsigned *ret_value)
{
	size_t count = 0;
	unsigned value = 0;

	while (count < most && (*at)[count] >= '0' && (*at)[count] <= '9')
		value = value * 10 + (unsigned)((*at)[count++] - '0');
	*at += count;
	*ret_value = value;
	return count;
}

/* Reads a plain number: "86", "120", and, if `dotted` allows it, "8.6", "12.0". */
static bool read_capability(const char **at, bool dotted, unsigned *ret_sm)
{
	const char *start = *at;
	unsigned number, minor;
	size_t digits = read_digits(at, 3, &number);

	if (!digits || *start == '0')
		return false;
	if (dotted && **at == '.' && digits <= 2) {
		++*at;
		if (read_digits(at, 1, &minor) != 1)
			return false;
		number = number * 10 + minor;
	} else if (digits < 2) {
		return false;
	}
	*ret_sm = number;
	return true;
}

bool jw_target_parse(const char *text, struct jw_target *ret_target)
{
	struct jw_target target = {0};
	bool dotted = true;
	unsigned sm;

	if (text_starts(text, "sm_") || text_starts(text, "compute_")) {
		text = strchr(text, '_') + 1;
		dotted = false;
	}
	if (!read_capability(&text, dotted, &sm))
		return false;
	target.sm = (uint16_t)sm;
	if (*text == 'a' || *text == 'f')
		target.suffix = *text++;
	if (*text)
		return false;
	*ret_target = target;
	return true;
}

static const char *write_target(char text[JW_TARGET_TEXT], const char *kind,
								struct jw_target target)
{
	char suffix[2] = {target.suffix, 0};

	(void)snprintf(text, JW_TARGET_TEXT, "%s_%u%s", kind, target.sm, suffix);
	return text;
}

const char *jw_target_sm(char text[JW_TARGET_TEXT], struct jw_target target)
{
	return write_target(text, "sm", target);
}

const char *jw_target_compute(char text[JW_TARGET_TEXT], struct jw_target target)
{
	return write_target(text, "compute", target);
}

bool jw_target_equal(struct jw_target a, struct jw_target b)
{
	return a.sm == b.sm && a.suffix == b.suffix;
}

size_t jw_target_add(struct jw_target *targets, size_t count, size_t most, struct jw_target target)
{
	for (size_t i = 0; i < count; i++)
		if (jw_target_equal(targets[i], target))
			return count;
	if (count == most)
		return count;
	targets[count] = target;
	return count + 1;
}
