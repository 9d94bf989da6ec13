#include "setup/unit_text.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "os/file.h"
#include "os/platform.h"
#include "os/process.h"
#include "setup/setting_places.h"
#include "setup/startup_command.h"
#include "unit_instance.h"
#include "unit_path.h"
#include "unit_service.h"
#include "unit_task.h"
#include "unit_template.h"
#include "unit_timer.h"

const char startup_mark[] = "Warm the NVIDIA driver's JIT cache (jitwarm startup)";

typedef int (*quote_fn)(struct jw_error *err, struct buf *line, const char *argument);

static int append_arguments(struct jw_error *err, const struct jw_startup_options *options,
							quote_fn quote, struct buf *line)
{
	if (buf_printf(err, line, "%sprime%s --quiet --if-changed", line->size ? " " : "",
				   /* A service waits for this run, so it runs at full speed, and on battery
					* too. */
				   options->service ? "" : " --background"))
		return -1;
	if (options->environment &&
		(buf_printf(err, line, " --environment") || quote(err, line, options->environment)))
		return -1;
	if (options->name_count && buf_printf(err, line, " --"))
		return -1;
	for (size_t i = 0; i < options->name_count; i++)
		if (quote(err, line, options->names[i]))
			return -1;
	return 0;
}

/* The templates. A line with {NAME} has its value, and is left out if that is missing. A line that
 * begins with ; explains something to readers of data/units. */
static const char *const texts[] = {
	[STARTUP_TASK] = unit_task,         [STARTUP_SERVICE] = unit_service,
	[STARTUP_TIMER] = unit_timer,       [STARTUP_PATH] = unit_path,
	[STARTUP_TEMPLATE] = unit_template, [STARTUP_INSTANCE] = unit_instance,
};

struct text_value {
	const char *name, *value; /* NULL if missing */
	bool quoted;              /* quoted as the form requires */
};

/* Returns the escape of a character: XML's entities; paths in Path units are literal except for
 * %. */
static const char *escape_of(enum startup_form form, char c)
{
	if (form != STARTUP_TASK)
		return c == '%' ? "%%" : NULL;
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	default: return NULL;
	}
}

static int append_unit_value(struct jw_error *err, struct buf *text, enum startup_form form,
							 const struct text_value *value)
{
	for (const char *c = value->value; *c; c++) {
		const char *escape = value->quoted ? NULL : escape_of(form, *c);

		if (buf_append(err, text, escape ? escape : c, escape ? strlen(escape) : 1))
			return -1;
	}
	return 0;
}

static int expand_text(struct jw_error *err, enum startup_form form,
					   const struct text_value *values, struct buf *text)
{
	const char *const end = form == STARTUP_TASK ? "\r\n" : "\n";
	size_t length;

	for (const char *line = texts[form]; *line; line += length + 1) {
		const struct text_value *value = values;
		const char *at;

		length = strcspn(line, "\n");
		if (*line == ';')
			continue;
		if ((at = memchr(line, '{', length))) {
			while (strncmp(at + 1, value->name, strlen(value->name)) != 0)
				value++;
			if (!value->value)
				continue;
			if (buf_append(err, text, line, (size_t)(at - line)) ||
				append_unit_value(err, text, form, value))
				return -1;
			at = strchr(at, '}') + 1;
		} else {
			at = line;
		}
		if (buf_append(err, text, at, (size_t)(line + length - at)) ||
			buf_append(err, text, end, strlen(end)))
			return -1;
	}
	return 0;
}

/* Returns a path that stands alone in its line, if systemd reads it as it is: not one whose end it
 * removes, or takes for a line that continues, and no other text than UTF-8. */
static const char *watched_path(const char *path)
{
	const size_t length = path ? strlen(path) : 0;

	return length && text_is_utf8(path, length) && !strpbrk(path, "\n\t") &&
				   !strchr(" \\", path[length - 1])
			   ? path
			   : NULL;
}

/* Returns a path for a list of paths; "/" would allow writing everywhere again. */
static const char *without_blanks(const char *path)
{
	return path && path[0] == '/' && path[1] && !strpbrk(path, " \t\n\r\\\"'") ? path : NULL;
}

