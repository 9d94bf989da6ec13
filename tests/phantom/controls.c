/* Finds the answer to a control in the tables of system_controls.c and gpu_controls.c. */
#include "controls.h"

static const struct control *control_find(const struct control *table, size_t count,
										  uint32_t command)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].command == command)
			return &table[i];
	return NULL;
}

uint32_t control_run(struct object *object, uint32_t command, void *params, uint32_t size)
{
	struct call call = {.object = object, .gpu = object ? object->gpu : NULL, .size = size};
	const struct control *control = control_find(system_controls, system_control_count, command);
	bool about_gpu = !control;
	if (!control)
		control = control_find(gpu_controls, gpu_control_count, command);
	LOG("control %x %08x %s, %u bytes", object ? object->handle : 0, command,
		control ? control->name : "(not emulated)", size);
	log_hex("in", params, size);
	if (!control)
		return NV_OK;
	call.model = call.gpu ? call.gpu->model : NULL;
	bool fits = object && params && size >= control->size && (!about_gpu || call.gpu);
	uint32_t status = fits ? control->run(&call, params) : NV_ERR_INVALID_ARGUMENT;
	log_hex("out", params, size);
	if (status != NV_OK)
		LOG("  status %x", status);
	return status;
}
