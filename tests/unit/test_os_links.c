/* Removing files follows no symlink and no junction that may have been planted. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "folder.h"
#include "os/file.h"

#ifdef _WIN32
#include "os/win32/opening.h"

#include <winioctl.h>

static char *in_folder(const char *name)
{
	return os_join(folder, name);
}

static void make_with_file(const char *name)
{
	char *path = keep(in_folder(name)), *file = keep(os_join(path, "file"));

	OK(os_make_dirs(why, path, 0700));
	OK(os_write_atomic(why, file, "x", 1));
}

static bool has_file(const char *name)
{
	char *path = keep(in_folder(name)), *file = keep(os_join(path, "file"));
	bool has = os_exists(file);

	return has;
}

/* Makes a junction; returns false if the system makes none (Wine). */
static bool make_junction(const char *path, const char *target)
{
	uint8_t data[1024] = {0};
	wchar_t *wide = keep(win32_wide(NULL, keep(mem_printf("\\??\\%s", target))));
	const size_t bytes = wcslen(wide) * sizeof *wide;
	const uint32_t tag = IO_REPARSE_TAG_MOUNT_POINT;
	HANDLE handle;
	DWORD got;
	bool made;

	OK(os_make_dirs(why, path, 0700));
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
	return made;
}

TEST(a_junction_goes_alone)
{
	char *all = keep(in_folder("all")), *junction = keep(in_folder("all\\junction")),
		 *kept = keep(in_folder("kept"));

	make_with_file("kept");
	if (!make_junction(junction, kept)) {
		print_message("this system makes no junctions\n");
	} else {
		assert_true(has_file("all\\junction"));
		OK(os_remove_tree(why, all));
	}
	assert_true(has_file("kept"));
}
#endif

TEST(leftovers_are_swept_by_name_kind_and_age)
{
	char *base = keep(os_join(folder, "swept"));
	static const char *const names[] = {"run-1", "run-2", "run-away"};
	struct os_names left;

	OK(os_make_dirs(why, base, 0700));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = keep(os_join(base, names[i])), *file = keep(os_join(path, "file"));

		OK(os_make_dirs(why, path, 0700));
		OK(os_write_atomic(why, file, "x", 1));
	}
	os_sweep(base, "run-", "#", OS_REGULAR, 0);
	os_sweep(base, "run-", "#", OS_DIRECTORY, 3600);
	OK(os_list(why, base, &left));
	assert_int_equal(left.count, 3);
	os_names_free(&left);
	os_sweep(base, "run-", "#", OS_DIRECTORY, 0);
	OK(os_list(why, base, &left));
	assert_int_equal(left.count, 1);
	assert_string_equal(left.items[0], "run-away");
	os_names_free(&left);
}

RUN_TESTS(make_folder, remove_folder)
