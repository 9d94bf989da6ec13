#!/usr/bin/env bash
# try-install.sh FOLDER TESTS [RELEASE...]   tries install.sh with the archives of FOLDER in minimal roots (needs root, minisign)
#
# scripts/package.sh makes the archives; TESTS is the folder of a build of the same commit for the same C library. They are signed with
# a key made here and served from this machine. In a root of each RELEASE (default: bookworm, trixie, noble, which have OpenSSL 3; or
# musl, of Debian's musl and busybox; or alpine-3.20, of an archive of Alpine's in ~/.cache/jitwarm/roots; with -arm64 behind it under qemu-user) docs/packages.md's line installs the command, which primes, also under driver 550 on
# the phantom GPU where they are here; the next release's line upgrades it, --uninstall removes it, and all that was the user's is as
# it was.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

# shellcheck source=scripts/trial.sh
. "$(dirname "$0")/trial.sh"
trial_of "bookworm trixie noble" "$@"
command -v minisign >/dev/null || skip "minisign is missing"
server=''
trap '[ -z "$server" ] || kill "$server"; trial_end' EXIT
minisign -G -W -p "$work/key.pub" -s "$work/key" >/dev/null 2>&1 || fail "minisign -G"
key=$(tail -n 1 "$work/key.pub")
version=$(basename "$(find "$packages" -name 'jitwarm-*-linux-*.tar.gz' | head -n 1)" | cut -d- -f2)
[ -n "$version" ] || skip "no archive in $packages"

# site VERSION: what a release of that version serves
site() {
	local archive name place=$work/site/$1
	mkdir -p "$place"
	for archive in "$packages/jitwarm-$version"-linux-*.tar.gz; do
		name=$(basename "$archive") && name=${name/$version/$1}
		mkdir "$work/unpacked" && tar -xzf "$archive" -C "$work/unpacked" || fail "$archive"
		[ "$1" = "$version" ] || mv "$work/unpacked/jitwarm-$version"-* "$work/unpacked/${name%.tar.gz}"
		# What the next one lacks
		[ "$1" = "$version" ] || rm "$work/unpacked/${name%.tar.gz}/share/doc/jitwarm/CHANGELOG.md"
		tar -czf "$place/$name" -C "$work/unpacked" "${name%.tar.gz}" && rm -rf "$work/unpacked"
	done
	(cd "$place" && sha256sum -- *.tar.gz >SHA256SUMS && minisign -S -s "$work/key" -m SHA256SUMS -t "jitwarm $1" </dev/null >/dev/null 2>&1) || fail "the signature"
	"$here/make-installer.sh" "$address/$1" "$key" "$1" >"$place/install.sh" || fail "make-installer.sh"
}
mkdir "$work/site"
python3 - "$work/site" >"$work/port" 2>/dev/null <<'PYTHON' &
import functools, http.server, sys
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
server=$!
until [ -s "$work/port" ]; do kill -0 "$server" 2>/dev/null || fail "no server"; sleep 0.05; done
address=http://127.0.0.1:$(cat "$work/port")
site "$version"
site "$version.1"

# Alpine's minimal root has neither curl nor OpenSSL's command, and its archive cannot be had everywhere: it gets this machine's minisign
minisign_into_root() {
	local library
	mkdir -p "$root/opt/minisign" "$root/usr/local/bin"
	cp "$(command -v minisign)" "$root/opt/minisign/"
	for library in $(ldd "$(command -v minisign)" | grep -oE '/[^ ]+'); do cp "$library" "$root/opt/minisign/"; done
	printf '#!/bin/sh\nexec env -u LD_LIBRARY_PATH /opt/minisign/ld-linux-x86-64.so.2 --library-path /opt/minisign /opt/minisign/minisign "$@"\n' >"$root/usr/local/bin/minisign"
	chmod 755 "$root/usr/local/bin/minisign"
}
try_release() {
	local fetch="curl -fsSLO" before
	root_of "$1" || skip "no root of $1"
	tests_into_root "$tests"
	if [[ $1 = musl* || $1 = alpine-* ]]; then
		fetch=wget
		minisign_into_root
	else
		apt_into_root "$1"
		must "apt-get -qq install -y --no-install-recommends curl openssl"
	fi
	before=$(find "$root/usr/local" | LC_ALL=C sort)
	must "cd /tmp && $fetch $address/$version/install.sh && sh install.sh"
	must "cd /tmp && rm install.sh"
	story_installed "$1"
	must "cd /tmp && $fetch $address/$version.1/install.sh && sh install.sh"
	must "! test -e /usr/local/share/doc/jitwarm/CHANGELOG.md"
	story_upgraded
	must "cd /tmp && sh install.sh --uninstall && rm install.sh"
	story_removed "$1"
	diff <(echo "$before") <(find "$root/usr/local" | LC_ALL=C sort) >"$work/out" || fail "/usr/local is not as it was"
}
trial_each
