#include "pack/key_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/mem.h"
#include "base/text.h"
#include "os/file.h"
#include "state/kept_for.h"

enum { MOST_NAME = 40, MOST_KEYS = 10000 };

static const char own_folder[] = "keys", trusted_folder[] = "trusted";

/* ---- names and paths */

static int check_name(struct jw_error *err, const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t length = strlen(name);

	if (!length || length > MOST_NAME || name[0] == '.' || name[0] == '-' ||
		strspn(name, allowed) != length)
		return error_set(
			err, JW_ERR_USAGE,
			"“%.60s” is not a name for a key; take letters, digits, “-”, “_” and “.”, at most "
			"%d",
			name, MOST_NAME);
	return 0;
}

static char *key_path(struct jw_error *err, const char *state_dir, const char *folder,
					  const char *name, const char *extension)
{
	if (!state_dir) {
		error_set(err, JW_ERR_NOT_FOUND, "this account has no folder for keys (JITWARM_STATE)");
		return NULL;
	}
	return mem_printf(err, "%s/%s/%s%s", state_dir, folder, name, extension);
}

static void forget_text(struct buf *text)
{
	if (text->data)
		minisign_forget(text->data, text->size);
	buf_free(text);
}

static int write_text(struct jw_error *err, const char *path, const struct buf *text, bool secret)
{
	if (os_make_parent(err, path, 0700))
		return -1;
	return secret ? os_write_secret(err, path, text->data, text->size)
				  : os_rewrite(err, path, text->data, text->size);
}

