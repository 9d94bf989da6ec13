# shellcheck shell=bash
# Builds the libraries that jitwarm stands on, statically, for another system than this machine's. Read by build-linux.sh and
# build-windows.sh. The libraries come from Debian's source packages, through apt with a private state folder: the system's
# package sources and lists stay as they are. They are built once into $store/KEY (a hash of names, versions and recipe).
#
# The reader sets self (its name), store, sources (Debian's names), tools (Debian's packages), refresh (not empty: ask Debian for
# newer versions; otherwise once a week), toolchain (CMake's), cc, ar, ranlib (commands) and host (as configure names the target).
# It may define build_NAME for a library that differs.
# shellcheck disable=SC2154 # set by the reader
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

apt_state=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/linux/.apt # one folder for all targets
jobs=${JITWARM_JOBS:-2}

say() { printf '%s: %s\n' "$self" "$*"; }
die() { printf '%s: %s\n' "$self" "$*" >&2; exit 3; }

# logged LOG WHAT COMMAND...: quiet unless it fails; then prints the end of its output, and the log's path
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
		# pkgconf replaces pkg-config
		[ "$p" != pkg-config ] || ! command -v pkg-config > /dev/null || continue
		[[ $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) == *"ok installed" ]] || missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || die "please install: apt-get install ${missing[*]}"
	say "installing ${missing[*]}"
	mkdir -p "$store"
	: > "$store/install.log"
	as_root apt-get -qq update >> "$store/install.log" 2>&1 || true # the existing lists may be enough
	logged "$store/install.log" "apt-get install" as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends "${missing[@]}"
}

# private_apt: fills `apt` with options that keep apt inside $apt_state, and reads the lists of sources if they are old
private_apt() {
	local mirror security keyring suite options
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
	mirror=$(debian_mirror) security=$(debian_security_mirror) keyring=$(debian_keyring)
	[ -n "$mirror" ] || die "no Debian mirror in this machine's apt sources"
	options=${keyring:+[signed-by=$keyring] }
	mkdir -p "$apt_state"/{lists/partial,cache/archives/partial}
	: > "$apt_state/status"
	{
		echo "deb-src $options$mirror $suite main"
		[ -z "$security" ] || echo "deb-src $options$security $suite-security main"
	} > "$apt_state/sources.list"
	apt=(-o "Dir::Etc::SourceList=$apt_state/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State=$apt_state"
		-o "Dir::State::Lists=$apt_state/lists" -o "Dir::State::Status=$apt_state/status" -o "Dir::Cache=$apt_state/cache"
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=1)
	if [ -n "$refresh" ] || [ -z "$(find "$apt_state/lists" -name '*Sources*' -mtime -7 -print -quit)" ]; then
		apt-get "${apt[@]}" -qq update > "$store/update.log" 2>&1 || say "the lists of sources could not be renewed; going on with those at hand"
	fi
}

# versions_of PACKAGE: prints the versions of a source package, the newest one first
versions_of() {
	apt-cache "${apt[@]}" showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -Vru
}

# write_pc NAME VERSION LIBS CFLAGS: describes to pkg-config a library that does not do so itself, or wrongly
write_pc() {
	printf 'prefix=%s\nName: %s\nDescription: %s\nVersion: %s\nLibs: -L${prefix}/lib %s\nCflags: -I${prefix}/include %s\n' \
		"$prefix" "$1" "$1" "$2" "$3" "$4" > "$prefix/lib/pkgconfig/$1.pc"
}

build_zlib() {
	local files=(adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil) f
	for f in "${files[@]}"; do
		$cc -O2 -fPIC -c "$f.c" -o "$f.o"
	done
	$ar rcs "$prefix/lib/libz.a" "${files[@]/%/.o}"
	cp zlib.h zconf.h "$prefix/include/"
	write_pc zlib "$(sed -n 's/^#define ZLIB_VERSION "\(.*\)"$/\1/p' zlib.h)" -lz ""
}

