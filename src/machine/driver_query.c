#include "machine/driver_query.h"

#include "base/mem.h"
#include "machine/driver_session.h"

static int ask_jobs(struct jw_error *err, const struct driver_query *ask,
					struct driver_session *session, struct protocol_answer *ret_answer)
{
	struct protocol_answer *answer = mem_alloc(err, sizeof *answer);
	const struct protocol_job *next;

	if (!answer || driver_session_ask(err, session, ask->job, answer)) {
		mem_free(answer);
		return -1;
	}
	if (ret_answer)
		*ret_answer = *answer;
	do
		next = ask->next ? ask->next(ask->context, answer) : NULL;
	while (next && !driver_session_ask(NULL, session, next, answer));
	mem_free(answer);
	return 0;
}

int driver_query(struct jw_error *err, const struct driver_query *ask,
				 struct protocol_hello *ret_hello, struct protocol_answer *ret_answer)
{
	struct driver_session *session;
	int failed = 0;

	if (driver_session_open(err, ask, &session, ret_hello))
		return -1;
	if (ask->job && !ret_hello->result)
		failed = ask_jobs(err, ask, session, ret_answer);
	driver_session_close(session);
	return failed;
}
