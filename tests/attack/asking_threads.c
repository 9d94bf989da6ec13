/* For the case “groups”: 16 threads ask whether other accounts can change a folder, which they can;
 * the system's lists of accounts and groups have one iterator for all of them. Ends with 1 after a
 * wrong answer. */
#include <pthread.h>
#include <stdatomic.h>

#include "os/identity.h"

enum { THREADS = 16, QUESTIONS = 400 };

static atomic_bool wrong;

static void *ask(void *path)
{
	for (int i = 0; i < QUESTIONS && !wrong; i++) {
		struct os_stranger stranger;

		if (!os_find_stranger(path, &stranger))
			wrong = true;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS && argc == 2; i++)
		if (pthread_create(&threads[i], NULL, ask, argv[1]))
			return 2;
	for (int i = 0; i < THREADS && argc == 2; i++)
		(void)pthread_join(threads[i], NULL);
	return wrong || argc != 2;
}
