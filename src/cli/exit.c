#include "cli/exit.h"

static int exit_rank(enum exit_status status)
{
	switch (status) {
	case EXIT_DONE: return 0;
	case EXIT_CANNOT: return 1;
	case EXIT_COLD: return 2;
	case EXIT_FAILED: return 3;
	case EXIT_BAD_USAGE: return 4;
	}
	return 3;
}

enum exit_status exit_combine(enum exit_status a, enum exit_status b)
{
	return exit_rank(a) >= exit_rank(b) ? a : b;
}

enum exit_status exit_of(enum jw_code code)
{
	if (code == JW_ERR_USAGE)
		return EXIT_BAD_USAGE;
	return code == JW_ERR_INTERRUPTED ? EXIT_COLD : EXIT_FAILED;
}

enum exit_status exit_of_verdict(enum jw_verdict verdict)
{
	return (enum exit_status)jw_verdict_status(verdict);
}

enum exit_status exit_of_troubles(size_t troubles, size_t images)
{
	if (!troubles)
		return EXIT_DONE;
	return images ? EXIT_COLD : EXIT_FAILED;
}
