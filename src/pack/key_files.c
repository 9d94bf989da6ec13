#include "pack/key_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/arena.h"
#include "base/text.h"
#include "os/file.h"
#include "os/private.h"
#include "os/shell.h"

enum { MAX_NAME = 40, MAX_KEYS = 10000 };

static const char own_folder[] = "keys", trusted_folder[] = "trusted";

/* A public key in a folder; `trusted` marks folders whose keys are trusted. */
struct key_file {
	struct jw_key key;
	const char *path;
};

/* All keys, in an arena. */
struct key_files {
	struct key_file *items;
	size_t count, capacity;
};

static int check_name(struct jw_error *err, const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t length = strlen(name);

	if (!length || length > MAX_NAME || name[0] == '.' || name[0] == '-' ||
		strspn(name, allowed) != length)
		return error_set(err, JW_ERR_USAGE,
						 "“%.60s” is not a valid name for a key: use letters, digits, “-”, “_” and "
						 "“.”, at most %d",
						 name, MAX_NAME);
	return 0;
}

static char *key_path(struct jw_error *err, const char *state_dir, const char *folder,
					  const char *name, const char *extension)
{
	if (!state_dir) {
		error_set(err, JW_ERR_NOT_FOUND,
				  "this account has no folder for keys: set JITWARM_STATE=DIR");
		return NULL;
	}
	return mem_printf("%s/%s/%s%s", state_dir, folder, name, extension);
}

static void forget_text(struct buf *text)
{
	if (text->data)
		minisign_forget(text->data, text->size);
	buf_free(text);
}

static int write_key_file(struct jw_error *err, const char *path, const struct buf *text,
						  bool secret)
{
	if (os_make_parent(err, path, 0700))
		return -1;
	return secret ? os_write_mode(err, path, text->data, text->size, 0600)
				  : os_rewrite(err, path, text->data, text->size);
}

static int write_public(struct jw_error *err, const char *state_dir, const char *folder,
						const char *name, const struct minisign_public *key)
{
	char *path = key_path(err, state_dir, folder, name, ".pub");
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);
	int result;

	if (!path)
		return -1;
	minisign_write_public(key, &text);
	result = write_key_file(err, path, &text, /* secret= */ false);
	buf_free(&text);
	mem_free(path);
	return result;
}

static void describe_key(struct jw_key *key, const char *name,
						 const struct minisign_public *public_key)
{
	TEXT_COPY(key->name, name);
	(void)minisign_id_text(key->id, public_key->id);
	minisign_public_text(key->public_key, public_key);
}

/* Finds out whether this account can sign: one that may not read the secret key cannot. */
static int check_secret(struct jw_error *err, const char *path, struct jw_key *key)
{
	struct minisign_secret secret = {0};
	struct jw_error why = {0};
	struct buf text = {0};
	const bool unread = os_read_file(&why, path, MINISIGN_MAX_FILE, &text);
	int result = 0;

	if (unread && why.code != JW_ERR_FORMAT)
		result = os_ignore_unreadable(err, path, &why);
	else if (unread || !minisign_read_secret(NULL, (const char *)text.data, text.size, &secret)) {
		key->can_sign = !os_guard(&why, path) && !unread;
		if (!key->can_sign)
			TEXT_COPY(key->refused, why.message);
	}
	minisign_forget(&secret, sizeof secret);
	forget_text(&text);
	return result;
}

/* Reads a public key that is refused if it cannot be read, or if another account can change it. A
 * failure is an error of the system. */
static int read_public_key(struct jw_error *err, const char *path, struct jw_key *key)
{
	struct minisign_public public_key;
	struct jw_error why = {0};
	struct buf text = {0};
	char name[sizeof key->name];
	int result = 0;

	TEXT_COPY(name, key->name);
	if (os_read_file(&why, path, MINISIGN_MAX_FILE, &text))
		result = os_ignore_unreadable(err, path, &why);
	else if (minisign_read_public(&why, (const char *)text.data, text.size, &public_key))
		error_prefix(&why, "%s", path);
	else
		describe_key(key, name, &public_key);
	if (why.code)
		(void)text_format(key->refused, sizeof key->refused, "%.800s; correct or remove the file",
						  why.message);
	else if (key->trusted && os_guard(&why, path))
		TEXT_COPY(key->refused, why.message);
	buf_free(&text);
	return result;
}

