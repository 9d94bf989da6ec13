#include "which/wheel_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/arena.h"
#include "base/packages.h"
#include "base/text.h"
#include "code/release.h"
#include "wheels_zst.h"

enum {
	MAX_WHEELS = 1 << 12,
	MAX_THINGS =
		1 << 20, /* the most libraries, pieces, entries and requirements of a package, each */
};

/* The memory of a list. Arrays grow while the text is read, so wheels and libraries hold indices
 * until its end. */
struct wheel_memory {
	struct wheel_library *libraries;
	struct jw_piece *pieces;
	struct jw_piece_entry *entries;
	const char **requires;
	size_t library_count, library_capacity, piece_count, piece_capacity, entry_count,
		entry_capacity, require_count, require_capacity;
};

struct reading {
	const char *name; /* the name of the list */
	size_t line;
	struct wheel_list *list;
	struct wheel_memory *memory;
	size_t wheel_capacity;
};

static int refuse(struct jw_error *err, const struct reading *reading, const char *what)
{
	return error_set(err, JW_ERR_FORMAT, "%s: line %zu: %s", reading->name, reading->line, what);
}

static const char too_many[] = "more wheels, libraries or pieces of code than jitwarm reads: name "
							   "one release of the package (NAME==VERSION)";

/* Cuts off the next word of a line; NULL if there is none. */
static char *next_word(char **line)
{
	char *word = *line, *end;

	if (!word || !*word)
		return NULL;
	end = strchr(word, ' ');
	if (end)
		*end++ = '\0';
	*line = end;
	return word;
}

static bool take_number(const char *text, size_t length, uint64_t most, uint64_t *ret_value)
{
	char digits[24];

	if (!length || length >= sizeof digits)
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	return text_number(digits, most, ret_value);
}

/* Reads M:S:B, where S has at most three decimals. */
static bool read_work(const char *text, size_t length, struct jw_piece_entry *entry)
{
	const char *const end = text + length, *seconds = memchr(text, ':', length), *bytes, *dot;
	uint64_t modules, whole, thousandths = 0, ptx;

	if (!seconds)
		return false;
	bytes = memchr(seconds + 1, ':', (size_t)(end - seconds - 1));
	if (!bytes)
		return false;
	dot = memchr(seconds, '.', (size_t)(bytes - seconds));
	if (!take_number(text, (size_t)(seconds - text), MAX_THINGS, &modules) ||
		!take_number(seconds + 1, (size_t)((dot ? dot : bytes) - seconds - 1), 1 << 24, &whole) ||
		!take_number(bytes + 1, (size_t)(end - bytes - 1), UINT64_C(1) << 40, &ptx) ||
		(dot && (bytes - dot != 4 || !take_number(dot + 1, 3, 999, &thousandths))))
		return false;
	entry->modules = (size_t)modules;
	entry->cost_ms = (double)whole * 1000 + (double)thousandths;
	entry->ptx_bytes = ptx;
	return true;
}

static bool read_isa(const char *text, size_t length, struct jw_piece_entry *entry)
{
	const char *dot = memchr(text, '.', length);
	uint64_t major, minor;

	if (!dot || !take_number(text, (size_t)(dot - text), 255, &major) ||
		!take_number(dot + 1, length - (size_t)(dot - text) - 1, 255, &minor))
		return false;
	entry->isa_major = (uint16_t)major;
	entry->isa_minor = (uint16_t)minor;
	return true;
}

static bool read_target(const char *text, size_t length, struct jw_target *ret_target)
{
	char name[JW_TARGET_TEXT];

	if (length >= sizeof name)
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	return jw_target_parse(name, ret_target);
}

