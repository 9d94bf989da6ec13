#include "setup/lines.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "setup/jit_caches.h"

/* Refuses characters that would need quoting, which the readers of such files undo in different
 * ways. */
static int refuse_path(struct jw_error *err, const char *path, const char *characters,
					   const char *where)
{
	size_t at = strcspn(path, characters);

	if (path[at])
		return error_set(err, JW_ERR_USAGE,
						 "%s: a path with the character “%c” cannot be written in %s", path,
						 path[at] == '\n' ? ' ' : path[at], where);
	return 0;
}

/* Returns whether a character ends a PowerShell word in single quotes: "'", and U+2018 to U+201B.
 * Source: its CharExtensions.IsSingleQuote. */
static bool is_single_quote(const char *at)
{
	const uint8_t last = text_starts(at, "\xe2\x80") ? (uint8_t)at[2] : 0;

	return *at == '\'' || (last >= 0x98 && last <= 0x9b);
}

/* Appends `text` between `quote`s; `with` precedes each character of `escape`, and for PowerShell
 * "'" each single quote. */
static int append_quoted(struct jw_error *err, struct buf *buf, const char *text, const char *quote,
						 const char *escape, const char *with)
{
	const bool powershell = *with == '\'' && !with[1];

	if (buf_printf(err, buf, "%s", quote))
		return -1;
	for (; *text; text++)
		if (((powershell ? is_single_quote(text) : strchr(escape, *text) != NULL) &&
			 buf_printf(err, buf, "%s", with)) ||
			buf_append(err, buf, text, 1))
			return -1;
	return buf_printf(err, buf, "%s", quote);
}

enum quoting {
	QUOTE_SH,
	QUOTE_FISH,
	QUOTE_LIST,
	QUOTE_UNIT,
	QUOTE_BAT,
	QUOTE_PS1,
	QUOTE_YAML,
	QUOTE_COMPOSE
};

/* Appends a value for double quotes, and doubles the character that its reader replaces. Sources:
 * systemd.exec(5), Environment=; systemd.syntax(7), quoting; Compose's interpolation. */
static int append_doubled(struct jw_error *err, struct buf *buf, const char *text, char doubled)
{
	for (; *text; text++) {
		const char before = (char)(*text == doubled ? doubled : '\\');

		if ((before == doubled || strchr("\"\\", *text) ? buf_append(err, buf, &before, 1) : 0) ||
			buf_append(err, buf, text, 1))
			return -1;
	}
	return 0;
}

static int append_setting(struct jw_error *err, struct buf *buf, enum quoting quoting,
						  const char *text)
{
	if (refuse_path(err, text, "\n\r", "such a file"))
		return -1;
	switch (quoting) {
	case QUOTE_SH: return append_quoted(err, buf, text, "'", "'", "'\\'");
	case QUOTE_FISH: return append_quoted(err, buf, text, "'", "'\\", "\\");
	case QUOTE_LIST:
		/* pam_env has no escapes, environment.d expands $ and \, and a shell also expands `. */
		if (refuse_path(err, text, "\"'$#\\`", "a list of variables"))
			return -1;
		return buf_printf(err, buf, "%s", text);
	case QUOTE_UNIT: return append_doubled(err, buf, text, '%');
	case QUOTE_BAT:
		return refuse_path(err, text, "\"", "such a file")
				   ? -1
				   : append_quoted(err, buf, text, "", "%", "%");
	case QUOTE_PS1: return append_quoted(err, buf, text, "'", "", "'");
	case QUOTE_COMPOSE: return append_doubled(err, buf, text, '$');
	case QUOTE_YAML: return append_quoted(err, buf, text, "\"", "\"\\", "\\");
	}
	return 0;
}

/* A way in which a file or a program sets variables. In the texts @N is the name of a variable, @V
 * its value, @P the cache's path here and @I its path inside a container; all but @I are quoted. */
struct manner {
	const char *name; /* its name for --print */
	const char *head;
	const char *set;   /* the text for each variable */
	const char *mount; /* the text if a path is requested, whose variable is then @I */
	const char *tail;
	const char *own_path;    /* `head` itself sets the path: this one, or the given one */
	const char *node_path;   /* the path if none is given: a folder of other machines */
	const char *not_in_path; /* characters that its option for a folder takes for its own */
	const char *set_other;   /* for the variable of another compiler's cache; NULL: `set` */
	enum quoting quoting;
};

/* A container's user may have no home. */
static const char inside[] = "/var/cache/ComputeCache", all_inside[] = "/var/cache/jit";

