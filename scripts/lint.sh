#!/usr/bin/env bash
# lint.sh [--format]   the rules that machines can check: layers, banned calls, formatting, clang-tidy
#
# --format rewrites the sources as .clang-format says, and does nothing else.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
sources() { git ls-files 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]'; }

case ${1:-} in
--format) sources | xargs clang-format -i; exit ;;
-h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
"") ;;
*) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac

failed=0
complain() { [ -z "$2" ] || { printf '%s\n%s\n\n' "$1" "$2"; failed=1; }; }
# Prints src/ROOM/FILE.c for each file that docs/internals/architecture.md lists under its room.
rooms() {
	awk '/^#/ { room = ""; if (match($0, /^### `[a-z]+`/)) room = substr($0, 6, RLENGTH - 6) }
		room && /^- / { while (match($0, /`[a-z0-9_]+\.c`/)) { print "src/" room "/" substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH) } }' \
		docs/internals/architecture.md
}

# Releases of clang-format apply the same rules differently: the one of Debian 12 counts.
if [[ $(clang-format --version) == *"version 14."* ]]; then
	complain "Not as .clang-format wants it (scripts/lint.sh --format):" \
		"$(sources | xargs clang-format --dry-run 2>&1 | grep -oE '^[^:]+\.[ch]' | sort -u)"
else
	echo "lint.sh: this is not clang-format 14: formatting left out" >&2
fi
complain "Marks of a merge:" "$(git grep -nIE '^(<{7}|>{7}) ' -- . ':!tests/*/corpus')"
complain "The platform shows outside src/os:" \
	"$(git ls-files 'src/*.[ch]' | grep -v '^src/os/' | xargs grep -nE '_WIN32|<windows\.h>|<(unistd|fcntl|dirent)\.h>|<sys/(mman|stat|wait)\.h>|\buv_fs_[a-z]+\(' |
		grep -vE 'uv_fs_event_')"
complain "A character that no locale without UTF-8 has (terminal_ascii of src/cli/terminal.c):" \
	"$(LC_ALL=C.UTF-8 git grep -nP '[^\x00-\x7f“”…·→×½–]' -- 'src/*.c' ':!src/cli/language.c')"
complain "A comment that begins with Of, What, Where, Those, How or Whether: begin with its subject, with “if”, or with “Returns whether” (CONTRIBUTING.md):" \
	"$(git grep -nE '(/\*|//|^[[:space:]]*#) +(Of|What|Where|Those|That of|How|Whether)\b' -- '*.[ch]' '*.cu' '*.sh' '*.py' '*.ps1' '*.cmake' '*CMakeLists.txt' '*.yml' |
		grep -v '^scripts/driver-matrix.sh:.*:# How each driver behaves$')"
complain "Called outside its wrapper (base/mem.h, os/file.h, base/buf.h):" \
	"$(git ls-files 'src/*.c' | grep -vE '^src/(os/|base/mem\.c)' |
		xargs grep -nE '\b(malloc|calloc|realloc|strdup|fopen|rename|sprintf|strcpy|strcat|gets)\(' |
		grep -vE '[a-z_](malloc|calloc|realloc|rename|strdup)\(')"
complain "A loop that os_loop_open does not make:" "$(git ls-files 'src/*.c' | grep -v '^src/os/uv[.]c' | xargs grep -n 'uv_loop_init(')"
complain "Prints or exits below src/cli:" \
	"$(git ls-files 'src/*.c' | grep -vE '^src/(cli/|base/mem\.c|driver/worker\.c)' | xargs grep -nE '\b(printf|puts|exit|abort)\(|fprintf\(std')"
complain "A layer includes one above it (docs/internals/architecture.md):" "$(./scripts/layers.sh)"
complain "A header of src/os, or a file that one system alone has, that docs/contributing/porting.md does not name:" \
	"$( (ls src/os/*.h; comm -3 <(cd src/os/posix && ls ./*.c) <(cd src/os/win32 && ls ./*.c)) | sed 's|.*/||' |
		while read -r name; do grep -qF "$name" docs/contributing/porting.md || echo "$name"; done)"
complain "docs/internals/architecture.md names a file that is not there:" \
	"$(grep -oE '`(src/)?[a-z]+/[a-z0-9_/*]+\.[ch]`' docs/internals/architecture.md | tr -d '`' | sort -u |
		while read -r name; do compgen -G "src/${name#src/}" >/dev/null || echo "$name"; done
		rooms | while read -r name; do [ -f "$name" ] || echo "$name"; done)"
complain "A file that docs/internals/architecture.md does not name in its room:" \
	"$(comm -13 <(rooms | sort -u) <(git ls-files 'src/*/*.c' | grep -E '^src/[a-z]+/[a-z0-9_]+\.c$' | sort))"
# Cases that mark no run have no snapshot.
complain "A snapshot without a case:" \
	"$(comm -13 <(cd tests/cli/cases && ls ./*.sh | sed 's/\.sh$//' | sort) <(cd tests/cli/snapshots && ls ./*.facts | sed 's/\.facts$//' | sort))"
complain "A pipe into grep -q: with pipefail it fails where grep ends before what it reads from (grep -q … < <(…)):" \
	"$(git ls-files 'tests/*.sh' 'scripts/*.sh' | xargs grep -nE '[^|]\| *grep -[a-zA-Z]*q' | grep -vE "sh -c '|must \"")"
complain "Mistakes (tests/mutants) whose tests or lines are gone:" "$(./scripts/mutants.py --stale)"

ruff=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/ruff/bin/ruff
if [ -x "$ruff" ]; then
	complain "The Python package is not as ruff wants it (ruff format packaging/python):" \
		"$("$ruff" format -q --check packaging/python || echo packaging/python; "$ruff" check -q packaging/python)"
else
	echo "lint.sh: no ruff (scripts/setup.sh --all): the Python package left out" >&2
fi
if [ -f build/release/compile_commands.json ]; then
	complain "clang-tidy:" "$(./scripts/tidy.py)"
else
	echo "lint.sh: no build/release: clang-tidy left out" >&2
	failed=1
fi
[ "$failed" = 0 ] && echo "lint: nothing to complain about"
exit $failed
