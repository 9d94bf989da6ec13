#include "driver/state_file.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"

enum { MAX_BYTES = 4 << 20, MAX_LAST_RUNS = 64, LOCK_MS = 2000 };

static const char schema[] = "jitwarm.state/1";

cJSON *state_parse(const char *text, size_t size)
{
	cJSON *document = json_parse(NULL, text, size);

	if (cJSON_IsObject(document) && !strcmp(json_text(document, "schema", ""), schema))
		return document;
	cJSON_Delete(document);
	return NULL;
}

static cJSON *read_all(const char *state_dir)
{
	char *path = os_join(state_dir, "state.json");
	struct buf text = {0};
	cJSON *document = NULL;

	if (!os_read_file(NULL, path, MAX_BYTES, &text))
		document = state_parse(buf_text(&text), text.size);
	buf_free(&text);
	mem_free(path);
	return document;
}

cJSON *state_read(const char *state_dir, const char *name)
{
	cJSON *document = state_dir ? read_all(state_dir) : NULL;
	cJSON *member = document ? cJSON_DetachItemFromObjectCaseSensitive(document, name) : NULL;

	cJSON_Delete(document);
	return member;
}

/* Drops the oldest run, which is the first, since new ones are written to the end. */
static void drop_old_runs(cJSON *document)
{
	cJSON *member, *oldest;
	size_t count;

	do {
		count = 0;
		oldest = NULL;
		cJSON_ArrayForEach(member, document)
		{
			if (!text_starts(member->string, STATE_LAST_RUN))
				continue;
			oldest = oldest ? oldest : member;
			count++;
		}
		if (count > MAX_LAST_RUNS)
			cJSON_Delete(cJSON_DetachItemViaPointer(document, oldest));
	} while (count > MAX_LAST_RUNS);
}

static bool has_state(const char *state_dir, const char *name)
{
	cJSON *member = state_read(state_dir, name);
	const bool has = member != NULL;

	cJSON_Delete(member);
	return has;
}

static int write_state(struct jw_error *err, const char *state_dir, const cJSON *document)
{
	char *path = os_join(state_dir, "state.json"), *text = json_line(document);
	const int result = os_write_atomic(err, path, text, strlen(text));

	cJSON_free(text);
	mem_free(path);
	return result;
}

int state_may_write(struct jw_error *err, const char *state_dir)
{
	static const char *const locks[] = {"state-lock", "ledger-lock"};
	int result = os_may_make(err, state_dir);

	for (size_t i = 0; !result && i < sizeof locks / sizeof *locks; i++) {
		char *path = os_join(state_dir, locks[i]);
		struct os_file *lock = NULL;
		struct jw_error why;

		if (os_file_open(&why, path, OS_OPEN_UPDATE, &lock) && why.code != JW_ERR_NOT_FOUND)
			result = error_copy(err, &why);
		os_file_close(lock);
		mem_free(path);
	}
	return result;
}

int state_write(struct jw_error *err, const char *state_dir, const char *name, cJSON *value)
{
	struct os_file *lock = NULL;
	char *lock_path;
	cJSON *document;
	int result;

	/* Without a state directory there is nothing to remove, so none is made. */
	if (!state_dir || (!value && !has_state(state_dir, name))) {
		cJSON_Delete(value);
		return 0;
	}
	lock_path = os_join(state_dir, "state-lock");
	result =
		os_make_dirs(err, state_dir, 0700) || os_lock_file(err, lock_path, LOCK_MS, &lock) ? -1 : 0;
	mem_free(lock_path);
	if (result) {
		cJSON_Delete(value);
		return -1;
	}
	document = read_all(state_dir);
	if (!document) {
		document = cJSON_CreateObject();
		json_add_text(document, "schema", schema);
	}
	cJSON_DeleteItemFromObjectCaseSensitive(document, name);
	if (value)
		cJSON_AddItemToObject(document, name, value);
	drop_old_runs(document);
	result = write_state(err, state_dir, document);
	cJSON_Delete(document);
	os_file_close(lock);
	return result;
}
