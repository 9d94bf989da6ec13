#include "share/challenge.h"

#include <string.h>

#include "base/text.h"

/* Characters of a token (RFC 9110, 5.6.2). */
static size_t token_length(const char *at)
{
	return strspn(at, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static const char *after_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* The value of a parameter, which ends before the returned place; NULL: not one, or too long.
 * `room` NULL: nobody asks for it. */
static const char *take_parameter(const char *at, char *room, size_t size)
{
	const bool quoted = *at == '"';
	size_t used = 0;

	at += quoted;
	while (*at && (quoted ? *at != '"' : token_length(at) > 0)) {
		if (quoted && *at == '\\' && at[1])
			at++;
		if ((unsigned char)*at < ' ' || (room && used + 1 >= size))
			return NULL;
		if (room)
			room[used++] = *at;
		at++;
	}
	if (quoted && *at != '"')
		return NULL;
	if (room)
		room[used] = '\0';
	return at + quoted;
}

static char *room_of(struct challenge *challenge, const char *name, size_t length, size_t *ret_size)
{
	const struct {
		const char *name;
		char *room;
		size_t size;
	} rooms[] = {{"realm", challenge->realm, sizeof challenge->realm},
				 {"service", challenge->service, sizeof challenge->service},
				 {"scope", challenge->scope, sizeof challenge->scope}};

	for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
		if (strlen(rooms[i].name) == length && text_starts_fold(name, rooms[i].name)) {
			*ret_size = rooms[i].size;
			return rooms[i].room;
		}
	return NULL;
}

/* One scheme with its parameters. Returns the place behind them, NULL if it is malformed. */
static const char *take_challenge(const char *at, struct challenge *challenge)
{
	size_t length = token_length(at), size = 0;

	challenge->kind = length == 6 && text_starts_fold(at, "bearer")  ? CHALLENGE_BEARER
					  : length == 5 && text_starts_fold(at, "basic") ? CHALLENGE_BASIC
																	 : CHALLENGE_NONE;
	for (at = after_blanks(at + length); *at;) {
		const char *name = at, *equals;
		char *room;

		length = token_length(at);
		equals = after_blanks(at + length);
		/* A token without a value begins the next scheme. */
		if (!length || *equals != '=')
			return *at == ',' ? after_blanks(at + 1) : at;
		room = room_of(challenge, name, length, &size);
		/* “abcd==” is a proof of another scheme, no parameter. */
		at = equals[1] == '=' || equals[1] == ',' || !equals[1]
				 ? equals + strspn(equals, "=")
				 : take_parameter(after_blanks(equals + 1), room, size);
		if (!at)
			return NULL;
		for (at = after_blanks(at); *at == ',';)
			at = after_blanks(at + 1);
	}
	return at;
}

int challenge_parse(struct jw_error *err, const char *text, struct challenge *ret_challenge)
{
	struct challenge best = {.kind = CHALLENGE_NONE}, one;
	const char *at = after_blanks(text), *next;

	for (; *at; at = next) {
		one = (struct challenge){.kind = CHALLENGE_NONE};
		next = token_length(at) ? take_challenge(at, &one) : NULL;
		if (!next || next == at)
			return error_set(err, JW_ERR_FORMAT, "its WWW-Authenticate cannot be read");
		if (one.kind > best.kind)
			best = one;
	}
	if (best.kind == CHALLENGE_NONE || (best.kind == CHALLENGE_BEARER && !*best.realm))
		return error_set(err, JW_ERR_FORMAT,
						 "it asks for a way to log in that jitwarm does not know");
	*ret_challenge = best;
	return 0;
}
