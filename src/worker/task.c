#include "worker/task.h"

#include <string.h>

#include "base/mem.h"
#include "os/env.h"
#include "os/file.h"

enum { MOST_TASK = 1 << 20 };

static int open_document(struct jw_error *err, const cJSON *document, struct task *ret_task)
{
	const char *compiler = json_text(document, "compiler", "");

	if (!strcmp(compiler, "nvrtc"))
		return task_nvrtc(err, document, ret_task);
	if (!strcmp(compiler, "ptxas"))
		return task_ptxas(err, document, ret_task);
	if (!strcmp(compiler, "nvjitlink"))
		return task_nvjitlink(err, document, ret_task);
	return error_set(err, JW_ERR_FORMAT, "no compiler is called “%.40s”", compiler);
}

int task_open(struct jw_error *err, struct task *ret_task)
{
	char *path = os_env(TASK_VARIABLE);
	struct buf text = {0};
	cJSON *document = NULL;
	int result = -1;

	if (!path)
		return 0;
	if (!os_read_file(err, path, MOST_TASK, &text))
		document = json_parse(err, buf_text(&text), text.size);
	if (document && !(result = open_document(err, document, ret_task)))
		(void)os_env_set(NULL, TASK_VARIABLE, NULL);
	cJSON_Delete(document);
	buf_free(&text);
	mem_free(path);
	return result;
}

int task_write(struct jw_error *err, const char *folder, cJSON *document, char **ret_path)
{
	char *text = document ? json_line(err, document) : NULL;
	char *path = text ? os_join(err, folder, "task.json") : NULL;
	int result = -1;

	if (!document)
		error_set(err, JW_ERR_MEMORY, "out of memory");
	if (path && !os_write_atomic(err, path, text, strlen(text))) {
		*ret_path = path;
		path = NULL;
		result = 0;
	}
	mem_free(path);
	cJSON_free(text);
	cJSON_Delete(document);
	return result;
}
