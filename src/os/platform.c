#include "os/platform.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "base/mem.h"
#include "os/clock.h"
#include "os/env.h"
#include "os/identity.h"

uint64_t os_monotonic_ns(void)
{
	return uv_hrtime();
}

int64_t os_now_s(void)
{
	return (int64_t)time(NULL);
}

static uint64_t nanoseconds(const uv_timeval_t *time)
{
	return ((uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec) * 1000;
}

uint64_t os_cpu_ns(void)
{
	uv_rusage_t used;

	return uv_getrusage(&used) ? 0 : nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime);
}

char *os_env(const char *name)
{
	char none, *value = NULL;
	size_t size = sizeof none;
	const int result = uv_os_getenv(name, &none, &size);

	if (!result || result == UV_ENOBUFS) {
		/* If it does not fit, `size` becomes the size of the value and its NUL. */
		value = mem_alloc(size + 1);
		size++;
		if (uv_os_getenv(name, value, &size)) {
			mem_free(value);
			value = NULL;
		}
	}
	return value;
}

void os_account_free(const struct os_account *account)
{
	mem_free(account->name);
	mem_free(account->home);
}

/* Reads JITWARM_PCI_DEVICES, with which tests replace the system's list of PCI devices. */

static bool parse_one(const char *text, size_t length, struct os_pci_device *ret_device)
{
	char copy[64];
	unsigned vendor, device;
	int used = 0;

	if (length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	/* NOLINTNEXTLINE(cert-err34-c): four hex digits at most cannot overflow */
	if (sscanf(copy, "%4x:%4x%n", &vendor, &device, &used) != 2 || used == 0)
		return false;
	*ret_device = (struct os_pci_device){.vendor = vendor, .device = device};
	if (copy[used] == '@' && strlen(copy + used + 1) < sizeof ret_device->bus)
		memcpy(ret_device->bus, copy + used + 1, strlen(copy + used + 1) + 1);
	else if (copy[used])
		return false;
	return true;
}

int os_pci_parse(struct jw_error *err, const char *list, struct os_pci_device *devices, size_t most,
				 size_t *ret_count)
{
	size_t count = 0;

	while (*list && count < most) {
		const size_t length = strcspn(list, ",");

		if (length && !parse_one(list, length, &devices[count]))
			return error_set(err, JW_ERR_USAGE, "JITWARM_PCI_DEVICES: not a device: %.*s",
							 (int)length, list);
		count += length != 0;
		list += length + (list[length] == ',');
	}
	*ret_count = count;
	return 0;
}

int os_pci_gpus(struct jw_error *err, struct os_pci_device *devices, size_t most, size_t *ret_count)
{
	char *list = os_env("JITWARM_PCI_DEVICES");
	const int result = list ? os_pci_parse(err, list, devices, most, ret_count)
							: os_pci_enumerate(err, devices, most, ret_count);

	mem_free(list);
	return result;
}
