#!/usr/bin/env bash
# fresh.sh [--quick] [RELEASE...] [-- COMMAND]   the README's two commands on a bare Debian (needs root)
#
# For each RELEASE (by default bookworm and trixie, that is Debian 12 and 13) debootstrap makes a minimal root. A clone of this
# repository's last commit is put below its /root, which no other account reads. There quickstart.sh runs, then test.sh and test.sh --all, or
# COMMAND (a line for bash) if one is given, then quickstart.sh again, after clone and home were given to account 1001. Each takes an hour on
# two cores.
# --quick  only bookworm, and only tests that depend on the checkout's folder: three minutes on two cores.
#          Files in this machine's ccache are not compiled again
#
# The mirror, proxies and certificates are this machine's. Files that scripts have fetched into ~/.cache/jitwarm are copied into the
# root; roots are kept in ~/.cache/jitwarm/roots for a week. All mounts are made in a mount namespace that ends with this script.
# Exit status: 0; 1 a command failed; 64 wrong usage; 77 skipped: something that it needs is missing, and is named.
# shellcheck disable=SC2317 # functions are called by name
set -uo pipefail

self=$(basename "$0")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"
usage() { sed -n '2,/^set /{/^set /d;/shellcheck/d;s/^# \{0,1\}//;p}' "$0"; }
say() { printf '%s: %s\n' "$self" "$*"; }
skip() { say "skipped: $*"; exit 77; }

quick='' releases=() command='./scripts/test.sh && ./scripts/test.sh --all'
fetched=(drivers frameworks ptxas nvrtc windows)
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--quick) quick=1 ;;
	12 | bookworm) releases+=(bookworm) ;;
	13 | trixie) releases+=(trixie) ;;
	--) [ $# = 2 ] || { usage >&2; exit 64; }; command=$2; shift ;;
	*) usage >&2; exit 64 ;;
	esac
	shift
