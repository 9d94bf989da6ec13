/* Controls: the questions that libcuda asks the resource manager's objects (NV_ESC_RM_CONTROL).
 *
 * Numbers and structures: OGK ctrl/ctrl*.h. A control that is in no table succeeds and leaves its
 * parameters unchanged: zeros are a consistent "no" to most questions for a feature. */
#pragma once

#include "objects.h"

enum { NV_OK = 0, NV_ERR_INVALID_ARGUMENT = 0x1f };

/* The object that the control is for. gpu and model are NULL if it belongs to no GPU. */
struct call {
	struct object *object;
	struct gpu *gpu;
	const struct gpu_model *model;
	uint32_t size; /* the size of the parameters, in bytes */
};

/* Writes the answer into `params`; returns NV_OK or a status. */
typedef uint32_t control_fn(const struct call *call, void *params);

struct control {
	uint32_t command;
	uint16_t size; /* the least size of `params`, in bytes */
	const char *name;
	control_fn *run;
};

extern const struct control
	system_controls[]; /* system_controls.c: controls of the root, without a GPU */
extern const size_t system_control_count;
extern const struct control gpu_controls[]; /* gpu_controls.c: controls of a device or subdevice */
extern const size_t gpu_control_count;

uint32_t control_run(struct object *object, uint32_t command, void *params, uint32_t size);

static inline void *at(void *base, size_t offset)
{
	return (uint8_t *)base + offset;
}

/* Returns the pointer stored as an NvP64 in a structure. */
static inline void *pointer_at(void *base, size_t offset)
{
	return *(void **)at(base, offset);
}
