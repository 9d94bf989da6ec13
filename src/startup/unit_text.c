#include "startup/unit_text.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "os/process.h"
#include "startup/parts.h"
#include "tune/setting_places.h"

const char startup_mark[] = "Warm the NVIDIA driver's JIT cache (jitwarm startup)";

typedef int (*quote_fn)(struct jw_error *err, struct buf *line, const char *argument);

static int append_arguments(struct jw_error *err, const struct jw_startup_options *options,
							bool ahead, quote_fn quote, struct buf *line)
{
	if (ahead) {
		if (buf_printf(err, line, " ahead --background --quiet --tune%s",
					   options->fetch ? " --fetch" : ""))
			return -1;
	} else if (buf_printf(err, line, "%sprime%s --quiet --if-changed", line->size ? " " : "",
						  /* A service waits for this run: at full speed, and on battery too. */
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

/* $ and a letter is a placeholder, one a line: $M the mark, $X the command, $P the program, $A its
 * arguments, $U the account, $G the group, $L the kind of logon, $R what a second run does, $D the
 * driver's library, $F the packages' folder, $H the account's home, $O what others' homes are, $N
 * the addresses of a network. A small letter escapes the value. A line whose value is missing is
 * left out. */

/* What also an account's own manager can take away: it neither makes mount namespaces (many systems
 * refuse them) nor drops capabilities from the bounding set. */
#define RIGHTS_WITH(addresses)                                                                     \
	"NoNewPrivileges=yes\nRestrictSUIDSGID=yes\nRestrictNamespaces=yes\nRestrictRealtime=yes\n"    \
	"RestrictAddressFamilies=AF_UNIX AF_NETLINK" addresses "\nLockPersonality=yes\n"               \
	"SystemCallArchitectures=native\nSystemCallFilter=@system-service\n"                           \
	"SystemCallErrorNumber=EPERM\nMemoryMax=75%\n"
#define LESS_RIGHTS RIGHTS_WITH("")

/* The system's manager more. Devices stay as they are, and so do ProtectClock= and ProcSubset=,
 * which would hide /dev/nvidia* and /proc/driver/nvidia; the driver's compilers may write code that
 * they then run. The two capabilities are for root, which takes the rights of a folder's owner. */
#define LEAST_RIGHTS                                                                               \
	LESS_RIGHTS "ProtectSystem=full\nPrivateTmp=yes\nPrivateMounts=yes\nProtectHostname=yes\n"     \
				"ProtectKernelTunables=yes\nProtectKernelModules=yes\nProtectKernelLogs=yes\n"     \
				"ProtectControlGroups=yes\nIPAddressDeny=any\nKeyringMode=private\n"               \
				"CapabilityBoundingSet=CAP_SETUID CAP_SETGID\n"

/* The driver has this setuid program load its module, which a unit without new privileges cannot
 * do: the system's manager runs it as root, an account's manager in its own unit. It may be
 * missing. */
#define LOAD_MODULE "/usr/bin/nvidia-modprobe -c 0 -u\n"

/* Exit status 1: some modules are left cold, 2: no help here; neither is a failure of the unit. */
#define IDLE_TIME                                                                                  \
	"Type=oneshot\nSuccessExitStatus=1 2 143\nTimeoutStartSec=2h\nNice=19\n"                       \
	"CPUSchedulingPolicy=idle\nIOSchedulingClass=idle\n"

static const char *const texts[] = {
	[STARTUP_TASK] = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n"
					 "<Task version=\"1.2\" "
					 "xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">\r\n"
					 "  <RegistrationInfo>\r\n"
					 "    <Author>jitwarm</Author>\r\n"
					 "    <Description>$M</Description>\r\n"
					 "  </RegistrationInfo>\r\n"
					 "  <Triggers>\r\n"
					 "    <LogonTrigger>\r\n"
					 "      <Enabled>true</Enabled>\r\n"
					 "      <UserId>$u</UserId>\r\n"
					 "      <Delay>PT2M</Delay>\r\n"
					 "    </LogonTrigger>\r\n"
					 /* Plug and Play has installed a driver, mostly without a boot. */
					 "    <EventTrigger>\r\n"
					 "      <Enabled>true</Enabled>\r\n"
					 "      <Subscription>&lt;QueryList&gt;&lt;Query&gt;&lt;Select "
					 "Path=\"System\"&gt;*[System[Provider[@Name='Microsoft-Windows-UserPnp'] and "
					 "EventID=20001]]&lt;/Select&gt;&lt;/Query&gt;&lt;/QueryList&gt;"
					 "</Subscription>\r\n"
					 "      <Delay>PT2M</Delay>\r\n"
					 "    </EventTrigger>\r\n"
					 /* A start on battery is not caught up on: tried again every two hours. */
					 "    <CalendarTrigger>\r\n"
					 "      <Repetition>\r\n"
					 "        <Interval>PT2H</Interval>\r\n"
					 "        <Duration>P1D</Duration>\r\n"
					 "        <StopAtDurationEnd>false</StopAtDurationEnd>\r\n"
					 "      </Repetition>\r\n"
					 "      <StartBoundary>2024-01-01T00:30:00</StartBoundary>\r\n"
					 "      <Enabled>true</Enabled>\r\n"
					 "      <ScheduleByDay>\r\n"
					 "        <DaysInterval>1</DaysInterval>\r\n"
					 "      </ScheduleByDay>\r\n"
					 "    </CalendarTrigger>\r\n"
					 "  </Triggers>\r\n"
					 "  <Principals>\r\n"
					 "    <Principal id=\"Author\">\r\n"
					 "      <GroupId>$G</GroupId>\r\n"
					 "      <UserId>$u</UserId>\r\n"
					 "      <LogonType>$L</LogonType>\r\n"
					 "      <RunLevel>LeastPrivilege</RunLevel>\r\n"
					 "    </Principal>\r\n"
					 "  </Principals>\r\n"
					 "  <Settings>\r\n"
					 "    <MultipleInstancesPolicy>$R</MultipleInstancesPolicy>\r\n"
					 "    <DisallowStartIfOnBatteries>true</DisallowStartIfOnBatteries>\r\n"
					 "    <StopIfGoingOnBatteries>true</StopIfGoingOnBatteries>\r\n"
					 "    <AllowHardTerminate>true</AllowHardTerminate>\r\n"
					 "    <StartWhenAvailable>false</StartWhenAvailable>\r\n"
					 "    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>\r\n"
					 "    <AllowStartOnDemand>true</AllowStartOnDemand>\r\n"
					 "    <Enabled>true</Enabled>\r\n"
					 "    <Hidden>false</Hidden>\r\n"
					 "    <RunOnlyIfIdle>false</RunOnlyIfIdle>\r\n"
					 "    <WakeToRun>false</WakeToRun>\r\n"
					 "    <ExecutionTimeLimit>PT2H</ExecutionTimeLimit>\r\n"
					 /* 9 and 10 are the idle class. */
					 "    <Priority>9</Priority>\r\n"
					 "  </Settings>\r\n"
					 "  <Actions Context=\"Author\">\r\n"
					 "    <Exec>\r\n"
					 "      <Command>$p</Command>\r\n"
					 "      <Arguments>$a</Arguments>\r\n"
					 "    </Exec>\r\n  </Actions>\r\n</Task>\r\n",
	/* A package that is being installed changes several times; the first change may be the trigger,
	 * so the service waits 20 s. A path unit misses what changes until the service has ended: a
	 * driver that came meanwhile is seen then (systemd 249 or newer). */
	[STARTUP_SERVICE] =
		"[Unit]\nDescription=$M\nConditionACPower=true\n"
		"Wants=jitwarm-ahead.service\nAfter=jitwarm-ahead.service\n"
		"OnSuccess=jitwarm-ahead.service\n\n[Service]\n" IDLE_TIME "ExecStartPre=/bin/sleep 20\n"
		"ExecStartPre=-/usr/bin/systemd-run --user --quiet --wait --collect " LOAD_MODULE
		"ExecStart=$X\n" LESS_RIGHTS,
	/* For a driver that starts at the next boot, or has started at this one: without a wait, and
	 * on battery too, where it carries over and pauses before it compiles. It alone may reach the
	 * network. */
	[STARTUP_AHEAD] = "[Unit]\nDescription=$M, ahead of the next driver\n\n[Service]\n" IDLE_TIME
					  "ExecStart=$X\n" RIGHTS_WITH("$N"),
	[STARTUP_TIMER] = "[Unit]\nDescription=$M\nWants=jitwarm-ahead.service\n\n"
					  "[Timer]\nOnStartupSec=2min\n"
					  "OnUnitInactiveSec=1d\nRandomizedDelaySec=30s\n\n[Install]\n"
					  "WantedBy=timers.target\n",
	/* The second: what the triggers of our packages touch when another package's driver is there.
	 */
	[STARTUP_PATH] = "[Unit]\nDescription=$M\n\n[Path]\nUnit=jitwarm.service\nPathChanged=$d\n"
					 "PathChanged=/var/lib/jitwarm/driver-changed\n"
					 "PathModified=$f\n\n[Install]\nWantedBy=default.target\n",
	[STARTUP_TEMPLATE] =
		"[Unit]\nDescription=$M, before %i starts\nBefore=%i.service\n"
		"After=local-fs.target nvidia-persistenced.service\n\n"
		"# The account and the command of each service are in "
		"jitwarm@SERVICE.service.d.\n[Service]\nType=oneshot\n"
		"SuccessExitStatus=1 2 143\nTimeoutStartSec=30min\n"
		"ExecStartPre=-+" LOAD_MODULE LEAST_RIGHTS "\n[Install]\nWantedBy=%i.service\n",
	[STARTUP_INSTANCE] = ("# $M\n[Service]\nUser=$U\nExecStart=$X\n"
						  "ProtectHome=$O\nReadWritePaths=-$h\n"),
};

typedef const char *text_values['Z' + 1];

/* XML's entities; paths in Path units are literal but for %. */
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

static int append_for_systemd(struct jw_error *err, struct buf *text, enum startup_form form,
							  const char *value)
{
	for (; *value; value++) {
		const char *escape = escape_of(form, *value);

		if (buf_append(err, text, escape ? escape : value, escape ? strlen(escape) : 1))
			return -1;
	}
	return 0;
}

static int expand_text(struct jw_error *err, enum startup_form form, const text_values values,
					   struct buf *text)
{
	size_t length;

	for (const char *line = texts[form]; *line; line += length) {
		const char *at, *value;
		bool escape;

		length = strcspn(line, "\n") + 1;
		at = memchr(line, '$', length);
		if (!at) {
			if (buf_append(err, text, line, length))
				return -1;
			continue;
		}
		escape = at[1] >= 'a';
		value = values[(size_t)at[1] - (escape ? 'a' - 'A' : 0)];
		if (value && (buf_append(err, text, line, (size_t)(at - line)) ||
					  (escape ? append_for_systemd(err, text, form, value)
							  : buf_printf(err, text, "%s", value)) ||
					  buf_append(err, text, at + 2, length - (size_t)(at + 2 - line))))
			return -1;
	}
	return 0;
}

static const char *without_line_feed(const char *path)
{
	return path && !strpbrk(path, "\n\r") ? path : NULL;
}

/* As a list of paths has them. "/" would take back what is not to be written. */
static const char *without_blanks(const char *path)
{
	return path && path[0] == '/' && path[1] && !strpbrk(path, " \t\n\r\\\"'") ? path : NULL;
}

int startup_text(struct jw_error *err, enum startup_form form, const struct startup_facts *facts,
				 struct buf *text)
{
	/* BUILTIN\Users: a task of a group runs as its member who logged on. With IgnoreNew the second
	 * of two accounts that are logged on would get no run. */
	static const char users[] = "S-1-5-32-545";
	const bool task = form == STARTUP_TASK, everyone = facts->options->everyone;
	const char *account = task ? facts->account : facts->options->account;
	const char *home = without_blanks(facts->home);
	struct buf line = BUF_MAX(1 << 16);
	int result = -1;

	if (!task && account && strpbrk(account, " \t\r\n%\\\"'"))
		return error_set(err, JW_ERR_USAGE, "--account %.100s: not a name of an account", account);
	if ((task || !quote_systemd(err, &line, facts->program)) &&
		!append_arguments(err, facts->options, form == STARTUP_AHEAD,
						  task ? quote_windows : quote_systemd, &line)) {
		const text_values values = {
			['M'] = startup_mark,
			['X'] = buf_text(&line),
			['A'] = buf_text(&line),
			['P'] = facts->program,
			['U'] = task && everyone ? NULL
					: account        ? account
									 : "root",
			['G'] = everyone ? users : NULL,
			['L'] = everyone ? NULL : "InteractiveToken",
			['R'] = everyone ? "Parallel" : "IgnoreNew",
			['D'] = without_line_feed(facts->driver),
			['F'] = without_line_feed(facts->packages),
			['H'] = home,
			['O'] = home ? "read-only" : NULL,
			['N'] = facts->options->fetch ? " AF_INET AF_INET6" : "",
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
			return error_set(err, JW_ERR_USAGE,
							 "a task cannot hold a name that is not UTF-8; rename it");
		if (point < 0x10000 ? append_unit16(err, wide, point)
							: append_unit16(err, wide, 0xd800 + ((point - 0x10000) >> 10)) ||
								  append_unit16(err, wide, 0xdc00 + ((point - 0x10000) & 0x3ff)))
			return -1;
		text += length;
		left -= length;
	}
	return 0;
}

/* systemd's units: files, and calls of systemctl. */

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

/* All accounts may read the system's units, only the superuser writes them, whatever the umask */
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

/* That of a service's settings, if nothing is left in it: it counts as one of a service. */
static void drop_folder(const struct jw_startup_options *options,
						const struct jw_startup_item *item)
{
	char *folder = options->service ? os_dir_name(NULL, item->where) : NULL;

	if (folder)
		(void)os_remove_empty_dir(NULL, folder);
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
			drop_folder(options, item);
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
	if (reload_units(err, options, startup) || switch_units(err, options, startup, "enable")) {
		(void)take_back(NULL, options, startup, former);
		return -1;
	}
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
	for (size_t i = options->service != NULL; !result && i < startup->count; i++) {
		struct jw_startup_item *item = &startup->items[i];

		if (item->ours) {
			result = os_remove(err, item->where);
			item->there = item->ours = result != 0;
		}
		drop_folder(options, item);
	}
	if (!result && options->service)
		result = remove_template(err, &startup->items[0]);
	if (any && !result && !options->service && !options->everyone)
		clean_up(startup);
	if (any && !result)
		result = reload_units(err, options, startup);
	return result ? -1 : 0;
}
