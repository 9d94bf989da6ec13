/* The machine and the account that we run as. */
#ifndef JW_OS_SYSTEM_H
#define JW_OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* "linux" or "windows". */
extern const char os_name[];

uint64_t os_monotonic_ns(void);
/* Processor time that this process has used, all its threads together. 0 where unknown. */
uint64_t os_cpu_ns(void);
/* Whether this Linux runs inside Windows (WSL): its driver is Windows' own, handed in, and its
 * cache another than that of Windows' programs. */
bool os_is_wsl(void);

/* Seconds since 1970-01-01 UTC. */
int64_t os_now_s(void);

/* Cores that this process may use (affinity, cgroup quota), hardware threads that share one counted
 * each; at least 1. */
unsigned os_cores(void);
/* The same, threads that share a core counted once; at most os_cores(), and that where the system
 * does not tell. */
unsigned os_physical_cores(void);
/* Memory in all and what is available without swapping; false where the system does not say. */
bool os_memory(uint64_t *ret_total_bytes, uint64_t *ret_available_bytes);
/* Resident memory of this process now, and its peak. 0 where unknown. */
uint64_t os_resident_bytes(void);
uint64_t os_peak_resident_bytes(void);
/* Gives freed memory back to the system, where the allocator would keep it. */
void os_release_memory(void);
/* Memory that has not been written to yet comes in large pages, where the system has any: faults
 * of 4 KiB cost as much as what is written there. */
void os_prefer_large_pages(void *memory, size_t size);

/* The value of an environment variable, UTF-8, or NULL; the caller frees it. */
char *os_env(const char *name);
int os_env_set(struct jw_error *err, const char *name, const char *value); /* value NULL: unset */

/* Folders; the caller frees them. */
int os_home_dir(struct jw_error *err, char **ret_path);
/* jitwarm's own: $JITWARM_STATE, else $XDG_STATE_HOME/jitwarm or ~/.local/state/jitwarm,
 * %LOCALAPPDATA%\jitwarm. Not made. */
int os_state_dir(struct jw_error *err, char **ret_path);
/* Where the driver caches unless CUDA_CACHE_PATH says otherwise (docs/driver-cache.md):
 * $HOME/.nv/ComputeCache, where HOME may be empty but must be set (else JW_ERR_NOT_FOUND: the
 * driver caches nothing); %APPDATA%\NVIDIA\ComputeCache. `home`: for another account's home
 * directory; NULL: our own. Not made. */
int os_driver_cache_dir(struct jw_error *err, const char *home, char **ret_path);
/* Our own executable. */
int os_self_path(struct jw_error *err, char **ret_path);

/* Who runs us. `sudo_user`: the account that called sudo, where we are root by that (else NULL);
 * its ids and home. */
struct os_account {
	bool superuser;
	uint32_t owner, group;
	char *sudo_user, *sudo_home;
	uint32_t sudo_owner, sudo_group;
};
int os_account(struct jw_error *err, struct os_account *ret_account);
void os_account_free(struct os_account *account);
/* Who we are, as the system's own programs want it: a user's name on POSIX, the SID ("S-1-5-...")
 * on Windows. The caller frees it. */
int os_account_id(struct jw_error *err, char **ret_id);
/* From now on this process is that account and no longer root: its ids, its groups, its HOME. For
 * good. POSIX; JW_ERR_UNSUPPORTED on Windows. */
int os_become_sudo_user(struct jw_error *err, const struct os_account *account);

/* For the superuser who writes into another account's folders: from now on files are opened, made
 * and removed with that account's rights, so that no link planted there leads anywhere else.
 * os_act_as_self ends it. On Windows, and for an account that may not, -1 and nothing changed. */
int os_act_as(struct jw_error *err, uint32_t owner, uint32_t group);
void os_act_as_self(void);

/* A PCI display device by NVIDIA, found without the driver (sysfs; on Windows the registry). */
struct os_pci_device {
	uint32_t vendor, device;
	char bus[32]; /* "0000:01:00.0", lower case; "" where unknown */
};
/* $JITWARM_PCI_DEVICES ("10de:2484@0000:01:00.0,...") stands in for the system's list: the test
 * beds set it. At most `most` devices are filled in. */
int os_pci_gpus(struct jw_error *err, struct os_pci_device *devices, size_t most,
				size_t *ret_count);

/* The command line in UTF-8: argv itself on POSIX, the system's own on Windows, where patterns
 * ("*.dll") become the files that they match. Never freed. */
char **os_arguments(int *argc, char **argv);

/* While it lasts, text in UTF-8 is in the C locale's encoding for libraries in this thread
 * (libarchive converts names by it). NULL where the system has no such locale, which is fine for
 * os_locale_restore. */
struct os_locale;
struct os_locale *os_locale_utf8(void);
void os_locale_restore(struct os_locale *locale);

/* Terminal. */
bool os_is_terminal(int fd);
/* Columns of the terminal behind fd, 80 where unknown. */
unsigned os_terminal_columns(int fd);
/* Once, at the start of the program: UTF-8 and escape sequences on Windows' console. */
void os_terminal_prepare(void);

/* Asks at the terminal, whatever standard input is, and reads a line that does not show, without
 * its end. JW_ERR_NOT_FOUND where there is no terminal. */
int os_ask_secret(struct jw_error *err, const char *question, char *ret_line, size_t size);

/* Worker processes: a copy of stdout for our own use; from then on everything else that is written
 * to stdout goes to stderr (the driver and its compiler print when they like). */
int os_take_stdout(struct jw_error *err, int *ret_fd);
/* Reads what is there by now, and waits only where that is nothing; *ret_got is 0 at its end. */
int os_fd_read_some(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
/* Reads or writes everything asked for on a descriptor; *ret_got is less only at its end. */
int os_fd_read(struct jw_error *err, int fd, void *data, size_t size, size_t *ret_got);
int os_fd_write(struct jw_error *err, int fd, const void *data, size_t size);
/* From now on this process is killed when its parent ends. On Windows the parent's job object does
 * that. */
void os_die_with_parent(void);
/* Crashes end the process at once: no core files, no dialog boxes. */
void os_crash_quietly(void);

#endif
