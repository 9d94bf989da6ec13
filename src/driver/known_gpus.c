#include "driver/known_gpus.h"

#include <string.h>

#include "base/json.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "code/target_names.h"
#include "os/env.h"
#include "os/file.h"
#include "os/platform.h"

enum { MAX_BYTES = 1 << 20 };

/* One line that changes whenever the answer might: file identity, devices, and the variables that
 * hide or reorder them. */
static char *identity_of_gpus(const struct known_gpus_key *key)
{
	static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};
	struct buf text = BUF_MAX(64 << 10);
	struct os_stat stat;
	char *identity = NULL;

	if (os_stat(NULL, key->library, &stat))
		return NULL;
	(void)buf_printf(NULL, &text, "%s %llu %lld", key->library, (unsigned long long)stat.size_bytes,
					 (long long)stat.mtime_ns);
	for (size_t i = 0; i < key->pci_count; i++)
		(void)buf_printf(NULL, &text, " %04x:%04x@%s", key->pci[i].vendor, key->pci[i].device,
						 key->pci[i].bus);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		char *value = os_env(variables[i]);

		(void)buf_printf(NULL, &text, " %s=%s", variables[i], value ? value : "-");
		mem_free(value);
	}
	/* Variables may be of any length: what does not fit is not kept. */
	if (!text.overflowed)
		identity = mem_string(buf_text(&text));
	buf_free(&text);
	return identity;
}

struct kept_gpus {
	char *identity;
	struct protocol_hello *hello;
};

static const struct json_field kept_fields[] = {
	JSON(struct kept_gpus, identity, NULL),
	JSON_MEMBERS_BEHIND(struct kept_gpus, hello, &protocol_driver),
	{0},
};
static const struct json_table kept_gpus_table = {.schema = "jitwarm.devices/1",
												  .fields = kept_fields};

bool known_gpus_parse(const char *text, size_t size, const char *identity,
					  struct protocol_hello *ret_hello)
{
	cJSON *document = json_parse(NULL, text, size);
	struct kept_gpus kept = {.hello = ret_hello};
	bool found;

	memset(ret_hello, 0, sizeof *ret_hello);
	found = document && !json_take(NULL, document, &kept_gpus_table, &kept) &&
			(!identity || text_same(kept.identity, identity)) &&
			!protocol_check_devices(NULL, ret_hello);
	json_forget(&kept_gpus_table, &kept);
	cJSON_Delete(document);
	return found;
}

/* NULL if no state is kept. */
static char *gpus_file_of(const char *state_dir)
{
	return state_dir ? os_join(state_dir, "devices.json") : NULL;
}

bool known_gpus_find(const char *state_dir, const struct known_gpus_key *key,
					 struct protocol_hello *ret_hello)
{
	char *identity = identity_of_gpus(key), *path = gpus_file_of(state_dir);
	struct buf text = {0};
	struct os_stat library;
	/* The driver's file of that time may be gone, or its name damaged. */
	bool found = identity && path && !os_read_file(NULL, path, MAX_BYTES, &text) &&
				 known_gpus_parse(buf_text(&text), text.size, identity, ret_hello) &&
				 !os_stat(NULL, ret_hello->library, &library) && library.kind == OS_REGULAR;

	buf_free(&text);
	mem_free(identity);
	mem_free(path);
	return found;
}

void known_gpus_save(const char *state_dir, const struct known_gpus_key *key,
					 const struct protocol_hello *hello)
{
	char *path = gpus_file_of(state_dir), *line = NULL;
	const struct kept_gpus kept = {identity_of_gpus(key),
								   (struct protocol_hello *)(uintptr_t)hello};

	if (kept.identity && path)
		line = json_object_line(&kept_gpus_table, &kept);
	if (line && !os_make_dirs(NULL, state_dir, 0700))
		(void)os_write_atomic(NULL, path, line, strlen(line));
	cJSON_free(line);
	mem_free(kept.identity);
	mem_free(path);
}

void known_gpus_forget(const char *state_dir)
{
	char *path = gpus_file_of(state_dir);

	if (path)
		(void)os_remove(NULL, path);
	mem_free(path);
}
