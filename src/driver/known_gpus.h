/* This machine's GPUs. The GPUs that a worker reported last are kept in the state file, and are
 * valid for the same driver file, the same PCI devices and the same variables that select among
 * them. */
#pragma once

#include <stdbool.h>

#include <jitwarm/error.h>

#include "base/json.h"
#include "driver/protocol.h"
#include "os/platform.h"

/* The conditions under which a kept answer is valid. */
struct known_gpus_key {
	const char *library; /* the driver's file, found without loading it */
	const struct os_pci_device *pci;
	size_t pci_count;
};

/* Finds a kept answer; false if none matches. Fills in only library, cuda and devices of the
 * hello. */
bool known_gpus_find(const char *state_dir, const struct known_gpus_key *key,
					 struct protocol_hello *ret_hello);
/* Keeps an answer. Ignores failures: the next run asks the driver again. */
void known_gpus_save(const char *state_dir, const struct known_gpus_key *key,
					 const struct protocol_hello *hello);

/* Forgets an answer that turned out to be wrong. */
void known_gpus_forget(const char *state_dir);

/* Reads the member STATE_DEVICES of the state file, or NULL. `identity` has the required
 * conditions; NULL accepts any. */
bool known_gpus_take(const cJSON *kept, const char *identity, struct protocol_hello *ret_hello);
