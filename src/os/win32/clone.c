#include "os/file.h"

/* ReFS could. */
bool os_file_clone(struct os_file *from, struct os_file *to)
{
	(void)from;
	(void)to;
	return false;
}
