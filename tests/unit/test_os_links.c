/* Windows: what links hold, and what is removed where one might be planted. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "folder.h"
#include "os/file.h"

#ifdef _WIN32
#include "os/win32/entries.h"
#include "os/win32/opening.h"

#include <winioctl.h>

/* A junction's or symbolic link's data: `offset` and `units` of the substitute name. */
static size_t link_data(uint8_t *data, uint32_t tag, uint32_t flags, const wchar_t *name,
						unsigned offset, unsigned bytes)
{
	const size_t names = tag == IO_REPARSE_TAG_SYMLINK ? 20 : 16, size = wcslen(name) * 2;

	memset(data, 0, 256);
	memcpy(data, &tag, sizeof tag);
	data[4] = (uint8_t)(names - 8 + size);
	data[8] = (uint8_t)offset;
	data[10] = (uint8_t)bytes;
	data[11] = (uint8_t)(bytes >> 8);
	memcpy(data + 16, &flags, sizeof flags);
	memcpy(data + names, name, size);
	return names + size;
}

static void check_target(uint32_t tag, uint32_t flags, const wchar_t *name, const wchar_t *wanted)
{
	uint8_t data[256];
	bool relative = false;
	wchar_t *target = win32_link_target(
		NULL, "it", data, link_data(data, tag, flags, name, 0, (unsigned)wcslen(name) * 2),
		&relative);

	if (!wanted) {
		assert_null(target);
		return;
	}
	assert_non_null(target);
	assert_int_equal(wcscmp(target, wanted), 0);
	assert_int_equal(relative, flags == 1);
	mem_free(target);
}

TEST(a_link_tells_where_it_leads)
{
	check_target(IO_REPARSE_TAG_MOUNT_POINT, 0, L"\\??\\C:\\a", L"\\??\\C:\\a");
	check_target(IO_REPARSE_TAG_SYMLINK, 0, L"\\??\\C:\\a", L"\\??\\C:\\a");
	check_target(IO_REPARSE_TAG_SYMLINK, 1, L"..\\a", L"..\\a");
	/* No link, one of another kind, and what no path begins with */
	check_target(IO_REPARSE_TAG_DEDUP, 0, L"\\??\\C:\\a", NULL);
	check_target(IO_REPARSE_TAG_SYMLINK, 0, L"C:\\a", NULL);
	check_target(IO_REPARSE_TAG_SYMLINK, 0, L"", NULL);
}

TEST(a_damaged_link_is_refused)
{
	static const struct {
		unsigned offset, bytes;
	} wrong[] = {{0, 7}, {0, 18}, {2, 16}, {250, 16}, {0, 65534}, {255, 0}};
	uint8_t data[256];
	bool relative;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		size_t size = link_data(data, IO_REPARSE_TAG_MOUNT_POINT, 0, L"\\??\\C:\\a",
								wrong[i].offset, wrong[i].bytes);

		assert_null(win32_link_target(NULL, "it", data, size, &relative));
	}
	for (size_t size = 0; size < 32; size++) {
		(void)link_data(data, IO_REPARSE_TAG_MOUNT_POINT, 0, L"\\??\\C:\\a", 0, 16);
		assert_null(win32_link_target(NULL, "it", data, size, &relative));
	}
}

static char *in_folder(const char *name)
{
	return os_join(folder, name);
}

static void make_with_file(const char *name)
{
	char *path = in_folder(name), *file = os_join(path, "file");

	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	assert_int_equal(os_write_atomic(NULL, file, "x", 1), 0);
	mem_free(file);
	mem_free(path);
}

static bool has_file(const char *name)
{
	char *path = in_folder(name), *file = os_join(path, "file");
	bool has = os_exists(file);

	mem_free(file);
	mem_free(path);
	return has;
}

