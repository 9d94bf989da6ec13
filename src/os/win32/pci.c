/* NVIDIA's display devices in the list of Windows' plug and play manager; needs no driver. */
#include "os/pci.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Before setupapi.h, which needs its types */
#include <windows.h>

#include <setupapi.h>

/* Whether one of several texts begins with `start`. Each text ends in NUL, and the last one is
 * empty. */
static bool any_starts(const wchar_t *texts, const wchar_t *start)
{
	for (; *texts; texts += wcslen(texts) + 1)
		if (!_wcsnicmp(texts, start, wcslen(start)))
			return true;
	return false;
}

static bool property_texts(HDEVINFO list, SP_DEVINFO_DATA *device, DWORD property, wchar_t *texts,
						   size_t most)
{
	memset(texts, 0, most * sizeof *texts);
	return SetupDiGetDeviceRegistryPropertyW(list, device, property, NULL, (BYTE *)texts,
											 (DWORD)((most - 2) * sizeof *texts), NULL);
}

static DWORD property_number(HDEVINFO list, SP_DEVINFO_DATA *device, DWORD property)
{
	DWORD value = 0;

	if (!SetupDiGetDeviceRegistryPropertyW(list, device, property, NULL, (BYTE *)&value,
										   sizeof value, NULL))
		return 0;
	return value;
}

static unsigned hex_number(const wchar_t *text, size_t digits)
{
	unsigned value = 0;

	for (size_t i = 0; i < digits; i++) {
		wchar_t c = text[i];
		unsigned digit = c >= L'0' && c <= L'9'   ? (unsigned)(c - L'0')
						 : c >= L'A' && c <= L'F' ? (unsigned)(c - L'A') + 10
						 : c >= L'a' && c <= L'f' ? (unsigned)(c - L'a') + 10
												  : 16;

		if (digit == 16)
			break;
		value = value * 16 + digit;
	}
	return value;
}

/* Hardware ids read "PCI\VEN_10DE&DEV_2484&SUBSYS_…"; compatible ids contain the class code:
 * "PCI\CC_0300" or "PCI\CC_0302". Base class 03: display controller; 0302 is a "3D controller". */
static bool read_device(HDEVINFO list, SP_DEVINFO_DATA *device, struct os_pci_device *ret_device)
{
	static const wchar_t vendor[] = L"PCI\\VEN_10DE&DEV_";
	const size_t vendor_length = sizeof vendor / sizeof *vendor - 1;
	wchar_t texts[2048];
	DWORD bus, address;
	unsigned number;

	if (!property_texts(list, device, SPDRP_HARDWAREID, texts, sizeof texts / sizeof *texts) ||
		_wcsnicmp(texts, vendor, vendor_length) != 0)
		return false;
	number = hex_number(texts + vendor_length, 4);
	if (!number ||
		!property_texts(list, device, SPDRP_COMPATIBLEIDS, texts, sizeof texts / sizeof *texts) ||
		!any_starts(texts, L"PCI\\CC_03"))
		return false;
	/* Bus numbers carry the segment above their eight bits; an address is device << 16 | function.
	 */
	bus = property_number(list, device, SPDRP_BUSNUMBER);
	address = property_number(list, device, SPDRP_ADDRESS);
	*ret_device = (struct os_pci_device){.vendor = OS_PCI_VENDOR_NVIDIA, .device = number};
	(void)snprintf(ret_device->bus, sizeof ret_device->bus, "%04x:%02x:%02x.%x",
				   (unsigned)(bus >> 8 & 0xffff), (unsigned)(bus & 0xff),
				   (unsigned)(address >> 16 & 0x1f), (unsigned)(address & 7));
	return true;
}

int os_pci_enumerate(struct jw_error *err, struct os_pci_device *devices, size_t most,
					 size_t *ret_count)
{
	HDEVINFO list = SetupDiGetClassDevsW(NULL, L"PCI", NULL, DIGCF_PRESENT | DIGCF_ALLCLASSES);
	SP_DEVINFO_DATA device = {.cbSize = sizeof device};
	size_t count = 0;

	(void)err;
	if (list == INVALID_HANDLE_VALUE) {
		*ret_count = 0;
		return 0;
	}
	for (DWORD i = 0; count < most && SetupDiEnumDeviceInfo(list, i, &device); i++)
		if (read_device(list, &device, &devices[count]))
			count++;
	(void)SetupDiDestroyDeviceInfoList(list);
	*ret_count = count;
	return 0;
}

bool os_pci_sleeps(const struct os_pci_device *device)
{
	(void)device;
	return false;
}
