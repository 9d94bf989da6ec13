#include <stdarg.h>
#include <string.h>

#include <jitwarm/version.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/constraints.h"
#include "cli/next_step.h"
#include "cli/terminal.h"

/* Appends a text in ASCII, on one line: what has no sign there becomes a question mark. */
static void add_ascii(struct buf *text, const char *from)
{
	const size_t size = strlen(from);

	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		const size_t length = text_utf8_next(from + at, size - at, &point);
		const char *sign = length ? terminal_ascii(point) : NULL;

		if (sign)
			buf_add(text, "%s", sign);
		else
			buf_add(text, "%c", length == 1 && point >= ' ' && point < 0x7f ? (char)point : '?');
		at += length ? length : 1;
	}
}

/* Appends a comment line. */
static void add_comment(struct buf *text, const struct buf *line)
{
	buf_add(text, line->size ? "# " : "#");
	add_ascii(text, buf_text(line));
	buf_add(text, "\n");
}

static void add_head(struct buf *text, const char *format, ...) JW_PRINTF(2, 3);
static void add_head(struct buf *text, const char *format, ...)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);
	va_list list;
	char *made;

	va_start(list, format);
	made = mem_vprintf(format, list);
	va_end(list);
	buf_add(&line, "%s", made);
	add_comment(text, &line);
	mem_free(made);
	buf_free(&line);
}

/* Returns the command that makes the file again, with another index if `label` is not NULL; the
 * caller frees it. */
static char *command_of(const struct constraints_about *about, const char *label)
{
	static const char *const kept[] = {"target", "driver", "platform",     "python",
									   "index",  "format", "requirements", NULL};
	struct buf command = BUF_MAX(NEXT_STEP_MAX);

	buf_add(&command, "jitwarm which --constraints");
	next_step_keep(&command, &about->cli->options, kept);
	if (label) {
		buf_add(&command, " --index");
		shell_add_word(&command, label);
	}
	next_step_names(&command, &about->cli->options);
	return next_step_take(&command);
}

/* Writes what the file is for. */
static void add_subject(struct buf *text, const struct constraints_about *about,
						const struct jw_constraints *constraints)
{
	struct buf line = BUF_MAX(NEXT_STEP_MAX);
	char gpu[GPUS_MARKETED], driver[JW_DRIVER_TEXT];
	char *command = command_of(about, NULL);

	for (size_t i = 0; i < about->gpus->count; i++)
		buf_add(&line, "%s%s", i ? ", " : "GPU: ",
				gpu_targets_marketed(gpu, &about->cli->out, about->gpus->targets[i],
									 about->cli->system));
	add_comment(text, &line);
	add_head(text, "driver: %s; platform: %s; Python: %s; list as of %s",
			 about->gpus->driver.cuda ? jw_driver_text(driver, &about->gpus->driver) : "the newest",
			 about->platform, about->python ? about->python : "all", constraints->date);
	add_head(text, "made by: %s", command);
	mem_free(command);
	buf_free(&line);
}

/* Writes the ways to use the file, and which index it holds for. */
static void add_use(struct buf *text, const struct constraints_about *about,
					const struct jw_constraints *constraints)
{
	struct buf word = BUF_MAX(NEXT_STEP_MAX);
	const char *file = about->path ? about->path : "gpu.txt";
	char *more = constraints->newer_label ? command_of(about, constraints->newer_label) : NULL;

	shell_add_word(&word, file);
	if (about->for_uv) {
		add_head(text, "Put these lines into pyproject.toml, for uv lock, uv sync and uv run.");
	} else if (constraints->address) {
		add_head(text, "once:                 pip install -c%s --extra-index-url %s PACKAGE",
				 buf_text(&word), constraints->address);
	} else {
		add_head(text, "once:                 pip install -c%s PACKAGE   (or uv pip install)",
				 buf_text(&word));
	}
	if (!about->for_uv) {
		/* A name that a shell needs quotes for is no path for pip here: it splits the value at
		 * blanks. */
		const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
				   *name = strcmp(buf_text(&word) + 1, file) ? "FILE" : base;

		add_head(text, "in an environment:    pip config --site set global.constraint /PATH/%s",
				 name);
		add_head(text, "in a shell or image:  PIP_CONSTRAINT=/PATH/%s and UV_CONSTRAINT=/PATH/%s",
				 name, name);
	}
	add_head(text, "%s", "");
	if (constraints->label) {
		add_head(text, "The pins with +%s hold for %s, the other lines for PyPI.",
				 constraints->label,
				 constraints->address ? constraints->address : "PyTorch's index");
		add_head(text, "A package that requires another torch does not resolve with them.");
	} else {
		add_head(text, "This file holds for PyPI, and not for builds of other indexes.");
	}
	if (more)
		add_head(text, "PyTorch's index has a newer build that runs, %s: %s", constraints->newer,
				 more);
	mem_free(more);
	buf_free(&word);
}

void constraints_write(struct buf *text, const struct constraints_about *about,
					   const struct jw_constraints *constraints)
{
	size_t lines = 0;

	buf_add(text, JW_CONSTRAINTS_HEAD " %s\n", jw_version());
	add_subject(text, about, constraints);
	add_head(text, "%s", "");
	add_use(text, about, constraints);
	if (about->for_uv)
		buf_add(text, "[tool.uv]\nconstraint-dependencies = [\n");
	for (size_t i = 0; i < constraints->count; i++) {
		const struct jw_constraint *row = &constraints->rows[i];

		lines += row->constraint != NULL;
		if (!row->constraint)
			buf_add(text, "# %s: ", row->package);
		else if (about->for_uv)
			buf_add(text, "    \"%s\",  # ", row->constraint);
		else
			buf_add(text, "%s  # ", row->constraint);
		add_ascii(text, row->reason);
		buf_add(text, "\n");
	}
	if (about->for_uv)
		buf_add(text, "]\n");
	else if (!lines)
		add_head(text, "Each listed release runs, or is unknown: there is nothing to leave out.");
}
