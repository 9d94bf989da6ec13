/* The files that are looked at for settings. */
#pragma once

#include "setup/assign.h"

/* The files in which settings are looked for, in the order in which a login reads them. */
struct setting_file {
	char *path;
	const char *source; /* as in struct jw_setting */
	enum assign_form form;
};
struct setting_files {
	struct jw_error home; /* why the account's folder cannot be looked into; no code: it can */
	struct setting_file *items;
	size_t count, capacity;
	size_t of_system; /* so many, the first ones, are the system's */
};
/* Those that may be there; of folders, what is in them. */
int setting_files_list(struct jw_error *err, struct setting_files *ret_files);
void setting_files_free(struct setting_files *files);
