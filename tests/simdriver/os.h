/* The two systems that the simulated driver runs on. Paths are UTF-8. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim.h"

/* Returns a copy to be freed, or NULL if the variable is not set. */
char *os_env(const char *name);
/* Returns a copy of the driver's default cache directory, to be freed, or NULL. */
char *os_default_cache(void);

enum os_mode {
	OS_READ,
	OS_UPDATE,        /* must exist; read and write */
	OS_CREATE_UPDATE, /* emptied; read and write */
	OS_WRITE,         /* emptied; write */
	OS_APPEND,
	OS_CREATE_NEW, /* fails if it exists */
};

struct os_file {
	intptr_t handle;
};

bool os_open(struct os_file *ret_file, const char *path, enum os_mode mode);
void os_close(struct os_file *file);
/* Reads the whole file. */
bool os_read(const struct os_file *file, struct bytes *ret_bytes);
bool os_write(const struct os_file *file, uint64_t offset, const void *data, size_t size);
/* Appends in one write, so that it does not mix with other writers. */
bool os_append(const struct os_file *file, const void *data, size_t size);

enum os_lock { OS_LOCKED, OS_BUSY, OS_NO_LOCKS };
/* Locks the whole file; does not wait. */
enum os_lock os_try_lock(const struct os_file *file, bool exclusive);
void os_unlock(const struct os_file *file);

/* Makes one level; it may exist already. */
void os_make_directory(const char *path);
void os_remove_file(const char *path);
/* Removes a directory and everything in it; a missing one is fine. */
void os_remove_tree(const char *path);

void os_sleep_ms(double ms);
/* Uses up processor time of this thread. */
void os_burn_ms(double ms);
unsigned long os_pid(void);
/* Protects state that belongs to no single context: the cache, the process's state. */
void os_process_lock(void);
void os_process_unlock(void);

struct os_mutex;
struct os_mutex *os_mutex_new(void);
void os_mutex_lock(struct os_mutex *mutex);
void os_mutex_unlock(struct os_mutex *mutex);
void os_mutex_free(struct os_mutex *mutex);
