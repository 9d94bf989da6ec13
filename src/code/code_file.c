#include "code/code_file.h"

#include <string.h>

#include "base/cursor.h"
#include "base/text.h"
#include "code/container.h"
#include "code/cubin.h"
#include "code/ptx.h"

#define ENDING(text) .ending = (text), .length = sizeof(text) - 1
static const struct name_rule {
	const char *ending; /* compared without regard to case */
	size_t length;
	const char *promise;
	bool versioned;     /* digits and dots may follow: libcudart.so.11.0 */
	bool named_only;    /* read only if a user names it, skipped in folders */
	bool linked;        /* only a linker reads it */
	const char *system; /* the part of jw_platform of the one system that loads it; NULL: every */
} rules[] = {
	/* Loaders map these files: libraries, Python's extension modules (.so, .pyd), Windows
	 * programs. */
	{ENDING(".so"), .versioned = true, .system = "-linux"},
	{ENDING(".pyd"), .system = "-windows"},
	{ENDING(".dll"), .system = "-windows"},
	{ENDING(".exe"), .system = "-windows"},
	/* Linkers read these files; static libraries are not read. */
	{ENDING(".o"), .linked = true},
	{ENDING(".obj"), .linked = true},
	/* Programs load these files themselves: nvcc writes them, and Blender ships them compressed. */
	{ENDING(".fatbin"), .promise = "a fat binary"},
	{ENDING(".cubin"), .promise = "a cubin"},
	{ENDING(".ptx"), .promise = "PTX"},
	{ENDING(".fatbin.zst"), .promise = "zstd-compressed"},
	{ENDING(".cubin.zst"), .promise = "zstd-compressed"},
	{ENDING(".ptx.zst"), .promise = "zstd-compressed"},
	/* Packages as they are downloaded. */
	{ENDING(".whl"), .promise = "a wheel"},
	{ENDING(".conda"), .promise = "a conda package"},
	/* Other .zst files mostly hold data and are slow to read, so they are read only if they are
	 * named. So are .zip and .tar, which have no rule. */
	{ENDING(".zst"), .promise = "zstd-compressed", .named_only = true},
};

/* Folders with very many files and no code that a program loads: 2,204 of the 3,164 folders of
 * PyTorch, vLLM and TensorFlow contain only headers. */
static const char *const unsearched[] = {"__pycache__", ".git", "include"};

static const struct name_rule *rule_of(const char *name)
{
	size_t length = strlen(name), stem = length;

	while (stem && strchr("0123456789.", name[stem - 1]))
		stem--;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		const size_t end = rules[i].versioned ? stem : length;

		/* A name that is only the ending is a hidden file. */
		if (end > rules[i].length && name[end - rules[i].length] == '.' &&
			text_starts_fold(name + end - rules[i].length, rules[i].ending))
			return &rules[i];
	}
	return NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns whether the name ends in a dot and a few letters that no rule has, as most names do. */
static bool has_other_ending(const char *path)
{
	enum { MAX_LETTERS = 4 };
	const char *const end = path + strlen(path), *dot = end;

	while (dot > path && end - dot <= MAX_LETTERS && is_letter(dot[-1]))
		dot--;
	if (dot == end || end - dot > MAX_LETTERS || dot == path || dot[-1] != '.')
		return false;
	dot--;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].length == (size_t)(end - dot) && text_starts_fold(dot, rules[i].ending))
			return false;
	return true;
}

enum code_file code_file_by_name(const char *path)
{
	const char *name;
	const struct name_rule *rule;

	if (has_other_ending(path))
		return CODE_FILE_OTHER;
	name = os_base_name(path);
	rule = rule_of(name);
	if (rule)
		return rule->named_only ? CODE_FILE_OTHER
			   : rule->linked   ? CODE_FILE_LINKED
								: CODE_FILE_CODE;
	return strchr(name, '.') ? CODE_FILE_OTHER : CODE_FILE_PROGRAM;
}

bool code_file_is_for(const char *path, const char *platform, bool *ret_either)
{
	const struct name_rule *rule = rule_of(os_base_name(path));

	*ret_either = !rule || !rule->system;
	return *ret_either || strstr(platform, rule->system) != NULL;
}

bool code_file_is_program(const char *path, const struct os_stat *stat)
{
	uint8_t head[64];
	enum kind kind;

	if (stat->kind != OS_REGULAR || !(stat->mode & CODE_FILE_RUNS))
		return false;
	kind = kind_of(head, os_read_head(path, head, sizeof head));
	return kind == KIND_ELF || kind == KIND_PE;
}

bool code_folder_is_searched(const char *name)
{
	for (size_t i = 0; i < sizeof unsearched / sizeof *unsearched; i++)
		if (!strcmp(name, unsearched[i]))
			return false;
	return true;
}

const char *code_file_promise(const char *path)
{
	const struct name_rule *rule = rule_of(os_base_name(path));

	return rule ? rule->promise : NULL;
}

enum { TAR_MAGIC_AT = 257, PE_DOS_SIZE = 64, COFF_X86_64 = 0x8664, COFF_ARM64 = 0xaa64 };

static const struct {
	size_t at;
	const char *magic;
	size_t size;
	enum kind kind;
} magics[] = {
	{0,
	 "\x7f"
	 "ELF",
	 4, KIND_ELF},
	{0, "!<arch>\n", 8, KIND_AR},
	{0, "PK\3\4", 4, KIND_ZIP},
	{0, "\x28\xb5\x2f\xfd", 4, KIND_ZSTD},
	{TAR_MAGIC_AT, "ustar", 5, KIND_TAR},
};

/* Returns whether the bytes begin like a program or library of Windows. */
static bool is_pe(const uint8_t *data, size_t size)
{
	return size >= PE_DOS_SIZE && data[0] == 'M' && data[1] == 'Z';
}

/* Returns whether the bytes begin like a COFF object for x86-64 or arm64. */
static bool is_object(const uint8_t *data, size_t size)
{
	struct cursor cursor = cursor_of(data, size);
	uint16_t machine = cursor_u16(&cursor), sections = cursor_u16(&cursor), optional_size;

	(void)cursor_take(&cursor, 12);
	optional_size = cursor_u16(&cursor);
	(void)cursor_u16(&cursor);
	return !cursor.overrun && (machine == COFF_X86_64 || machine == COFF_ARM64) && sections > 0 &&
		   !optional_size;
}

enum kind kind_of(const uint8_t *head, size_t size)
{
	if (cubin_is(head, size))
		return KIND_CUBIN;
	if (size >= CONTAINER_HEADER && load_u64(head) == CONTAINER_START)
		return KIND_FATBIN;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (range_fits(magics[i].at, magics[i].size, size) &&
			!memcmp(head + magics[i].at, magics[i].magic, magics[i].size))
			return magics[i].kind;
	if (is_pe(head, size))
		return KIND_PE;
	if (ptx_is(head, size))
		return KIND_PTX;
	return is_object(head, size) ? KIND_OBJECT : KIND_NONE;
}
