/* A worker that stays for several questions, each after the answer to the one before. */
#pragma once

#include "machine/driver_query.h"

struct driver_session;

/* Starts the worker that `ask` describes, and waits for what it says of itself. Its members must
 * stay valid; `job`, `next` and `context` are not used. -1: as driver_query. A failure of the
 * driver is in the hello: then it answers nothing. */
int driver_session_open(struct jw_error *err, const struct driver_query *ask,
						struct driver_session **ret_session, struct protocol_hello *ret_hello);
/* -1: as driver_query; then, or after an answer that ends the worker (`sticky`, `no_context`), it
 * is no longer alive. */
int driver_session_ask(struct jw_error *err, struct driver_session *session,
					   const struct protocol_job *job, struct protocol_answer *ret_answer);
/* Gives it the whole time of `limit_s` again. */
void driver_session_renew(struct driver_session *session);
bool driver_session_alive(const struct driver_session *session);
/* Waits for the end of the worker. NULL is valid. */
void driver_session_close(struct driver_session *session);
