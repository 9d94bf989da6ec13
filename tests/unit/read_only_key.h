/* Makes a registry key for variables read-only for a while through access lists, as for a user
 * without administrator's rights, or under a policy. Windows. */
#pragma once

#include "check.h"

#include <windows.h>

#include <sddl.h>

#include "os/env.h"

struct read_only_key {
	HKEY key;
	BYTE before[4096];
};

static inline void make_key_read_only(enum os_variables where, struct read_only_key *ret_key)
{
	PSECURITY_DESCRIPTOR read_only;
	DWORD size = sizeof ret_key->before;
	bool machine = where == OS_VARIABLES_MACHINE;

	assert_int_equal(
		RegOpenKeyExW(machine ? HKEY_LOCAL_MACHINE : HKEY_CURRENT_USER,
					  machine ? L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment"
							  : L"Environment",
					  0, READ_CONTROL | WRITE_DAC, &ret_key->key),
		0);
	assert_int_equal(
		RegGetKeySecurity(ret_key->key, DACL_SECURITY_INFORMATION, ret_key->before, &size), 0);
	assert_true(ConvertStringSecurityDescriptorToSecurityDescriptorW(
		L"D:P(A;;KR;;;WD)(A;;WDRC;;;WD)", SDDL_REVISION_1, &read_only, NULL));
	assert_int_equal(RegSetKeySecurity(ret_key->key, DACL_SECURITY_INFORMATION, read_only), 0);
	(void)LocalFree(read_only);
}

static inline void make_key_writable(struct read_only_key *key)
{
	(void)RegSetKeySecurity(key->key, DACL_SECURITY_INFORMATION, key->before);
	(void)RegCloseKey(key->key);
}