/* Prolog and TaskProlog in one script. As Prolog it must never fail, because that takes the node
 * out of service. As TaskProlog, lines that it prints as “export NAME=VALUE” enter the task's
 * environment as they are, without quotes (slurm.conf(5)); so the file that is read must be root's.
 * Only root writes to the folder of all accounts, by names in the folder that was checked, and
 * never enters other accounts' folders. */
static const char slurm_recipe[] =
	"#!/bin/sh\n# A cache for each account on each node's own disk, by driver and GPU architecture "
	"(docs/many-machines.md). As root on\n# all nodes, as /etc/slurm/jitwarm.sh with mode 755; in "
	"slurm.conf:\n#\n#     Prolog=/etc/slurm/jitwarm.sh\n#     "
	"TaskProlog=/etc/slurm/jitwarm.sh\n#\n# Then, as each account, /shared being a disk that all "
	"nodes have:\n#\n#     jitwarm key generate; mkdir -p -m 1777 /shared/jitwarm\n#     srun "
	"--nodes=1 --ntasks=1 jitwarm prime --store /shared/jitwarm PACKAGE\n#     srun --nodes=4 "
	"--ntasks-per-node=1 jitwarm prime --store /shared/jitwarm PACKAGE\nbase=@P\n# An account that "
	"can write to this folder decides which variables tasks "
	"get, and where root writes; so can one that has made a symlink to it.\nis_roots() { [ "
	"\"$(pwd -P)\" = \"${base%/}\" ] && [ -n \"$(find . -prune -user 0 ! -perm -020 ! -perm "
	"-002 2>/dev/null)\" ]; }\nif [ \"$SLURM_SCRIPT_CONTEXT\" = prolog_task ]; then\n\tcd "
	"\"$base\" 2>/dev/null && is_roots && cache=$(id -u)/$(cat node 2>/dev/null) && mkdir -p "
	"\"$cache\" 2>/dev/null || exit 0\n\tprintf 'export CUDA_CACHE_PATH=%s\\n' \"$base/$cache\"\n";
static const char slurm_recipe_end[] =
	"\texit 0\nfi\n# As root, before a job\numask 022\nexport PATH # Slurm sets none, and timeout "
	"needs it\nmkdir -p \"$base\" && cd \"$base\" || exit 0\nis_roots || { echo \"jitwarm: $base: "
	"not used, since other accounts may write to it, or it is reached by a symlink\" >&2; exit 0; "
	"}\n# If nvidia-smi hangs or "
	"fails, the job uses the driver and GPUs that it reported last.\nfound=$(timeout -k 5 30 "
	"nvidia-smi --query-gpu=driver_version,compute_cap --format=csv,noheader 2>/dev/null) || "
	"found=\nnode=$(printf '%s\\n' \"$found\" | sort -u | tr -d ' ' | tr , - | paste -sd+ - | tr "
	"-cd '[:alnum:].+-')\n[ -n \"$node\" ] || [ -s node ] || node=unknown\n[ -z \"$node\" ] || { "
	"printf '%s\\n' \"$node\" >\"node.$$\" && mv \"node.$$\" node; }\ncase $SLURM_JOB_UID in '' | "
	"*[!0-9]*) exit 0 ;; esac\nmkdir -m 700 \"$SLURM_JOB_UID\" 2>/dev/null\n[ ! -O "
	"\"$SLURM_JOB_UID\" ] || chown \"$SLURM_JOB_UID\" \"$SLURM_JOB_UID\"\nexit 0\n";

#define OWN_FILE "# jitwarm tune wrote this file, and jitwarm tune --undo removes it.\n"

static const struct manner place_manners[PLACE_FORMS] = {
	[PLACE_LIST] = {.head = OWN_FILE, .set = "@N=\"@V\"\n", .quoting = QUOTE_LIST},
	[PLACE_FISH] = {.head = OWN_FILE, .set = "set -gx @N @V\n", .quoting = QUOTE_FISH},
	[PLACE_FISH_LOGIN] = {.head = OWN_FILE "if status is-login\n",
						  .set = "    set -gx @N @V\n",
						  .tail = "end\n",
						  .quoting = QUOTE_FISH},
	[PLACE_SHARED] = {.set = "\n@N=@V", .quoting = QUOTE_LIST},
};

