/* The GPUs that a worker reported last, kept in the state directory: valid for the same driver
 * file, the same PCI devices and the same variables that choose among them. The file is read as
 * hostile input; what does not fit is forgotten. */
#ifndef JW_PRIME_REMEMBER_H
#define JW_PRIME_REMEMBER_H

#include <stdbool.h>

#include "os/system.h"
#include "prime/protocol.h"

/* What the answer depends on. */
struct remember_key {
	const char *library; /* the driver as found without loading it */
	const struct os_pci_device *pci;
	size_t pci_count;
};

/* False where nothing fitting is remembered. Only library, cuda and devices of the hello are filled
 * in. */
bool remember_find(const char *state_dir, const struct remember_key *key,
				   struct protocol_hello *ret_hello);
/* Failing to remember is no failure: the next run asks again. */
void remember_save(const char *state_dir, const struct remember_key *key,
				   const struct protocol_hello *hello);

/* What is remembered has turned out not to hold. */
void remember_forget(const char *state_dir);

/* Parses one such document; for tests and the fuzz target. `identity`: what it must be for, NULL
 * for anything. */
bool remember_parse(const char *text, size_t size, const char *identity,
					struct protocol_hello *ret_hello);

#endif