done
if [ -n "$quick" ]; then
	[ ${#releases[@]} -gt 0 ] || releases=(bookworm)
	# Stored outputs are those of a machine with the needs of all tests.
	command="SNAPSHOT= ./scripts/test.sh prime-sim-places cli-accounts unit-cache_insert driver-pack-shared-550.163.01"
	fetched=(drivers/550.163.01 ptxas/12.4)
fi
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)

cache=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
store=$cache/roots
work='' child=''
finish() {
	local first
	if [ -n "$child" ]; then
		# The process is the first child of unshare, which ends when all its children have ended.
		read -ra first <"/proc/$child/task/$child/children"
		kill -KILL "${first[@]:-$child}"
		wait "$child"
	fi 2>/dev/null
	[ -z "$work" ] || rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# A signal can end the command at any time, and everything that it started ends with it.
guarded() { "$@" & child=$!; wait "$child"; local status=$?; child=''; return $status; }
# apart: runs a command with its own processes and mounts; when the first process ends, the others and the mounts go
apart() { guarded unshare --mount --pid --fork --kill-child --propagation private "$@"; }

# ---- requirements

[ -z "${JITWARM_FRESH:-}" ] || skip "this is such a root"
[ "$(id -u)" = 0 ] || skip "it needs root"
apart --mount-proc true 2>/dev/null || skip "mounts cannot be made here"
command -v debootstrap >/dev/null || guarded env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null 2>&1 ||
	{ apt-get update -qq; apt-get install -y -qq --no-install-recommends debootstrap; } >/dev/null 2>&1 || skip "debootstrap is missing and cannot be installed"
mirror=$(debian_mirror)
[ -n "$mirror" ] || skip "no Debian mirror in this machine's apt sources"
command -v git >/dev/null || skip "git is missing, which makes the clone"
mkdir -p "$store" || skip "$store cannot be made"
# Removes the leftovers of killed runs.
find "$store" -mindepth 1 -maxdepth 1 -name '.run-*' -mmin +1440 -exec rm -rf --one-file-system {} +

# ---- a root

# settings_into: copies the settings that this machine's apt and pip need for the network, and no others
settings_into() {
	local file
	echo "deb $mirror $release main" >"$1/etc/apt/sources.list" # as debootstrap has it, and today's mirror in a kept root
	for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
		if [ -f "$file" ] && grep -qE '^[[:space:]]*Acquire' "$file"; then cp "$file" "$1/etc/apt/apt.conf.d/"; fi
	done
	cp -r /etc/apt/auth.conf /etc/apt/auth.conf.d "$1/etc/apt/" 2>/dev/null
	cp -L /etc/resolv.conf "$1/etc/resolv.conf"
	if [ -f /etc/pip.conf ]; then cp /etc/pip.conf "$1/etc/"; fi
	mkdir -p "$1/usr/local/share/ca-certificates" && cp /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/" 2>/dev/null
	return 0
}
# root_of RELEASE FOLDER: makes it from an archive that is at most a week old, or from the mirror
root_of() {
	local archive=$store/$1.tar.gz options=() keyring
	mkdir -m 755 "$2"
	if [ -n "$(find "$archive" -mtime -7 2>/dev/null)" ] && guarded tar -C "$2" -xzf "$archive"; then
		return 0
	fi
	rm -rf --one-file-system "$2" && mkdir -m 755 "$2"
	keyring=$(debian_keyring)
	[ ! -f "$keyring" ] || options+=(--keyring="$keyring")
	case $mirror in https:*) options+=(--include=ca-certificates) ;; esac
	apart --mount-proc debootstrap --variant=minbase "${options[@]}" "$1" "$2" "$mirror" >"$work/log" 2>&1 ||
		{ grep -E '^[EW]:' "$work/log" | tail -3; return 1; }
	rm -f "$2"/var/cache/apt/archives/*.deb
	if guarded tar -C "$2" -czf "$work/archive" .; then mv "$work/archive" "$archive"; fi
}
clone_into() {
	local name
	printf '[safe]\n\tdirectory = *\n' >"$work/gitconfig"
	GIT_CONFIG_GLOBAL=$work/gitconfig guarded git clone -q --no-hardlinks "$(dirname "$here")" "$1/root/jitwarm" || return 1
	chmod 700 "$1/root"
	for name in "${fetched[@]}"; do
		[ -e "$cache/$name" ] || continue
		mkdir -p "$1/root/.cache/jitwarm/$(dirname "$name")"
		guarded cp -a --reflink=auto "$cache/$name" "$1/root/.cache/jitwarm/$(dirname "$name")/" || return 1
	done
}
# inside: the first process, which makes this root the only visible one, and runs the line
inside() {
	local root=$1 line=$2 compiled=$3 name clean=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 JITWARM_FRESH=1)
	for name in {http,https,ftp,no}_proxy {HTTP,HTTPS,FTP,NO}_PROXY PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT; do
		[ -z "${!name:-}" ] || clean+=("$name=${!name}")
	done
	if [ -n "$compiled" ]; then
		mkdir -p "$root/root/.cache/ccache" && mount --bind "$compiled" "$root/root/.cache/ccache" || return 125
		clean+=(CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=/root/jitwarm CCACHE_NOHASHDIR=1 "CCACHE_SLOPPINESS=pch_defines,time_macros")
	fi
	mount --rbind "$root" "$root" && cd "$root" && mount -t proc proc proc && mount --rbind /sys sys && mount --rbind /dev dev &&
		mount -t tmpfs -o mode=755 tmpfs run && pivot_root . . && umount -l . && cd /root/jitwarm || return 125
	env -i "${clean[@]}" bash -c "$line"
}
export -f inside

# ---- each release

step() { # WHAT COMMAND...
	local what=$1 began=$SECONDS status=0
	shift
	"$@" || status=$?
	say "$release: $what: $([ $status = 0 ] && echo passed || echo "FAILED ($status)") after $((SECONDS - began)) s"
	return $status
}
enter() { apart bash -c 'inside "$@"; exit $?' inside "$work/root" "$1" "$compiled"; }
# If a part of --quick fails, its output is printed.
enter_quietly() { enter "$1" >"$work/log" 2>&1 || { local status=$?; tail -n 60 "$work/log"; return "$status"; }; }
run() { step "$1" "enter${quick:+_quietly}" "$1"; }

[ -z "$(git -C "$here" status --porcelain 2>/dev/null)" ] || say "what is not committed is not tried"
try_release() {
	compiled=
	if ! step "a bare root" root_of "$release" "$work/root"; then
		[ -z "$quick" ] || skip "debootstrap gets no $release from $mirror"
		return 1
	fi
	settings_into "$work/root"
	clone_into "$work/root" || return 1
	if [ -n "$quick" ] && ! enter "apt-get update -qq -o APT::Update::Error-Mode=any" >"$work/log" 2>&1; then
		skip "apt cannot read $mirror: $(grep -m1 '^[EW]:' "$work/log")"
	fi
	if [ -n "$quick" ] && enter "apt-get install -y -qq --no-install-recommends ccache" >"$work/log" 2>&1; then
		compiled=$(ccache -k cache_dir 2>/dev/null) && [ -d "$compiled" ] || compiled=
	fi
	run ./scripts/quickstart.sh && run "$command" &&
		# As in a job's container, where root works in the clone and the home of the runner's account
		run "chown -R 1001:1001 . ~ && ./scripts/quickstart.sh"
}
failed=0
for release in "${releases[@]}"; do
	work=$(mktemp -d "$store/.run-XXXXXX") || exit 1
	try_release || failed=1
	rm -rf --one-file-system "$work"
	work=''
done
exit $failed
