/* systemd's units: files, and calls of systemctl. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "startup/parts.h"
#include "tune/setting_places.h"

static int systemctl(struct jw_error *err, struct jw_startup *startup, const char *const *words)
{
	bool good;

	return startup_command(err, startup, "systemctl", words, NULL, &good);
}

static int reload_units(struct jw_error *err, const struct jw_startup_options *options,
						struct jw_startup *startup)
{
	/* Each account's manager reads the units of all accounts when it starts: at the next logon. */
	if (options->everyone)
		return 0;
	return systemctl(err, startup,
					 options->service ? STARTUP_WORDS("daemon-reload")
									  : STARTUP_WORDS("--user", "daemon-reload"));
}

/* `verb`: enable or disable. */
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
	instance = mem_printf(err, "jitwarm@%s.service", options->service);
	result = instance ? systemctl(err, startup, STARTUP_WORDS(verb, instance)) : -1;
	mem_free(instance);
	return result;
}

/* All accounts may read the system's units, and only the superuser may write them, whatever the
 * umask. */
static int write_system_item(struct jw_error *err, const struct jw_startup_item *item)
{
	return os_make_shared_parent(err, item->where, 0755) ||
				   os_write_mode(err, item->where, item->text, strlen(item->text), 0644)
			   ? -1
			   : 0;
}

static int write_item(struct jw_error *err, const struct jw_startup_options *options,
					  struct jw_startup_item *item)
{
	int result = options->service || options->everyone
					 ? write_system_item(err, item)
					 : os_make_parent(err, item->where, 0755) ||
						   os_rewrite(err, item->where, item->text, strlen(item->text));

	if (result)
		return -1;
	item->there = item->ours = true;
	return 0;
}

/* Removes a link to a unit that is gone: without a running manager systemctl leaves it. */
static void remove_link(const char *folder, const char *wants, const char *unit)
{
	char *links = os_join(NULL, folder, wants), *link = links ? os_join(NULL, links, unit) : NULL;

	if (link && !os_exists(link) && !os_remove(NULL, link))
		(void)os_remove_empty_dir(NULL, links);
	mem_free(link);
	mem_free(links);
}

/* Removes files that enabling the account's own units made beside them, and their folders if they
 * are empty. */
static void clean_up(const struct jw_startup *startup)
{
	char *folder = os_dir_name(NULL, startup->items[0].where),
		 *above = folder ? os_dir_name(NULL, folder) : NULL;

	if (folder && above) {
		remove_link(folder, "timers.target.wants", "jitwarm.timer");
		remove_link(folder, "default.target.wants", "jitwarm.path");
		if (!os_remove_empty_dir(NULL, folder))
			(void)os_remove_empty_dir(NULL, above);
	}
	mem_free(above);
	mem_free(folder);
}

/* A unit's file as it was before. */
struct former_unit {
	struct buf text; /* empty: there was none */
	bool ours;
};

static int read_former_units(struct jw_error *err, const struct jw_startup *startup,
							 struct former_unit *former)
{
	for (size_t i = 0; i < startup->count; i++) {
		former[i].ours = startup->items[i].ours;
		if (startup->items[i].there &&
			os_read_file(err, startup->items[i].where, STARTUP_MOST_TEXT, &former[i].text))
			return -1;
	}
	return 0;
}

/* What the system has refused is not to be found installed. */
static int take_back(struct jw_error *err, const struct jw_startup_options *options,
					 struct jw_startup *startup, const struct former_unit *former)
{
	for (size_t i = 0; i < startup->count; i++) {
		struct jw_startup_item *item = &startup->items[i];
		struct jw_startup_item before = *item;

		if (former[i].text.size) {
			before.text = (char *)former[i].text.data;
			if (write_item(err, options, &before))
				return -1;
			item->ours = former[i].ours;
		} else {
			if (os_remove(err, item->where))
				return -1;
			item->there = item->ours = false;
		}
	}
	if (!options->service && !options->everyone && !startup->items[0].there)
		clean_up(startup);
	return 0;
}

static int enable_with(struct jw_error *err, const struct jw_startup_options *options,
					   struct jw_startup *startup, struct former_unit *former)
{
	int result = read_former_units(err, startup, former);

	for (size_t i = 0; !result && i < startup->count; i++)
		result = write_item(err, options, &startup->items[i]);
	if (result)
		return options->service || options->everyone
				   ? error_prefix(err, "units of the system need sudo")
				   : -1;
	if (reload_units(err, options, startup) || switch_units(err, options, startup, "enable"))
		return -1;
	return startup->failed ? take_back(err, options, startup, former) : 0;
}

int units_enable(struct jw_error *err, const struct jw_startup_options *options,
				 struct jw_startup *startup)
{
	struct former_unit *former = mem_array(err, startup->count, sizeof *former);
	int result = former ? enable_with(err, options, startup, former) : -1;

	for (size_t i = 0; former && i < startup->count; i++)
		buf_free(&former[i].text);
	mem_free(former);
	return result;
}

int jw_startup_services(struct jw_error *err, char ***ret_names, size_t *ret_count)
{
	static const char start[] = "jitwarm@", end[] = ".service.d";
	char *folder = place_system_path(err, "/etc/systemd/system"), **names;
	struct os_names found = {0};
	struct jw_error why = {0};
	size_t count = 0;
	int result;

	if (!folder)
		return -1;
	result = !startup_on_windows() && os_list(&why, folder, &found)
				 ? os_holds_nothing(err, folder, &why)
				 : 0;
	mem_free(folder);
	if (result)
		return -1;
	names = mem_array(err, found.count + 1, sizeof *names);
	for (size_t i = 0; names && i < found.count; i++) {
		const char *name = found.items[i];

		if (!text_starts(name, start) || !text_ends(name, end) ||
			strlen(name) < sizeof start + sizeof end - 1)
			continue;
		names[count] = mem_string_n(err, name + sizeof start - 1,
									strlen(name) - (sizeof start - 1) - (sizeof end - 1));
		if (!names[count++]) {
			jw_lines_free(names, count);
			names = NULL;
		}
	}
	os_names_free(&found);
	if (!names)
		return -1;
	*ret_names = names;
	*ret_count = count;
	return 0;
}

/* The template is removed with the last service that uses it. */
static int remove_template(struct jw_error *err, struct jw_startup_item *item)
{
	char **names;
	size_t count;
	int result = 0;

	if (!item->ours || jw_startup_services(err, &names, &count))
		return item->ours ? -1 : 0;
	if (!count) {
		result = os_remove(err, item->where);
		item->there = item->ours = result != 0;
	}
	jw_lines_free(names, count);
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
	for (size_t i = 0; !result && i < startup->count; i++) {
		struct jw_startup_item *item = &startup->items[i];

		if (!item->ours || (options->service && i == 0))
			continue;
		result = os_remove(err, item->where);
		item->there = item->ours = result != 0;
		if (options->service && !result) {
			char *folder = os_dir_name(NULL, item->where);

			if (folder)
				(void)os_remove_empty_dir(NULL, folder);
			mem_free(folder);
		}
	}
	if (!result && options->service)
		result = remove_template(err, &startup->items[0]);
	if (any && !result && !options->service && !options->everyone)
		clean_up(startup);
	if (any && !result)
		result = reload_units(err, options, startup);
	return result ? -1 : 0;
}