static int write_public(struct jw_error *err, const char *state_dir, const char *folder,
						const char *name, const struct minisign_public *key)
{
	char *path = key_path(err, state_dir, folder, name, ".pub");
	struct buf text = BUF_MAX(MINISIGN_MOST_FILE);
	int result =
		path && !minisign_write_public(err, key, &text) ? write_text(err, path, &text, false) : -1;

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

/* *ret_there: the file holds a public key. */
static int read_public(struct jw_error *err, const char *state_dir, const char *folder,
					   const char *file, struct minisign_public *ret_public, bool *ret_there)
{
	char *path = key_path(err, state_dir, folder, file, "");
	struct buf text = {0};
	struct jw_error why = {0};
	int result = path ? 0 : -1;

	*ret_there = false;
	if (path && os_read_file(&why, path, MINISIGN_MOST_FILE, &text))
		result = os_holds_nothing(err, path, &why);
	else if (path)
		*ret_there = !minisign_read_public(NULL, (const char *)text.data, text.size, ret_public);
	buf_free(&text);
	mem_free(path);
	return result;
}

static bool is_same_key(const struct minisign_public *a, const struct minisign_public *b)
{
	return !memcmp(a->id, b->id, MINISIGN_ID) && !memcmp(a->key, b->key, MINISIGN_PUBLIC);
}

/* Refuses a name under which another key is trusted. `unfinished`: an own key of that name has no
 * secret key, so what is trusted goes where it is that pair's: writing the pair was ended then. */
static int claim_name(struct jw_error *err, const char *state_dir, const char *name,
					  const struct minisign_public *key, bool unfinished)
{
	char *file = mem_printf(err, "%s.pub", name), *path, id[MINISIGN_ID_TEXT];
	struct minisign_public now, own;
	bool there = false, is_own = false;
	int result = file ? read_public(err, state_dir, trusted_folder, file, &now, &there) : -1;

	if (!result && there && unfinished)
		result = read_public(err, state_dir, own_folder, file, &own, &is_own);
	mem_free(file);
	if (result || !there || is_same_key(&now, key))
		return result;
	if (!is_own || !is_same_key(&now, &own))
		return error_set(err, JW_ERR_USAGE,
						 "“%s” is another trusted key, %s: take another name, or “jitwarm key "
						 "distrust %s” first",
						 name, minisign_id_text(id, now.id), name);
	path = key_path(err, state_dir, trusted_folder, name, ".pub");
	result = path ? os_remove(err, path) : -1;
	mem_free(path);
	return result;
}

/* The secret key is written last: a name is taken once the secret key exists. */
static int store_pair(struct jw_error *err, const char *state_dir, const char *name,
					  const struct minisign_secret *secret, const struct buf *text, bool encrypted,
					  struct jw_key *ret_key)
{
	char *path = key_path(err, state_dir, own_folder, name, ".key");
	struct minisign_public public_key;
	int result = -1;
	bool there = false;

	if (!path || os_look(err, path, &there)) {
		mem_free(path);
		return -1;
	}
	minisign_public_of(secret, &public_key);
	if (there)
		error_set(err, JW_ERR_USAGE, "there is a key “%s” already: %s", name, path);
	else if (!claim_name(err, state_dir, name, &public_key, true) &&
			 !write_public(err, state_dir, own_folder, name, &public_key) &&
			 !write_public(err, state_dir, trusted_folder, name, &public_key))
		result = write_text(err, path, text, true);
	if (!result) {
		*ret_key = (struct jw_key){.can_sign = true, .encrypted = encrypted, .trusted = true};
		describe_key(ret_key, name, &public_key);
	}
	mem_free(path);
	return result;
}

int jw_key_generate(struct jw_error *err, const char *state_dir, const char *name,
					const char *passphrase, struct jw_key *ret_key)
{
	struct minisign_secret secret;
	struct buf text = BUF_MAX(MINISIGN_MOST_FILE);
	int result = -1;

	if (check_name(err, name) || sodium_init() < 0)
		return -1;
	minisign_generate(&secret);
	if (!minisign_write_secret(err, &secret, passphrase, &text))
		result = store_pair(err, state_dir, name, &secret, &text, passphrase != NULL, ret_key);
	minisign_forget(&secret, sizeof secret);
	forget_text(&text);
	return result;
}

int jw_key_import(struct jw_error *err, const char *state_dir, const char *name, const char *path,
				  const char *passphrase, struct jw_key *ret_key)
{
	struct minisign_secret secret;
	struct buf text = {0};
	bool encrypted = false;
	int result = -1;

	if (check_name(err, name) || sodium_init() < 0 ||
		os_read_file(err, path, MINISIGN_MOST_FILE, &text))
		return -1;
	(void)minisign_is_secret((const char *)text.data, text.size, &encrypted);
	if (!minisign_read_secret(err, (const char *)text.data, text.size, passphrase, &secret)) {
		result = store_pair(err, state_dir, name, &secret, &text, encrypted, ret_key);
		minisign_forget(&secret, sizeof secret);
	} else {
		error_prefix(err, "%s", path);
	}
	forget_text(&text);
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
	if (!os_exists(path_or_text))
		result = minisign_read_public(err, path_or_text, strlen(path_or_text), &public_key);
	else if (os_read_file(err, path_or_text, MINISIGN_MOST_FILE, &text))
		return -1;
	else
		result = minisign_read_public(err, (const char *)text.data, text.size, &public_key);
	buf_free(&text);
	if (result)
		return error_prefix(err, "%.100s", path_or_text);
	if (!name)
		name = minisign_id_text(id, public_key.id);
	if (claim_name(err, state_dir, name, &public_key, false) ||
		write_public(err, state_dir, trusted_folder, name, &public_key))
		return -1;
	describe_key(&key, name, &public_key);
	*ret_key = key;
	return 0;
}

/* Removes the file of that name, and where `key` is given those of the same key under other names:
 * “key list” shows one name of a key. */
static int remove_trusted(struct jw_error *err, const char *state_dir, const char *file,
						  const struct minisign_public *key, size_t *removed)
{
	char *folder = os_join(err, state_dir, trusted_folder), *path;
	struct os_names names;
	bool there = false;
	int result = folder && !os_look(err, folder, &there) ? 0 : -1;

	if (there)
		result = os_list(err, folder, &names);
	mem_free(folder);
	if (result || !there)
		return result;
	for (size_t i = 0; !result && i < names.count; i++) {
		const char *one = names.items[i];
		struct minisign_public other;

		if (!text_ends(one, ".pub") || names.kinds[i] != OS_REGULAR)
			continue;
		there = !strcmp(one, file);
		if (!there && key) {
			result = read_public(err, state_dir, trusted_folder, one, &other, &there);
			there = there && is_same_key(&other, key);
		}
		if (result || !there)
			continue;
		path = key_path(err, state_dir, trusted_folder, one, "");
		result = path ? os_remove(err, path) : -1;
		*removed += !result;
		mem_free(path);
	}
	os_names_free(&names);
	return result;
}

int jw_key_distrust(struct jw_error *err, const char *state_dir, const char *name)
{
	char *file = check_name(err, name) ? NULL : mem_printf(err, "%s.pub", name);
	struct minisign_public key;
	bool there = false;
	size_t removed = 0;
	int result = file ? read_public(err, state_dir, trusted_folder, file, &key, &there) : -1;

	/* An own key may be trusted under another name. */
	if (!result && !there)
		result = read_public(err, state_dir, own_folder, file, &key, &there);
	if (!result)
		result = remove_trusted(err, state_dir, file, there ? &key : NULL, &removed);
	if (!result && !removed)
		result = error_set(err, JW_ERR_NOT_FOUND, "no trusted key “%s”", name);
	mem_free(file);
	return result;
}

/* Text with a separator, or that names an existing file, is a path; other text is a key's name. */
static char *secret_path(struct jw_error *err, const char *state_dir, const char *key)
{
	char *path;
	bool there;

	if (strpbrk(key, "/\\") || os_exists(key))
		return mem_string(err, key);
	if (check_name(err, key))
		return NULL;
	path = key_path(err, state_dir, own_folder, key, ".key");
	if (!path || os_look(err, path, &there))
		goto fail;
	if (there)
		return path;
	error_set(err, JW_ERR_NOT_FOUND,
			  "no key “%s”, nor a file of that name: “jitwarm key generate” makes one, “key import "
			  "FILE” takes minisign's",
			  key);
fail:
	mem_free(path);
	return NULL;
}

/* Reads the file of a secret key. The caller frees the path and forgets the text, on failure too.
 */
static int read_secret(struct jw_error *err, const char *state_dir, const char *key, char **path,
					   struct buf *text)
{
	*path = secret_path(err, state_dir, key);
	return *path ? os_read_file(err, *path, MINISIGN_MOST_FILE, text) : -1;
}

int jw_key_is_encrypted(struct jw_error *err, const char *state_dir, const char *key,
						bool *ret_encrypted)
{
	struct buf text = {0};
	char *path;
	int result = read_secret(err, state_dir, key, &path, &text);

	if (!result && !minisign_is_secret((const char *)text.data, text.size, ret_encrypted))
		result = error_set(err, JW_ERR_FORMAT, "%s: not a secret key of minisign", path);
	forget_text(&text);
	mem_free(path);
	return result;
}

int keys_unlock(struct jw_error *err, const char *state_dir, const char *key,
				const char *passphrase, struct minisign_secret *ret_secret)
{
	struct buf text = {0};
	char *path;
	int result = read_secret(err, state_dir, key, &path, &text);

	if (!result &&
		minisign_read_secret(err, (const char *)text.data, text.size, passphrase, ret_secret))
		result = error_prefix(err, "%s", path);
	forget_text(&text);
	mem_free(path);
	return result;
}

int jw_key_check(struct jw_error *err, const char *state_dir, const char *key,
				 const char *passphrase)
{
	struct minisign_secret secret = {0};
	int result;

	if (sodium_init() < 0)
		return error_set(err, JW_ERR_UNSUPPORTED, "this system has no random numbers");
	result = keys_unlock(err, state_dir, key, passphrase, &secret);
	minisign_forget(&secret, sizeof secret);
	return result;
}

static struct jw_key *find_key_by_id(struct jw_keys *keys, const char *id)
{
	for (size_t i = 0; i < keys->count; i++)
		if (!strcmp(keys->items[i].id, id))
			return &keys->items[i];
	return NULL;
}

/* Who may not read it cannot sign with it. */
static int look_at_secret(struct jw_error *err, const char *state_dir, struct jw_key *key)
{
	struct jw_error why = {0};
	struct buf text = {0};
	char *path;
	const int failed = read_secret(&why, state_dir, key->name, &path, &text);
	int result = 0;

	if (failed)
		result = path ? os_holds_nothing(err, path, &why) : error_unless_missing(err, &why);
	key->can_sign =
		!failed && minisign_is_secret((const char *)text.data, text.size, &key->encrypted);
	forget_text(&text);
	mem_free(path);
	return result;
}

/* Adds the public key in a file; other files are skipped. */
static int add_key(struct jw_error *err, const char *state_dir, const char *folder,
				   const char *file, struct jw_keys *keys, size_t *capacity)
{
	char *path = key_path(err, state_dir, folder, file, "");
	struct minisign_public public_key;
	struct jw_key key = {0}, *there;
	struct jw_error why = {0};
	struct buf text = {0};
	char name[64];
	bool ours = folder == own_folder;
	int result = -1;

	if (!path)
		return -1;
	text_copy(name, sizeof name < strlen(file) - 3 ? sizeof name : strlen(file) - 3, file);
	if (os_read_file(&why, path, MINISIGN_MOST_FILE, &text)) {
		result = os_holds_nothing(err, path, &why);
		goto done;
	}
	if (minisign_read_public(NULL, (const char *)text.data, text.size, &public_key)) {
		result = 0;
		goto done;
	}
	describe_key(&key, name, &public_key);
	there = find_key_by_id(keys, key.id);
	if (!there) {
		if (VEC_ROOM(err, keys->items, *capacity, keys->count, MOST_KEYS))
			goto done;
		there = &keys->items[keys->count++];
		*there = key;
	}
	there->trusted = there->trusted || !ours;
	result = ours ? look_at_secret(err, state_dir, there) : 0;
done:
	buf_free(&text);
	mem_free(path);
	return result;
}

static int add_folder(struct jw_error *err, const char *state_dir, const char *folder,
					  struct jw_keys *keys, size_t *capacity)
{
	char *path = os_join(err, state_dir, folder);
	struct os_names names;
	bool there = false;
	int result = path && !os_look(err, path, &there) ? 0 : -1;

	if (there)
		result = os_list(err, path, &names);
	mem_free(path);
	if (result || !there)
		return result;
	for (size_t i = 0; !result && i < names.count; i++)
		if (names.kinds[i] == OS_REGULAR && text_ends(names.items[i], ".pub"))
			result = add_key(err, state_dir, folder, names.items[i], keys, capacity);
	os_names_free(&names);
	return result;
}

static int compare_key_names(const void *a, const void *b)
{
	return strcmp(((const struct jw_key *)a)->name, ((const struct jw_key *)b)->name);
}

int jw_key_list(struct jw_error *err, const char *state_dir, struct jw_keys *ret_keys)
{
	struct jw_keys keys = {0};
	size_t capacity = 0;

	if (state_dir && (add_folder(err, state_dir, own_folder, &keys, &capacity) ||
					  add_folder(err, state_dir, trusted_folder, &keys, &capacity))) {
		jw_keys_free(&keys);
		return -1;
	}
	if (keys.count)
		qsort(keys.items, keys.count, sizeof *keys.items, compare_key_names);
	*ret_keys = keys;
	return 0;
}

void jw_keys_free(struct jw_keys *keys)
{
	mem_free(keys->items);
	*keys = (struct jw_keys){0};
}

/* Of a trusted key that was found. */
static int check_keepers(struct jw_error *err, const char *state_dir, const char *cache_dir,
						 const char *name)
{
	char *path = key_path(err, state_dir, trusted_folder, name, ".pub"),
		 *folder = os_join(err, state_dir, trusted_folder);
	struct jw_error why = {0};
	int result = path && folder ? 0 : -1;

	/* A key of that number may be there by another name. */
	if (!result && state_check_kept_for(&why, os_exists(path) ? path : folder, cache_dir))
		result = why.code == JW_ERR_IO
					 ? error_set(err, JW_ERR_NOT_FOUND,
								 "root trusts no key that another account may put there "
								 "(JITWARM_STATE names a folder of root's): %.400s",
								 why.message)
					 : error_copy(err, &why);
	mem_free(path);
	mem_free(folder);
	return result;
}

int keys_find_trusted(struct jw_error *err, const char *state_dir, const char *cache_dir,
					  const uint8_t id[MINISIGN_ID], struct minisign_public *ret_public,
					  char ret_name[64])
{
	char text[MINISIGN_ID_TEXT];
	struct jw_keys keys;
	struct jw_error why = {0};
	int result = -1;

	if (jw_key_list(&why, state_dir, &keys)) {
		/* A signer is not unknown because the keys cannot be listed. */
		if (why.code == JW_ERR_NOT_FOUND)
			why.code = JW_ERR_IO;
		return error_copy(err, &why);
	}
	for (size_t i = 0; result && i < keys.count; i++) {
		const struct jw_key *key = &keys.items[i];

		if (key->trusted && !strcmp(key->id, minisign_id_text(text, id))) {
			result =
				minisign_read_public(err, key->public_key, strlen(key->public_key), ret_public);
			text_copy(ret_name, 64, key->name);
		}
	}
	if (result)
		error_set(err, JW_ERR_NOT_FOUND, "the key %s is not trusted here",
				  minisign_id_text(text, id));
	jw_keys_free(&keys);
	return result ? -1 : check_keepers(err, state_dir, cache_dir, ret_name);
}
