/* Names of files that mean the same on other machines. */
#pragma once

/* The part behind ".../site-packages/", or the path itself: a pointer into it. */
const char *installed_name(const char *path);
