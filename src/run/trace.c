#include "run/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/console.h"
#include "os/file.h"

enum { MOST_ROWS = 4096, MOST_EVENT = 1 << 20 };

static const char end[] = "\n]\n";

struct trace {
	char *path;
	int sink; /* a device or a pipe: gets no closing bracket before the end; else -1: */
	struct os_file *file;
	uint64_t size; /* without the closing bracket */
	uint64_t began_ns;
	bool named[MOST_ROWS]; /* rows that have a name */
	bool failed;
	struct jw_error why;
};

static int write_event(struct jw_error *err, struct trace *trace, const char *event,
					   const char *before)
{
	struct buf text = BUF_MAX(MOST_EVENT);
	size_t length = strlen(before) + strlen(event);
	int result = buf_printf(err, &text, "%s%s%s", before, event, trace->sink < 0 ? end : "");

	if (!result && trace->sink >= 0)
		result = os_sink_write(err, trace->path, trace->sink, text.data, text.size);
	else if (!result)
		result = os_file_write(err, trace->file, trace->size, text.data, text.size);
	if (!result) {
		trace->size += length;
	} else if (trace->file && !os_file_truncate(NULL, trace->file, trace->size)) {
		/* Half an event, if the disk is full: the end fits in its place. */
		(void)os_file_write(NULL, trace->file, trace->size, end, trace->size ? sizeof end - 1 : 0);
	}
	buf_free(&text);
	return result;
}

/* Takes over the event; NULL: out of memory. */
static void put_event(struct trace *trace, cJSON *event, bool complete)
{
	char *line = complete && !trace->failed ? json_line(&trace->why, event) : NULL;

	if (!trace->failed && (!line || write_event(&trace->why, trace, line, ",\n")))
		trace->failed = true;
	if (trace->failed && !trace->why.code)
		error_set(&trace->why, JW_ERR_MEMORY, "out of memory");
	cJSON_free(line);
	cJSON_Delete(event);
}

static cJSON *event_of(const char *name, const char *phase, unsigned row)
{
	cJSON *event = cJSON_CreateObject();

	if (event && !json_add_text(NULL, event, "name", name) &&
		cJSON_AddStringToObject(event, "ph", phase) && cJSON_AddNumberToObject(event, "pid", 1) &&
		cJSON_AddNumberToObject(event, "tid", row))
		return event;
	cJSON_Delete(event);
	return NULL;
}

static void name_row(struct trace *trace, unsigned row)
{
	cJSON *event, *arguments;
	char name[32] = "jitwarm";

	if (row >= MOST_ROWS || trace->named[row])
		return;
	trace->named[row] = true;
	if (row != TRACE_SUPERVISOR)
		(void)snprintf(name, sizeof name, "worker %u", row);
	event = event_of("thread_name", "M", row);
	arguments = cJSON_AddObjectToObject(event, "args");
	put_event(trace, event, cJSON_AddStringToObject(arguments, "name", name) != NULL);
}

static cJSON *slice_of(struct trace *trace, unsigned row, const char *name, uint64_t from_ns)
{
	const uint64_t now = os_monotonic_ns();
	uint64_t at_us, took_us;
	cJSON *event;

	name_row(trace, row);
	from_ns = from_ns < trace->began_ns ? trace->began_ns : from_ns;
	at_us = (from_ns - trace->began_ns) / 1000;
	took_us = (now - from_ns) / 1000;
	event = event_of(name, "X", row);
	(void)cJSON_AddNumberToObject(event, "ts", (double)at_us);
	(void)cJSON_AddNumberToObject(event, "dur", (double)took_us);
	return event;
}

void trace_slice(struct trace *trace, unsigned row, const char *name, uint64_t from_ns)
{
	cJSON *event = trace ? slice_of(trace, row, name, from_ns) : NULL;

	if (trace)
		put_event(trace, event, event != NULL);
}

static const char *form_name(enum cache_key_form form)
{
	return form == CACHE_KEY_LINK ? "link" : form == CACHE_KEY_TEXT ? "text" : "load";
}

