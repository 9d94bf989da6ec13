#!/bin/sh
# install.sh [--prefix DIR] [--uninstall]   installs jitwarm for this account, or as root for all
#
# Fetches the archive of this release, and installs it only if the list of checksums has the release's signature (minisign's
# format) and the archive its checksum. Whatever is missing for that ends it before anything is written.
#
#   --prefix DIR   where to (default: /usr/local for root, else ~/.local)
#   --uninstall    remove what an earlier call installed, with jitwarm's tasks and units; caches, store, keys and settings stay
#
# JITWARM_BASE_URL, JITWARM_PUBLIC_KEY and JITWARM_VERSION replace what scripts/package.sh has written below.
set -eu
umask 022

base=${JITWARM_BASE_URL:-}             # release: base
public_key=${JITWARM_PUBLIC_KEY:-}     # release: key
version=${JITWARM_VERSION:-}           # release: version

{ # The shell reads the script to its end before anything runs, since “curl | sh” may be cut off anywhere.
say() { printf 'install.sh: %s\n' "$*"; }
die() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

prefix='' uninstall=''
while [ $# -gt 0 ]; do
	case $1 in
	--prefix) [ $# -ge 2 ] || die "--prefix wants a directory"; prefix=$2; shift ;;
	--uninstall) uninstall=1 ;;
	-h | --help)
		printf '%s\n' "install.sh [--prefix DIR] [--uninstall]   installs jitwarm for this account, or as root for all" \
			"  --prefix DIR   where to (default: /usr/local for root, else ~/.local)" \
			"  --uninstall    remove what an earlier call installed; caches, store, keys and settings stay"
		exit 0
		;;
	*) echo "usage: install.sh [--prefix DIR] [--uninstall]" >&2; exit 64 ;;
	esac
	shift
done
if [ -z "$prefix" ]; then
	if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
prefix=${prefix%/} # as in PATH
manifest=$prefix/share/jitwarm/installed.txt

# each_installed: prints the names in the list that this script can have written: relative, without “..”. The names of folders that it has
# made end with a slash.
each_installed() { grep -vE '^/|(^|/)\.\.(/|$)|^$|/$' "$manifest"; }
each_folder() { grep -vE '^/|(^|/)\.\.(/|$)|[^/]$|^$' "$manifest" | LC_ALL=C sort -r; }

# owned PATH: everything from the prefix (which is trusted) to PATH belongs to root. Others may write to a folder in it, and put a list, a
# program or a link there, which root must not believe, run or follow.
owned() {
	[ "$(id -u)" = 0 ] || return 0
	way=$1
	while [ "$way" != "$prefix" ]; do
		if [ -L "$way" ]; then
			[ -n "$(find "$way" -prune -user 0)" ] || return 1
		elif [ -e "$way" ] && [ ! -O "$way" ]; then
			return 1
		fi
		way=${way%/*}
	done
}
remove() { # NAME
	folder=$prefix/$1
	if owned "${folder%/*}"; then rm -f "$prefix/$1" || true; else say "left: $prefix/$1, the way to which another account has made"; fi
}

if [ -n "$uninstall" ]; then
	[ -f "$manifest" ] || die "nothing was installed in $prefix by this script"
	owned "$manifest" || die "$manifest belongs to another account: run this as that account"
	if owned "$prefix/bin/jitwarm"; then
		"$prefix/bin/jitwarm" startup disable --quiet || true
		if [ "$(id -u)" = 0 ]; then
			"$prefix/bin/jitwarm" startup disable --all-users --quiet || true
			for service in "${JITWARM_SYSTEM_ROOT-}"/etc/systemd/system/jitwarm@*.service.d/60-jitwarm.conf; do
				[ -e "$service" ] || continue
				service=${service##*/jitwarm@}
				"$prefix/bin/jitwarm" startup disable --service "${service%%.service.d/*}" --quiet || true
			done
		fi
	else
		say "$prefix/bin/jitwarm belongs to another account and is not run: tasks and units of jitwarm stay"
	fi
	each_installed | while IFS= read -r name; do remove "$name"; done
	folders=$(each_folder)
	rm -f "$manifest"
	printf '%s\n' "$folders" | while IFS= read -r folder; do
		folder=$prefix/${folder%/}
		if owned "${folder%/*}"; then rmdir "$folder" 2>/dev/null || true; fi # if it is empty
	done
	say "removed from $prefix; the driver's cache, store, keys and settings are as they were"
	exit 0
fi

if [ -z "$base" ] || [ -z "$public_key" ] || [ -z "$version" ]; then
	die "this copy belongs to no release: set JITWARM_BASE_URL, JITWARM_PUBLIC_KEY and JITWARM_VERSION"
fi
[ "$(uname -s)" = Linux ] || die "this is for Linux"
case $(uname -m) in
x86_64 | amd64) machine=x86_64 ;;
aarch64 | arm64) machine=aarch64 ;;
*) die "there is no program for $(uname -m)" ;;
esac
# musl systems (Alpine) have a program of their own. Debian packages musl's loader, and Alpine glibc's.
if [ -e "/lib/ld-musl-$machine.so.1" ] && { { [ ! -e /lib64/ld-linux-x86-64.so.2 ] && [ ! -e /lib/ld-linux-aarch64.so.1 ]; } || ldd --version 2>&1 | grep -qi '^musl'; }; then
	machine=$machine-musl
