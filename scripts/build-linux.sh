#!/bin/bash
# build-linux.sh [--machine x86_64|aarch64|x86_64-musl|aarch64-musl] [--deps-only | --all] [-B FOLDER] [-- CMAKE-OPTION...]
#
# Builds the jitwarm that packages contain, for that machine (default: x86_64), into build/linux-MACHINE (or FOLDER): everything is
# static except the C library, of which glibc 2.17 (2012) is enough; -musl: musl 1.2 (Alpine 3.13, 2021). --all builds the tests too.
#
# The compiler is Zig's, which has every glibc's symbols inside: it is fetched from the package index of pip into
# ~/.cache/jitwarm/zig. The libraries come from Debian's source packages (scripts/libraries.sh), once. The same
# commit gives the same bytes in any folder. JITWARM_LINUX_REFRESH=1 asks Debian for newer versions; otherwise once a week.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/libraries.sh
. scripts/libraries.sh

zig_version=0.17.1
# shellcheck disable=SC2034 # libraries.sh reads them
self=build-linux recipe=1 # raise it when build_* below or in libraries.sh changes
# shellcheck disable=SC2034
refresh=${JITWARM_LINUX_REFRESH:-}
# shellcheck disable=SC2034
sources=(zlib libisal libzstd lz4 cjson libarchive libsodium libuv1 cmocka)
# shellcheck disable=SC2034
tools=(cmake ninja-build make nasm pkg-config autoconf automake libtool dpkg-dev patch xz-utils python3-venv)

folder='' deps_only='' all='' machine=x86_64
while [ $# -gt 0 ]; do
	case $1 in
	--deps-only) deps_only=1 ;;
	--all) all=1 ;;
	-B) folder=$2; shift ;;
	--machine) machine=${2:-}; shift ;;
	--) shift; break ;;
	*) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 64 ;;
	esac
	shift
done
processor=${machine%-musl} dynamic=''
case $machine in
x86_64 | aarch64) triple=$machine-linux-gnu.2.17 host=$machine-linux-gnu ;;
# With this option, Zig's programs for musl are not static, since a static one could not load a driver; and Zig builds its C library anew
# for each set of options.
x86_64-musl | aarch64-musl) triple=$processor-linux-musl host=$processor-linux-musl dynamic=' -dynamic' ;;
*) die "no recipe for the machine $machine" ;;
esac
folder=${folder:-build/linux-$machine}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
store=$cache/linux/$machine

need_zig() {
	local where=$cache/zig/$zig_version
	zig=$where/bin/zig
	[ ! -x "$zig" ] || return 0
	say "fetching Zig $zig_version"
	rm -rf "$where" && mkdir -p "$where"
	logged "$where.log" "fetching Zig" python3 -I -m venv "$where"
	logged "$where.log" "fetching Zig" "$where/bin/python" -m pip install -q --only-binary :all: "ziglang==$zig_version"
	ln -s "$(echo "$where"/lib/python3*/site-packages/ziglang/zig)" "$where/bin/zig.new" && mv "$where/bin/zig.new" "$zig"
}

# write_tools: writes programs with the names that build systems expect, and the file that tells CMake about them
write_tools() {
	local tool
	tools_folder=$store/tools toolchain=$store/toolchain.cmake
	mkdir -p "$tools_folder"
	cc=$tools_folder/$triple-clang ar=$tools_folder/ar ranlib=$tools_folder/ranlib
	printf '#!/bin/sh\nexec "%s" cc -target %s -fno-sanitize=all -ffunction-sections -fdata-sections%s "$@"\n' "$zig" "$triple" "$dynamic" > "$cc.new"
	for tool in ar ranlib; do printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $tool > "$tools_folder/$tool.new"; done
	for tool in "$cc" "$ar" "$ranlib"; do
		chmod +x "$tool.new"
		if cmp -s "$tool.new" "$tool"; then rm "$tool.new"; else mv "$tool.new" "$tool"; fi
	done
	cat > "$toolchain" <<-END
		set(CMAKE_SYSTEM_NAME Linux)
		set(CMAKE_SYSTEM_PROCESSOR $processor)
		set(CMAKE_C_COMPILER "$cc")
		set(CMAKE_AR "$ar")
		set(CMAKE_RANLIB "$ranlib")
		set(ENV{PKG_CONFIG_LIBDIR} "$1/lib/pkgconfig")
		set(ENV{PKG_CONFIG_PATH} "")
		set(CMAKE_FIND_ROOT_PATH "$1")
		set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
		set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
		set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
	END
}

