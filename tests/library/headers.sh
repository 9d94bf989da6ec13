#!/bin/bash
# headers.sh   each installed header compiles alone, as C11 and as C++11, without a warning, and declares inside its frame
set -uo pipefail
cd "$PREFIX/include" || exit 1
status=0
flags=(-I. -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror -fsyntax-only)
cxx=$(command -v g++ || command -v clang++) || { echo "no C++ compiler here"; status=77; }
for header in jitwarm.h jitwarm/*.h; do
	unit="#include <$header>"$'\n''extern int one_declaration;'
	"$CC" -std=c11 "${flags[@]}" -x c - <<<"$unit" || status=1
	for standard in c++11 c++20; do
		[ -z "$cxx" ] || "$cxx" -std=$standard "${flags[@]/-Wstrict-prototypes/-Wextra}" -x c++ - <<<"$unit" || status=1
	done
	# Nothing but the language's own headers, and this library's
	grep -nE '^#include' "$header" | grep -vE '<(stdbool|stddef|stdint)\.h>|<jitwarm/[a-z]+\.h>' && { echo "$header includes more"; status=1; }
	case $header in jitwarm.h | jitwarm/api.h) continue ;; esac
	grep -q "Threads: " "$header" || { echo "$header says nothing of threads"; status=1; }
	awk '/^JW_BEGIN_DECLS/ { inside = 1 } /^JW_END_DECLS/ { inside = 0 }
		!inside && /^[a-z].*\(|^(struct|enum) / { print FILENAME ": outside JW_BEGIN_DECLS: " $0; bad = 1 } END { exit bad }' \
		"$header" || status=1
done
exit $status
