/* The headers of an answer, and a server's words about a failure: hostile texts, which are cut and
 * made harmless. */
#pragma once

#include "share/web.h"

enum { WEB_ANSWER_MOST_REFUSAL = 16 << 10 };

/* All but the address. */
void web_answer_clear(struct web_answer *answer);
/* One header line, with its line end. A value that is longer than its room is dropped. */
void web_answer_header(struct web_answer *answer, const char *line, size_t size);
/* The first message of an error document ({"errors": [{"code", "message"}]}). */
void web_answer_words(struct web_answer *answer, const char *body, size_t size);
/* What libcurl says of a certificate that proves nothing: what to look at, behind it, or "". */
void web_say_how_to_prove(const char *reason, char *room, size_t size);