# shellcheck disable=SC2317 # called by name
build_libuv1() {
	cmake_configure . -DLIBUV_BUILD_TESTS=OFF -DBUILD_TESTING=OFF
	cmake --build cross -j "$jobs" --target uv_a
	cp cross/libuv*.a "$prefix/lib/libuv.a"
	cp -r include/uv.h include/uv "$prefix/include/"
	write_pc libuv "$(sed -n 's/^#define UV_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/uv/version.h | paste -sd.)" "-luv -lpthread -ldl -lrt" ""
}
# clang's assembler refuses uxtw with two 32-bit registers (whose upper halves are zero anyway), and with a 64-bit one.
# shellcheck disable=SC2317
build_libisal() {
	sed -i '/uxtw\tread_in_length,read_in_length/d' igzip/aarch64/igzip_decode_huffman_code_block_aarch64.S
	sed -i 's/x_dist, uxtw/w_dist, uxtw/' igzip/aarch64/gen_icf_map.S
	autoreconf -fi
	# configure cannot run another machine's program to learn what malloc(0) returns, and would replace malloc.
	autotools_build ac_cv_func_malloc_0_nonnull=yes ac_cv_func_realloc_0_nonnull=yes
}

install_tools
need_zig
export ZIG_GLOBAL_CACHE_DIR=$cache/zig/cache SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
write_tools "$store/current"
need_libraries "zig $zig_version $triple"
[ -z "$deps_only" ] || exit 0

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
log=$folder/build.log
: > "$log"
# The tests find their libraries in the build folder.
skip=ON
[ -z "$all" ] || skip=OFF
logged "$log" "configuring" cmake -S . -B "$folder" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	-DJITWARM_STATIC_LIBRARIES=ON "-DCMAKE_SKIP_RPATH=$skip" "-DCMAKE_C_FLAGS=\"-ffile-prefix-map=$folder=build\" \"-ffile-prefix-map=$PWD=.\"" \
	"-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g0 -DNDEBUG" \
	"-DCMAKE_EXE_LINKER_FLAGS=-pie -s -Wl,--gc-sections" "-DCMAKE_SHARED_LINKER_FLAGS=-s -Wl,--gc-sections" "$@"
# Tests on other distributions (scripts/try.sh) need the simulated driver and the sample framework.
targets=(jitwarm simdriver sample_framework framework-app)
[ -z "$all" ] || targets=(all)
if ! cmake --build "$folder" -j "$jobs" --target "${targets[@]}" >> "$log" 2>&1; then
	grep -E -A4 'error|FAILED|undefined' "$log" | head -60 >&2
	die "the build failed; all of its output is in $log"
fi
cp "$folder/src/jitwarm" "$folder/jitwarm"
cp "$prefix/complete" "$folder/libraries.txt"

# The program may only need libraries that every Linux of its kind has.
foreign=$(readelf -d "$folder/jitwarm" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -vE '^(lib(c|m|dl|pthread|rt|resolv|util)\.so\.[0-9]|ld-linux.*\.so\.[0-9]|libc\.so)$' || true)
[ -z "$foreign" ] || die "it needs more than every Linux brings: $foreign"
newest=$(readelf -V "$folder/jitwarm" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1 || true)
[ "$(printf '%s\nGLIBC_2.17\n' "${newest:-GLIBC_2.0}" | sort -V | tail -1)" = GLIBC_2.17 ] || die "it needs $newest"
[ -z "$dynamic" ] || grep -q '(NEEDED).*\[libc\.so\]' < <(readelf -d "$folder/jitwarm") || die "it does not take the system's musl"
say "built $folder/jitwarm ($(stat -c %s "$folder/jitwarm") bytes)"