/* The folder is moved away, and another one takes its place, as an attacker would do. */
TEST(what_was_opened_is_emptied)
{
	char *path = in_folder("one"), *moved = in_folder("moved");
	HANDLE handle;
	bool emptied;

	make_with_file("one");
	make_with_file("one\\deeper");
	handle = win32_open(NULL, path, FILE_LIST_DIRECTORY, OPENING_FOLDER);
	assert_true(handle != INVALID_HANDLE_VALUE);
	assert_int_equal(os_rename(NULL, path, moved), 0);
	make_with_file("one\\deeper");
	make_with_file("one");
	emptied = !win32_remove_content(NULL, handle, path);
	(void)CloseHandle(handle);
	assert_true(has_file("one"));
	assert_true(has_file("one\\deeper"));
	/* Wine knows a folder by its former path, and refuses. */
	assert_int_equal(has_file("moved"), !emptied);
	assert_int_equal(has_file("moved\\deeper"), !emptied);
	mem_free(moved);
	mem_free(path);
}

/* false where the system makes none (Wine). */
static bool make_junction(const char *path, const char *target)
{
	uint8_t data[1024] = {0};
	char *shown = mem_printf("\\??\\%s", target);
	wchar_t *wide = win32_wide(NULL, shown);
	const size_t bytes = wcslen(wide) * sizeof *wide;
	const uint32_t tag = IO_REPARSE_TAG_MOUNT_POINT;
	HANDLE handle;
	DWORD got;
	bool made;

	assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
	handle = win32_open(NULL, path, GENERIC_WRITE, OPENING_LINK);
	assert_true(handle != INVALID_HANDLE_VALUE);
	memcpy(data, &tag, sizeof tag);
	data[4] = (uint8_t)(8 + bytes + 4);
	data[5] = (uint8_t)((8 + bytes + 4) >> 8);
	data[10] = (uint8_t)bytes;
	data[11] = (uint8_t)(bytes >> 8);
	data[12] = (uint8_t)(bytes + 2);
	data[13] = (uint8_t)((bytes + 2) >> 8);
	memcpy(data + 16, wide, bytes);
	made = DeviceIoControl(handle, FSCTL_SET_REPARSE_POINT, data, (DWORD)(16 + bytes + 4), NULL, 0,
						   &got, NULL) != 0;
	(void)CloseHandle(handle);
	mem_free(wide);
	mem_free(shown);
	return made;
}

TEST(a_junction_goes_alone)
{
	char *all = in_folder("all"), *junction = in_folder("all\\junction"), *kept = in_folder("kept");

	make_with_file("kept");
	if (!make_junction(junction, kept)) {
		print_message("this system makes no junctions\n");
	} else {
		assert_true(has_file("all\\junction"));
		assert_int_equal(os_remove_tree(NULL, all), 0);
	}
	assert_true(has_file("kept"));
	mem_free(kept);
	mem_free(junction);
	mem_free(all);
}
#endif

TEST(leftovers_are_swept_by_name_kind_and_age)
{
	char *base = os_join(folder, "swept");
	static const char *const names[] = {"run-1", "run-2", "run-away"};
	struct os_names left;

	assert_int_equal(os_make_dirs(NULL, base, 0700), 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = os_join(base, names[i]), *file = os_join(path, "file");

		assert_int_equal(os_make_dirs(NULL, path, 0700), 0);
		assert_int_equal(os_write_atomic(NULL, file, "x", 1), 0);
		mem_free(file);
		mem_free(path);
	}
	os_sweep(base, "run-", "#", OS_REGULAR, 0);
	os_sweep(base, "run-", "#", OS_DIRECTORY, 3600);
	assert_int_equal(os_list(NULL, base, &left), 0);
	assert_int_equal(left.count, 3);
	os_names_free(&left);
	os_sweep(base, "run-", "#", OS_DIRECTORY, 0);
	assert_int_equal(os_list(NULL, base, &left), 0);
	assert_int_equal(left.count, 1);
	assert_string_equal(left.items[0], "run-away");
	os_names_free(&left);
	mem_free(base);
}

RUN_TESTS(make_folder, remove_folder)
