#include "startup/unit_text.h"

#include <string.h>

#include "base/text.h"
#include "os/quote.h"

const char startup_mark[] = "Warm the NVIDIA driver's JIT cache (jitwarm startup)";

typedef int (*quote_fn)(struct jw_error *err, struct buf *line, const char *argument);

static int append_arguments(struct jw_error *err, const struct startup_facts *facts, quote_fn quote,
							struct buf *line)
{
	const struct jw_startup_options *options = facts->options;

	/* A service waits for its own: at full speed, and on the battery too. */
	if (buf_printf(err, line, "%sprime%s --quiet --if-changed", line->size ? " " : "",
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

/* ---- Windows */

static int append_xml(struct jw_error *err, struct buf *text, const char *value)
{
	for (; *value; value++) {
		const char *entity = *value == '&'   ? "&amp;"
							 : *value == '<' ? "&lt;"
							 : *value == '>' ? "&gt;"
							 : *value == '"' ? "&quot;"
											 : NULL;

		if (entity ? buf_printf(err, text, "%s", entity) : buf_append(err, text, value, 1))
			return -1;
	}
	return 0;
}

static int append_element(struct jw_error *err, struct buf *text, const char *name,
						  const char *value)
{
	return buf_printf(err, text, "      <%s>", name) || append_xml(err, text, value) ||
				   buf_printf(err, text, "</%s>\r\n", name)
			   ? -1
			   : 0;
}

int startup_task(struct jw_error *err, const struct startup_facts *facts, struct buf *text)
{
	/* BUILTIN\Users: a task of a group runs as its member who logged on. With IgnoreNew the second
	 * of two accounts that are logged on would get no run. */
	static const char users[] = "S-1-5-32-545";
	const bool everyone = facts->options->everyone;
	struct buf line = BUF_MAX(1 << 16);
	int result = -1;

	if (append_arguments(err, facts, quote_windows, &line) ||
		buf_printf(err, text,
				   "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\r\n"
				   "<Task version=\"1.2\" "
				   "xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">\r\n"
				   "  <RegistrationInfo>\r\n"
				   "    <Author>jitwarm</Author>\r\n"
				   "    <Description>%s</Description>\r\n"
				   "  </RegistrationInfo>\r\n"
				   "  <Triggers>\r\n"
				   "    <LogonTrigger>\r\n"
				   "      <Enabled>true</Enabled>\r\n",
				   startup_mark) ||
		(!everyone && append_element(err, text, "UserId", facts->account)) ||
		buf_printf(err, text,
				   "      <Delay>PT2M</Delay>\r\n"
				   "    </LogonTrigger>\r\n"
				   "  </Triggers>\r\n"
				   "  <Principals>\r\n"
				   "    <Principal id=\"Author\">\r\n") ||
		append_element(err, text, everyone ? "GroupId" : "UserId",
					   everyone ? users : facts->account) ||
		buf_printf(err, text,
				   "%s"
				   "      <RunLevel>LeastPrivilege</RunLevel>\r\n"
				   "    </Principal>\r\n"
				   "  </Principals>\r\n"
				   "  <Settings>\r\n"
				   "    <MultipleInstancesPolicy>%s</MultipleInstancesPolicy>\r\n"
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
				   /* 9 and 10 are the idle class */
				   "    <Priority>9</Priority>\r\n"
				   "  </Settings>\r\n"
				   "  <Actions Context=\"Author\">\r\n"
				   "    <Exec>\r\n",
				   everyone ? "" : "      <LogonType>InteractiveToken</LogonType>\r\n",
				   everyone ? "Parallel" : "IgnoreNew") ||
		append_element(err, text, "Command", facts->program) ||
		append_element(err, text, "Arguments", buf_text(&line)) ||
		buf_printf(err, text, "    </Exec>\r\n  </Actions>\r\n</Task>\r\n"))
		goto done;
	result = 0;
done:
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
			return error_set(err, JW_ERR_USAGE, "a name that is no UTF-8 cannot be in a task");
		if (point < 0x10000 ? append_unit16(err, wide, point)
							: append_unit16(err, wide, 0xd800 + ((point - 0x10000) >> 10)) ||
								  append_unit16(err, wide, 0xdc00 + ((point - 0x10000) & 0x3ff)))
			return -1;
		text += length;
		left -= length;
	}
	return 0;
}

/* ---- Linux */

/* Paths in Path units are literal but for %. */
static int append_watch(struct jw_error *err, struct buf *text, const char *key, const char *path)
{
	if (!path || strpbrk(path, "\n\r"))
		return 0;
	if (buf_printf(err, text, "%s=", key))
		return -1;
	for (; *path; path++)
		if ((*path == '%' && buf_append(err, text, "%", 1)) || buf_append(err, text, path, 1))
			return -1;
	return buf_printf(err, text, "\n");
}

static int append_exec(struct jw_error *err, const struct startup_facts *facts, struct buf *text)
{
	struct buf line = BUF_MAX(1 << 16);
	int result = quote_systemd(err, &line, facts->program) ||
						 append_arguments(err, facts, quote_systemd, &line) ||
						 buf_printf(err, text, "ExecStart=%s\n", buf_text(&line))
					 ? -1
					 : 0;

	buf_free(&line);
	return result;
}

/* 1: some modules are left cold, 2: no help here; neither is a failure of the unit. */
static const char oneshot[] = "Type=oneshot\nSuccessExitStatus=1 2\n",
				  modest[] = "TimeoutStartSec=2h\nNice=19\nCPUSchedulingPolicy=idle\n"
							 "IOSchedulingClass=idle\n";

int startup_service(struct jw_error *err, const struct startup_facts *facts, struct buf *text)
{
	/* A package that is being installed changes several times; the first change may be the trigger.
	 */
	return buf_printf(err, text,
					  "[Unit]\nDescription=%s\nConditionACPower=true\n\n[Service]\n%s%s"
					  "ExecStartPre=/bin/sleep 20\n",
					  startup_mark, oneshot, modest) ||
				   append_exec(err, facts, text)
			   ? -1
			   : 0;
}

int startup_timer(struct jw_error *err, struct buf *text)
{
	return buf_printf(err, text,
					  "[Unit]\nDescription=%s\n\n[Timer]\nOnStartupSec=2min\n"
					  "OnUnitInactiveSec=1d\nRandomizedDelaySec=30s\n\n[Install]\n"
					  "WantedBy=timers.target\n",
					  startup_mark);
}

int startup_path(struct jw_error *err, const struct startup_facts *facts, struct buf *text)
{
	return buf_printf(err, text, "[Unit]\nDescription=%s\n\n[Path]\nUnit=jitwarm.service\n",
					  startup_mark) ||
				   append_watch(err, text, "PathChanged", facts->driver) ||
				   append_watch(err, text, "PathModified", facts->packages) ||
				   buf_printf(err, text, "\n[Install]\nWantedBy=default.target\n")
			   ? -1
			   : 0;
}

int startup_template(struct jw_error *err, const struct startup_facts *facts, struct buf *text)
{
	return buf_printf(err, text,
					  "[Unit]\nDescription=%s, before %%i starts\nBefore=%%i.service\n"
					  "After=local-fs.target nvidia-persistenced.service\n\n"
					  "# The settings of each service (account, packages) are in "
					  "jitwarm@SERVICE.service.d.\n[Service]\n%s"
					  "TimeoutStartSec=30min\n",
					  startup_mark, oneshot) ||
				   append_exec(err,
							   &(struct startup_facts){.program = facts->program,
													   .options =
														   &(struct jw_startup_options){
															   .service = facts->options->service}},
							   text) ||
				   buf_printf(err, text, "\n[Install]\nWantedBy=%%i.service\n")
			   ? -1
			   : 0;
}

int startup_instance(struct jw_error *err, const struct startup_facts *facts, struct buf *text)
{
	const char *account = facts->options->account;

	if (account && strpbrk(account, " \t\r\n%\\\"'"))
		return error_set(err, JW_ERR_USAGE, "“%.100s” is no name of an account", account);
	return buf_printf(err, text, "# %s\n[Service]\n", startup_mark) ||
				   (account && buf_printf(err, text, "User=%s\n", account)) ||
				   buf_printf(err, text, "ExecStart=\n") || append_exec(err, facts, text)
			   ? -1
			   : 0;
}
