/* WWW-Authenticate, and the other headers of a registry's answer: the first line is the challenge,
 * the others are headers. */
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/web.h"
#include "share/login.h"

static void try_headers(const char *data, size_t size)
{
	struct web_answer answer;

	web_answer_clear(&answer);
	for (const char *at = data, *end = data + size; at < end;) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		const size_t length = line ? (size_t)(line - at) + 1 : (size_t)(end - at);

		web_answer_header(&answer, at, length);
		at += length;
	}
	web_answer_words(&answer, data, size);
	MUST(strlen(answer.location) < sizeof answer.location);
	MUST(strlen(answer.challenge) < sizeof answer.challenge);
	MUST(!strpbrk(answer.said, "\r\n\x1b"));
	MUST(answer.wait_s >= -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_string_n(NULL, (const char *)data, size);
	struct challenge challenge;

	if (text && !challenge_parse(NULL, text, &challenge)) {
		MUST(challenge.kind != CHALLENGE_NONE);
		MUST(challenge.kind != CHALLENGE_BEARER || *challenge.realm);
		MUST(!strpbrk(challenge.realm, "\r\n") && !strpbrk(challenge.scope, "\r\n"));
	}
	mem_free(text);
	if (size)
		try_headers((const char *)data, size);
	return 0;
}
