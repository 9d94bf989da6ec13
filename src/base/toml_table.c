#include "base/toml_table.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"

enum { MAX_VALUES = 1000, MAX_ITEMS = 10000, MAX_TEXT = 1 << 20 };

struct toml {
	const char *at;
	size_t line;
	struct toml_table *table; /* owns its values */
};

/* White space and comments; with `lines`, line ends too. */
static void skip(struct toml *toml, bool lines)
{
	for (;;) {
		if (*toml->at == ' ' || *toml->at == '\t' || *toml->at == '\r') {
			toml->at++;
		} else if (*toml->at == '#') {
			toml->at += strcspn(toml->at, "\n");
		} else if (lines && *toml->at == '\n') {
			toml->at++;
			toml->line++;
		} else {
			return;
		}
	}
}

static int fail_line(struct jw_error *err, const struct toml *toml, const char *what)
{
	return error_set(err, JW_ERR_FORMAT, "line %zu: %s", toml->line, what);
}

static int read_string(struct jw_error *err, struct toml *toml, struct buf *text)
{
	static const char escapes[] = "\"\"\\\\n\nt\tr\r",
					  unclosed[] = "a string without its closing quote";
	const char quote = *toml->at++;

	if (toml->at[0] == quote && toml->at[1] == quote)
		return fail_line(err, toml, "jitwarm reads no strings of several lines");
	for (; *toml->at != quote; toml->at++) {
		char c = *toml->at;

		if (!c || c == '\n')
			return fail_line(err, toml, unclosed);
		if (c == '\\' && quote == '"') {
			const char *escape = escapes;

			toml->at++;
			while (*escape && *escape != *toml->at)
				escape += 2;
			if (!*toml->at || !*escape)
				return fail_line(err, toml, "an escape sequence that jitwarm does not read");
			c = escape[1];
		}
		if (buf_append(err, text, &c, 1))
			return -1;
	}
	toml->at++;
	return 0;
}

static int read_item(struct jw_error *err, struct toml *toml, struct toml_value *value)
{
	struct buf text = BUF_MAX(MAX_TEXT);
	size_t length;
	int result = 0;

	if (*toml->at == '"' || *toml->at == '\'') {
		value->text = value->text || !value->count;
		result = read_string(err, toml, &text);
	} else {
		length = strcspn(toml->at, " \t\r\n,]#={}[\"'");
		if (!length)
			return fail_line(err, toml, "a value that jitwarm does not read");
		result = buf_append(err, &text, toml->at, length);
		toml->at += length;
	}
	if (!result)
		arena_add_string(toml->table, &value->items, &value->count, MAX_ITEMS, buf_text(&text));
	buf_free(&text);
	return result;
}

static int read_value(struct jw_error *err, struct toml *toml, struct toml_value *value)
{
	skip(toml, false);
	if (*toml->at != '[')
		return read_item(err, toml, value);
	toml->at++;
	for (skip(toml, true); *toml->at != ']'; skip(toml, true)) {
		if (read_item(err, toml, value))
			return -1;
		skip(toml, true);
		if (*toml->at == ',')
			toml->at++;
		else if (*toml->at != ']')
			return fail_line(err, toml, "an array without its closing bracket");
	}
	toml->at++;
	return 0;
}

static int read_pair(struct jw_error *err, struct toml *toml)
{
	struct toml_table *table = toml->table;
	const size_t length = strcspn(toml->at, " \t\r\n=#\"'.[]");
	struct toml_value *value;

	if (!length)
		return fail_line(err, toml, "a key that jitwarm does not read");
	if (ARENA_ROOM(NULL, table, table->values, table->capacity, table->count, MAX_VALUES))
		return fail_line(err, toml, "too many values");
	value = &table->values[table->count++];
	*value = (struct toml_value){.key = arena_keep(table, mem_string_n(toml->at, length)),
								 .line = toml->line};
	toml->at += length;
	skip(toml, false);
	if (*toml->at != '=')
		return fail_line(err, toml, "a key without a value");
	toml->at++;
	if (read_value(err, toml, value))
		return -1;
	skip(toml, false);
	return *toml->at && *toml->at != '\n' ? fail_line(err, toml, "text after a value") : 0;
}

/* Returns whether a line of another table begins or ends a string of several lines. */
static bool has_odd_quotes(const char *line, size_t length)
{
	bool odd = false;

	for (size_t i = 0; i + 2 < length; i++)
		if ((line[i] == '"' || line[i] == '\'') && line[i + 1] == line[i] &&
			line[i + 2] == line[i]) {
			odd = !odd;
			i += 2;
		}
	return odd;
}

int toml_table_read(struct jw_error *err, const char *text, const char *name,
					struct toml_table **ret_table)
{
	struct toml toml = {text, 1, arena_open(sizeof *toml.table)};
	const size_t name_length = strlen(name);
	bool inside = false, in_string = false;

	while (*toml.at) {
		const char *line;
		size_t length;

		if (inside) {
			skip(&toml, true);
			if (!*toml.at)
				break;
			if (*toml.at != '[') {
				if (read_pair(err, &toml)) {
					jw_result_free(toml.table);
					return -1;
				}
				continue;
			}
		}
		line = toml.at;
		length = strcspn(line, "\n");
		if (!in_string)
			inside = line[0] == '[' && !strncmp(line + 1, name, name_length) &&
					 line[1 + name_length] == ']';
		if (!inside)
			in_string = in_string != has_odd_quotes(line, length);
		toml.at += length;
		if (*toml.at) {
			toml.at++;
			toml.line++;
		}
	}
	*ret_table = toml.table;
	return 0;
}