/* These allow fitting the model again (scripts/fit-costs.py). */
static bool add_features(cJSON *arguments, const struct plan_module *module)
{
	return cJSON_AddNumberToObject(arguments, "statements", module->features.statements) &&
		   cJSON_AddNumberToObject(arguments, "divisions", module->features.divisions) &&
		   cJSON_AddNumberToObject(arguments, "entries", module->features.entries);
}

static bool add_arguments(cJSON *event, const struct plan *plan, const struct plan_module *module,
						  const struct trace_end *how)
{
	const struct plan_file *file = &plan->files[module->file];
	cJSON *arguments = cJSON_AddObjectToObject(event, "args");
	char target[JW_TARGET_TEXT], entry[CACHE_NAME_SIZE];

	return arguments && !json_add_text(NULL, arguments, "library", file->path) &&
		   (!file->member || !json_add_text(NULL, arguments, "member", file->member)) &&
		   cJSON_AddNumberToObject(arguments, "offset", (double)module->container_offset) &&
		   cJSON_AddStringToObject(arguments, "form", form_name(module->form)) &&
		   cJSON_AddStringToObject(arguments, "target",
								   jw_target_sm(target, plan->targets[module->target].device)) &&
		   cJSON_AddNumberToObject(arguments, "bytes", (double)module->payload_bytes) &&
		   cJSON_AddNumberToObject(arguments, "predicted_ms", module->cost_ms) &&
		   cJSON_AddNumberToObject(arguments, "cpu_ms", how->cpu_ms) &&
		   add_features(arguments, module) &&
		   cJSON_AddStringToObject(arguments, "entry", cache_entry_name(entry, module->key)) &&
		   !json_add_text(NULL, arguments, "result", how->result);
}

void trace_module(struct trace *trace, unsigned row, const struct plan *plan,
				  const struct plan_module *module, uint64_t from_ns, const struct trace_end *how)
{
	const struct plan_file *file = &plan->files[module->file];
	char name[300];
	cJSON *event;

	if (!trace)
		return;
	(void)snprintf(name, sizeof name, "%.250s+0x%llx",
				   os_base_name(file->member ? file->member : file->path),
				   (unsigned long long)module->container_offset);
	event = slice_of(trace, row, name, from_ns);
	put_event(trace, event, event && add_arguments(event, plan, module, how));
}

static int open_trace_file(struct jw_error *err, struct trace *trace)
{
	if (!trace->path || os_sink_open(err, trace->path, &trace->sink))
		return -1;
	if (trace->sink >= 0)
		return 0;
	return os_file_open(err, trace->path, OS_OPEN_CREATE, &trace->file) ||
				   os_file_truncate(err, trace->file, 0)
			   ? -1
			   : 0;
}

static void free_trace(struct trace *trace)
{
	os_sink_close(trace->path, trace->sink);
	os_file_close(trace->file);
	mem_free(trace->path);
	mem_free(trace);
}

int trace_open(struct jw_error *err, const char *path, struct trace **ret_trace)
{
	struct trace *trace = mem_alloc(err, sizeof *trace);
	static const char process[] =
		"{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"jitwarm "
		"prime\"}}";

	if (!trace)
		return -1;
	trace->sink = -1;
	trace->began_ns = os_monotonic_ns();
	trace->path = mem_string(err, path);
	if (open_trace_file(err, trace) || write_event(err, trace, process, "[\n")) {
		free_trace(trace);
		return -1;
	}
	*ret_trace = trace;
	return 0;
}

int trace_close(struct jw_error *err, struct trace *trace)
{
	int result = 0;

	if (!trace)
		return 0;
	if (trace->sink >= 0 && !trace->failed &&
		os_sink_write(&trace->why, trace->path, trace->sink, end, sizeof end - 1))
		trace->failed = true;
	if (trace->failed)
		result = error_copy(err, &trace->why);
	free_trace(trace);
	return result;
}
