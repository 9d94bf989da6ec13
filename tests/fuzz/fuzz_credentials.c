/* docker's and podman's files of credentials, what credential helpers answer, and a realm's token
 */
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "share/login.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct credentials_entry entry;
	struct credentials answer;
	char *token;

	if (!credentials_parse(NULL, (const char *)data, size, "localhost:5000", "lab/cache", &entry)) {
		MUST(!strpbrk(entry.helper, "/\\.: "));
		MUST(!entry.known.user == !entry.known.password);
		MUST(!entry.known.user || !strpbrk(entry.known.user, "\r\n"));
		credentials_free(&entry.known);
	}
	if (!credentials_parse_answer(NULL, (const char *)data, size, &answer)) {
		MUST(answer.identity || (answer.user && answer.password));
		credentials_free(&answer);
	}
	if (!login_parse_token(NULL, (const char *)data, size, &token)) {
		MUST(*token && !strpbrk(token, " \r\n\t"));
		mem_free(token);
	}
	return 0;
}