int startup_text(struct jw_error *err, enum startup_form form, const struct startup_facts *facts,
				 struct buf *text)
{
	/* BUILTIN\Users: a task of a group runs as the member who logged on. With IgnoreNew, the second
	 * of two accounts that are logged on would get no run. */
	static const char users[] = "S-1-5-32-545";
	const bool task = form == STARTUP_TASK, everyone = facts->options->everyone;
	const char *account = task ? facts->account : facts->options->account;
	const char *home = without_blanks(facts->home);
	struct buf line = BUF_MAX(1 << 16);
	int result = -1;

	if (!task && account && strpbrk(account, " \t\r\n%\\\"'"))
		return error_set(err, JW_ERR_USAGE, "--account %.100s: not the name of an account",
						 account);
	if ((task || !quote_systemd(err, &line, facts->program)) &&
		!append_arguments(err, facts->options, task ? quote_windows : quote_systemd, &line)) {
		const struct text_value values[] = {
			{.name = "mark}", .value = startup_mark},
			{.name = "command}", .value = buf_text(&line), .quoted = true},
			{.name = "arguments}", .value = buf_text(&line)},
			{.name = "program}", .value = facts->program},
			{.name = "account}",
			 .value = task && everyone ? NULL
					  : account        ? account
									   : "root"},
			{.name = "group}", .value = everyone ? users : NULL},
			{.name = "logon}", .value = everyone ? NULL : "InteractiveToken"},
			{.name = "second}", .value = everyone ? "Parallel" : "IgnoreNew"},
			{.name = "driver}", .value = watched_path(facts->driver)},
			{.name = "packages}", .value = watched_path(facts->packages)},
			{.name = "home}", .value = home},
			{.name = "homes}", .value = home ? "read-only" : NULL},
		};

		result = expand_text(err, form, values, text);
	}
	buf_free(&line);
	return result;
}

static int append_unit16(struct jw_error *err, struct buf *wide, uint32_t unit)
{
	const uint8_t bytes[] = {(uint8_t)unit, (uint8_t)(unit >> 8)};

	return buf_append(err, wide, bytes, sizeof bytes);
}

int startup_utf16(struct jw_error *err, const char *text, struct buf *wide)
{
	size_t left = strlen(text);

	if (append_unit16(err, wide, 0xfeff))
		return -1;
	while (left) {
		uint32_t point;
		size_t length = text_utf8_next(text, left, &point);

		if (!length)
			return error_set(
				err, JW_ERR_USAGE,
				"a task cannot hold a name that is not UTF-8: rename the file or folder");
		if (point < 0x10000 ? append_unit16(err, wide, point)
							: append_unit16(err, wide, 0xd800 + ((point - 0x10000) >> 10)) ||
								  append_unit16(err, wide, 0xdc00 + ((point - 0x10000) & 0x3ff)))
			return -1;
		text += length;
		left -= length;
	}
	return 0;
}

/* ---- systemd's units: files, and calls of systemctl */

static int systemctl(struct jw_error *err, struct jw_startup *startup, const char *const *words)
{
	bool good;

	return startup_command(err, startup, "systemctl", words, NULL, &good);
}

static int reload_units(struct jw_error *err, const struct jw_startup_options *options,
						struct jw_startup *startup)
{
	/* Each account's manager reads the units of all accounts when it starts, at the next logon. */
	if (options->everyone)
		return 0;
	return systemctl(err, startup,
					 options->service ? STARTUP_WORDS("daemon-reload")
									  : STARTUP_WORDS("--user", "daemon-reload"));
}

/* Calls systemctl with `verb`, enable or disable. */
static int switch_units(struct jw_error *err, const struct jw_startup_options *options,
						struct jw_startup *startup, const char *verb)
{
	char *instance;
	int result;

	if (!options->service)
		return systemctl(
			err, startup,
			options->everyone
				? STARTUP_WORDS("--global", verb, "jitwarm.timer", "jitwarm.path")
				: STARTUP_WORDS("--user", verb, "--now", "jitwarm.timer", "jitwarm.path"));
	instance = mem_printf("jitwarm@%s.service", options->service);
	result = systemctl(err, startup, STARTUP_WORDS(verb, instance));
	mem_free(instance);
	return result;
}

static int write_item(struct jw_error *err, const struct jw_startup_options *options,
					  struct jw_startup_item *item)
{
	const size_t size = strlen(item->text);