/* Adds a key; skips names that do not fit into jw_key. */
static int add_key_file(struct jw_error *err, const char *folder, const char *file, bool trusted,
						struct key_files *files)
{
	const size_t length = strlen(file) - strlen(".pub");
	struct jw_key key = {.trusted = trusted};
	const char *path = arena_keep(files, os_join(folder, file));

	if (length >= sizeof key.name)
		return 0;
	text_copy(key.name, length + 1, file);
	if (read_public_key(err, path, &key) ||
		(!trusted && check_secret(err, arena_printf(files, "%s/%s.key", folder, key.name), &key)) ||
		ARENA_ROOM(err, files, files->items, files->capacity, files->count, MAX_KEYS))
		return -1;
	files->items[files->count++] = (struct key_file){.key = key, .path = path};
	return 0;
}

/* Adds the keys of a folder; `folder` is NULL if there is none. */
static int add_key_folder(struct jw_error *err, const char *folder, bool trusted,
						  struct key_files *files)
{
	struct os_names names;
	bool there = false;
	int result = folder ? os_check_exists(err, folder, &there) : 0;

	if (result || !there)
		return result;
	if (os_list(err, folder, &names))
		return -1;
	for (size_t i = 0; !result && i < names.count; i++)
		if (names.kinds[i] == OS_REGULAR && text_ends(names.items[i], ".pub"))
			result = add_key_file(err, folder, names.items[i], trusted, files);
	os_names_free(&names);
	return result;
}

static int compare_key_files(const void *a, const void *b)
{
	return strcmp(((const struct key_file *)a)->key.name, ((const struct key_file *)b)->key.name);
}

static char *more_trusted;

void jw_use_trusted_keys(const char *folder)
{
	mem_free(more_trusted);
	more_trusted = folder ? mem_string(folder) : NULL;
}

/* Reads all keys, sorted by name. */
static int read_key_files(struct jw_error *err, const char *state_dir, struct key_files **ret_files)
{
	struct key_files *files = arena_open(sizeof *files);
	const char *own = state_dir ? arena_keep(files, os_join(state_dir, own_folder)) : NULL;
	const char *trusted = state_dir ? arena_keep(files, os_join(state_dir, trusted_folder)) : NULL;

	if (add_key_folder(err, own, /* trusted= */ false, files) ||
		add_key_folder(err, trusted, /* trusted= */ true, files) ||
		add_key_folder(err, more_trusted, /* trusted= */ true, files)) {
		jw_result_free(files);
		return -1;
	}
	if (files->count)
		qsort(files->items, files->count, sizeof *files->items, compare_key_files);
	*ret_files = files;
	return 0;
}

/* Returns whether two keys are equal; the same id is not enough, and a damaged one equals none. */
static bool is_same_key(const struct jw_key *a, const struct jw_key *b)
{
	return *a->public_key && !strcmp(a->public_key, b->public_key);
}

/* Returns whether the key is one of our own without its secret key, because writing the pair was
 * interrupted. */
static bool is_unfinished(const struct key_files *files, const struct jw_key *key)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct jw_key *own = &files->items[i].key;

		if (!own->trusted && !own->can_sign && !strcmp(own->name, key->name) &&
			is_same_key(own, key))
			return true;
	}
	return false;
}

/* Refuses a name under which another key is trusted. */
static int check_free(struct jw_error *err, const char *state_dir, const struct jw_key *key)
{
	struct key_files *files;
	int result = 0;

	if (read_key_files(err, state_dir, &files))
		return -1;
	for (size_t i = 0; !result && i < files->count; i++) {
		const struct jw_key *other = &files->items[i].key;
		char word[SHELL_WORD];

		if (other->trusted && *other->public_key && text_equal_fold(other->name, key->name) &&
			!is_same_key(other, key) && !(key->can_sign && is_unfinished(files, other)))
			result = error_set(
				err, JW_ERR_USAGE,
				"“%s” is the name of another trusted key, %s: choose another name, or “jitwarm key "
				"distrust %s” first",
				other->name, other->id, shell_word(word, other->name));
	}
	jw_result_free(files);
	return result;
}

