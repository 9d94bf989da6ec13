#include "cli/passphrase.h"

#include <string.h>

#include <sodium.h>

#include <jitwarm/key.h>

#include "base/mem.h"
#include "cli/command.h"
#include "os/console.h"
#include "os/file.h"

static int read_first_line(struct jw_error *err, const char *path, char room[PASSPHRASE_SIZE])
{
	struct buf text = {0};
	size_t length;

	if (os_read_file(err, path, PASSPHRASE_SIZE - 1, &text))
		return -1;
	length = strcspn(buf_text(&text), "\r\n");
	memcpy(room, buf_text(&text), length);
	room[length] = '\0';
	if (text.data)
		sodium_memzero(text.data, text.size);
	buf_free(&text);
	return 0;
}

int passphrase_ask(struct jw_error *err, const struct options *options, const char *question,
				   bool is_new, char room[PASSPHRASE_SIZE])
{
	const char *file = options_value(options, "passphrase-file");
	char again[PASSPHRASE_SIZE];
	struct jw_error why = {0};
	int result = 0;

	if (file)
		return read_first_line(err, file, room);
	if (os_ask_secret(&why, question, room, PASSPHRASE_SIZE)) {
		if (why.code == JW_ERR_NOT_FOUND)
			return error_set(err, JW_ERR_USAGE,
							 is_new ? "there is no terminal to ask for the passphrase: give "
									  "--passphrase-file FILE, or "
									  "--no-passphrase for a key without one"
									: "there is no terminal to ask for the passphrase: give "
									  "--passphrase-file FILE, or set "
									  "JITWARM_PASSPHRASE_FILE");
		return error_copy(err, &why);
	}
	if (!is_new)
		return 0;
	if (!*room)
		return error_set(err, JW_ERR_USAGE,
						 "an empty passphrase: --no-passphrase makes a key without one");
	if (os_ask_secret(err, "Once more: ", again, sizeof again))
		return -1;
	if (strcmp(again, room) != 0)
		result = error_set(err, JW_ERR_USAGE, "the two are not the same");
	sodium_memzero(again, sizeof again);
	return result;
}

int passphrase_of_key(struct jw_error *err, const struct options *options, const char *state_dir,
					  const char *key, char room[PASSPHRASE_SIZE], const char **ret_passphrase)
{
	bool encrypted;
	char *question;
	int result;

	if (jw_key_is_encrypted(err, state_dir, key, &encrypted))
		return -1;
	if (!encrypted) {
		*ret_passphrase = NULL;
		return 0;
	}
	question = mem_printf("Passphrase of the key “%s”: ", key);
	result = passphrase_ask(err, options, question, false, room);
	mem_free(question);
	if (!result)
		*ret_passphrase = room;
	return result;
}

void passphrase_forget(char room[PASSPHRASE_SIZE])
{
	sodium_memzero(room, PASSPHRASE_SIZE);
}