/* Reads an entry: sm_90a#12080, compute_90=90a@8.0+12:33.200:5123456z, kind8:sm_90. */
static bool read_entry(const char *word, struct jw_piece_entry *entry)
{
	static const char marks[] = "=@#+zrd";
	size_t length;
	uint64_t number;

	*entry = (struct jw_piece_entry){.kind = DEVCODE_KIND_CUBIN};
	if (text_starts(word, "kind")) {
		const char *colon = strchr(word, ':');

		if (!colon || !take_number(word + 4, (size_t)(colon - word - 4), UINT16_MAX, &number))
			return false;
		entry->kind = (uint32_t)number;
		word = colon + 1;
	} else if (text_starts(word, "compute_")) {
		entry->kind = DEVCODE_KIND_PTX;
	}
	length = strcspn(word, marks);
	/* The target of another kind of entry may be unknown. */
	if (!(length == 4 && text_starts(word, "sm_0")) && !read_target(word, length, &entry->target))
		return false;
	if (devcode_kind_is_ptx(entry->kind))
		entry->text = entry->target;
	for (word += length; *word; word += length) {
		const char mark = *word++;

		length = strcspn(word, marks);
		switch (mark) {
		case '=':
			if (!read_target(word, length, &entry->text))
				return false;
			break;
		case '@':
			if (!read_isa(word, length, entry))
				return false;
			break;
		case '#':
			if (!take_number(word, length, 1 << 20, &number))
				return false;
			entry->cuda = (uint32_t)number;
			break;
		case '+':
			if (!read_work(word, length, entry))
				return false;
			break;
		default:
			if (length)
				return false;
			entry->zstd = entry->zstd || mark == 'z';
			entry->relocatable = entry->relocatable || mark == 'r';
			entry->damaged = entry->damaged || mark == 'd';
		}
	}
	return true;
}

static bool read_role(const char *word, struct jw_piece *piece)
{
	static const struct {
		const char *name;
		enum devcode_role role;
	} roles[] = {{"registered", DEVCODE_REGISTERED},
				 {"relocatable", DEVCODE_RELOCATABLE},
				 {"loose", DEVCODE_LOOSE}};

	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (text_starts(word, roles[i].name)) {
			piece->role = roles[i].role;
			word += strlen(roles[i].name);
			piece->linked = text_starts(word, "-linked");
			word += piece->linked ? strlen("-linked") : 0;
			piece->empty = text_starts(word, "-empty");
			word += piece->empty ? strlen("-empty") : 0;
			piece->edited = text_starts(word, "-edited");
			word += piece->edited ? strlen("-edited") : 0;
			return !*word;
		}
	return false;
}

/* Adds a container with the entries in the rest of a line to the last library. */
static int add_piece(struct jw_error *err, struct reading *reading, struct jw_piece piece,
					 char *rest)
{
	struct wheel_memory *memory = reading->memory;
	const char *word;

	while ((word = next_word(&rest))) {
		if (ARENA_ROOM(NULL, memory, memory->entries, memory->entry_capacity, memory->entry_count,
					   MAX_THINGS))
			return refuse(err, reading, too_many);
		if (!read_entry(word, &memory->entries[memory->entry_count]))
			return refuse(err, reading, "not an entry such as sm_90a or compute_80@8.6");
		memory->entry_count++;
		piece.entry_count++;
	}
	if (ARENA_ROOM(NULL, memory, memory->pieces, memory->piece_capacity, memory->piece_count,
				   MAX_THINGS))
		return refuse(err, reading, too_many);
	memory->pieces[memory->piece_count++] = piece;
	memory->libraries[memory->library_count - 1].facts.piece_count++;
	return 0;
}

/* Returns the last wheel of the list; NULL if it has none. */
static struct wheel *last_wheel(const struct reading *reading)
{
	return reading->list->count ? &reading->list->wheels[reading->list->count - 1] : NULL;
}

static int read_piece(struct jw_error *err, struct reading *reading, char *rest)
{
	struct jw_piece piece = {.entries = NULL};
	const char *count = next_word(&rest), *role = next_word(&rest);
	const struct wheel *wheel = last_wheel(reading);
	uint64_t number;

	if (!wheel || !wheel->library_count || wheel->declared)
		return refuse(err, reading, "a piece without a library");
	if (!count || !text_number(count, MAX_THINGS, &number) || !role || !read_role(role, &piece))
		return refuse(err, reading, "not “piece COUNT ROLE ENTRY…”");
	piece.containers = (size_t)number;
	return add_piece(err, reading, piece, rest);
}

