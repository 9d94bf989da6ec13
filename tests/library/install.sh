#!/bin/bash
# install.sh BUILD PREFIX   `cmake --install` installs what users, readers of manuals and reviewers of licences need, and no library
set -euo pipefail
build=$1 prefix=$2
cd "$(dirname "$0")/../.."
rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null
status=0
there() { [ -s "$prefix/$1" ] || { echo "$1 is not installed"; status=1; }; }
there bin/jitwarm
there share/jitwarm/schemas/jitwarm.check-1.json
for page in jitwarm jitwarm-prime jitwarm-check; do there "share/man/man1/$page.1"; done
there share/doc/jitwarm/LICENSE
# Each library named in cmake/Dependencies.cmake has its notice.
for name in $(sed -nE 's/^jitwarm_dependency\(([a-z0-9]+) .*/\1/p' cmake/Dependencies.cmake); do
	there "share/doc/jitwarm/licences/$name.txt"
done
more=$(find "$prefix" -mindepth 1 -maxdepth 1 ! -name bin ! -name share -o -name '*.h' -o -name '*.so*' -o -name '*.a' -o -name '*.pc' -o -name '*.cmake')
[ -z "$more" ] || { printf 'programs run jitwarm, and link nothing of it:\n%s\n' "$more"; status=1; }
exit $status
