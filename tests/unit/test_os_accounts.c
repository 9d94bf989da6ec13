/* Without elevation nobody has an administrator's rights. */
#include "check.h"

#include <jitwarm/accounts.h>

#ifdef _WIN32
#include <windows.h>
#endif

/* The process has the rights of a console that was not elevated. */
TEST(without_elevation_there_are_no_administrators_rights)
{
#ifndef _WIN32
	skip();
#else
	union {
		SID sid;
		BYTE room[SECURITY_MAX_SID_SIZE];
	} administrators;
	DWORD size = sizeof administrators;
	SID_AND_ATTRIBUTES denied = {.Sid = &administrators};
	HANDLE ours, lesser;

	assert_true(CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, &administrators, &size));
	assert_true(OpenProcessToken(GetCurrentProcess(), TOKEN_ALL_ACCESS, &ours));
	assert_true(CreateRestrictedToken(ours, 0, 1, &denied, 0, NULL, 0, NULL, &lesser));
	assert_true(jw_is_administrator());
	assert_true(ImpersonateLoggedOnUser(lesser));
	assert_false(jw_is_administrator());
	assert_true(RevertToSelf());
	assert_true(jw_is_administrator());
	(void)CloseHandle(lesser);
	(void)CloseHandle(ours);
#endif
}

RUN_TESTS(NULL, NULL)
