/* The lines that set variables, in the manner of each file and program. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tune/setting_places.h"

/* ---- quoting */

/* Characters that would need quoting which not every reader of such files undoes alike. */
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

/* `text` between `quote`s; each character of `escape` with `with` before it. */
static int append_escaped(struct jw_error *err, struct buf *buf, const char *text,
						  const char *quote, const char *escape, const char *with)
{
	if (buf_printf(err, buf, "%s", quote))
		return -1;
	for (; *text; text++)
		if ((strchr(escape, *text) && buf_printf(err, buf, "%s", with)) ||
			buf_append(err, buf, text, 1))
			return -1;
	return buf_printf(err, buf, "%s", quote);
}

enum quoting { QUOTE_SH, QUOTE_FISH, QUOTE_LIST, QUOTE_UNIT, QUOTE_BAT, QUOTE_PS1, QUOTE_YAML };

/* Within double quotes. Source: systemd.exec(5), Environment=; systemd.syntax(7), quoting. */
static int append_unit_value(struct jw_error *err, struct buf *buf, const char *text)
{
	for (; *text; text++) {
		const char *before = *text == '%' ? "%" : strchr("\"\\", *text) ? "\\" : "";

		if (buf_printf(err, buf, "%s%c", before, *text))
			return -1;
	}
	return 0;
}

static int append_value(struct jw_error *err, struct buf *buf, enum quoting quoting,
						const char *text)
{
	if (refuse_path(err, text, "\n\r", "such a file"))
		return -1;
	switch (quoting) {
	case QUOTE_SH: return append_escaped(err, buf, text, "'", "'", "'\\'");
	case QUOTE_FISH: return append_escaped(err, buf, text, "'", "'\\", "\\");
	case QUOTE_LIST:
		/* pam_env knows no escapes, environment.d expands $ and \. */
		return refuse_path(err, text, "\"'$#\\", "a list of variables") ||
			   buf_printf(err, buf, "%s", text);
	case QUOTE_UNIT: return append_unit_value(err, buf, text);
	case QUOTE_BAT: return append_escaped(err, buf, text, "", "%", "%");
	case QUOTE_PS1: return append_escaped(err, buf, text, "'", "'", "'");
	case QUOTE_YAML: return append_escaped(err, buf, text, "\"", "\"\\", "\\");
	}
	return 0;
}

/* before NAME middle VALUE after */
struct line {
	const char *before, *middle, *after;
	enum quoting quoting;
};

static int append_line(struct jw_error *err, struct buf *buf, const struct line *line,
					   const char *name, const char *value)
{
	return buf_printf(err, buf, "%s%s%s", line->before, name, line->middle) ||
				   append_value(err, buf, line->quoting, value) ||
				   buf_printf(err, buf, "%s", line->after)
			   ? -1
			   : 0;
}

/* Both variables, each where it is asked for. */
static int append_lines(struct jw_error *err, struct buf *buf, const struct line *line,
						uint64_t limit_bytes, const char *path)
{
	char number[24];

	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)limit_bytes);
	if (limit_bytes && append_line(err, buf, line, "CUDA_CACHE_MAXSIZE", number))
		return -1;
	return path ? append_line(err, buf, line, "CUDA_CACHE_PATH", path) : 0;
}

/* ---- files */

static const struct line sh = {"export ", "=", "\n", QUOTE_SH},
						 fish = {"set -gx ", " ", "\n", QUOTE_FISH},
						 fish_login = {"    set -gx ", " ", "\n", QUOTE_FISH},
						 list = {"", "=", "\n", QUOTE_LIST},
						 unit = {"Environment=\"", "=", "\"\n", QUOTE_UNIT},
						 bat = {"set \"", "=", "\"\n", QUOTE_BAT},
						 ps1 = {"$env:", " = ", "\n", QUOTE_PS1};

/* conda's scripts also keep the former value and restore it. Each line has the name four times at
 * most. */
