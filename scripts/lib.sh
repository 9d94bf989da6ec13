# shellcheck shell=bash
# Functions that several scripts share, for those that source this file.

# ---- building

# build_preset PRESET [CMAKE-OPTION...] [-- TARGET...]: configures and builds in the repository's root, and prints nothing unless that fails.
# Then it prints the lines of the log that say why, and the log stays: build-PRESET.log.
build_preset() {
	local preset=$1 log=build-$1.log why options=() targets=()
	local causes='error: |cannot find|undefined reference|multiple definition|Could NOT find|No package|No space left|Killed|command not found'
	shift
	while [ $# -gt 0 ]; do
		[ "$1" != -- ] || { shift; targets=(--target "$@"); break; }
		options+=("$1")
		shift
	done
	if cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 && cmake --build --preset "$preset" -j "$(nproc)" "${targets[@]}" >>"$log" 2>&1; then
		rm -f "$log"
		return 0
	fi
	grep -E "$causes|^CMake Error|^FAILED" "$log" | head -20 >&2 || true
	why=$(grep -m1 -E "$causes" "$log" || tail -n 1 "$log")
	echo "the $preset build failed: ${why#"${why%%[! ]*}"} (all of it is in $log)" >&2
	return 1
}

# ---- releases

# These are the files that scripts/package.sh builds for a release. The last four are made of others in the same folder.
# shellcheck disable=SC2034 # for those that source this
release_targets=(source x86_64 aarch64 x86_64-musl aarch64-musl windows deb rpm conda image manifests)

# release_version: prints the version, which is only in include/jitwarm/version.h, from the repository's root. JITWARM_PACKAGE_VERSION
# replaces it in trials of upgrades.
release_version() {
	echo "${JITWARM_PACKAGE_VERSION:-$(sed -nE 's/^#define JW_VERSION_(MAJOR|MINOR|PATCH) +([0-9]+)$/\2/p' include/jitwarm/version.h | paste -sd.)}"
}
# release_value NAME: prints a value of packaging/release.conf; nothing if it is missing there
release_value() { sed -n "s/^$1=//p" packaging/release.conf; }
# release_maintainer: prints whom the packages of Debian and RPM name
release_maintainer() {
	local named
	named=$(release_value maintainer)
	echo "${named:-$(git log -1 --format='%an <%ae>')}"
}

# ---- stages, one after the other, and the line that counts them

stages_passed=0 stages_failed=0 stages_skipped=0 stages_names=

# stage NAME COMMAND...   status 77: skipped; stage_status keeps the command's
stage() {
	local name=$1 began=$SECONDS status=0
	shift
	printf '\n==== %s\n' "$name"
	"$@" || status=$?
	# shellcheck disable=SC2034 # for test.sh
	stage_status=$status
	if [ $status = 0 ]; then
		stages_passed=$((stages_passed + 1))
		printf '==== %s: passed in %d s\n' "$name" $((SECONDS - began))
	elif [ $status = 77 ]; then
		stages_skipped=$((stages_skipped + 1))
		printf '==== %s: skipped\n' "$name"
	else
		stages_failed=$((stages_failed + 1))
		stages_names+=" [$name]"
		printf '==== %s: FAILED after %d s\n' "$name" $((SECONDS - began))
		return 1
	fi
}

stages_end() {
	printf '\nstages: %d passed, %d failed%s, %d skipped\n' "$stages_passed" "$stages_failed" "${stages_names:+:$stages_names}" "$stages_skipped"
	[ "$stages_failed" = 0 ]
}

# ---- Debian according to this machine's apt sources

apt_sources() { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true; }
# apt_addresses: prints addresses of archives, in one-line and in deb822 style
apt_addresses() {
	apt_sources | sed -nE 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+).*/\2/p; s/^URIs:[[:space:]]*([^[:space:]]+).*/\1/p' |
		sed 's:/*$::'
}
# debian_mirror: prints nothing if there is none
debian_mirror() { apt_addresses | grep -m1 '/debian$' || true; }
debian_security_mirror() { apt_addresses | grep -m1 '/debian-security$' || true; }
debian_keyring() { apt_sources | sed -nE 's/^Signed-By:[[:space:]]*(\/.*debian-archive.*)/\1/p' | head -1; }

