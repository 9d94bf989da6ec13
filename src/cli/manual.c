#include "cli/manual.h"

#include <jitwarm/version.h>

#include "cli/examples.h"
#include "cli/language.h"

/* Text of a paragraph: a backslash becomes \e, a line never starts with a macro, an empty line
 * starts a new paragraph. */
static int append_text(struct jw_error *err, struct buf *buf, const char *text)
{
	bool line_begins = true;

	for (; *text; text++) {
		int failed;

		if (line_begins && (*text == '.' || *text == '\'') && buf_append(err, buf, "\\&", 2))
			return -1;
		if (*text == '\n' && text[1] == '\n') {
			failed = buf_append(err, buf, "\n.Pp\n", 5);
			text++;
		} else if (*text == '\\') {
			failed = buf_append(err, buf, "\\e", 2);
		} else {
			failed = buf_append(err, buf, text, 1);
		}
		if (failed)
			return -1;
		line_begins = *text == '\n';
	}
	return buf_append(err, buf, "\n", 1);
}

static int append_option(struct jw_error *err, struct buf *buf, const struct cli_option *option)
{
	if (buf_printf(err, buf, ".It ") ||
		(option->letter && buf_printf(err, buf, "Fl %c , ", option->letter)) ||
		buf_printf(err, buf, "Fl \\-%s", option->name) ||
		(option->value && buf_printf(err, buf, " Ar %s", option->value)) ||
		buf_append(err, buf, "\n", 1) || append_text(err, buf, language_text(option->help)))
		return -1;
	return 0;
}

static int append_heading(struct jw_error *err, struct buf *buf, const char *title)
{
	return buf_printf(err, buf, ".Ss %s\n.Bl -tag -width Ds\n", language_text(title));
}

/* A list is begun; where it has headings, each begins another one. */
static int append_options(struct jw_error *err, struct buf *buf, const struct cli_option *options)
{
	for (const struct cli_option *at = options; at && at->name; at++)
		if (at->title ? (at != options && buf_printf(err, buf, ".El\n")) ||
							append_heading(err, buf, at->title)
					  : !at->hidden && append_option(err, buf, at))
			return -1;
	return 0;
}

static int append_all_options(struct jw_error *err, struct buf *buf, const struct cli_option *own)
{
	const bool grouped = options_grouped(own);

	if (buf_printf(err, buf, "%s\n", language_text(".Sh OPTIONS")) ||
		(!grouped && buf_printf(err, buf, ".Bl -tag -width Ds\n")) ||
		append_options(err, buf, own) ||
		(grouped &&
		 (buf_printf(err, buf, ".El\n") || append_heading(err, buf, options_common_title))) ||
		append_options(err, buf, options_common) || buf_printf(err, buf, ".El\n"))
		return -1;
	return 0;
}

static int append_dashed(struct jw_error *err, struct buf *buf, const char *name)
{
	for (; *name; name++)
		if (buf_append(err, buf, *name == ' ' ? "-" : name, 1))
			return -1;
	return 0;
}

static int append_head(struct jw_error *err, struct buf *buf, const struct cli_command *command)
{
	if (buf_printf(err, buf, ".Dd $Mdocdate$\n.Dt JITWARM-") ||
		append_dashed(err, buf, command->name) ||
		buf_printf(err, buf, " 1\n.Os jitwarm %s\n%s\n.Nm jitwarm-", jw_version(),
				   language_text(".Sh NAME")) ||
		append_dashed(err, buf, command->name) ||
		buf_printf(err, buf, "\n.Nd %s\n%s\n.Nm jitwarm %s\n", language_text(command->summary),
				   language_text(".Sh SYNOPSIS"), command->name))
		return -1;
	return *command->usage ? append_text(err, buf, command->usage) : 0;
}

/* They are copied: a hyphen and a tilde are those of the keyboard. */
static int append_examples(struct jw_error *err, struct buf *buf, const char *lines)
{
	if (!*lines)
		return 0;
	if (buf_printf(err, buf, "%s\n.Bd -literal -offset indent\n", language_text(".Sh EXAMPLES")))
		return -1;
	for (; *lines; lines++)
		if (*lines == '-'   ? buf_printf(err, buf, "\\-")
			: *lines == '~' ? buf_printf(err, buf, "\\(ti")
							: buf_append(err, buf, lines, 1))
			return -1;
	return buf_printf(err, buf, ".Ed\n");
}

int manual_page(struct jw_error *err, struct buf *buf, const struct cli_command *command)
{
	if (append_head(err, buf, command) ||
		buf_printf(err, buf, "%s\n", language_text(".Sh DESCRIPTION")) ||
		append_text(err, buf, language_text(command->description)) ||
		append_all_options(err, buf, command->options) ||
		buf_printf(err, buf, "%s\n%s\n", language_text(".Sh EXIT STATUS"),
				   language_text("0 done, or warm; 1 cold, or a part is left undone; 2 jitwarm "
								 "cannot help, and has said why; 3 failed; 64 wrong usage.")))
		return -1;
	if (append_examples(err, buf, examples_of(command)) ||
		buf_printf(err, buf, "%s\n.Xr jitwarm 1\n", language_text(".Sh SEE ALSO")))
		return -1;
	return 0;
}