static int append_kept(struct jw_error *err, struct buf *buf, enum place_form form,
					   uint64_t limit_bytes, const char *path)
{
	static const char *const names[] = {"CUDA_CACHE_MAXSIZE", "CUDA_CACHE_PATH"};
	const bool wanted[] = {limit_bytes != 0, path != NULL};
	int result = 0;

	for (size_t i = 0; !result && i < 2; i++) {
		const char *n = names[i];

		if (!wanted[i])
			continue;
		switch ((int)form) {
		case PLACE_ACTIVATE_SH:
			result = buf_printf(err, buf, "[ -z \"${%s+x}\" ] || export JITWARM_KEPT_%s=\"$%s\"\n",
								n, n, n);
			break;
		case PLACE_DEACTIVATE_SH:
			result = buf_printf(err, buf,
								"unset %s\n[ -z \"${JITWARM_KEPT_%s+x}\" ] || { export "
								"%s=\"$JITWARM_KEPT_%s\"; unset JITWARM_KEPT_%s; }\n",
								n, n, n, n, n);
			break;
		case PLACE_ACTIVATE_FISH:
			result = buf_printf(err, buf, "set -q %s; and set -gx JITWARM_KEPT_%s $%s\n", n, n, n);
			break;
		case PLACE_DEACTIVATE_FISH:
			result = buf_printf(err, buf,
								"set -e %s\nset -q JITWARM_KEPT_%s; and set -gx %s "
								"$JITWARM_KEPT_%s; and set -e JITWARM_KEPT_%s\n",
								n, n, n, n, n);
			break;
		case PLACE_ACTIVATE_BAT:
			result =
				buf_printf(err, buf, "if defined %s set \"JITWARM_KEPT_%s=%%%s%%\"\n", n, n, n);
			break;
		case PLACE_DEACTIVATE_BAT:
			result = buf_printf(
				err, buf, "set \"%s=%%JITWARM_KEPT_%s%%\"\nset \"JITWARM_KEPT_%s=\"\n", n, n, n);
			break;
		case PLACE_ACTIVATE_PS1:
			result = buf_printf(err, buf, "$env:JITWARM_KEPT_%s = $env:%s\n", n, n);
			break;
		case PLACE_DEACTIVATE_PS1:
			result = buf_printf(err, buf,
								"$env:%s = $env:JITWARM_KEPT_%s\n$env:JITWARM_KEPT_%s = $null\n", n,
								n, n);
			break;
		default: break;
		}
	}
	return result;
}

int place_lines(struct jw_error *err, enum place_form form, uint64_t limit_bytes, const char *path,
				struct buf *text)
{
	if (append_kept(err, text, form, limit_bytes, path))
		return -1;
	switch (form) {
	case PLACE_SH:
	case PLACE_ACTIVATE_SH: return append_lines(err, text, &sh, limit_bytes, path);
	case PLACE_FISH:
	case PLACE_ACTIVATE_FISH: return append_lines(err, text, &fish, limit_bytes, path);
	case PLACE_FISH_LOGIN:
		return buf_printf(err, text, "if status is-login\n") ||
					   append_lines(err, text, &fish_login, limit_bytes, path) ||
					   buf_printf(err, text, "end\n")
				   ? -1
				   : 0;
	case PLACE_LIST: return append_lines(err, text, &list, limit_bytes, path);
	case PLACE_UNIT:
		return buf_printf(err, text, "[Service]\n")
				   ? -1
				   : append_lines(err, text, &unit, limit_bytes, path);
	case PLACE_ACTIVATE_BAT: return append_lines(err, text, &bat, limit_bytes, path);
	case PLACE_ACTIVATE_PS1: return append_lines(err, text, &ps1, limit_bytes, path);
	case PLACE_DEACTIVATE_SH:
	case PLACE_DEACTIVATE_FISH:
	case PLACE_DEACTIVATE_BAT:
	case PLACE_DEACTIVATE_PS1:
	case PLACE_FORMS: break;
	}
	return 0;
}

