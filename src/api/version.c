#include <jitwarm/version.h>

#include <archive.h>
#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <lz4.h>
#include <sodium.h>
#include <uv.h>
#include <zstd.h>

#define NUMBER_TEXT(x) #x
#define NUMBER(x)      NUMBER_TEXT(x)

const char *jw_version(void)
{
	return JITWARM_VERSION;
}

const char *jw_compiler(void)
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
	static struct jw_component components[7];

	components[0] = (struct jw_component){"cJSON", cJSON_Version()};
	components[1] = (struct jw_component){"libarchive", archive_number()};
	components[2] = (struct jw_component){"libcurl", curl_version_info(CURLVERSION_NOW)->version};
	components[3] = (struct jw_component){"libsodium", sodium_version_string()};
	components[4] = (struct jw_component){"libuv", uv_version_string()};
	components[5] = (struct jw_component){"lz4", LZ4_versionString()};
	components[6] = (struct jw_component){"zstd", ZSTD_versionString()};
	*ret_count = sizeof components / sizeof *components;
	return components;
}
