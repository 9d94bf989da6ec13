#include "compile/compiler_fetch.h"

#include <stdio.h>
#include <string.h>

#include <jitwarm/compiler.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/folders.h"
#include "os/platform.h"
#include "os/process.h"

enum { MOST_SAID = 1 << 20 };

int compiler_fetch_store(struct jw_error *err, char **ret_path)
{
	bool windows = !strcmp(os_name, "windows");
	char *given = os_env("JITWARM_PTXAS");
	char *cache = os_env(windows ? "LOCALAPPDATA" : "XDG_CACHE_HOME"), *home = NULL, *path = NULL;

	if (given && *given)
		path = mem_string(err, given);
	else if (cache && os_is_absolute(cache))
		path = mem_printf(err, "%s%cjitwarm%cptxas", cache, os_separator, os_separator);
	else if (!os_home_dir(err, &home))
		path = mem_printf(err, "%s/.cache/jitwarm/ptxas", home);
	mem_free(home);
	mem_free(cache);
	mem_free(given);
	if (!path)
		return -1;
	*ret_path = path;
	return 0;
}

/* Source: PyPI; up to CUDA 12 the packages carry the number. */
const char *compiler_fetch_package(char text[64], unsigned major)
{
	(void)snprintf(text, 64, major < 13 ? "nvidia-cuda-nvcc-cu%u" : "nvidia-cuda-nvcc", major);
	return text;
}

/* ---- running python */

/* The last line that is not empty: pip's own reason. */
static void last_line(const struct buf *said, char *line, size_t size)
{
	const char *text = buf_text(said), *end = text + said->size, *start;

	while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	for (start = end; start > text && start[-1] != '\n';)
		start--;
	(void)snprintf(line, size, "%.*s", (int)(end - start < 400 ? end - start : 400), start);
}

static int run(struct jw_error *err, const char *const *arguments, const char *folder)
{
	char *output = os_join(err, folder, "said"), line[512];
	struct buf said = {0};
	struct os_ended ended;
	int result = -1;

	if (!output || os_run(err, arguments, output, &ended))
		goto done;
	if (!ended.status && !ended.signal) {
		result = 0;
		goto done;
	}
	if (os_read_file(err, output, MOST_SAID, &said))
		goto done;
	last_line(&said, line, sizeof line);
	error_set(err, JW_ERR_IO, "python could not do it: %s", *line ? line : "it does not say why");
done:
	if (output)
		(void)os_remove(NULL, output);
	buf_free(&said);
	mem_free(output);
	return result;
}

/* The one program out of the wheel, by the library that every Python has. */
static const char unpack[] =
	"import glob, os, sys, zipfile\n"
	"folder, name = sys.argv[1:]\n"
	"[wheel] = glob.glob(os.path.join(folder, '*.whl'))\n"
	"with zipfile.ZipFile(wheel) as archive:\n"
	"    [member] = [n for n in archive.namelist() if n.endswith('/bin/' + name)]\n"
	"    with open(os.path.join(folder, name), 'wb') as file:\n"
	"        file.write(archive.read(member))\n"
	"os.chmod(os.path.join(folder, name), 0o755)\n"
	"os.remove(wheel)\n";

static int fill(struct jw_error *err, const char *folder, const char *requirement, const char *name)
{
	const char *python = !strcmp(os_name, "windows") ? "python" : "python3";
	const char *const download[] = {python,      "-m",
									"pip",       "download",
									"--quiet",   "--disable-pip-version-check",
									"--no-deps", "--only-binary=:all:",
									"-d",        folder,
									requirement, NULL};
	const char *const extract[] = {python, "-c", unpack, folder, name, NULL};

	if (run(err, download, folder))
		return error_prefix(err, "pip download %s", requirement);
	if (run(err, extract, folder))
		return error_prefix(err, "%s holds no %s", requirement, name);
	return 0;
}

/* ---- one version */

static bool read_version(const char *text, unsigned numbers[3], int *ret_count)
{
	int used[3] = {0};
	size_t end;

	/* NOLINTNEXTLINE(cert-err34-c): so few digits cannot overflow */
	*ret_count = sscanf(text, "%3u%n.%3u%n.%5u%n", &numbers[0], &used[0], &numbers[1], &used[1],
						&numbers[2], &used[2]);
	if (*ret_count < 2 || strspn(text, "0123456789.") != strlen(text))
		return false;
	end = (size_t)used[*ret_count - 1];
	return !text[end] && numbers[0] >= 11;
}

/* Made beside its place and moved there whole. */
static int fetch_into(struct jw_error *err, const char *store, const char *place,
					  const char *requirement, const char *name)
{
	char *fresh = mem_printf(err, "%s%c.new-%llx", store, os_separator,
							 (unsigned long long)os_monotonic_ns());
	struct jw_error why = {0};
	int result = -1;

	if (!fresh)
		return -1;
	if (os_make_dirs(err, fresh, 0755) || fill(err, fresh, requirement, name))
		goto done;
	result = os_rename(&why, fresh, place);
	/* Another one was faster. */
	if (result && os_exists(place))
		result = 0;
	else if (result)
		error_copy(err, &why);
done:
	(void)os_remove_tree(NULL, fresh);
	mem_free(fresh);
	return result;
}

int jw_compiler_fetch(struct jw_error *err, const char *version, char **ret_path)
{
	const char *name = !strcmp(os_name, "windows") ? "ptxas.exe" : "ptxas";
	char *store = NULL, *place = NULL, *path = NULL, *requirement = NULL;
	unsigned numbers[3] = {0};
	char package[64];
	int count = 0, result = -1;

	if (!read_version(version, numbers, &count))
		return error_set(err, JW_ERR_USAGE, "“%.40s” is not a CUDA version (12.4) from 11.0 on",
						 version);
	if (compiler_fetch_store(err, &store))
		return -1;
	place = os_join(err, store, version);
	path = place ? os_join(err, place, name) : NULL;
	requirement = mem_printf(err, count == 3 ? "%s==%s" : "%s==%s.*",
							 compiler_fetch_package(package, numbers[0]), version);
	if (path && requirement &&
		(os_exists(path) || !fetch_into(err, store, place, requirement, name))) {
		*ret_path = path;
		path = NULL;
		result = 0;
	}
	mem_free(requirement);
	mem_free(path);
	mem_free(place);
	mem_free(store);
	return result;
}