# cmake_configure SOURCE OPTION...: configures in the folder "cross"
cmake_configure() {
	local source=$1
	shift
	cmake -S "$source" -B cross -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
		-DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
		-DCMAKE_POSITION_INDEPENDENT_CODE=ON "$@"
}

# cmake_build SOURCE OPTION...: configures, builds, installs one library
cmake_build() {
	cmake_configure "$@"
	cmake --build cross -j "$jobs"
	cmake --install cross
}

# zstd's CMake project requires a C++ compiler, and its Makefile does not. Static libraries have no threads by default, but several threads
# compress packs.
build_libzstd() {
	local with=("CC=$cc" "AR=$ar" "RANLIB=$ranlib" ZSTD_LEGACY_SUPPORT=0 "MOREFLAGS=-DZSTD_MULTITHREAD -fPIC")
	make -C lib -j "$jobs" "${with[@]}" libzstd.a
	make -C lib PREFIX="$prefix" LIBDIR="$prefix/lib" "${with[@]}" install-static install-includes install-pc
	grep -qE '_beginthreadex|pthread_create' "$prefix/lib/libzstd.a" # proves that it has threads
}

build_lz4() {
	cmake_build build/cmake -DBUILD_STATIC_LIBS=ON -DLZ4_BUILD_CLI=OFF -DLZ4_BUILD_LEGACY_LZ4C=OFF
}

build_cjson() {
	cmake_build . -DENABLE_CUSTOM_COMPILER_FLAGS=OFF -DENABLE_CJSON_TEST=OFF -DENABLE_CJSON_UTILS=OFF -DENABLE_HIDDEN_SYMBOLS=ON -DENABLE_TARGET_EXPORT=OFF
}

# Wheels and conda packages need only zip and tar with zlib and zstd. Installed by hand: libarchive's own rules always build a DLL, and its
# libarchive.pc does not name the libraries that it needs.
build_libarchive() {
	local off=() what
	for what in TEST TAR CPIO CAT OPENSSL MBEDTLS NETTLE LIBB2 LZ4 LZO LZMA BZip2 LIBXML2 EXPAT PCREPOSIX PCRE2POSIX LIBGCC \
		CNG ICONV XATTR ACL WERROR INSTALL_DOCS; do
		off+=("-DENABLE_$what=OFF")
	done
	cmake_configure . "${off[@]}" -DENABLE_INSTALL=OFF -DENABLE_ZLIB=ON -DENABLE_ZSTD=ON -DPOSIX_REGEX_LIB=NONE \
		"-DZLIB_INCLUDE_DIR=$prefix/include" "-DZLIB_LIBRARY=$prefix/lib/libz.a" \
		"-DZSTD_INCLUDE_DIR=$prefix/include" "-DZSTD_LIBRARY=$prefix/lib/libzstd.a" \
		-DCMAKE_CROSSCOMPILING_EMULATOR=/bin/false # the only check that runs a program (ZLIB_WINAPI) must fail; without this, cmake crashes
	cmake --build cross -j "$jobs" --target archive_static
	grep -q 'define HAVE_LIBZSTD 1' cross/config.h
	grep -q 'define HAVE_LIBZ 1' cross/config.h
	cp cross/libarchive/libarchive*.a "$prefix/lib/libarchive.a"
	cp libarchive/archive.h libarchive/archive_entry.h "$prefix/include/"
	write_pc libarchive "$(sed -n 's/^#define.*ARCHIVE_VERSION_ONLY_STRING "\(.*\)"$/\1/p' libarchive/archive.h)" "-larchive -lz -lzstd" -DLIBARCHIVE_STATIC
}