/* Stores a pair. The secret key is written last: its file means that the name is in use. */
static int store_pair(struct jw_error *err, const char *state_dir,
					  const struct minisign_secret *secret, const struct buf *text,
					  struct jw_key *key)
{
	char *path = key_path(err, state_dir, own_folder, key->name, ".key");
	struct minisign_public public_key;
	bool there = false;
	int result = path ? os_check_exists(err, path, &there) : -1;

	minisign_public_of(secret, &public_key);
	describe_key(key, key->name, &public_key);
	if (there)
		result = error_set(err, JW_ERR_USAGE, "there is a key “%s” already: %s", key->name, path);
	if (!result)
		result = check_free(err, state_dir, key);
	if (!result)
		result = write_public(err, state_dir, own_folder, key->name, &public_key);
	if (!result)
		result = write_public(err, state_dir, trusted_folder, key->name, &public_key);
	if (!result)
		result = write_key_file(err, path, text, /* secret= */ true);
	mem_free(path);
	return result;
}

int jw_key_generate(struct jw_error *err, const char *state_dir, const char *name,
					struct jw_key *ret_key)
{
	struct jw_key key = {.can_sign = true, .trusted = true};
	struct minisign_secret secret;
	struct buf text = BUF_MAX(MINISIGN_MAX_FILE);
	int result;

	if (check_name(err, name) || sodium_init() < 0)
		return -1;
	TEXT_COPY(key.name, name);
	minisign_generate(&secret);
	minisign_write_secret(&secret, &text);
	result = store_pair(err, state_dir, &secret, &text, &key);
	minisign_forget(&secret, sizeof secret);
	forget_text(&text);
	if (!result)
		*ret_key = key;
	return result;
}

int jw_key_trust(struct jw_error *err, const char *state_dir, const char *name,
				 const char *path_or_text, struct jw_key *ret_key)
{
	struct minisign_public public_key;
	struct jw_key key = {.trusted = true};
	char id[MINISIGN_ID_TEXT];
	struct buf text = {0};
	int result = -1;

	if (name && check_name(err, name))
		return -1;
	/* A public key is one, whatever files there are. */
	if (!minisign_read_public(NULL, path_or_text, strlen(path_or_text), &public_key))
		result = 0;
	else if (!os_exists(path_or_text))
		result = error_set(err, JW_ERR_FORMAT,
						   "no such file, and not a public key in minisign's format");
	else if (os_read_file(err, path_or_text, MINISIGN_MAX_FILE, &text))
		return -1;
	else
		result = minisign_read_public(err, (const char *)text.data, text.size, &public_key);
	buf_free(&text);
	if (result)
		return error_prefix(err, "%.100s", path_or_text);
	if (!name)
		name = minisign_id_text(id, public_key.id);
	describe_key(&key, name, &public_key);
	if (check_free(err, state_dir, &key) ||
		write_public(err, state_dir, trusted_folder, name, &public_key))
		return -1;
	*ret_key = key;
	return 0;
}

int jw_key_distrust(struct jw_error *err, const char *state_dir, const char *name)
{
	struct key_files *files;
	size_t removed = 0;
	int result = 0;

	if (check_name(err, name) || read_key_files(err, state_dir, &files))
		return -1;
	/* A key may be trusted under several names, and an own key under another name. */
	for (size_t i = 0; i < files->count; i++)
		for (size_t at = 0; !result && !strcmp(files->items[i].key.name, name) && at < files->count;
			 at++) {
			struct key_file *file = &files->items[at];

			if (!file->key.trusted || (at != i && !is_same_key(&file->key, &files->items[i].key)))
				continue;
			result = os_remove(err, file->path);
			file->key.trusted = false;
			removed += !result;
		}
	jw_result_free(files);
	if (!result && !removed)
		result = error_set(err, JW_ERR_NOT_FOUND, "no trusted key “%s”", name);
	return result;
}

