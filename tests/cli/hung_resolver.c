/* A resolver of names that never answers, for the case “share-faults” (LD_PRELOAD). The file that
 * HUNG_RESOLVER names says that it was asked; with CRASHED_RESOLVER its process ends instead. */
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int getaddrinfo(const char *node, const char *service,
													   const struct addrinfo *hints,
													   struct addrinfo **ret_addresses)
{
	const char *path = getenv("HUNG_RESOLVER");
	const int file = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;

	(void)node;
	(void)service;
	(void)hints;
	(void)ret_addresses;
	if (file >= 0)
		(void)close(file);
	if (getenv("CRASHED_RESOLVER"))
		abort();
	for (;;)
		(void)pause();
}