static const struct manner print_manners[] = {
	{.name = "sh", .set = "export @N=@V\n", .quoting = QUOTE_SH},
	{.name = "bash", .set = "export @N=@V\n", .quoting = QUOTE_SH},
	{.name = "zsh", .set = "export @N=@V\n", .quoting = QUOTE_SH},
	{.name = "fish", .set = "set -gx @N @V\n", .quoting = QUOTE_FISH},
	{.name = "cmd", .set = "set \"@N=@V\"\n", .quoting = QUOTE_BAT},
	{.name = "powershell", .set = "$env:@N = @V\n", .quoting = QUOTE_PS1},
	{.name = "docker", .set = "-e @N=@V ", .mount = "-v @P:@I", .tail = "\n", .quoting = QUOTE_SH},
	/* Since version 3.6 Singularity has these options, too; both make no folder on the host. */
	{.name = "apptainer",
	 .head = "--nv ",
	 .set = "--env @N=@V ",
	 .mount = "--bind @P:@I",
	 .tail = "\n",
	 .not_in_path = ",:",
	 .quoting = QUOTE_SH},
	{.name = "compose",
	 .head = "environment:\n",
	 .set = "  @N: \"@V\"\n",
	 .mount = "volumes:\n  - type: bind\n    source: \"@P\"\n    target: @I\n",
	 .quoting = QUOTE_COMPOSE},
	{.name = "k8s",
	 .head = "# for the container\nenv:\n",
	 .set = "  - name: @N\n    value: @V\n",
	 .mount =
		 "volumeMounts:\n  - name: compute-cache\n    mountPath: @I\n# for the pod; the path is a "
		 "folder of each node\nvolumes:\n  - name: compute-cache\n    hostPath:\n      type: "
		 "DirectoryOrCreate\n      path: @P\n",
	 .node_path = "/var/cache/jitwarm",
	 .quoting = QUOTE_YAML},
	{.name = "slurm",
	 .head = slurm_recipe,
	 .set = "\tprintf 'export @N=%s\\n' @V\n",
	 .tail = slurm_recipe_end,
	 .own_path = "/var/cache/jitwarm",
	 .set_other = "\tprintf 'export @N=%s\\n' \"$base/${cache%%/*}/@B\"\n",
	 .quoting = QUOTE_SH},
	{.name = "systemd",
	 .head = "[Service]\n",
	 .set = "Environment=\"@N=@V\"\n",
	 .quoting = QUOTE_UNIT},
	{.name = "conda", .set = "conda env config vars set @N=@V\n", .quoting = QUOTE_SH},
};

struct setting {
	const char *name, *value; /* a NULL value is not requested */
	const char *path;
	const char *below;  /* another compiler's cache: its folder below that of all caches */
	const char *inside; /* the path in a container; NULL: that of the driver's cache */
};

/* Appends `text` with its placeholders replaced; NULL appends nothing. */
static int expand_value(struct jw_error *err, struct buf *buf, const char *text,
						enum quoting quoting, const struct setting *setting)
{
	int result = 0;

	for (; !result && text && *text; text++) {
		if (*text != '@') {
			result = buf_append(err, buf, text, 1);
			continue;
		}
		switch (*++text) {
		case 'N': result = buf_printf(err, buf, "%s", setting->name); break;
		case 'V':
			result = append_setting(err, buf, quoting, setting->value ? setting->value : "");
			break;
		case 'P':
			result = append_setting(err, buf, quoting, setting->path ? setting->path : "");
			break;
		case 'B': result = buf_printf(err, buf, "%s", setting->below); break;
		default: result = buf_printf(err, buf, "%s", setting->inside ? setting->inside : inside);
		}
	}
	return result;
}

static int append_manner(struct jw_error *err, struct buf *buf, const struct manner *manner,
						 const struct setting *settings, size_t count, const char *path)
{
	int result;

	if (path && manner->not_in_path && strpbrk(path, manner->not_in_path))
		return error_set(err, JW_ERR_USAGE,
						 "--print %s: a folder's path must not contain a colon or a comma: %s",
						 manner->name, path);
	result = expand_value(err, buf, manner->head, manner->quoting, settings);
	for (size_t i = 0; !result && i < count; i++)
		if (settings[i].value)
			result = expand_value(
				err, buf, settings[i].below && manner->set_other ? manner->set_other : manner->set,
				manner->quoting, &settings[i]);
	if (!result && path)
		result = expand_value(err, buf, manner->mount, manner->quoting, settings);
	if (!result)
		result = expand_value(err, buf, manner->tail, manner->quoting, settings);
	return result;
}

int place_lines(struct jw_error *err, enum place_form form, uint64_t limit_bytes, const char *path,
				struct buf *text)
{
	char number[24], *stamp;
	int result;

	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)limit_bytes);
	stamp = mem_printf("%s:%s", number, path ? path : "");
	result = append_manner(
		err, text, &place_manners[form],
		(const struct setting[]){
			{.name = "CUDA_CACHE_MAXSIZE", .value = limit_bytes ? number : NULL, .path = path},
			{.name = "CUDA_CACHE_PATH", .value = path, .path = path},
			{.name = "JITWARM_TUNED", .value = stamp, .path = path},
		},
		3, path);
	mem_free(stamp);
	return result;
}

