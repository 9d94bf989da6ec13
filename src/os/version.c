#include <lz4.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <sodium.h>
#include <uv.h>
#include <zstd.h>

#include <jitwarm/version.h>

#include "os/archive.h"

#define NUMBER_TEXT(x) #x
#define NUMBER(x)      NUMBER_TEXT(x)

const char *jw_version(void)
{
	return NUMBER(JW_VERSION_MAJOR) "." NUMBER(JW_VERSION_MINOR) "." NUMBER(JW_VERSION_PATCH);
}

const char *jw_build_compiler(void)
{
#if defined(__clang__)
	return "clang " NUMBER(__clang_major__) "." NUMBER(__clang_minor__) "." NUMBER(
		__clang_patchlevel__);
#elif defined(__MINGW64__)
	return "mingw-w64 gcc " NUMBER(__GNUC__) "." NUMBER(__GNUC_MINOR__) "." NUMBER(
		__GNUC_PATCHLEVEL__);
#else
	return "gcc " NUMBER(__GNUC__) "." NUMBER(__GNUC_MINOR__) "." NUMBER(__GNUC_PATCHLEVEL__);
#endif
}

const char *jw_build_type(void)
{
	return JITWARM_BUILD_TYPE;
}

const char *jw_platform(void)
{
	return JITWARM_PLATFORM;
}

/* Finds the number in "libarchive 3.6.2". */
static const char *archive_number(void)
{
	const char *text;

	if (os_archive_load(NULL))
		return "missing";
	text = os_archive()->version_string();
	return text + strcspn(text, "0123456789");
}

static const struct {
	const char *name;
	const char *(*version)(void); /* of the running library, which may differ from the one compiled
									 with */
} components[] = {
	{"cJSON", cJSON_Version},
	{"libarchive", archive_number},
	{"libsodium", sodium_version_string},
	{"libuv", uv_version_string},
	{"lz4", LZ4_versionString},
	{"zstd", ZSTD_versionString},
};

bool jw_component_at(size_t index, struct jw_component *ret_component)
{
	if (index >= sizeof components / sizeof *components)
		return false;
	*ret_component = (struct jw_component){components[index].name, components[index].version()};
	return true;
}
