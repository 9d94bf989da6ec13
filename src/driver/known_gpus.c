#include "driver/known_gpus.h"

#include <string.h>

#include "base/arena.h"
#include "base/json_table.h"
#include "base/mem.h"
#include "base/text.h"
#include "driver/state_file.h"
#include "os/env.h"
#include "os/file.h"

/* Makes a line that changes whenever the answer might: file identity, devices, and the variables
 * that hide or reorder them. */
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
	/* Variables may be of any length; a text that does not fit is not kept. */
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

bool known_gpus_take(const cJSON *kept, const char *identity, struct protocol_hello *ret_hello)
{
	struct kept_gpus gpus = {.hello = ret_hello};
	void *owner = arena_open(1);
	bool found;

	memset(ret_hello, 0, sizeof *ret_hello);
	found = kept && !json_take(NULL, owner, kept, &kept_gpus_table, &gpus) &&
			(!identity || text_same(gpus.identity, identity)) &&
			!protocol_check_devices(NULL, ret_hello);
	jw_result_free(owner);
	return found;
}

bool known_gpus_find(const char *state_dir, const struct known_gpus_key *key,
					 struct protocol_hello *ret_hello)
{
	char *identity = identity_of_gpus(key);
	cJSON *kept = identity ? state_read(state_dir, STATE_DEVICES) : NULL;
	struct os_stat library;
	/* The driver's file of that time may be gone, or its name damaged. */
	const bool found = known_gpus_take(kept, identity, ret_hello) &&
					   !os_stat(NULL, ret_hello->library, &library) && library.kind == OS_REGULAR;

	cJSON_Delete(kept);
	mem_free(identity);
	return found;
}

void known_gpus_save(const char *state_dir, const struct known_gpus_key *key,
					 const struct protocol_hello *hello)
{
	const struct kept_gpus gpus = {identity_of_gpus(key),
								   (struct protocol_hello *)(uintptr_t)hello};

	if (gpus.identity)
		(void)state_write(NULL, state_dir, STATE_DEVICES, json_object(&kept_gpus_table, &gpus));
	mem_free(gpus.identity);
}

void known_gpus_forget(const char *state_dir)
{
	(void)state_write(NULL, state_dir, STATE_DEVICES, NULL);
}