void place_mark(char text[PLACE_MARK], enum jw_scope scope)
{
	(void)snprintf(text, PLACE_MARK, "# jitwarm tune --scope %s", jw_scope_name(scope));
}

int place_marked(struct jw_error *err, const struct setting_place *place, uint64_t limit_bytes,
				 const char *path, struct buf *text)
{
	static const struct manner load = {.head = "if [ -r @P ]; then set -a; . @P; set +a; fi ",
									   .quoting = QUOTE_SH};
	const struct setting file = {.path = place->path};
	char mark[PLACE_MARK];

	place_mark(mark, place->scope);
	if (place->loader)
		return append_manner(err, text, &load, &file, 0, NULL) || buf_printf(err, text, "%s", mark)
				   ? -1
				   : 0;
	return buf_printf(err, text, "%s", mark) ||
				   place_lines(err, place->form, limit_bytes, path, text)
			   ? -1
			   : 0;
}

static int print_manner(struct jw_error *err, struct buf *buf, const struct manner *manner,
						uint64_t limit_bytes, const char *given)
{
	const char *path = given ? given : manner->node_path;
	char number[24];
	const struct setting settings[] = {
		{.name = "CUDA_CACHE_MAXSIZE",
		 .value = limit_bytes ? number : NULL,
		 .path = path ? path : manner->own_path},
		{.name = "CUDA_CACHE_PATH",
		 .value = manner->own_path        ? NULL
				  : path && manner->mount ? inside
										  : path,
		 .path = path},
	};

	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)limit_bytes);
	return append_manner(err, buf, manner, settings, 2, path);
}

/* The driver's cache and those of other compilers in one folder, a container's volume. */
static int print_all(struct jw_error *err, struct buf *buf, const struct manner *manner,
					 uint64_t limit_bytes, const char *directory)
{
	const char *start = manner->mount ? all_inside : directory;
	struct setting *settings = mem_array(jit_cache_count + 2, sizeof *settings);
	char number[24], **values = mem_array(jit_cache_count + 1, sizeof *values);
	int result;

	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)limit_bytes);
	values[jit_cache_count] = mem_printf("%s/ComputeCache", start);
	settings[0] = (struct setting){.name = "CUDA_CACHE_MAXSIZE",
								   .value = limit_bytes ? number : NULL,
								   .path = directory,
								   .inside = all_inside};
	settings[1] = (struct setting){.name = "CUDA_CACHE_PATH",
								   .value = manner->own_path ? NULL : values[jit_cache_count],
								   .path = directory};
	for (size_t i = 0; i < jit_cache_count; i++) {
		values[i] = mem_printf("%s/%s", start, jit_caches[i].below);
		settings[i + 2] = (struct setting){.name = jit_caches[i].variable,
										   .value = values[i],
										   .path = directory,
										   .below = jit_caches[i].below};
	}
	result = append_manner(err, buf, manner, settings, jit_cache_count + 2, directory);
	for (size_t i = 0; i <= jit_cache_count; i++)
		mem_free(values[i]);
	mem_free(values);
	mem_free(settings);
	return result;
}

int jw_tune_print(struct jw_error *err, const char *form, uint64_t limit_bytes, const char *path,
				  const char *all_caches, char **ret_text)
{
	struct buf buf = BUF_MAX(1 << 20);
	char *text = NULL;
	size_t at = 0;

	if (!strcmp(form, "kubernetes"))
		form = "k8s";
	if (!strcmp(form, "singularity"))
		form = "apptainer";
	while (at < sizeof print_manners / sizeof *print_manners &&
		   strcmp(form, print_manners[at].name) != 0)
		at++;
	if (at == sizeof print_manners / sizeof *print_manners)
		error_set(err, JW_ERR_USAGE,
				  "--print %.50s: sh, bash, zsh, fish, cmd, powershell, docker, apptainer, "
				  "compose, k8s, slurm, systemd or conda",
				  form);
	else if (all_caches ? !print_all(err, &buf, &print_manners[at], limit_bytes, all_caches)
						: !print_manner(err, &buf, &print_manners[at], limit_bytes, path))
		text = mem_string(buf_text(&buf));
	buf_free(&buf);
	if (!text)
		return -1;
	*ret_text = text;
	return 0;
}