# debian_files ARCHITECTURE FOLDER PACKAGE...: puts the files of these packages of this machine's Debian release into FOLDER, for any
# architecture; prints their source packages and versions. Status 1 if they cannot be fetched.
debian_files() {
	local architecture=$1 folder=$2 state=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/apt/$1 suite mirror security keyring apt one
	shift 2
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME") mirror=$(debian_mirror) security=$(debian_security_mirror) keyring=$(debian_keyring)
	mkdir -p "$state"/{lists/partial,cache/archives/partial} "$folder"
	: >"$state/status"
	printf "deb ${keyring:+[signed-by=$keyring] }%s main\n" "$mirror $suite" ${security:+"$security $suite-security"} >"$state/sources.list"
	apt=(-o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State=$state" -o "Dir::State::Lists=$state/lists"
		-o "Dir::State::Status=$state/status" -o "Dir::Cache=$state/cache" -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
		-o APT::Sandbox::User= -o Acquire::Languages=none)
	# Lists of a week ago may name files that the archive has replaced.
	{ [ -n "$(find "$state/lists" -name '*Packages*' -mtime -7 -print -quit)" ] && (cd "$folder" && apt-get "${apt[@]}" -qq download "$@") >/dev/null 2>&1; } ||
		{ apt-get "${apt[@]}" -qq update && (cd "$folder" && apt-get "${apt[@]}" -qq download "$@"); } >&2 || return 1
	for one in "$folder"/*.deb; do
		# shellcheck disable=SC2016
		dpkg-deb -x "$one" "$folder" && dpkg-deb --showformat '${source:Package}=${source:Version}\n' -W "$one" && rm "$one" || return 1
	done
}

# debian_tree FOLDER VERSION: puts the last commit into FOLDER, from the repository's root, with the folder debian with which packages are
# built and autopkgtest runs
debian_tree() {
	local maintainer
	maintainer=$(release_maintainer)
	mkdir -p "$1"
	git archive HEAD | tar -C "$1" -xf -
	cp -r packaging/debian "$1/debian"
	sed -i -e '/^Maintainer: /{r /dev/stdin' -e 'd}' "$1/debian/control" <<<"Maintainer: $maintainer"
	printf 'jitwarm (%s) unstable; urgency=medium\n\n  * Version %s. CHANGELOG.md says what is new.\n\n -- %s  %s\n' "$2" "$2" \
		"$maintainer" "$(LC_ALL=C date -u -R -d "@$(git log -1 --format=%ct)")" >"$1/debian/changelog"
}

# ---- programs for aarch64, which the kernel starts through qemu-user (binfmt_misc), in other roots too

emulated=''

emulate_qemu() { command -v qemu-aarch64-static || command -v qemu-aarch64; } # Debian 13's has no other name, and is static, too
# shellcheck disable=SC2034 # emulate_lacks is for the caller
# emulate_begin: status 1 if it cannot be, with the reason in emulate_lacks. emulate_end takes it back if no other script needs it.
emulate_begin() {
	local kernel=/proc/sys/fs/binfmt_misc qemu
	[ "$(uname -m)" != aarch64 ] || return 0
	qemu=$(emulate_qemu) || { emulate_lacks="the package qemu-user-static is missing"; return 1; }
	[ -e $kernel/register ] || mount -t binfmt_misc none $kernel 2>/dev/null || { emulate_lacks="no binfmt_misc"; return 1; }
	# All emulating runs share this lock; the last one to end gets it alone.
	exec {emulated}<$kernel/status && flock -s "$emulated"
	if ! grep -qs '^interpreter .*qemu-aarch64' $kernel/*; then
		# The pattern is a 64-bit little-endian ELF header of a program or library (e_type 2 or 3) for machine 0xb7. P: passes the name by
		# which it was called (busybox); F: opens the interpreter now, for every root.
		printf '%s' ':jitwarm-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$qemu:PF" 2>/dev/null >$kernel/register ||
			[ -e $kernel/jitwarm-aarch64 ] || { emulate_lacks="the kernel does not take qemu-aarch64"; return 1; } # or another was first
	fi
}
emulate_end() {
	local entry=/proc/sys/fs/binfmt_misc/jitwarm-aarch64
	[ "$emulated" ] || return 0
	if flock -nx "$emulated" && [ -e $entry ]; then echo -1 >$entry; fi
	flock -u "$emulated" # programs that still run have it open, too
	emulated=''
}
