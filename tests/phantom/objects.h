/* The resource manager's objects: a tree per client, found by (client, handle). A client's root has
 * the client's own number as its handle. The caller holds the lock of rm.c. */
#pragma once

#include "phantom.h"

struct object {
	uint32_t client, handle, parent, class;
	struct gpu *gpu;  /* of the device above it, or NULL */
	uint64_t address; /* memory: the address where the process has mapped it, or 0 */
	struct channel *channel;
	struct object *next; /* the next object in its bucket */
};

struct object *object_find(uint32_t client, uint32_t handle);
/* Creates the object, or gives it another parent and class; returns NULL without memory. */
struct object *object_create(uint32_t client, uint32_t parent, uint32_t handle, uint32_t class);
/* Frees the object and everything below it. */
void object_free(uint32_t client, uint32_t handle);
