#!/bin/bash
# build-windows.sh [--deps-only] [-B FOLDER] [-- CMAKE-OPTION...]
#
# Cross-builds one static jitwarm.exe for 64-bit Windows with Debian's mingw-w64, into build/windows (or FOLDER).
#
# The libraries come from Debian's source packages, through apt with a private state folder: the system's package sources
# and lists stay as they are. They are built once into ~/.cache/jitwarm/windows/KEY (KEY: a hash of names, versions and
# recipe) and found there by later runs. JITWARM_WINDOWS_REFRESH=1 asks Debian for newer versions; otherwise once a week.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/debian.sh
. scripts/debian.sh

recipe=8 # raise it when build_* below changes
triple=x86_64-w64-mingw32
store=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/windows
state=$store/.apt
jobs=${JITWARM_JOBS:-2}
sources=(zlib libzstd lz4 cjson libarchive libsodium libuv1 curl cmocka)
tools=(gcc-mingw-w64-x86-64-win32 binutils-mingw-w64-x86-64 mingw-w64-x86-64-dev cmake ninja-build make pkg-config
	autoconf automake libtool dpkg-dev patch xz-utils)

folder=build/windows deps_only=
while [ $# -gt 0 ]; do
	case $1 in
	--deps-only) deps_only=1 ;;
	-B) folder=$2; shift ;;
	--) shift; break ;;
	*) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 64 ;;
	esac
	shift
done

say() { printf 'build-windows: %s\n' "$*"; }
die() { printf 'build-windows: %s\n' "$*" >&2; exit 3; }