static int add_library(struct jw_error *err, const struct reading *reading, struct wheel *wheel,
					   const struct wheel_library *library)
{
	struct wheel_memory *memory = reading->memory;

	if (ARENA_ROOM(NULL, memory, memory->libraries, memory->library_capacity, memory->library_count,
				   MAX_THINGS))
		return refuse(err, reading, too_many);
	memory->libraries[memory->library_count++] = *library;
	wheel->library_count++;
	return 0;
}

static int read_library(struct jw_error *err, struct reading *reading, char *rest)
{
	const char *kind = next_word(&rest), *runtime = next_word(&rest);
	const bool inside = runtime && *runtime == '~';
	struct wheel *wheel = last_wheel(reading);
	uint64_t cuda;

	/* The rest of the line is the name, which may have blanks. */
	if (!kind || (strcmp(kind, "library") != 0 && strcmp(kind, "file") != 0) || !runtime ||
		!text_number(runtime + inside, 1 << 20, &cuda) || !rest || !*rest)
		return refuse(err, reading, "not “library KIND RUNTIME NAME”");
	if (!wheel || !*wheel->sha256)
		return refuse(err, reading, "a library without a wheel");
	return add_library(err, reading, wheel,
					   &(struct wheel_library){.name = rest,
											   .facts = {.library = !strcmp(kind, "library")},
											   .runtime_cuda = (uint32_t)cuda,
											   .runtime_shared = !inside});
}

static int read_requires(struct jw_error *err, struct reading *reading, const char *text)
{
	struct wheel_memory *memory = reading->memory;
	struct wheel *wheel = last_wheel(reading);

	if (!text || !*text)
		return refuse(err, reading, "not “requires REQUIREMENT”");
	if (!wheel || wheel->unseen)
		return refuse(err, reading, "a requirement without a wheel");
	if (!strcmp(text, "-")) {
		wheel->requires_none = true;
		return 0;
	}
	if (ARENA_ROOM(NULL, memory, memory->requires, memory->require_capacity, memory->require_count,
				   MAX_THINGS))
		return refuse(err, reading, too_many);
	memory->requires[memory->require_count++] = text;
	wheel->require_count++;
	return 0;
}

static int read_needs(struct jw_error *err, struct reading *reading, char *rest)
{
	struct wheel_memory *memory = reading->memory;
	const char *name = next_word(&rest);

	if (!name || rest)
		return refuse(err, reading, "not “needs NAME”");
	if (!memory->library_count || !reading->list->count ||
		!reading->list->wheels[reading->list->count - 1].library_count)
		return refuse(err, reading, "a need without a library");
	memory->libraries[memory->library_count - 1].needs |= package_fact_bit("library", name);
	return 0;
}

enum wheel_line { WHEEL_EXAMINED, WHEEL_SAME, WHEEL_UNSEEN, WHEEL_DECLARED };

static int read_wheel(struct jw_error *err, struct reading *reading, char *rest,
					  enum wheel_line line)
{
	static const char *const forms[] = {"not “wheel VERSION PLATFORM PYTHONS FILE SHA256”",
										"not “same VERSION PLATFORM PYTHONS OF”",
										"not “unseen VERSION PLATFORM PYTHONS”",
										"not “build VERSION PLATFORM PYTHONS CUDA ENTRY…”"};
	const char *last;
	struct wheel_list *list = reading->list;
	struct wheel wheel = {.version = next_word(&rest),
						  .platform = next_word(&rest),
						  .pythons = next_word(&rest),
						  .file = "",
						  .sha256 = "",
						  .unseen = line == WHEEL_UNSEEN,
						  .declared = line == WHEEL_DECLARED};
	struct version version;
	uint64_t cuda = 0;
	const char *end;

