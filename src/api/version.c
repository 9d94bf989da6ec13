#include <jitwarm/version.h>

#include <archive.h>
#include <cjson/cJSON.h>
#include <lz4.h>
#include <sodium.h>
#include <uv.h>
#include <zstd.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *jw_version(void)
{
	return JITWARM_VERSION;
}

const char *jw_compiler(void)
{
#if defined(__clang__)
	return "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__);
#elif defined(__MINGW64__)
	return "mingw-w64 gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__);
#else
	return "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__);
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

/* libarchive says "libarchive 3.6.2". */
static const char *archive_number(void)
{
	const char *text = archive_version_string();

	while (*text && (*text < '0' || *text > '9'))
		text++;
	return text;
}

const struct jw_component *jw_components(size_t *ret_count)
{
	static struct jw_component components[6];

	components[0] = (struct jw_component){"cJSON", cJSON_Version()};
	components[1] = (struct jw_component){"libarchive", archive_number()};
	components[2] = (struct jw_component){"libsodium", sodium_version_string()};
	components[3] = (struct jw_component){"libuv", uv_version_string()};
	components[4] = (struct jw_component){"lz4", LZ4_versionString()};
	components[5] = (struct jw_component){"zstd", ZSTD_versionString()};
	*ret_count = sizeof components / sizeof *components;
	return components;
}