# logged LOG WHAT COMMAND...: quiet unless it fails; then the end of its output, and where the rest is
logged() {
	local log=$1 what=$2
	shift 2
	if ! "$@" >> "$log" 2>&1; then
		tail -n 25 "$log" >&2
		die "$what failed; all of its output is in $log"
	fi
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install_tools() {
	local missing=() p
	for p in "${tools[@]}"; do
		# pkgconf serves as pkg-config too
		[ "$p" != pkg-config ] || ! command -v pkg-config > /dev/null || continue
		dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || die "please install: apt-get install ${missing[*]}"
	say "installing ${missing[*]}"
	mkdir -p "$store"
	: > "$store/install.log"
	as_root apt-get -qq update >> "$store/install.log" 2>&1 || true # the lists on hand may do
	logged "$store/install.log" "apt-get install" as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends "${missing[@]}"
}

# Fills `apt` with the options that keep apt inside $state, and reads the lists of sources where they are old
private_apt() {
	local mirror security keyring suite options
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
	mirror=$(debian_mirror) security=$(debian_security_mirror) keyring=$(debian_keyring)
	[ -n "$mirror" ] || die "no Debian mirror in this machine's apt sources"
	options=${keyring:+[signed-by=$keyring] }
	mkdir -p "$state"/{lists/partial,cache/archives/partial}
	: > "$state/status"
	{
		echo "deb-src $options$mirror $suite main"
		[ -z "$security" ] || echo "deb-src $options$security $suite-security main"
	} > "$state/sources.list"
	apt=(-o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State=$state"
		-o "Dir::State::Lists=$state/lists" -o "Dir::State::Status=$state/status" -o "Dir::Cache=$state/cache"
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=1)
	if [ -n "${JITWARM_WINDOWS_REFRESH:-}" ] ||
		[ -z "$(find "$state/lists" -name '*Sources*' -mtime -7 -print -quit)" ]; then
		apt-get "${apt[@]}" -qq update > "$store/update.log" 2>&1 || say "the lists of sources could not be renewed; going on with those at hand"
	fi
}

# Newest version of a source package on offer
version_of() {
	apt-cache "${apt[@]}" showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -V | tail -1
}

# write_pc NAME VERSION LIBS CFLAGS: what pkg-config is told about a library that does not say it (rightly) itself
write_pc() {
	printf 'prefix=%s\nName: %s\nDescription: %s\nVersion: %s\nLibs: -L${prefix}/lib %s\nCflags: -I${prefix}/include %s\n' \
		"$prefix" "$1" "$1" "$2" "$3" "$4" > "$prefix/lib/pkgconfig/$1.pc"
}

build_zlib() {
	local files=(adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil) f
	for f in "${files[@]}"; do
		$triple-gcc -O2 -c "$f.c" -o "$f.o"
	done
	$triple-ar rcs "$prefix/lib/libz.a" "${files[@]/%/.o}"
	cp zlib.h zconf.h "$prefix/include/"
	write_pc zlib "$(sed -n 's/^#define ZLIB_VERSION "\(.*\)"$/\1/p' zlib.h)" -lz ""
}

# cmake_configure SOURCE OPTION...: into the folder "cross"
cmake_configure() {
	local source=$1
	shift
	cmake -S "$source" -B cross -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
		-DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
		"-DJITWARM_WINDOWS_PREFIX=$prefix" "$@"
}

# cmake_build SOURCE OPTION...: configures, builds, installs one library
cmake_build() {
	cmake_configure "$@"
	cmake --build cross -j "$jobs"
	cmake --install cross
}

# Its CMake project insists on a C++ compiler, its Makefile does not. Threads (packs are compressed by several) are off in
# static libraries by default.
build_libzstd() {
	local with=(CC=$triple-gcc AR=$triple-ar ZSTD_LEGACY_SUPPORT=0 MOREFLAGS=-DZSTD_MULTITHREAD)
	make -C lib -j "$jobs" "${with[@]}" libzstd.a
	make -C lib PREFIX="$prefix" LIBDIR="$prefix/lib" "${with[@]}" install-static install-includes install-pc
	$triple-nm "$prefix/lib/libzstd.a" | grep -c _beginthreadex # and it has them
}

build_lz4() {
	cmake_build build/cmake -DBUILD_STATIC_LIBS=ON -DLZ4_BUILD_CLI=OFF -DLZ4_BUILD_LEGACY_LZ4C=OFF
}

build_cjson() {
	cmake_build . -DENABLE_CJSON_TEST=OFF -DENABLE_CJSON_UTILS=OFF -DENABLE_HIDDEN_SYMBOLS=ON -DENABLE_TARGET_EXPORT=OFF
}

# zip and tar with zlib and zstd are all that wheels and conda packages need. Installed by hand: its own rules build a DLL
# whatever they are told, and its libarchive.pc does not name the libraries behind it.
build_libarchive() {
	local off=() what
	for what in TEST TAR CPIO CAT OPENSSL MBEDTLS NETTLE LIBB2 LZ4 LZO LZMA BZip2 LIBXML2 EXPAT PCREPOSIX PCRE2POSIX LIBGCC \
		CNG ICONV XATTR ACL WERROR INSTALL_DOCS; do
		off+=("-DENABLE_$what=OFF")
	done
	cmake_configure . "${off[@]}" -DENABLE_INSTALL=OFF -DENABLE_ZLIB=ON -DENABLE_ZSTD=ON -DPOSIX_REGEX_LIB=NONE \
		-DCMAKE_CROSSCOMPILING_EMULATOR=/bin/false # its one check that runs (ZLIB_WINAPI) must fail; without this cmake crashes
	cmake --build cross -j "$jobs" --target archive_static
	grep -q 'define HAVE_LIBZSTD 1' cross/config.h && grep -q 'define HAVE_LIBZ 1' cross/config.h
	cp cross/libarchive/libarchive_static.a "$prefix/lib/libarchive.a"
	cp libarchive/archive.h libarchive/archive_entry.h "$prefix/include/"
	write_pc libarchive "$(sed -n 's/^#define.*ARCHIVE_VERSION_ONLY_STRING "\(.*\)"$/\1/p' libarchive/archive.h)" "-larchive -lz -lzstd" -DLIBARCHIVE_STATIC
}

# autotools_build OPTION...: the same for the libraries whose cross builds go through configure
autotools_build() {
	./configure --host=$triple --prefix="$prefix" --disable-shared --enable-static --quiet "$@"
	make -j "$jobs" V=0
	make install
}

build_libsodium() {
	autoreconf -fi
	autotools_build --disable-ssp # the project's own flags protect its stacks; libssp would be one more library
}

build_libuv1() {
	sh autogen.sh
	autotools_build
}

# HTTP and HTTPS by Windows' own TLS (Schannel) and its certificates, and nothing else.
build_curl() {
	local off=() what
	for what in CURL_DISABLE_{ALTSVC,COOKIES,HSTS,DOH,MIME,GETOPTIONS,LIBCURL_OPTION,OPENSSL_AUTO_LOAD_CONFIG} HTTP_ONLY; do
		off+=("-D$what=ON")
	done
	for what in BUILD_CURL_EXE BUILD_TESTING CURL_WERROR CURL_USE_LIBSSH2 CURL_USE_LIBPSL CURL_BROTLI CURL_ZSTD USE_NGHTTP2 USE_LIBIDN2 \
		ENABLE_MANUAL ENABLE_UNIX_SOCKETS CURL_LTO; do
		off+=("-D$what=OFF")
	done
	cmake_build . "${off[@]}" -DCURL_USE_SCHANNEL=ON -DCURL_WINDOWS_SSPI=ON -DCURL_ZLIB=ON -DUSE_ZLIB=ON -DENABLE_IPV6=ON \
		"-DZLIB_INCLUDE_DIR=$prefix/include" "-DZLIB_LIBRARY=$prefix/lib/libz.a" -DCURL_TARGET_WINDOWS_VERSION=0x0A00
	grep -q 'define USE_SCHANNEL 1' cross/lib/curl_config.h && grep -q 'define HAVE_LIBZ 1' cross/lib/curl_config.h
	write_pc libcurl "$(sed -n 's/^#define LIBCURL_VERSION "\(.*\)"$/\1/p' include/curl/curlver.h)" \
		"-lcurl -lz -lws2_32 -lcrypt32 -lbcrypt -ladvapi32" -DCURL_STATICLIB
}

# For the unit tests, which run under Wine
build_cmocka() {
	cmake_configure . -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF
	cmake --build cross -j "$jobs" --target cmocka-static
	cp cross/src/libcmocka-static.a "$prefix/lib/libcmocka.a"
	cp include/cmocka.h "$prefix/include/"
	write_pc cmocka "$(sed -n 's/^project(cmocka VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" -lcmocka ""
}

# Builds one source package into $prefix
build_source() {
	local name=$1 version=$2 log
	log=$store/$key/$name.log
	say "building $name $version"
	mkdir -p "$work/$name"
	: > "$log"
	(
		cd "$work/$name"
		logged "$log" "fetching the source package $name" apt-get "${apt[@]}" -qq source --download-only "$name=$version"
		logged "$log" "unpacking $name" dpkg-source --no-check -x ./*.dsc source
		cd source
		# A subshell of its own with -e: within the condition of `if`, -e would not hold
		logged "$log" "building $name" bash -euo pipefail -c "$(declare -p prefix toolchain jobs triple)
			$(declare -f write_pc cmake_configure cmake_build autotools_build "build_$name"); build_$name"
	)
}

build_libraries() {
	local i
	toolchain=$PWD/cmake/mingw-w64.cmake
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	rm -rf "${store:?}/$key"
	mkdir -p "$prefix"/{include,lib/pkgconfig}
	for i in "${!sources[@]}"; do
		build_source "${sources[i]}" "${versions[i]}"
	done
	printf '%s\n' "$wanted" > "$prefix/complete"
}

install_tools
mkdir -p "$store"
exec 9> "$store/.lock"
flock 9
private_apt
versions=()
for s in "${sources[@]}"; do
	v=$(version_of "$s")
	[ -n "$v" ] || die "the source package $s is not on offer; see $store/update.log"
	versions+=("$v")
done
compiler=$($triple-gcc -dumpfullversion) || die "$triple-gcc does not run"
wanted="recipe $recipe, gcc $compiler:$(for i in "${!sources[@]}"; do printf ' %s=%s' "${sources[i]}" "${versions[i]}"; done)"
key=$(printf '%s' "$wanted" | sha256sum | cut -c1-16)
prefix=$store/$key
[ "$(cat "$prefix/complete" 2>/dev/null)" = "$wanted" ] || build_libraries
ln -sfn "$key" "$store/current" # where cmake/mingw-w64.cmake looks
flock -u 9
say "libraries: $prefix"
[ -z "$deps_only" ] || exit 0

mkdir -p "$folder"
log=$PWD/$folder/build.log
case $folder in /*) log=$folder/build.log ;; esac
: > "$log"
logged "$log" "configuring" cmake -S . -B "$folder" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/mingw-w64.cmake" \
	-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DJITWARM_WINDOWS_PREFIX=$prefix" "$@"
if ! cmake --build "$folder" -j "$jobs" >> "$log" 2>&1; then
	grep -E -A4 'error|FAILED|undefined' "$log" | head -60 >&2
	die "the build failed; all of its output is in $log"
fi

# Only what every Windows has may be needed
exe=$folder/src/jitwarm.exe
if [ -f "$exe" ]; then
	foreign=$($triple-objdump -p "$exe" | sed -n 's/^[[:space:]]*DLL Name: //p' |
		grep -viE '^(advapi32|bcrypt|crypt32|dbghelp|iphlpapi|kernel32|msvcrt|ntdll|ole32|psapi|setupapi|shell32|user32|userenv|uuid|version|ws2_32)\.dll$' || true)
	[ -z "$foreign" ] || die "jitwarm.exe needs more than Windows brings: $foreign"
	$triple-strip -o "$folder/jitwarm.exe" "$exe"
	# The same without a console window, for the logon task and installers
	$triple-strip -o "$folder/jitwarmw.exe" "$folder/src/jitwarmw.exe"
	say "built $folder/jitwarm.exe ($(stat -c %s "$folder/jitwarm.exe") bytes), with what a debugger wants in $exe"
else
	say "built $folder"
fi
