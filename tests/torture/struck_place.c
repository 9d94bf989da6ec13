/* Makes the folder in which commands are tried, and lists these commands. */
#include "struck_place.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "os/env.h"
#include "small_modules.h"
#include "struck_tree.h"

#define TARGET "--target sm_86 --driver 550.163.01"
#define SITE   "env/lib/python3.11/site-packages"

enum { MAX_VARIABLES = 512 };

extern char **environ;

char *struck_folder;
static char *now, *kept, *variables[MAX_VARIABLES];

const char *const struck_before[] = {
	"prime --no-store --jobs 1 k.fatbin",         "key generate", "export -o a.jwpack",
	"tune --apply --scope shell --max-size 2GiB", NULL,
};

const struct struck_line struck_lines[] = {
	/* settings, the machine, what programs need */
	{"doctor --no-probe --json frame", 1, false, true},
	{"doctor --no-probe frame tree", 1, false, false},
	{"doctor --no-probe --report tree", 1, false, true},
	{"CUDA_CACHE_DISABLE=1 doctor --no-probe --json tree", 2, false, false},
	{"CUDA_FORCE_PTX_JIT=1 CUDA_CACHE_MAXSIZE=100 doctor --no-probe tree", 2, false, false},
	{"tune", 0, false, false},
	{"tune --print k8s tree", 0, false, false},
	{"status", 1, false, true},
	{"LC_ALL=ko_KR.UTF-8 status", 1, false, true},
	/* environments and files */
	{"find --json tree", 1, false, true},
	{"find tree", 1, false, true},
	{"find", 1, false, true},
	{"find " TARGET " --json", 1, false, true},
	{"check --json " TARGET " frame==1.2", 1, false, false},
	{"LC_ALL=ko_KR.UTF-8 check tree", 1, false, false},
	{"scan tree", 0, false, false},
	{"scan --json --environment env", 1, false, false},
	{"lint --format github k.fatbin", 2, false, false},
	{"lint --format github --max-start 0s tree", 1, false, false},
	{"lint --json tree", 2, false, false},
	{"prime --dry-run --json --recording r.json", 1, false, false},
	{"prime --dry-run tree", 1, false, false},
	/* the cache and what belongs to it */
	{"cache list", 0, false, false},
	{"cache verify --json", 0, false, false},
	{"store list", 0, false, false},
	{"key list", 0, false, false},
	{"import --dry-run --json --allow-unsigned a.jwpack", 0, false, false},
	{"startup status", 1, false, true},
	{"startup status --json", 1, false, true},
	/* Help */
	{"complete -- prime fr", 0, false, false},
	{"complete -- scan --target ", 0, false, false},
	{"help --man scan", 0, false, false},
	{"help --man --language ko check", 0, false, false},
	{"find --help", 0, false, false},
	{"--help", 0, false, false},
	/* commands that write */
	{"prime --json --jobs 1 tree", 0, true, false},
	{"tune --apply --max-size 3GiB --json", 0, true, false},
	{"tune --undo", 0, true, false},
	{"tune --apply --scope shell --max-size 3GiB", 0, true, true},
	{"tune --apply --scope system --max-size 3GiB", 0, true, true},
	{"tune --print systemd", 0, false, false},
	{"export -o b.jwpack --json", 0, true, false},
	{"export -o b.jwpack --sign k.fatbin", 0, true, false},
	{"import --allow-unsigned a.jwpack", 0, true, false},
	{"cache verify --repair", 0, true, false},
	{"cache clear --yes", 0, true, false},
	{"startup disable", 0, true, false},
	{"run --json -- /bin/true", 0, true, false},
	{"uninstall --json", 0, true, false},
	{NULL, 0, false, false},
};

static void put_module(const char *path, unsigned number)
{
	char text[SMALL_TEXT];

	files_put_text(now, path, small_text(text, number, 80));
}

static void put_environment(void)
{
	struct buf library = make_buf();

	small_put(&library, 1, 80, "");
	small_put(&library, 2, 80, "");
	files_put(now, SITE "/frame/lib.fatbin", library.data, library.size);
	files_put(now, "k.fatbin", library.data, library.size);
	buf_free(&library);
	files_put(now, SITE "/nvidia/a.cubin", "none", 4);
	files_put_text(now, SITE "/frame-1.2.dist-info/METADATA",
				   "Name: frame\nVersion: 1.2\nRequires-Dist: other[more]>=1.0; extra == 'x'\n");
	files_put_text(now, SITE "/frame-1.2.dist-info/RECORD",
				   "frame/lib.fatbin,,\nframe/__init__.py,,\n\"frame/a,b\",,\n");
	files_put_text(now, SITE "/old-0.1.egg-info/PKG-INFO", "Name: old\nVersion: 0.1\n");
	files_put_text(now, SITE "/old-0.1.egg-info/top_level.txt", "frame\n");
	files_put_text(now, "env/pyvenv.cfg", "home = /usr\n");
	files_put_text(now, "env/bin/python3", "");
	files_put_text(now, "env/conda-meta/frame-1.2-0.json",
				   "{\"name\":\"frame\",\"version\":\"1.2\",\"files\":[\"lib/a.fatbin\"]}");
}

