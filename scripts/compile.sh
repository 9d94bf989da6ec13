#!/usr/bin/env bash
# compile.sh [KIND...]   compiles jitwarm in every way that users and packagers do, and accepts no warning
#
# A KIND is COMPILER-FLAGS: gcc or clang, and one of
#   none     no build type (cmake -B build && cmake --build build)
#   debug, release, minsizerel   that build type
#   lto      Release with -flto=auto, and one program of the tests
#   debian   no flags of CMake's and those of Debian's packages (dpkg-buildflags)
#   fedora   no flags of CMake's and those of Fedora's packages, as far as this compiler knows them
# Without KIND: all kinds that can fail alone. clang's warnings do not depend on its optimizer, so they are the same for none, release
# and minsizerel as for lto: these three of clang's are compiled only if they are named. Tests are compiled, not linked, in gcc-release, in which
# gcc analyses most, and in clang-debug. Nothing is run. Results in ccache are not
# compiled again, such as gcc-none after the release preset, and a compiler that is not installed is left out, with a message.
# Last line: “compile: N passed, N failed, N left out”. Exit status: 0; 1 a kind failed or warned; 64 wrong usage; 77 all were left out.
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
usage() { sed -n '2,14s/^# \{0,1\}//p' "$0"; }
kinds=({gcc,clang}-{none,debug,release,minsizerel,lto,debian,fedora}) alone=(gcc-{none,debug,release,minsizerel,lto,debian,fedora} clang-{debug,lto,debian,fedora})
case ${1:-} in
-h | --help) usage; exit 0 ;;
esac
for kind; do
	[[ " ${kinds[*]} " == *" $kind "* ]] || { usage >&2; exit 64; }
done
kinds=("$@")
[ $# -gt 0 ] || kinds=("${alone[@]}")
if command -v ccache >/dev/null && [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ]; then
	export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
fi

# These are redhat-rpm-config's %optflags and %build_ldflags on x86_64 (its buildflags.md explains each). On Debian, “rpm --eval” gives only
# “-O2 -g”. -specs= is left out, since its files are in that package; they make programs position-independent and annotate them.
fedora_compiling="-O2 -flto=auto -ffat-lto-objects -fexceptions -g -grecord-gcc-switches -pipe -Wall -Werror=format-security
	-Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=3 -Wp,-D_GLIBCXX_ASSERTIONS -fstack-protector-strong -fasynchronous-unwind-tables
	-fstack-clash-protection -fcf-protection -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer"
fedora_linking="-Wl,-z,relro -Wl,--as-needed -Wl,-z,pack-relative-relocs -Wl,-z,now -Wl,--build-id=sha1"
# known COMPILER FLAG...: prints those that the compiler and $linker accept without a message
known() {
	local compiler=$1 flag
	shift
	for flag; do
		[ -n "$("$compiler" -O2 $linker "$flag" -xc - -o /dev/null <<<'int main(void) { return 0; }' 2>&1)" ] || printf '%s ' "$flag"
	done
}

# compile COMPILER FLAGS FOLDER
compile() {
	local cc=$1 type='' tests=OFF compiling='' linking='' linker='' release=() targets=(jitwarm)
	case "$1 $2" in
	"clang lto" | "clang fedora") linker=-fuse-ld=lld ;; # lld needs no plugin
	"gcc release" | "clang debug") tests=ON ;;
	# The compiler has the same name as in the release preset, since ccache identifies a compiler by its name.
	"gcc none") [ "$(readlink -f "$(type -P cc)")" != "$(readlink -f "$(type -P gcc)")" ] || cc=cc ;;
	esac
	case $2 in
	debug) type=Debug ;;
	release) type=Release ;;
	minsizerel) type=MinSizeRel ;;
	# The flags are Release's alone, so that CMake's trial programs are not optimized at their link.
	lto) type=Release release=(-DCMAKE_C_FLAGS_RELEASE="-O3 -DNDEBUG -flto=auto") tests=ON targets+=(bench_scan) ;;
	debian)
		type=None
		compiling=$(export DEB_BUILD_MAINT_OPTIONS=hardening=+all && dpkg-buildflags --get CFLAGS && dpkg-buildflags --get CPPFLAGS) || return 1
		linking=$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get LDFLAGS) ;;
	fedora) type=None compiling=$(known "$1" $fedora_compiling) linking=$(known "$1" $fedora_linking) ;;
	esac
	linking+=" $linker"
	CC=$cc CFLAGS=${compiling//$'\n'/ } LDFLAGS=$linking cmake -S . -B "$3" -G Ninja ${type:+-DCMAKE_BUILD_TYPE=$type} "${release[@]}" -DJITWARM_TESTS=$tests -DJITWARM_WERROR=ON || return 1
	[ "$2" = lto ] || mapfile -t -O ${#targets[@]} targets < <(ninja -C "$3" -t targets all | sed -n 's/^\(tests\/.*\.o\): C_COMPILER.*/\1/p')
	cmake --build "$3" -j "$(nproc)" --target "${targets[@]}" -- -k 0
}

passed=0 failed=0 left_out=0 folder=
trap '[ -z "$folder" ] || rm -rf "$folder"' EXIT
for kind in "${kinds[@]}"; do
	compiler=${kind%%-*} began=$SECONDS log=build-$kind.log
	if ! command -v "$compiler" >/dev/null; then
		echo "$kind: left out: there is no $compiler"
		left_out=$((left_out + 1))
		continue
	fi
	folder=$PWD/build/compile-$kind
	rm -rf "$folder"
	if compile "$compiler" "${kind#*-}" "$folder" >"$log" 2>&1 && ! grep -q 'warning:' "$log"; then
		echo "$kind: passed in $((SECONDS - began)) s"
		passed=$((passed + 1))
		rm -f "$log"
	else
		echo "$kind: FAILED after $((SECONDS - began)) s (all of it is in $log)"
		grep -E 'warning:|error:|^CMake Error|^FAILED|undefined reference' "$log" | sort -u | head -20 || tail -n 5 "$log"
		failed=$((failed + 1))
	fi
	rm -rf "$folder"
done
echo "compile: $passed passed, $failed failed, $left_out left out"
[ $failed = 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
