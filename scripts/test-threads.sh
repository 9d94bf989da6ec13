#!/bin/bash
# test-threads.sh   builds libjitwarm with the thread sanitizer, and lets two threads scan, check and prime two caches with it
#
# Exit status: 0 (also where the sanitizer does not run here), 1 where a race was seen or the build failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
probe=$(mktemp)
trap 'rm -f "$probe"' EXIT
echo 'int main(void) { return 0; }' | "${CC:-cc}" -fsanitize=thread -x c - -o "$probe" && "$probe" ||
	{ echo "skipped: the thread sanitizer does not run here"; exit 0; }
cmake --preset tsan >/dev/null &&
	cmake --build --preset tsan -j "$(nproc)" --target library-threads simdriver framework-app || exit 1
cd build/tsan && ctest -R '^library-threads$' --output-on-failure