	/* All accounts may read the system's units, and only the superuser may write them, whatever the
	 * umask. */
	if (options->service || options->everyone
			? os_make_shared_parent(err, item->where, 0755) ||
				  os_write_mode(err, item->where, item->text, size, 0644)
			: os_make_parent(err, item->where, 0755) ||
				  os_rewrite(err, item->where, item->text, size))
		return -1;
	item->there = item->ours = true;
	return 0;
}

enum { TIMER_ITEM = 1 }; /* the order of an account's units (startup.c): the timer, then the path */

/* Returns the link that enabling a unit makes, in the folder of the unit that wants it; NULL if
 * there are no more. */
static char *link_of(const struct jw_startup_options *options, struct jw_startup *startup, size_t i)
{
	static const char *const links[] = {"timers.target.wants/jitwarm.timer",
										"default.target.wants/jitwarm.path"};
	const char *folder = arena_keep(startup, os_dir_name(startup->items[0].where));

	if (options->service && !i)
		return arena_printf(startup, "%s/%s.service.wants/jitwarm@%s.service", folder,
							options->service, options->service);
	return !options->service && i < sizeof links / sizeof *links
			   ? arena_printf(startup, "%s/%s", folder, links[i])
			   : NULL;
}

/* Returns whether a path exists, also as a link to a removed unit. */
static bool is_listed(const char *path)
{
	char *folder = os_dir_name(path);
	struct os_names names = {0};
	bool listed = false;

	(void)os_list(NULL, folder, &names);
	for (size_t i = 0; i < names.count; i++)
		listed = listed || !strcmp(names.items[i], os_base_name(path));
	os_names_free(&names);
	mem_free(folder);
	return listed;
}

/* Without a running manager systemctl leaves the symlinks, so they are removed like the units. A
 * symlink to another program's unit stays. */
void units_add_links(const struct jw_startup_options *options, struct jw_startup *startup)
{
	const struct jw_startup_item *unit = &startup->items[options->service ? 0 : TIMER_ITEM];
	char *link;

	for (size_t i = 0; (link = link_of(options, startup, i)); i++, unit++)
		if (is_listed(link) && unit->ours == unit->there)
			startup->items[startup->count++] = (struct jw_startup_item){
				.where = link, .text = arena_string(startup, ""), .there = true, .ours = true};
}

/* Removes a unit or a link, and its folder if it is empty and belongs to a service. */
static int remove_file(struct jw_error *err, const char *path)
{
	char *folder = os_dir_name(path);
	const int result = os_remove(err, path);

	if (!result && (text_ends(folder, ".wants") || text_ends(folder, ".service.d")))
		(void)os_remove_empty_dir(NULL, folder);
	mem_free(folder);
	return result;
}

/* Removes the folders of the account's own units if they are empty. */
static void clean_up(struct jw_startup *startup)
{
	const char *folder = arena_keep(startup, os_dir_name(startup->items[0].where));

	if (!os_remove_empty_dir(NULL, folder))
		(void)os_remove_empty_dir(NULL, arena_keep(startup, os_dir_name(folder)));
}

/* A unit's file before the change. */
struct former_unit {
	struct buf text; /* empty if there was none */
	bool ours;
};

/* Restores the former units, so that units that the system has refused do not count as
 * installed. */
static int take_back(struct jw_error *err, const struct jw_startup_options *options,
					 struct jw_startup *startup, const struct former_unit *former)
{
	char *link;

	for (size_t i = 0; i < startup->count; i++) {
		struct jw_startup_item *item = &startup->items[i];
		struct jw_startup_item before = *item;

		if (former[i].text.size) {
			before.text = (char *)former[i].text.data;
			if (write_item(err, options, &before))
				return -1;
			item->ours = former[i].ours;
		} else {
			if (remove_file(err, item->where))
				return -1;
			item->there = item->ours = false;
		}
	}
	for (size_t i = 0;
		 !startup->items[startup->count - 1].there && (link = link_of(options, startup, i)); i++)
		(void)remove_file(NULL, link);
	if (!options->service && !options->everyone && !startup->items[0].there)
		clean_up(startup);
	return 0;
}

static int enable_with(struct jw_error *err, const struct jw_startup_options *options,
					   struct jw_startup *startup, struct former_unit *former)
{
	int result = 0;

