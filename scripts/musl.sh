#!/usr/bin/env bash
# musl.sh FOLDER [NAME]   makes a root without glibc in FOLDER, with Python and pip (needs root)
#
# NAME: of ~/.cache/jitwarm/roots/NAME.tar.gz, a mini root filesystem of Alpine. Without it the root is musl and busybox of Debian, since
# Alpine's cannot be had everywhere. Python is CPython of this Debian's source package, built for musl with the compiler and the libraries of
# build-linux.sh --machine x86_64-musl, once, into ~/.cache/jitwarm/linux/x86_64-musl/python. pip is this machine's.
# Exit status: 0; 3 something could not be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/libraries.sh
. scripts/libraries.sh

# shellcheck disable=SC2034 # libraries.sh reads them
self=musl host=x86_64-linux-musl
root=${1:?} name=${2:-}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
store=$cache/linux/x86_64-musl
prefix=$store/current
cc=$store/tools/x86_64-linux-musl-clang ar=$store/tools/ar ranlib=$store/tools/ranlib
version=$(python3 -I -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python=/usr/bin/python$version place=$store/python-$version
# Lists of its own, always renewed: those of the libraries decide which versions packages contain
refresh=1 apt_state=$store/.apt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch_source() { # NAME
	mkdir "$work/$1"
	(
		cd "$work/$1"
		# A mirror may lack the newest of the security archive
		{ apt-get "${apt[@]}" -qq source --download-only "$1" || apt-get "${apt[@]}" -qq source --download-only "$1/$(. /etc/os-release && echo "$VERSION_CODENAME")"; } &&
			dpkg-source --no-check -x ./*.dsc source
	) >>"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; die "the source package $1 cannot be had"; }
}
# Not as a whole: its manual needs programs of its own
build_ffi() (
	local made=x86_64-pc-linux-musl
	cd "$work/libffi/source" && ./configure -q "CC=$cc" "AR=$ar" "RANLIB=$ranlib" --host=$host --disable-shared --enable-static --with-pic --disable-docs --disable-exec-static-tramp &&
		make -C $made -j "$jobs" libffi.la && mkdir -p "$work/ffi/lib" "$work/ffi/include" && cp $made/.libs/libffi.a "$work/ffi/lib/" &&
		cp $made/include/ffi.h $made/include/ffitarget.h "$work/ffi/include/"
)
build_python() {
	scripts/build-linux.sh --machine x86_64-musl --deps-only
	export ZIG_GLOBAL_CACHE_DIR=$cache/zig/cache
	private_apt
	fetch_source libffi
	fetch_source "python$version"
	build_ffi >>"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; die "libffi could not be built for musl"; }
	# Modules that are not needed here, and whose libraries are not either, are left out by configure itself
	(
		export PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$work/ffi/lib/pkgconfig:$store/current/lib/pkgconfig
		cd "$work/python$version/source" && CC="$cc -fPIC -Wno-date-time" LDSHARED="$cc -shared" AR=$ar RANLIB=$ranlib READELF=$(command -v readelf) LDFLAGS="-L$work/ffi/lib -L$store/current/lib" \
			CPPFLAGS="-I$work/ffi/include -I$store/current/include" ./configure -q --host=$host --build=x86_64-linux-gnu "--with-build-python=$python" --prefix=/usr \
			--without-ensurepip --with-wheel-pkg-dir=/usr/share/python-wheels --disable-test-modules --without-static-libpython \
			ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no ac_cv_buggy_getaddrinfo=no && make -j "$jobs" -s && make -s install "DESTDIR=$work/installed"
	) >>"$work/log" 2>&1 || { cp "$work/log" "$store/python.log"; tail -n 30 "$work/log" >&2; die "Python could not be built for musl; $store/python.log has all of it"; }
	find "$work/installed" \( -name __pycache__ -o -name test -o -name idlelib -o -name 'config-*' \) -prune -exec rm -rf {} +
	find "$work/installed/usr/lib/python$version/lib-dynload" -name '_ctypes.*' | grep -q . || die "that Python has no ctypes"
	rm -rf "$place" && mv "$work/installed" "$place"
}

[ -d "$place" ] || build_python
mkdir -p -m 755 "$root"
if [ -n "$name" ]; then
	[ -f "$cache/roots/$name.tar.gz" ] || die "there is no $cache/roots/$name.tar.gz"
	tar -C "$root" -xzf "$cache/roots/$name.tar.gz"
	say "Alpine $(cat "$root/etc/alpine-release")"
else
	mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,proc,dev,tmp,root,etc}
	(cd "$work" && apt-get -qq download musl busybox-static) >"$work/log" 2>&1 || { tail -n 3 "$work/log" >&2; die "musl and busybox cannot be had"; }
	for package in "$work"/*.deb; do dpkg-deb -x "$package" "$root"; done
	chroot "$root" /bin/busybox --install -s
	mknod -m 666 "$root/dev/null" c 1 3
	mknod -m 666 "$root/dev/urandom" c 1 9
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	say "musl of Debian"
fi
cp -a "$place/." "$root/"
# What the module venv installs
mkdir -p "$root/usr/share/python-wheels"
bundled=$(python3 -I -c 'import ensurepip, os; print(os.path.dirname(ensurepip.__file__))')/_bundled
for wheel in {/usr/share/python-wheels,"$bundled"}/{pip,setuptools}-*.whl; do [ ! -f "$wheel" ] || cp "$wheel" "$root/usr/share/python-wheels/"; done