/* Returns the path of a secret key. A name of this account's key has priority over a file of that
 * name; another text with a separator, or that names an existing file, is a path. */
static char *secret_path(struct jw_error *err, const char *state_dir, const char *key)
{
	bool is_path = strpbrk(key, "/\\"), there = false;
	struct jw_error why = {0};
	char *path = is_path || check_name(&why, key)
					 ? NULL
					 : key_path(&why, state_dir, own_folder, key, ".key");

	if (path && os_check_exists(err, path, &there))
		goto fail;
	if (!there && (is_path || os_exists(key))) {
		mem_free(path);
		path = mem_string(key);
		is_path = true;
		there = os_exists(path);
	}
	if (!path)
		error_copy(err, &why);
	else if (there ? !os_guard(err, path) : is_path)
		return path;
	else if (!there)
		error_set(err, JW_ERR_NOT_FOUND,
				  "no key “%s”, nor a file of that name: make a key with “jitwarm key generate”, "
				  "or name the file of a minisign key",
				  key);
fail:
	mem_free(path);
	return NULL;
}

int keys_read(struct jw_error *err, const char *state_dir, const char *key,
			  struct minisign_secret *ret_secret)
{
	char *path = secret_path(err, state_dir, key);
	struct buf text = {0};
	int result = path ? os_read_file(err, path, MINISIGN_MAX_FILE, &text) : -1;

	if (!result && minisign_read_secret(err, (const char *)text.data, text.size, ret_secret))
		result = error_prefix(err, "%s", path);
	forget_text(&text);
	mem_free(path);
	return result;
}

int jw_key_check(struct jw_error *err, const char *state_dir, const char *key)
{
	struct minisign_secret secret = {0};
	int result;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	result = keys_read(err, state_dir, key, &secret);
	minisign_forget(&secret, sizeof secret);
	return result;
}

int jw_key_list(struct jw_error *err, const char *state_dir, struct jw_keys **ret_keys)
{
	struct jw_keys *keys;
	struct key_files *files;

	if (read_key_files(err, state_dir, &files))
		return -1;
	keys = arena_open(sizeof *keys);
	keys->items = arena_array(keys, files->count, sizeof *keys->items);
	for (size_t i = 0; i < files->count; i++) {
		struct jw_key *key = &files->items[i].key;
		struct jw_key *next = &keys->items[keys->count];
		struct jw_key *former = keys->count ? next - 1 : next;

		key->trusted = key->trusted && !*key->refused;
		/* An own key that is trusted under its own name. */
		if (keys->count && !strcmp(former->name, key->name) && is_same_key(former, key)) {
			former->trusted = former->trusted || key->trusted;
			former->can_sign = former->can_sign || key->can_sign;
			if (!*former->refused)
				TEXT_COPY(former->refused, key->refused);
		} else {
			*next = *key;
			keys->count++;
		}
	}
	jw_result_free(files);
	*ret_keys = keys;
	return 0;
}

int keys_find_trusted(struct jw_error *err, const char *state_dir, const uint8_t id[MINISIGN_ID],
					  struct minisign_public *ret_public, char ret_name[64])
{
	char text[MINISIGN_ID_TEXT];
	struct key_files *files;
	struct jw_error why = {0};
	int result = -1;

	if (read_key_files(&why, state_dir, &files)) {
		/* A signer does not become unknown because the keys cannot be listed. */
		if (why.code == JW_ERR_NOT_FOUND)
			why.code = JW_ERR_IO;
		return error_copy(err, &why);
	}
	error_set(&why, JW_ERR_NOT_FOUND, "the key %s is not trusted on this machine",
			  minisign_id_text(text, id));
	for (size_t i = 0; result && i < files->count; i++) {
		const struct jw_key *key = &files->items[i].key;

		if (key->trusted && !strcmp(key->id, text)) {
			result = *key->refused ? error_set(&why, JW_ERR_NOT_FOUND, "%s", key->refused)
								   : minisign_read_public(&why, key->public_key,
														  strlen(key->public_key), ret_public);
			text_copy(ret_name, 64, key->name);
		}
	}
	jw_result_free(files);
	return result ? error_copy(err, &why) : 0;
}
