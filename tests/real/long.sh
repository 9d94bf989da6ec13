#!/bin/bash
# long.sh COMMAND...   runs a test that takes many minutes, if JITWARM_LONG_TESTS is 1; else it is reported as skipped
[ "${JITWARM_LONG_TESTS:-}" = 1 ] || { echo "skipped: JITWARM_LONG_TESTS=1 runs it"; exit 77; }
exec "$@"
