/* File names that have the same meaning on other machines. */
#pragma once

/* The part after ".../site-packages/", or the path itself: a pointer into it. */
const char *installed_name(const char *path);