/* ---- other programs' */

/* Where a container has the cache: its user may have no home. */
static const char inside[] = "/var/cache/ComputeCache";

static int print_docker(struct jw_error *err, struct buf *buf, uint64_t limit_bytes,
						const char *path)
{
	static const struct line e = {"-e ", "=", " ", QUOTE_SH};

	if (append_lines(err, buf, &e, limit_bytes, path ? inside : NULL))
		return -1;
	if (path && (buf_printf(err, buf, "-v ") || append_value(err, buf, QUOTE_SH, path) ||
				 buf_printf(err, buf, ":%s", inside)))
		return -1;
	return buf_printf(err, buf, "\n");
}

static int print_compose(struct jw_error *err, struct buf *buf, uint64_t limit_bytes,
						 const char *path)
{
	static const struct line entry = {"  ", ": ", "\n", QUOTE_YAML};

	if (buf_printf(err, buf, "environment:\n") ||
		append_lines(err, buf, &entry, limit_bytes, path ? inside : NULL))
		return -1;
	if (!path)
		return 0;
	return buf_printf(err, buf, "volumes:\n  - type: bind\n    source: ") ||
				   append_value(err, buf, QUOTE_YAML, path) ||
				   buf_printf(err, buf, "\n    target: %s\n", inside)
			   ? -1
			   : 0;
}

static int print_k8s(struct jw_error *err, struct buf *buf, uint64_t limit_bytes, const char *path)
{
	static const struct line entry = {"  - name: ", "\n    value: ", "\n", QUOTE_YAML};

	if (buf_printf(err, buf, "# of the container\nenv:\n") ||
		append_lines(err, buf, &entry, limit_bytes, path ? inside : NULL))
		return -1;
	if (!path)
		return 0;
	return buf_printf(err, buf,
					  "volumeMounts:\n  - name: compute-cache\n    mountPath: %s\n# of the "
					  "pod\nvolumes:\n  - name: compute-cache\n    hostPath:\n      type: "
					  "DirectoryOrCreate\n      path: ",
					  inside) ||
				   append_value(err, buf, QUOTE_YAML, path) || buf_printf(err, buf, "\n")
			   ? -1
			   : 0;
}

int jw_tune_print(struct jw_error *err, const char *form, uint64_t limit_bytes, const char *path,
				  char **ret_text)
{
	static const struct line conda = {"conda env config vars set ", "=", "\n", QUOTE_SH};
	/* TaskProlog: lines that it prints in this form enter the environment of the task. */
	static const struct line slurm = {"echo export ", "=", "\n", QUOTE_SH};
	static const struct {
		const char *name;
		const struct line *line;
	} simple[] = {{"sh", &sh},          {"fish", &fish},   {"cmd", &bat},
				  {"powershell", &ps1}, {"conda", &conda}, {"slurm", &slurm}};
	struct buf buf = BUF_MAX(1 << 20);
	char *text;
	int result = -1;

	for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
		if (!strcmp(form, simple[i].name)) {
			result = append_lines(err, &buf, simple[i].line, limit_bytes, path);
			goto done;
		}
	if (!strcmp(form, "docker"))
		result = print_docker(err, &buf, limit_bytes, path);
	else if (!strcmp(form, "compose"))
		result = print_compose(err, &buf, limit_bytes, path);
	else if (!strcmp(form, "k8s"))
		result = print_k8s(err, &buf, limit_bytes, path);
	else if (!strcmp(form, "systemd"))
		result = place_lines(err, PLACE_UNIT, limit_bytes, path, &buf);
	else
		error_set(err, JW_ERR_USAGE,
				  "--print %.50s: sh, fish, cmd, powershell, docker, compose, k8s, slurm, systemd "
				  "or conda",
				  form);
done:
	text = result ? NULL : mem_string(err, buf_text(&buf));
	buf_free(&buf);
	if (!text)
		return -1;
	*ret_text = text;
	return 0;
}
