/* On a full disk, here a small file system, the driver leaves a torn entry or none, as jitwarm
 * expects. */
#include "suite.h"

#include <string.h>
#include <sys/mount.h>

/* Returns a small module whose text, and therefore its key, has this many bytes of comment. */
static const char *padded(int bytes)
{
	static char text[50000];

	snprintf(text, sizeof text,
			 ".version 6.3\n.target sm_52\n.address_size 64\n//%0*d\n.visible .entry k()\n{\n"
			 "\tret;\n}\n",
			 bytes, 0);
	return CONTAINER({.text = text, .nuls = 1});
}

/* Says whether the only entry is shorter than its header says. */
static bool is_torn(void)
{
	struct entry entry;
	bool torn = entries_read(suite.cache, &entry, 1) == 1 && !entry_reread(&entry) &&
				entry.file.size > 28 && entry.file.size < 28 + entry.key_size + entry.value_size;

	entry_free(&entry);
	return torn;
}

/* The driver writes an entry through a buffer of 4 KiB, and does not check the last write when it
 * closes the file: that entry stays torn, and has a row. */
static enum outcome last_part_does_not_fit(void)
{
	struct index index;

	for (int starts = 0; starts < 2; starts++) {
		struct answer answer = load(padded(3600));

		CHECK_IS(answer.result, 0);
		CHECK_IS(answer.compiled, 1);
		CHECK(is_torn());
	}
	CHECK_IS(mount("none", suite.cache, "tmpfs", MS_REMOUNT, "size=1m"), 0);
	CHECK_IS(load(padded(3600)).compiled, 1);
	CHECK(!is_torn());
	CHECK(index_read(&index));
	CHECK_IS(index.count, 1);
	CHECK_IS(load(padded(3600)).compiled, 0);
	return PASSED;
}

/* An earlier write fails: the entry is removed, and has no row. */
static enum outcome early_part_does_not_fit(void)
{
	struct index index;

	for (int starts = 0; starts < 2; starts++) {
		struct answer answer = load(padded(40000));

		CHECK_IS(answer.result, 0);
		CHECK_IS(answer.compiled, 1);
		CHECK_IS(entries_count(suite.cache), 0);
		CHECK(index_read(&index));
		CHECK_IS(index.count, 0);
	}
	CHECK_IS(mount("none", suite.cache, "tmpfs", MS_REMOUNT, "size=1m"), 0);
	CHECK_IS(load(padded(40000)).compiled, 1);
	CHECK_IS(load(padded(40000)).compiled, 0);
	return PASSED;
}

/* The index has a page already, so that only the entry can fail. */
static enum outcome on_small_disk(const char *size, enum outcome (*run)(void))
{
	const struct index empty = {.version = 0x41};
	enum outcome outcome;

	if (mount("none", suite.cache, "tmpfs", 0, size) != 0)
		return case_skipped("needs the right to mount a file system");
	index_write(&empty);
	outcome = run();
	(void)umount2(suite.cache, MNT_DETACH);
	return outcome;
}

static enum outcome torn_entry(void)
{
	return on_small_disk("size=8k", last_part_does_not_fit);
}

static enum outcome no_entry(void)
{
	return on_small_disk("size=16k", early_part_does_not_fit);
}

const struct test_case disk_cases[] = {
	{"disk/a disk that is full at the last part leaves half an entry", torn_entry},
	{"disk/a disk that is full earlier leaves no entry", no_entry},
	{NULL, NULL},
};
