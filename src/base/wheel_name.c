#include "base/wheel_name.h"

#include <string.h>

#include "base/text.h"

const struct wheel_platform wheel_platforms[WHEEL_PLATFORMS] = {
	{"linux", "x86_64-linux", "Linux x86-64", "_x86_64"},
	{"linux-aarch64", "aarch64-linux", "Linux arm64", "_aarch64"},
	{"windows", "x86_64-windows", "Windows x86-64", "win_amd64"},
};

int wheel_platform_read(struct jw_error *err, const char *name,
						const struct wheel_platform **ret_platform)
{
	for (size_t i = 0; i < WHEEL_PLATFORMS; i++)
		if (!strcmp(name, wheel_platforms[i].name)) {
			*ret_platform = &wheel_platforms[i];
			return 0;
		}
	return error_set(err, JW_ERR_USAGE, "--platform is linux, linux-aarch64 or windows, not “%s”",
					 name);
}

bool wheel_name_read(const char *file, struct wheel_name *ret_name)
{
	enum { LEAST = 5, MOST = 7 };
	static const char end[] = ".whl", of_label[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
	const size_t length = strlen(file);
	const char *const last = file + length - strlen(end);
	struct wheel_part parts[MOST], *part = parts;
	struct wheel_name name = {.label.text = NULL};
	bool build, label;

	if (length <= strlen(end) || !text_ends(file, end))
		return false;
	for (const char *at = file;; part++) {
		const char *dash = memchr(at, '-', (size_t)(last - at));

		if (part == parts + MOST)
			return false;
		*part = (struct wheel_part){at, (size_t)((dash ? dash : last) - at)};
		if (!part->size)
			return false;
		if (!dash)
			break;
		at = dash + 1;
	}
	/* A build number begins with a digit, and the Python tag does not. */
	build = part - parts >= LEAST && text_is_digit(*parts[2].text);
	label = part - parts == LEAST + build;
	if (part - parts + 1 != LEAST + build + label ||
		(label && strspn(part->text, of_label) < part->size))
		return false;
	/* No platform is called none, which is an ABI tag: this name has one part too many. */
	if (label && part[-1].size == 4 && !memcmp(part[-1].text, "none", 4))
		return false;
	part = parts;
	name.name = *part++;
	name.version = *part++;
	if (build)
		name.build = *part++;
	name.python = *part++;
	name.abi = *part++;
	name.platform = *part++;
	if (label)
		name.label = *part;
	*ret_name = name;
	return true;
}

const char *wheel_part_text(char *text, size_t size, struct wheel_part part)
{
	const size_t length = part.size < size ? part.size : size - 1;

	memcpy(text, part.text ? part.text : "", length);
	text[length] = '\0';
	return text;
}