	last = wheel.pythons;
	if (line == WHEEL_EXAMINED) {
		wheel.file = next_word(&rest);
		last = wheel.sha256 = next_word(&rest);
	} else if (line == WHEEL_SAME) {
		last = wheel.of = next_word(&rest);
	} else if (line == WHEEL_DECLARED) {
		last = next_word(&rest);
	}
	if (!last || !rest == wheel.declared || !version_read(wheel.version, &version, &end) ||
		(wheel.declared && (!*rest || !text_number(last, 1 << 20, &cuda))))
		return refuse(err, reading, forms[line]);
	if (ARENA_ROOM(NULL, list->memory, list->wheels, reading->wheel_capacity, list->count,
				   MAX_WHEELS))
		return refuse(err, reading, too_many);
	list->wheels[list->count++] = wheel;
	if (!wheel.declared)
		return 0;
	if (add_library(err, reading, &list->wheels[list->count - 1],
					&(struct wheel_library){.name = wheel.version,
											.facts = {.library = true},
											.runtime_cuda = (uint32_t)cuda,
											.runtime_shared = true}))
		return -1;
	return add_piece(err, reading, (struct jw_piece){.containers = 1, .role = DEVCODE_REGISTERED},
					 rest);
}

static int read_line(struct jw_error *err, struct reading *reading, char *line)
{
	const char *what = next_word(&line);

	if (!what)
		return 0;
	if (!strcmp(what, "wheel"))
		return read_wheel(err, reading, line, WHEEL_EXAMINED);
	if (!strcmp(what, "same"))
		return read_wheel(err, reading, line, WHEEL_SAME);
	if (!strcmp(what, "unseen"))
		return read_wheel(err, reading, line, WHEEL_UNSEEN);
	if (!strcmp(what, "build"))
		return read_wheel(err, reading, line, WHEEL_DECLARED);
	if (!strcmp(what, "requires"))
		return read_requires(err, reading, line);
	if (!strcmp(what, "needs"))
		return read_needs(err, reading, line);
	if (!strcmp(what, "library"))
		return read_library(err, reading, line);
	if (!strcmp(what, "piece"))
		return read_piece(err, reading, line);
	return refuse(err, reading,
				  "neither wheel, same, unseen, build, requires, needs, library nor piece");
}

/* Returns the CUDA runtime of a library; a runtime inside the library is the compiler's, which
 * registers the code (plan/analyse.c). */
static uint32_t runtime_of(const struct wheel_library *library)
{
	uint32_t cuda = library->runtime_cuda;

	for (size_t i = 0; !library->runtime_shared && i < library->facts.piece_count; i++) {
		const struct jw_piece *piece = &library->facts.pieces[i];

		for (size_t k = 0; piece->role == DEVCODE_REGISTERED && k < piece->entry_count; k++) {
			const struct jw_piece_entry *entry = &piece->entries[k];
			const struct gpu_isa isa = {entry->isa_major, entry->isa_minor};
			const uint32_t wrote =
				devcode_kind_is_ptx(entry->kind) ? gpu_isa_driver(isa).cuda : entry->cuda;

			cuda = wrote > cuda ? wrote : cuda;
		}
	}
	return cuda;
}

/* Replaces the counts by pointers, since the arrays no longer move. */
static int connect_wheels(struct jw_error *err, const struct reading *reading)
{
	struct wheel_memory *memory = reading->memory;
	struct wheel_list *list = reading->list;
	size_t library = 0, piece = 0, entry = 0, require = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct wheel *wheel = &list->wheels[i];

		if (wheel->library_count)
			wheel->libraries = &memory->libraries[library];
		for (size_t k = 0; k < wheel->library_count; k++)
			memory->libraries[library + k].facts.windows = !strcmp(wheel->platform, "windows");
		wheel->requires = wheel->require_count ? &memory->requires[require] : NULL;
		library += wheel->library_count;
		require += wheel->require_count;
	}
	for (size_t i = 0; i < memory->library_count; i++) {
		struct wheel_library *to = &memory->libraries[i];

		to->facts.pieces = memory->pieces + piece;
		for (size_t end = piece + to->facts.piece_count; piece < end; piece++) {
			memory->pieces[piece].entries = memory->entries + entry;
			entry += memory->pieces[piece].entry_count;
		}
		to->facts.runtime_cuda = runtime_of(to);
		to->facts.path = to->name;
	}
	for (size_t i = 0; i < list->count; i++) {
		struct wheel *wheel = &list->wheels[i];
		const struct wheel *of = NULL;

		for (size_t k = 0; wheel->of && k < list->count && !of; k++)
			if (*list->wheels[k].sha256 && !strcmp(list->wheels[k].version, wheel->of) &&
				!strcmp(list->wheels[k].platform, wheel->platform))
				of = &list->wheels[k];
		if (wheel->of && !of)
			return error_set(err, JW_ERR_FORMAT,
							 "%s: release %.100s is as %.100s, which the list lacks", reading->name,
							 wheel->version, wheel->of);
		if (of) {
			wheel->libraries = of->libraries;
			wheel->library_count = of->library_count;
			wheel->file = of->file;
		}
		if (of && !wheel->require_count && !wheel->requires_none) {
			wheel->requires = of->requires;
			wheel->require_count = of->require_count;
		}
	}
	return 0;
}