	for (size_t i = 0; !result && i < startup->count; i++) {
		former[i].ours = startup->items[i].ours;
		if (startup->items[i].there)
			result = os_read_file(err, startup->items[i].where, STARTUP_MAX_TEXT, &former[i].text);
	}
	for (size_t i = 0; !result && i < startup->count; i++)
		result = write_item(err, options, &startup->items[i]);
	if (result)
		return options->service || options->everyone ? error_prefix(err, "system units need sudo")
													 : -1;
	if (reload_units(err, options, startup) ||
		(!startup->failed && switch_units(err, options, startup, "enable"))) {
		(void)take_back(NULL, options, startup, former);
		return -1;
	}
	return startup->failed ? take_back(err, options, startup, former) : 0;
}

int units_enable(struct jw_error *err, const struct jw_startup_options *options,
				 struct jw_startup *startup)
{
	struct former_unit *former = arena_alloc(startup, startup->count * sizeof *former);
	const int result = enable_with(err, options, startup, former);

	startup->not_running = !os_exists(place_system_path(startup, "/run/systemd/system"));
	for (size_t i = 0; i < startup->count; i++)
		buf_free(&former[i].text);
	return result;
}

/* Returns "web" for "jitwarm@web.service.d", or for "web.service.wants" with a link to its unit;
 * NULL for others. */
static char *service_of(void *owner, const char *folder, const char *name)
{
	static const char *const ends[][2] = {{"jitwarm@", ".service.d"}, {"", ".service.wants"}};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const size_t start = strlen(ends[i][0]), end = strlen(ends[i][1]);
		char *service;

		if (!text_starts(name, ends[i][0]) || !text_ends(name, ends[i][1]) ||
			strlen(name) <= start + end)
			continue;
		service = arena_keep(owner, mem_string_n(name + start, strlen(name) - start - end));
		if (!i || is_listed(arena_printf(owner, "%s/%s/jitwarm@%s.service", folder, name, service)))
			return service;
	}
	return NULL;
}

int jw_startup_services(struct jw_error *err, char ***ret_names, size_t *ret_count)
{
	void *paths = arena_open(0);
	const char *folder = place_system_path(paths, "/etc/systemd/system");
	struct os_names found = {0};
	struct jw_error why = {0};
	size_t count = 0;
	char **names;
	const int result = !os_is_windows && os_list(&why, folder, &found)
						   ? os_ignore_unreadable(err, folder, &why)
						   : 0;

	names = arena_open((found.count + 1) * sizeof *names);
	arena_join(names, paths);
	for (size_t i = 0; !result && i < found.count; i++) {
		char *service = service_of(names, folder, found.items[i]);
		bool known = !service;

		for (size_t k = 0; !known && k < count; k++)
			known = !strcmp(names[k], service);
		if (!known)
			names[count++] = service;
	}
	os_names_free(&found);
	if (result) {
		jw_result_free(names);
		return -1;
	}
	*ret_names = names;
	*ret_count = count;
	return 0;
}

/* Removes the template with the last service that uses it. */
static int remove_template(struct jw_error *err, struct jw_startup_item *item)
{
	char **names;
	size_t count;
	int result = 0;

	if (!item->ours)
		return 0;
	if (jw_startup_services(err, &names, &count))
		return -1;
	if (!count) {
		result = os_remove(err, item->where);
		item->there = item->ours = result != 0;
	}
	jw_result_free(names);
	return result;
}

int units_disable(struct jw_error *err, const struct jw_startup_options *options,
				  struct jw_startup *startup)
{
	bool any = false;
	int result = 0;

	for (size_t i = 0; i < startup->count; i++)
		any = any || startup->items[i].ours;
	if (any)
		result = switch_units(err, options, startup, "disable");
	for (size_t i = options->service != NULL; !result && i < startup->count; i++) {
		struct jw_startup_item *item = &startup->items[i];

		if (item->ours || !item->there) {
			result = remove_file(err, item->where);
			item->there = item->ours = result != 0;
		}
	}
	if (!result && options->service)
		result = remove_template(err, &startup->items[0]);
	if (any && !result && !options->service && !options->everyone)
		clean_up(startup);
	if (any && !result)
		result = reload_units(err, options, startup);
	return result;
}
