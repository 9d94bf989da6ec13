#!/bin/bash
# install.sh   `cmake --install` installs what programs, readers of manuals and reviewers of licences need
set -euo pipefail
cd "$(dirname "$0")/../.."
rm -rf "$PREFIX"
cmake --install "$BUILD" --prefix "$PREFIX" >/dev/null
status=0
there() { [ -s "$PREFIX/$1" ] || { echo "$1 is not installed"; status=1; }; }
for header in $(cd include && echo jitwarm.h jitwarm/*.h); do there "include/$header"; done
there bin/jitwarm
there "$LIBDIR/libjitwarm.so" && there "$LIBDIR/libjitwarm.so.$SOVERSION"
there "$LIBDIR/libjitwarm.a"
there "$LIBDIR/pkgconfig/jitwarm.pc"
there "$LIBDIR/cmake/jitwarm/jitwarmConfig.cmake" && there "$LIBDIR/cmake/jitwarm/jitwarmConfigVersion.cmake"
for page in jitwarm jitwarm-prime jitwarm-check; do there "share/man/man1/$page.1"; done
there share/doc/jitwarm/LICENSE
# Each library that cmake/Dependencies.cmake names has its notice.
for name in $(sed -nE 's/^jitwarm_dependency\(([a-z0-9]+) .*/\1/p' cmake/Dependencies.cmake); do
	there "share/doc/jitwarm/licences/$name.txt"
done
grep -qF "#include <jitwarm/" "$PREFIX/include/jitwarm.h"
missing=$(cd include/jitwarm && for h in *.h; do [ $h = api.h ] || grep -qF "<jitwarm/$h>" ../jitwarm.h || echo "$h"; done)
[ -z "$missing" ] || { echo "jitwarm.h does not include $missing"; status=1; }
! grep -rlF "$BUILD" "$PREFIX/include" "$PREFIX/$LIBDIR/pkgconfig" "$PREFIX/$LIBDIR/cmake" || status=1
exit $status