/* Finds the lines of one package; *ret_line is the number of its first line. NULL if there are
 * none. */
static const char *find_package(const char *text, size_t size, const char *package,
								size_t *ret_size, size_t *ret_line)
{
	static const char start[] = "package ";
	const char *found = NULL, *at = text;
	size_t line = 1;

	for (const char *end; at < text + size; at = end + 1, line++) {
		end = memchr(at, '\n', (size_t)(text + size - at));
		end = end ? end : text + size;
		if ((size_t)(end - at) < sizeof start - 1 || memcmp(at, start, sizeof start - 1) != 0)
			continue;
		if (found)
			break;
		at += sizeof start - 1;
		if ((size_t)(end - at) == strlen(package) && !memcmp(at, package, strlen(package)) &&
			end < text + size) {
			found = end + 1;
			*ret_line = line + 1;
		}
	}
	if (found)
		*ret_size = (size_t)((at < text + size ? at : text + size) - found);
	return found;
}

int wheel_list_read(struct jw_error *err, const char *name, const char *text, size_t size,
					const char *package, struct wheel_list *ret_list)
{
	static const char start[] = "jitwarm-wheels 1 ";
	struct wheel_list list = {.memory = arena_open(sizeof *list.memory)};
	struct reading reading = {.name = name, .list = &list, .memory = list.memory};
	size_t length = 0;
	const char *found;
	char *line, *end;
	int result = 0;

	if (size < sizeof start + 10 || memcmp(text, start, sizeof start - 1) != 0 ||
		text[sizeof start + 9] != '\n') {
		wheel_list_free(&list);
		return error_set(err, JW_ERR_FORMAT, "%s: not a list of wheels", name);
	}
	list.date = arena_keep(list.memory, mem_string_n(text + sizeof start - 1, 10));
	found = find_package(text, size, package, &length, &reading.line);
	if (!found) {
		wheel_list_free(&list);
		return error_set(err, JW_ERR_NOT_FOUND, "%s: no package %s", name, package);
	}
	if (memchr(found, '\0', length))
		result = refuse(err, &reading, "a NUL in the package's lines");
	for (line = arena_keep(list.memory, mem_string_n(found, length)); !result && *line;
		 line = end, reading.line++) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		result = read_line(err, &reading, line);
	}
	if (!result)
		result = connect_wheels(err, &reading);
	if (result)
		wheel_list_free(&list);
	else
		*ret_list = list;
	return result;
}

void wheel_list_builds(const char *text, size_t size, const char *package, struct buf *lines)
{
	size_t length = 0, number;
	const char *at = find_package(text, size, package, &length, &number), *const end = at + length;
	bool build = false;

	for (size_t line; at && at < end; at += line) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		line = (size_t)((stop ? stop + 1 : end) - at);
		build = text_starts(at, "build ") || (build && text_starts(at, "requires "));
		if (build)
			buf_add(lines, "%.*s", (int)line, at);
	}
}

int wheel_list_text(struct jw_error *err, char **ret_text, size_t *ret_size)
{
	char *text = mem_alloc(wheels_zst_SIZE + 1);
	const size_t got = ZSTD_decompress(text, wheels_zst_SIZE, wheels_zst, sizeof wheels_zst);

	if (ZSTD_isError(got)) {
		mem_free(text);
		return error_set(err, JW_ERR_FORMAT, "%s: %s", WHEEL_LIST_OWN, ZSTD_getErrorName(got));
	}
	text[got] = '\0';
	*ret_text = text;
	*ret_size = got;
	return 0;
}

