/* Every unit test includes this: cmocka, and the headers that must come before it. */
#ifndef JW_TESTS_CHECK_H
#define JW_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Exit status that ctest reports as "skipped". */
#define CHECK_SKIP 77

#endif
