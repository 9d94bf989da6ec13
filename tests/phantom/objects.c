/* The tree of the resource manager's objects. */
#include "objects.h"

#include <stdlib.h>

#define BUCKETS 4096

static struct object *table[BUCKETS];

static struct object **object_slot(uint32_t client, uint32_t handle)
{
	struct object **link = &table[(client * 31 + handle) % BUCKETS];
	while (*link && ((*link)->client != client || (*link)->handle != handle))
		link = &(*link)->next;
	return link;
}

struct object *object_find(uint32_t client, uint32_t handle)
{
	return *object_slot(client, handle);
}

struct object *object_create(uint32_t client, uint32_t parent, uint32_t handle, uint32_t class)
{
	struct object **slot = object_slot(client, handle), *above = object_find(client, parent);
	if (!*slot)
		*slot = calloc(1, sizeof **slot);
	struct object *object = *slot;
	if (!object)
		return NULL;
	object->client = client;
	object->handle = handle;
	object->parent = parent;
	object->class = class;
	object->gpu = above ? above->gpu : NULL;
	return object;
}

/* Freeing a child may remove others from the bucket, so the search starts again after each. */
static void children_free(uint32_t client, uint32_t handle)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		struct object *object = table[i];
		while (object) {
			if (object->client == client && (object->parent == handle || handle == client)) {
				object_free(client, object->handle);
				object = table[i];
			} else {
				object = object->next;
			}
		}
	}
}

void object_free(uint32_t client, uint32_t handle)
{
	struct object **slot = object_slot(client, handle), *object = *slot;
	if (!object)
		return;
	*slot = object->next;
	children_free(client, handle);
	if (object->channel)
		channel_destroy(object->channel);
	free(object);
}