void wheel_list_free(struct wheel_list *list)
{
	jw_result_free(list->memory);
	*list = (struct wheel_list){.date = NULL};
}

/* Returns 311 for "3.11", and 310 for the "310" of cp310; 0 for neither. */
static unsigned python_number(const char *text, size_t length)
{
	uint64_t major, minor = 0;
	const bool dot = length > 1 && text[1] == '.';

	if (!take_number(text, length ? 1 : 0, 9, &major) ||
		(length > 1 && !take_number(text + 1 + dot, length - 1 - dot, 99, &minor)))
		return 0;
	return (unsigned)(major * 100 + minor);
}

/* One of the words of `pythons`: cp310, cp38+, py3. Another word (cp313t, pp310) is for no usual
 * Python. */
struct python_tag {
	unsigned number; /* 310; 0 for py3, and for another word */
	bool newer;      /* newer versions count, too */
};

static struct python_tag next_tag(const char **at)
{
	const size_t length = strcspn(*at, ",");
	const bool newer = length && (*at)[length - 1] == '+';
	const unsigned number = length > 3 ? python_number(*at + 2, length - 2 - newer) : 0;
	const bool any = length == 3 && text_starts(*at, "py3");

	*at += length + ((*at)[length] == ',');
	return (struct python_tag){number, any || (newer && number)};
}

const char *wheel_label(const struct wheel *wheel)
{
	const char *label = wheel->declared ? strchr(wheel->version, '+') : NULL;

	return label ? label + 1 : NULL;
}

uint32_t wheel_runtimes(const struct wheel *wheel)
{
	enum { MAJORS = 32 };
	uint32_t majors = 0;
	bool shared = false;

	for (size_t i = 0; i < wheel->library_count; i++) {
		const struct wheel_library *library = &wheel->libraries[i];

		if (!library->runtime_cuda || library->runtime_cuda / 1000 >= MAJORS)
			continue;
		majors |= UINT32_C(1) << library->runtime_cuda / 1000;
		shared = shared || library->runtime_shared;
	}
	return shared ? majors : 0;
}

bool wheel_fits_python(const struct wheel *wheel, const char *python)
{
	const unsigned asked = python_number(python, strlen(python));

	for (const char *at = wheel->pythons; *at;) {
		const struct python_tag tag = next_tag(&at);

		if (tag.newer ? asked >= tag.number : asked == tag.number)
			return true;
	}
	return false;
}

static int order_numbers(const void *a, const void *b)
{
	const unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;

	return (left > right) - (left < right);
}

char *wheel_pythons(const struct wheel *wheel)
{
	enum { MOST = 64, MAX_PYTHONS = 512 };
	unsigned numbers[MOST], newer = UINT_MAX;
	struct buf text = BUF_MAX(MAX_PYTHONS);
	size_t count = 0;
	char *result;

	for (const char *at = wheel->pythons; *at && count < MOST;) {
		const struct python_tag tag = next_tag(&at);

		if (!tag.number && !tag.newer)
			continue;
		numbers[count++] = tag.number;
		newer = tag.newer && tag.number < newer ? tag.number : newer;
	}
	if (count)
		qsort(numbers, count, sizeof *numbers, order_numbers);
	for (size_t i = 0, last; i < count; i = last + 1) {
		const char *comma = text.size ? ", " : "";
		const unsigned from = numbers[i];

		for (last = i; last + 1 < count && numbers[last + 1] <= numbers[last] + 1; last++)
			;
		buf_add(&text, "%s%u.%u", comma, from / 100, from % 100);
		if (numbers[last] >= newer) {
			buf_add(&text, " or newer");
			break;
		}
		if (numbers[last] > from)
			buf_add(&text, " to %u.%u", numbers[last] / 100, numbers[last] % 100);
	}
	result = mem_string(count ? buf_text(&text) : wheel->pythons);
	buf_free(&text);
	return result;
}
