#include "code/kernel_names.h"

#include <string.h>

#include "base/text.h"
#include "code/cubin.h"

/* A name of more than LONGEST bytes is cut, and ends with “…”. */
enum { MAX_READ = 1 << 24, LONGEST = 52, MAX_NAME = LONGEST + 4 };

static const char more[] = "…", left_out[] = ", …";

bool kernels_full(const char text[KERNELS_TEXT])
{
	return text_ends(text, left_out);
}

static void add_kernel(char text[KERNELS_TEXT], const char *name)
{
	const size_t length = strlen(name);
	size_t names = 0;

	if (kernels_full(text))
		return;
	for (const char *at = text; *at; names++) {
		const size_t end = strcspn(at, ",");

		if (end == length && !memcmp(at, name, length))
			return;
		at += end + (at[end] ? 2 : 0);
	}
	text_append(text, KERNELS_TEXT, "%s%s", names ? ", " : "", names < KERNELS_NAMED ? name : more);
}

void kernels_join(char text[KERNELS_TEXT], const char *other)
{
	while (*other) {
		const size_t end = strcspn(other, ",");
		char name[MAX_NAME];

		memcpy(name, other, end < sizeof name ? end : sizeof name - 1);
		name[end < sizeof name ? end : sizeof name - 1] = '\0';
		add_kernel(text, name);
		other += end + (other[end] ? 2 : 0);
	}
}

/* Appends `length` characters, or as many as fit and “…”; a character that no compiler writes into
 * a name becomes “?”. */
static void append_part(char name[MAX_NAME], const char *from, size_t length)
{
	size_t used = strlen(name);

	if (text_ends(name, more))
		return;
	for (size_t i = 0; i < length; i++) {
		if (used == LONGEST) {
			memcpy(name + used, more, sizeof more);
			return;
		}
		name[used++] = (char)(text_is_alnum(from[i]) || strchr("_$.:", from[i]) ? from[i] : '?');
		name[used] = '\0';
	}
}

/* Appends the names at the beginning of a mangled one (Itanium C++ ABI, <nested-name>):
 * at::native::copy of _ZN2at6native4copyIfEEvPT_. Any other name is appended unchanged. */
static void plain_name(const char *mangled, size_t length, char name[MAX_NAME])
{
	const char *at = mangled, *const end = mangled + length;

	name[0] = '\0';
	if (length > 2 && !memcmp(at, "_Z", 2)) {
		at += 2;
		while (at < end && strchr("NKVL", *at))
			at++;
		while (at < end && text_is_digit(*at) && *at != '0') {
			size_t count = 0;

			while (at < end && text_is_digit(*at) && count < length)
				count = count * 10 + (size_t)(*at++ - '0');
			if (count > (size_t)(end - at))
				break;
			/* This is the name of an unnamed namespace. */
			if (count < 2 || memcmp(at, "_G", 2) != 0) {
				append_part(name, "::", *name ? 2 : 0);
				append_part(name, at, count);
			}
			at += count;
		}
	}
	if (!*name)
		append_part(name, mangled, length);
}

static void add_mangled(char text[KERNELS_TEXT], const char *mangled, size_t length)
{
	char name[MAX_NAME];

	plain_name(mangled, length, name);
	if (*name)
		add_kernel(text, name);
}

static void add_of_ptx(char text[KERNELS_TEXT], struct devcode_view ptx)
{
	static const char entry[] = ".entry";
	const char *at = (const char *)ptx.data, *const end = at + ptx.size;

	while (!kernels_full(text) && (at = memchr(at, '.', (size_t)(end - at)))) {
		const char *name;

		if ((size_t)(end - at) < sizeof entry || memcmp(at, entry, sizeof entry - 1) != 0 ||
			!text_is_blank(at[sizeof entry - 1])) {
			at++;
			continue;
		}
		for (name = at + sizeof entry; name < end && text_is_blank(*name);)
			name++;
		for (at = name; at < end && (text_is_alnum(*at) || strchr("_$%", *at)) && *at;)
			at++;
		add_mangled(text, name, (size_t)(at - name));
	}
}

static void add_of_cubin(char text[KERNELS_TEXT], struct devcode_view cubin)
{
	struct cubin_symbols symbols;

	if (cubin_symbols_read(NULL, cubin, &symbols))
		return;
	for (size_t i = 0; i < symbols.count && i < CUBIN_NAMES; i++)
		add_mangled(text, symbols.names[i], strlen(symbols.names[i]));
	cubin_symbols_free(&symbols);
}

void kernels_add(char text[KERNELS_TEXT], const struct devcode_container *container,
				 struct buf *scratch)
{
	const struct devcode_entry *chosen = NULL;
	struct devcode_view view;

	/* A text is read faster than a table of symbols, and has the same names. */
	for (size_t i = 0; i < container->entry_count; i++) {
		const struct devcode_entry *entry = &container->entries[i];
		const bool ptx = devcode_kind_is_ptx(entry->kind);

		if (entry->damaged || entry->payload_offset == DEVCODE_NOT_HELD ||
			entry->size_bytes > MAX_READ || (!ptx && entry->kind != DEVCODE_KIND_CUBIN))
			continue;
		if (!chosen || ptx)
			chosen = entry;
	}
	if (!chosen || devcode_payload(NULL, container, chosen, scratch, &view))
		return;
	if (devcode_kind_is_ptx(chosen->kind))
		add_of_ptx(text, view);
	else
		add_of_cubin(text, view);
}
