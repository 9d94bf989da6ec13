#!/bin/bash
# names.sh   both libraries show exactly the functions that the headers declare
set -euo pipefail
cd "$PREFIX"
declared=$(for h in include/jitwarm/[!a]*.h include/jitwarm/a[!p]*.h; do "$CC" -E -P -fpreprocessed "$h"; done | grep -oE 'jw_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u)
[ "$(wc -l <<<"$declared")" -gt 100 ] || { echo "the headers declare hardly anything"; exit 1; }
status=0
same() { # WHAT NAMES
	diff <(echo "$declared") <(echo "$2") >names.diff || { echo "$1 and the headers (<) differ:"; cat names.diff; status=1; }
}
same "$LIBDIR/libjitwarm.so" "$(nm -D --defined-only "$LIBDIR/libjitwarm.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)"
same "$LIBDIR/libjitwarm.a" "$(nm -g --defined-only "$LIBDIR/libjitwarm.a" | awk 'NF == 3 { print $3 }' | sort -u)"
grep -q "SONAME.*libjitwarm\.so\.$SOVERSION\]" < <(readelf -d "$LIBDIR/libjitwarm.so") || { echo "another soname"; status=1; }
exit $status
