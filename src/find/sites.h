/* The active Python or conda environment, and the folders in it that hold packages. jw_result_free
 * frees an environment. */
#pragma once

#include "find/found.h"

enum { SITES_MAX = 64 };

struct site {
	char *path; /* .../site-packages */
	char *root; /* the folder that its files must not leave: the prefix */
	bool whole; /* belongs to the environment as a whole; PYTHONPATH's folders do not */
};

struct sites {
	char *label;                  /* for messages: "the virtual environment /home/x/venv" */
	char *prefix;                 /* the environment's folder */
	bool conda;                   /* prefix/conda-meta exists */
	bool installation;            /* neither virtual nor conda, but a Python installation itself */
	struct site items[SITES_MAX]; /* in the order of sys.path */
	size_t count;
};

/* Finds the active environment: VIRTUAL_ENV, else CONDA_PREFIX, else the project's .venv, else the
 * environment that the program is installed in, else that of the Python on PATH (python.h). A
 * variable that names a missing folder becomes a note. JW_ERR_NOT_FOUND if there is no
 * environment. */
int sites_find(struct jw_error *err, struct found_list *list, struct sites **ret_environment);
/* Calls `take` for each environment in conda's list, in the account's home. *ret_unread is the
 * reason why the list could not be read, or JW_OK. */
int conda_list_each(struct jw_error *err,
					int (*take)(struct jw_error *err, void *context, const char *prefix),
					void *context, struct jw_error *ret_unread);
/* Returns "venv", "conda" or "Python" by the content of a folder; NULL if it is not an
 * environment. */
const char *environment_kind(const char *path);
