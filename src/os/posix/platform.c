#include "os/platform.h"

#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/posix/posix.h"

const char os_name[] = "linux";

/* "5.15.153.1-microsoft-standard-WSL2"; a custom kernel has another name, but the same device. */
bool os_is_wsl(void)
{
	struct buf name = {0};
	bool named = posix_kernel_text(&name, "/proc/sys/kernel/osrelease") &&
				 (strstr(buf_text(&name), "icrosoft") || strstr(buf_text(&name), "WSL"));
	char *device = named ? NULL : posix_system_path("/dev/dxg");
	bool is = named || (device && os_exists(device));

	mem_free(device);
	buf_free(&name);
	return is;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 …": the first word of
 * digits and points. */
int os_running_driver(struct jw_error *err, char ret_release[32])
{
	enum { MOST_VERSION = 1 << 12 };
	char *path = posix_system_path("/proc/driver/nvidia/version");
	struct jw_error why = {0};
	struct buf text = {0};
	bool found = false;
	int result = path ? 0 : error_set(err, JW_ERR_MEMORY, "out of memory");

	ret_release[0] = '\0';
	if (path && os_read_file(&why, path, MOST_VERSION, &text)) {
		result = error_if_memory(err, &why);
	} else if (path) {
		const char *word = buf_text(&text);
		size_t length = 0;

		for (; *word && !found; word += found ? 0 : length + strspn(word + length, " \t\n")) {
			length = strcspn(word, " \t\n");
			found = length && length < 32 && memchr(word, '.', length) &&
					strspn(word, "0123456789.") == length;
		}
		if (found) {
			memcpy(ret_release, word, length);
			ret_release[length] = '\0';
		}
	}
	buf_free(&text);
	mem_free(path);
	return result;
}

bool os_has_gpu_file(void)
{
	static const char *const names[] = {"/dev/dxg", "/dev/nvidiactl", "/dev/nvmap"};
	bool has = false;

	for (size_t i = 0; !has && i < sizeof names / sizeof *names; i++) {
		char *path = posix_system_path(names[i]);

		has = path && os_exists(path);
		mem_free(path);
	}
	return has;
}