/* Makes the places that `find` searches without a name. */
static void put_places(void)
{
	char list[4096];

	put_module("tree/a/k.ptx", 3);
	files_put_text(now, "tree/venv/pyvenv.cfg", "home = /usr\n");
	put_module("tree/venv/lib/python3.11/site-packages/t/k.ptx", 4);
	files_put_text(now, "tree/venv/bin/python3", "");
	files_put_text(now, "home/miniconda3/conda-meta/history", "");
	put_module("home/miniconda3/lib/python3.11/site-packages/t/k.ptx", 5);
	files_put_text(now, "pyenv/versions/3.11.9/bin/python3", "");
	(void)snprintf(list, sizeof list, "%s/env\nrelative\n%s/none\n", now, now);
	files_put_text(now, "home/.conda/environments.txt", list);
}

static void put_recording(void)
{
	char text[4096];

	(void)snprintf(
		text, sizeof text,
		"{\"schema\":\"jitwarm.recording/1\",\"command\":\"a\",\"driver\":{\"version\":"
		"\"550.163.01\",\"cuda\":\"12.4\",\"stamp\":\"Apr  8 202512:10:18\"},\"files\":[{\"path\":"
		"\"%s/tree/a/k.ptx\",\"size_bytes\":12},{\"path\":\"frame/lib.fatbin\",\"package\":"
		"\"frame\",\"version\":\"1.1\",\"size_bytes\":12}],\"modules\":[{\"file\":0,\"form\":"
		"\"link\",\"target\":\"sm_86\",\"key\":\"00000000000000ff\",\"key_bytes\":99,"
		"\"container\":0,\"offset\":0,\"size_bytes\":50,\"blake2b_256\":"
		"\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"options\":\"\","
		"\"seconds\":1.25,\"measured\":true,\"known_before\":false}],\"not_in_files\":[]}\n",
		now);
	files_put_text(now, "r.json", text);
}

static void set_inside(const char *variable, const char *name)
{
	char *path = os_join(now, name);

	OK(os_env_set(why, variable, path));
	mem_free(path);
}

static void set_variables(void)
{
	static const char *const none[] = {
		"XDG_CONFIG_HOME", "XDG_STATE_HOME",     "XDG_CACHE_HOME", "CUDA_CACHE_MAXSIZE",
		"ZDOTDIR",         "CUDA_CACHE_DISABLE", "PYTHONPATH",     "CUDA_FORCE_PTX_JIT",
		"VIRTUAL_ENV",     "SUDO_USER",          "CONDA_EXE",      "CONDA_ENVS_PATH",
		"WORKON_HOME",     "PIPX_HOME",          "UV_TOOL_DIR",    "CUDA_VISIBLE_DEVICES"};
	static const char *const inside[][2] = {{"HOME", "home"},
											{"JITWARM_STATE", "state"},
											{"JITWARM_SYSTEM_ROOT", "root"},
											{"CONDA_PREFIX", "env"},
											{"CUDA_CACHE_PATH", "cache"},
											{"XDG_RUNTIME_DIR", "run"},
											{"PYENV_ROOT", "pyenv"},
											{"PATH", "bin"},
											{"JITWARM_FRAMEWORKS", "none"}};

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		OK(os_env_set(why, none[i], NULL));
	for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
		set_inside(inside[i][0], inside[i][1]);
	OK(os_env_set(why, "SHELL", "/bin/bash"));
	OK(os_env_set(why, "LC_ALL", "C.UTF-8"));
	OK(os_env_set(why, "NO_COLOR", "1"));
	/* Only calls for the command's own files count: some commands look at every process of the
	 * machine. */
	for (size_t i = 0; environ[i] && i + 1 < MAX_VARIABLES; i++)
		variables[i] = mem_string(environ[i]);
}

int struck_place_make(void **unused)
{
	/* In memory, no trial waits for a disk. */
	if (!access("/dev/shm", W_OK) && os_env_set(NULL, "TMPDIR", "/dev/shm"))
		return -1;
	if (make_folder(unused))
		return -1;
	struck_folder = now = os_join(folder, "now");
	kept = os_join(folder, "kept");
	put_environment();
	put_places();
	put_recording();
	files_put_text(now, "root/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n");
	files_put_text(now, "home/.profile", "export CUDA_CACHE_MAXSIZE=1000\nCUDA_CACHE_DISABLE=0\n");
	files_put_text(now, "home/.cache/torch/a", "12345");
	files_put_text(now, "run/a", "");
	set_variables();
	return 0;
}

void struck_place_keep(void)
{
	tree_copy(now, kept);
}

void struck_place_again(void)
{
	assert_int_equal(chdir("/"), 0);
	tree_remove(now);
	tree_copy(kept, now);
}

void struck_place_renew(void)
{
	assert_int_equal(clearenv(), 0);
	for (size_t i = 0; variables[i]; i++)
		assert_int_equal(putenv(variables[i]), 0);
	assert_int_equal(chdir(now), 0);
}

int struck_place_remove(void **unused)
{
	/* The variables stay: the program that counts branches asks for its own at the end. */
	assert_int_equal(chdir("/"), 0);
	mem_free(now);
	mem_free(kept);
	return remove_folder(unused);
}
