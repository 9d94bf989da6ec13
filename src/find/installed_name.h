/* Names of files that mean the same on other machines. */
#ifndef JW_FIND_INSTALLED_NAME_H
#define JW_FIND_INSTALLED_NAME_H

/* The part behind ".../site-packages/", or the path itself: a pointer into it. */
const char *installed_name(const char *path);

#endif
