/* Windows: which accounts can change a file. Owners and access lists are made up here, since Wine
 * keeps neither: the test replaces GetSecurityInfo(). */
#include "check.h"

#ifdef _WIN32
#include <string.h>

#include <jitwarm/accounts.h>

#include "base/mem.h"
#include "os/folders.h"
#include "os/win32/access_list.h"

/* These headers follow windows.h, whose types they need. */
#include <aclapi.h>
#include <sddl.h>

static PSECURITY_DESCRIPTOR made;

static DWORD WINAPI made_up_info(HANDLE handle, SE_OBJECT_TYPE type, SECURITY_INFORMATION what,
								 PSID *ret_owner, PSID *ret_group, PACL *ret_list, PACL *ret_audit,
								 PSECURITY_DESCRIPTOR *ret_descriptor)
{
	BOOL there, by_default;

	(void)handle;
	(void)ret_group;
	(void)ret_audit;
	assert_int_equal(type, SE_FILE_OBJECT);
	assert_int_equal(what, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION);
	*ret_descriptor = NULL;
	if (!made)
		return ERROR_ACCESS_DENIED;
	assert_true(GetSecurityDescriptorOwner(made, ret_owner, &by_default));
	assert_true(GetSecurityDescriptorDacl(made, &there, ret_list, &by_default));
	if (!there)
		*ret_list = NULL;
	return 0;
}

/* The program's own calls find this function in place of the library's. */
typedef __typeof__(GetSecurityInfo) get_security_info;
extern get_security_info *const __imp_GetSecurityInfo;
get_security_info *const __imp_GetSecurityInfo = made_up_info;

static int check(const wchar_t *text, enum win32_place place, struct jw_error *err)
{
	int result;

	made = NULL;
	if (text)
		assert_true(ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1,
																		 &made, NULL));
	result = win32_check_trust(err, NULL, "it", place);
	(void)LocalFree(made);
	return result;
}

/* The owner is O:BA (administrators), O:SY (the system) or another account; the list says who may
 * change the object. Both count for a file, a folder, a folder above, a link. */
static void owners_and_lists_decide(void **state)
{
	static const wchar_t installer[] =
		L"O:S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464D:(A;;FA;;;SY)";
	static const struct {
		const wchar_t *text;
		const char *trusted; /* for each place, whether it is trusted */
		const char *why;
	} cases[] = {
		{L"O:BAD:(A;;FA;;;BA)(A;;FA;;;SY)", "yyyy", ""},
		{L"O:SYD:", "yyyy", ""},
		{installer, "yyyy", ""},
		{L"O:S-1-5-21-1-2-3-1001D:(A;;FA;;;BA)", "nnnn", "it belongs to "},
		{L"O:WDD:(A;;FA;;;BA)", "nnnn", "it belongs to "},
		{L"O:BA", "nnnn", "it may be changed by every account"},
		{L"O:BAD:(A;;FR;;;WD)", "yyyy", ""},
		{L"O:BAD:(A;;FA;;;WD)", "nnnn", "it may be changed by "},
		{L"O:BAD:(A;;FA;;;BA)(A;;GA;;;S-1-5-21-1-2-3-1001)", "nnnn", "S-1-5-21-1-2-3-1001"},
		/* the rights to write data or add a file, to append or add a folder, to delete children, to
		 * change attributes, to delete, to change rights or the owner */
		{L"O:BAD:(A;;0x2;;;WD)", "nnyn", "it may be changed by "},
		{L"O:BAD:(A;;0x4;;;WD)", "nyyy", "it may be changed by "},
		{L"O:BAD:(A;;0x40;;;WD)", "ynny", "it may be changed by "},
		{L"O:BAD:(A;;0x100;;;WD)", "yyyn", "it may be changed by "},
		{L"O:BAD:(A;;SD;;;WD)", "nnnn", "it may be changed by "},
		{L"O:BAD:(A;;WD;;;WD)", "nnnn", "it may be changed by "},
		{L"O:BAD:(A;;WO;;;WD)", "nnnn", "it may be changed by "},
		{L"O:BAD:(A;;GW;;;WD)", "nnnn", "it may be changed by "},
		/* a right for children alone, and a denial */
		{L"O:BAD:(A;OICIIO;FA;;;WD)", "yyyy", ""},
		{L"O:BAD:(A;OICI;FA;;;WD)", "nnnn", "it may be changed by "},
		{L"O:BAD:(D;;FA;;;WD)", "yyyy", ""},
		{L"O:BAD:(D;;FA;;;AN)(A;;FA;;;WD)", "nnnn", "it may be changed by "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int place = WIN32_FILE; place <= WIN32_LINK; place++) {
			const int result = check(cases[i].text, (enum win32_place)place, why);

			if (result != (cases[i].trusted[place] == 'y' ? 0 : -1))
				fail_msg("case %zu, place %d: %d, %s", i, place, result, why->message);
			if (result) {
				assert_int_equal(why->code, JW_ERR_IO);
				assert_non_null(strstr(why->message, cases[i].why));
			}
		}
}

static void what_cannot_be_asked_is_not_trusted(void **state)
{
	(void)state;
	assert_int_equal(check(NULL, WIN32_FILE, NULL), -1);
}

/* ---- a temporary folder of an administrator */

static wchar_t asked[2][MAX_PATH]; /* the folders */
static wchar_t *lists[2];          /* the requested access lists */
static size_t asked_count;

/* The first folder exists already: somebody has guessed its name. */
static BOOL WINAPI made_up_folder(const wchar_t *path, SECURITY_ATTRIBUTES *attributes)
{
	assert_true(asked_count < 2);
	wcscpy(asked[asked_count], path);
	assert_non_null(attributes);
	assert_true(ConvertSecurityDescriptorToStringSecurityDescriptorW(
		attributes->lpSecurityDescriptor, SDDL_REVISION_1, DACL_SECURITY_INFORMATION,
		&lists[asked_count], NULL));
	SetLastError(ERROR_ALREADY_EXISTS);
	return asked_count++ > 0;
}

typedef __typeof__(CreateDirectoryW) create_directory;
extern create_directory *const __imp_CreateDirectoryW;
create_directory *const __imp_CreateDirectoryW = made_up_folder;

static void a_folder_for_a_while_is_administrators_alone(void **state)
{
	char *path;

	(void)state;
	if (!jw_is_administrator())
		skip();
	OK(os_make_temp_dir(why, "jitwarm-test", &path));
	assert_int_equal(asked_count, 2);
	assert_true(wcscmp(asked[0], asked[1]) != 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(wcscmp(lists[i], L"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"), 0);
		(void)LocalFree(lists[i]);
	}
	assert_non_null(wcsstr(asked[1], L"jitwarm-test-"));
	mem_free(path);
}
#endif

TEST_PROGRAM
{
#ifdef _WIN32
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_and_lists_decide),
		cmocka_unit_test(a_folder_for_a_while_is_administrators_alone),
		cmocka_unit_test(what_cannot_be_asked_is_not_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return check_skip("these access lists are those of Windows");
#endif
}