fi
name=jitwarm-$version-linux-$machine archive=jitwarm-$version-linux-$machine.tar.gz
if has curl; then
	fetch() { curl -fsSL --retry 2 --max-filesize 200000000 -o "$2" "$1"; }
elif has wget; then
	fetch() { wget -q -O "$2" "$1"; }
else
	die "neither curl nor wget is installed"
fi
has sha256sum || die "sha256sum is missing (coreutils)"
has tar || die "tar is missing"
has gzip || die "gzip is missing"

work=$(mktemp -d) new=''
case $work in /*) ;; *) work=$PWD/$work ;; esac
trap 'rm -rf "$work"; [ -z "$new" ] || rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM

# ---- the signature
#
# Bare systems have no minisign, most have OpenSSL 3, which knows Ed25519 and BLAKE2b. A checksum alone, from the server that the
# archive is from, would prove nothing; so without either of the two nothing is installed.
bytes() { dd if="$1" bs=1 skip="$2" count="$3" 2>/dev/null; }
size_of() { wc -c <"$1" | tr -d ' '; }

ed25519() { # KEY MESSAGE SIGNATURE: raw files
	{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; cat "$1"; } >"$work/key.der"
	openssl pkey -pubin -inform DER -in "$work/key.der" -out "$work/key.pem" 2>/dev/null || return 1
	openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$2" -sigfile "$3" >/dev/null 2>&1
}

verified_by_openssl() { # FILE SIGNATURE
	printf '%s\n' "$public_key" | base64 -d >"$work/public" 2>/dev/null || return 1
	sed -n 2p "$2" | base64 -d >"$work/signature" 2>/dev/null || return 1
	sed -n 4p "$2" | base64 -d >"$work/global" 2>/dev/null || return 1
	[ "$(size_of "$work/public")" = 42 ] && [ "$(size_of "$work/signature")" = 74 ] && [ "$(size_of "$work/global")" = 64 ] || return 1
	# Ed: the signature is of the file itself; ED: of its BLAKE2b hash.
	[ "$(bytes "$work/public" 0 2)" = Ed ] || return 1
	bytes "$work/public" 2 8 >"$work/id" && bytes "$work/signature" 2 8 >"$work/signer"
	cmp -s "$work/id" "$work/signer" || return 1
	bytes "$work/public" 10 32 >"$work/raw" && bytes "$work/signature" 10 64 >"$work/raw.sig"
	case $(bytes "$work/signature" 0 2) in
	ED) openssl dgst -blake2b512 -binary "$1" >"$work/message" 2>/dev/null || return 1 ;;
	Ed) cat "$1" >"$work/message" ;;
	*) return 1 ;;
	esac
	ed25519 "$work/raw" "$work/message" "$work/raw.sig" || return 1
	{ cat "$work/raw.sig"; sed -n '3s/^trusted comment: //p' "$2" | tr -d '\n'; } >"$work/comment"
	ed25519 "$work/raw" "$work/comment" "$work/global"
}

openssl_is_enough() {
	has openssl && has base64 && has dd && has cmp && openssl pkeyutl -help 2>&1 | grep -q -e -rawin
}

verify() { # FILE SIGNATURE
	if has minisign; then
		minisign -Vq -P "$public_key" -m "$1" -x "$2" >/dev/null 2>&1
	elif openssl_is_enough; then
		verified_by_openssl "$1" "$2"
	else
		die "the signature cannot be checked here: install minisign or OpenSSL 3"
	fi
}

fetch "$base/SHA256SUMS" "$work/SHA256SUMS" || die "$base/SHA256SUMS cannot be fetched"
fetch "$base/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig" || die "$base/SHA256SUMS.minisig cannot be fetched"
verify "$work/SHA256SUMS" "$work/SHA256SUMS.minisig" || die "REFUSED: the list of checksums does not have the signature of the release"
wanted=$(awk -v name="$archive" 'NF == 2 && $2 == name { print $1 }' "$work/SHA256SUMS")
[ ${#wanted} = 64 ] || die "REFUSED: the signed list does not name $archive"
fetch "$base/$archive" "$work/$archive" || die "$base/$archive cannot be fetched"
found=$(sha256sum "$work/$archive")
[ "${found%% *}" = "$wanted" ] || die "REFUSED: $archive is not the one that was signed"

# ---- installing: each file gets its name when it is complete
#
# Others may write to a folder, /usr/local/bin of Debian for one: a file's first name is in a folder of its own, whose name
# nobody can foresee, so that nothing is written through a link that lay there; and what another account puts into that folder's
# place meanwhile is not entered.
put() { # FILE PLACE
	owned "$(dirname "$2")" || die "$(dirname "$2"): belongs to another account, or is its link: run this as that account"
	mkdir -p "$(dirname "$2")"
	[ ! -d "$2" ] || die "$2: a folder is in the way"
	new=$(mktemp -d "$(dirname "$2")/.jitwarm-XXXXXX") || die "$(dirname "$2"): nothing can be written there"
	(
		cd -P "$new" && [ -O . ] && [ -z "$(find . \( ! -name . -o -perm -020 -o -perm -002 \))" ] || die "$new: another account has replaced it"
		cp -P "$1" file && mv -f file "$2"
	) || exit 1
	rmdir "$new"
	new=''
}
tar -xzf "$work/$archive" -C "$work" --no-same-owner
[ -f "$work/$name/bin/jitwarm" ] || die "REFUSED: there is no program in $archive"
"$work/$name/bin/jitwarm" --version >/dev/null || die "the program does not run here; if programs may not run in $work, set TMPDIR"
(cd "$work/$name" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort) >"$work/files"
: >"$work/former"
: >"$work/folders"
if [ -f "$manifest" ] && owned "$manifest"; then
	each_installed | LC_ALL=C sort >"$work/former" || true
	each_folder >"$work/folders" || true
fi
{ echo share/jitwarm; (cd "$work/$name" && find . -type d ! -name . | sed 's|^\./||'); } | while IFS= read -r folder; do
	case $folder in *jitwarm*) echo "$folder/" ;; *) [ -e "$prefix/$folder" ] || echo "$folder/" ;; esac
done >>"$work/folders"
# This comes first, so that the next call knows which files an interrupted one has placed.
LC_ALL=C sort -u "$work/former" "$work/files" "$work/folders" >"$work/both"
put "$work/both" "$manifest"
while IFS= read -r file; do put "$work/$name/$file" "$prefix/$file"; done <"$work/files"
# These files belong to an older release, and this one lacks them.
grep -vxFf "$work/files" "$work/former" | while IFS= read -r file; do remove "$file"; done
LC_ALL=C sort -u "$work/files" "$work/folders" >"$work/installed.txt"
put "$work/installed.txt" "$manifest"
say "installed $("$work/$name/bin/jitwarm" --version | head -n 1) in $prefix"
case :${PATH:-}: in
*:"$prefix/bin":*) ;;
*) say "$prefix/bin is not in PATH: add it, or call $prefix/bin/jitwarm" ;;
esac
exit 0
}