# autotools_build OPTION...: builds one library whose cross build uses configure
autotools_build() {
	./configure "CC=$cc" "AR=$ar" "RANLIB=$ranlib" --host="$host" --prefix="$prefix" --disable-shared --enable-static --with-pic --quiet "$@"
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

# cmocka is for the unit tests.
build_cmocka() {
	# cmocka knows x86-64 as 64 bits, and glibc's macros; musl defines none.
	sed -i 's/^# if (defined(__x86_64__)/# if defined(__LP64__) || (defined(__x86_64__)/' include/cmocka.h
	grep -q 'if defined(__LP64__)' include/cmocka.h
	cmake_configure . -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF
	cmake --build cross -j "$jobs" --target cmocka-static
	cp cross/src/libcmocka-static.a "$prefix/lib/libcmocka.a"
	cp include/cmocka.h "$prefix/include/"
	write_pc cmocka "$(sed -n 's/^project(cmocka VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" -lcmocka ""
}

# fetch_source NAME VERSION LOG: fetches that version into the current folder, or an older one, with a line, if a mirror lists a new version
# before it has it
fetch_source() {
	local version
	for version in $(versions_of "$1"); do
		flock "$apt_state/.lock" apt-get "${apt[@]}" -qq source --download-only "$1=$version" >> "$3" 2>&1 || continue
		[ "$version" = "$2" ] || { say "the mirror does not have $1 $2: building $version" && touch older; }
		return 0
	done
	tail -n 25 "$3" >&2
	die "fetching the source package $1 failed; all of its output is in $3"
}

# build_source: builds one source package into $prefix
build_source() {
	local name=$1 version=$2 log
	log=$store/$key/$name.log
	[ ! -e "$prefix/.built-$name" ] || return 0
	say "building $name $version"
	mkdir -p "$work/$name"
	: > "$log"
	(
		cd "$work/$name"
		fetch_source "$name" "$version" "$log"
		logged "$log" "unpacking $name" dpkg-source --no-check -x ./*.dsc source
		cd source
		# This needs a shell of its own with -e, since within the condition of `if`, -e would have no effect. cmake/mingw-w64.cmake reads
		# the variable.
		logged "$log" "building $name" env "JITWARM_WINDOWS_PREFIX=$prefix" bash -euo pipefail -c "$(declare -p prefix toolchain jobs host cc ar ranlib)
			$(declare -f write_pc cmake_configure cmake_build autotools_build "build_$name"); build_$name"
	)
	# The next build tries the newest version again.
	[ -e "$work/$name/older" ] || touch "$prefix/.built-$name"
}

build_libraries() {
	local i missing=
	work=$(mktemp -d "$store/.work-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$prefix"/{include,lib/pkgconfig}
	for i in "${!sources[@]}"; do
		build_source "${sources[i]}" "${versions[i]}"
		[ -e "$prefix/.built-${sources[i]}" ] || missing=1
	done
	[ -n "$missing" ] || printf '%s\n' "$wanted" > "$prefix/complete"
}

# need_libraries COMPILER: sets prefix to the libraries' folder, to which $store/current becomes a link
need_libraries() {
	local s v i
	mkdir -p "$store" "$apt_state"
	exec 8> "$apt_state/.lock" 9> "$store/.lock"
	flock 9
	flock 8
	private_apt
	flock -u 8
	versions=()
	for s in "${sources[@]}"; do
		v=$(versions_of "$s" | sed -n 1p)
		[ -n "$v" ] || die "the source package $s is not on offer; see $store/update.log"
		versions+=("$v")
	done
	wanted="recipe $recipe, $1:$(for i in "${!sources[@]}"; do printf ' %s=%s' "${sources[i]}" "${versions[i]}"; done)"
	key=$(printf '%s' "$wanted" | sha256sum | cut -c1-16)
	prefix=$store/$key
	[ "$(cat "$prefix/complete" 2>/dev/null)" = "$wanted" ] || build_libraries
	ln -sfn "$key" "$store/current" # the toolchain file looks here
	flock -u 9
	say "libraries: $prefix"
}
