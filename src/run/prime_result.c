#include "run/prime_result.h"

#include "base/mem.h"
#include "os/clock.h"

/* Failures and notes beyond these are counted, not listed. */
enum { MOST_FAILURES = 10000, MOST_NOTES = 100000, MOST_SLICES = 10000 };

int prime_result_add_failure(struct jw_error *err, struct jw_prime_result *result,
							 const struct plan *plan, const struct plan_module *module,
							 const char *reason, const char *log)
{
	const struct plan_file *file = &plan->files[module->file];
	struct jw_prime_failure failure = {.offset = module->container_offset,
									   .target = plan->targets[module->target].device};
	struct jw_prime_failure *larger;

	result->failed++;
	if (result->failure_count >= MOST_FAILURES)
		return 0;
	larger = mem_resize(err, result->failures, (result->failure_count + 1) * sizeof *larger);
	if (!larger)
		return -1;
	result->failures = larger;
	failure.path = mem_string(err, file->path);
	failure.member = file->member ? mem_string(err, file->member) : NULL;
	failure.reason = mem_string(err, reason);
	failure.log = mem_string(err, log);
	larger[result->failure_count++] = failure;
	return failure.path && failure.reason && failure.log && (!file->member || failure.member) ? 0
																							  : -1;
}

int prime_result_add_note(struct jw_error *err, struct jw_prime_result *result, const char *format,
						  ...)
{
	va_list arguments;
	char *line;
	int failed;

	va_start(arguments, format);
	line = mem_vprintf(err, format, arguments);
	va_end(arguments);
	failed = line ? mem_add_string(err, &result->notes, &result->note_count, MOST_NOTES, line) : -1;
	mem_free(line);
	return failed;
}

void prime_result_add_slice(struct jw_prime_result *result, const struct jw_prime_slice *slice)
{
	if (!VEC_ROOM(NULL, result->slices, result->slice_capacity, result->slice_count, MOST_SLICES)) {
		result->slices[result->slice_count] = *slice;
		result->slices[result->slice_count++].took_ns = os_monotonic_ns() - slice->from_ns;
	}
}

void prime_result_forget_failures(struct jw_prime_result *result)
{
	for (size_t i = 0; i < result->failure_count; i++) {
		mem_free(result->failures[i].path);
		mem_free(result->failures[i].member);
		mem_free(result->failures[i].reason);
		mem_free(result->failures[i].log);
	}
	result->failure_count = result->failed = 0;
}
