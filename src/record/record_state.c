#include "record/record_state.h"

#include "base/cancel.h"
#include "base/mem.h"

enum { MOST_NOTES = 1000 };

int record_note(struct jw_error *err, struct jw_record_result *result, const char *line)
{
	return mem_add_string(err, &result->notes, &result->note_count, MOST_NOTES, line);
}

bool record_is_stopped(struct recorder *recorder)
{
	if (cancel_asked(&recorder->options->cancel))
		recorder->result->interrupted = true;
	return recorder->result->interrupted;
}
