# shellcheck shell=bash
# Sourced by try.sh: minimal roots of distributions (debootstrap), and what is looked for where a package is installed, upgraded and
# removed in one.
# shellcheck disable=SC2034,SC2154 # try.sh reads and sets them
# shellcheck source=scripts/lib.sh
. "$here/lib.sh"


# trial_of DEFAULT FOLDER TESTS [RELEASE...]: puts the script's arguments into packages, tests and releases, which are DEFAULT if none was
# named. Sets work, a folder that is removed with the script, and store, where roots are kept.
trial_of() {
	[ $# -ge 3 ] || usage
	[ -e "$2" ] || { say "there is no $2: scripts/package.sh -o makes it" >&2; exit 64; }
	compgen -G "$3/tests/simdriver/lib/libcuda.so.*" >/dev/null || { say "there is no simulated driver in $3: it is the folder of a build" >&2; exit 64; }
	packages=$(realpath "$2") tests=$(realpath "$3")
	read -ra releases <<<"${*:4}"
	[ ${#releases[@]} -gt 0 ] || read -ra releases <<<"$1"
	[ "$(id -u)" = 0 ] || skip "it needs root"
	command -v debootstrap >/dev/null || skip "debootstrap is missing"
	store=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/roots
	mkdir -p "$store"
	work=$(mktemp -d "$store/.run-XXXXXX") || exit 1
	trap trial_end EXIT
	root=$work/root
	[[ ${releases[*]} != *-arm64* ]] || emulate_begin || skip "$emulate_lacks"
}
trial_end() { emulate_end; rm -rf --one-file-system "$work"; }
# trial_each: runs try_release for each release; status 77 if none can be tried
trial_each() {
	local release status worst=77
	for release in "${releases[@]}"; do
		status=0
		(try_release "$release") || status=$?
		rm -rf --one-file-system "$root"
		case $status in 0) worst=0 ;; 77) ;; *) exit $status ;; esac
	done
	exit $worst
}

# Debian has no package of Ubuntu's keys: they come from Ubuntu, and only those with these fingerprints (2012, 2018) are kept.
ubuntu_keys=(790BC7277767219C42C86F933B4FE6ACC0B21F32 F6ECB3762474EDA9D21B7022871920D1991BC93C)
ubuntu_keyring() { # MIRROR FILE
	local deb
	deb=$(curl -fsS "$1/dists/jammy/main/binary-amd64/Packages.xz" | xz -dc | sed -n 's|^Filename: \(.*/ubuntu-keyring_[^/]*\)$|\1|p') || return 1
	curl -fsS -o "$work/keys.deb" "$1/$deb" && dpkg-deb -x "$work/keys.deb" "$work/keys" || return 1
	mkdir -m 700 "$work/gnupg"
	gpg -q --homedir "$work/gnupg" --no-autostart --import "$work/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" 2>/dev/null
	gpg -q --homedir "$work/gnupg" --no-autostart --export "${ubuntu_keys[@]}" >"$2" && [ -s "$2" ]
}
is_ubuntu() { case $1 in xenial | bionic | focal | jammy | noble) ;; *) false ;; esac; }
# mirror_of RELEASE: on mirrors of both, Ubuntu's archive lies beside Debian's
mirror_of() {
	local mirror
	mirror=$(debian_mirror)
	if is_ubuntu "$1"; then mirror=${mirror%/debian}/ubuntu; fi
	echo "$mirror"
}
bootstrap() { # RELEASE FOLDER ARCHITECTURE
	local mirror keyring script=()
	mirror=$(mirror_of "$1") keyring=$(debian_keyring)
	if is_ubuntu "$1"; then
		# An older debootstrap does not know the newest release by name.
		keyring=$work/ubuntu.gpg script=(/usr/share/debootstrap/scripts/gutsy)
		[ -s "$keyring" ] || ubuntu_keyring "$mirror" "$keyring" || { echo "E: Ubuntu's keys cannot be had" >"$work/log"; return 1; }
	fi
	unshare --mount --pid --fork --kill-child --propagation private --mount-proc debootstrap --variant=minbase --arch="$3" \
		--keyring="${keyring:-/usr/share/keyrings/debian-archive-keyring.gpg}" "$1" "$2" "$mirror" "${script[@]}" >"$work/log" 2>&1
}
# bootstrap_musl FOLDER ARCHITECTURE: makes a root without glibc, of Debian's musl and busybox
bootstrap_musl() {
	mkdir -p "$1"/{bin,sbin,usr/bin,usr/sbin,usr/local/bin,proc,dev,tmp,root,etc}
	debian_files "$2" "$1" musl busybox-static >"$work/log" 2>&1 || return 1
	chroot "$1" /bin/busybox --install -s && mknod -m 666 "$1/dev/null" c 1 3 && mknod -m 666 "$1/dev/urandom" c 1 9 &&
		echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
}
machine_of() { case $1 in *-arm64) echo aarch64 ;; *) uname -m ;; esac; }
# root_of RELEASE: makes $root of a release, musl, or an archive in the store; with -arm64 after the name, it runs under qemu-user. Status
# 1, with a message, if it cannot be had.
root_of() {
	local architecture
	architecture=$(dpkg --print-architecture)
	mkdir -m 755 "$root"
	[[ $1 != *-arm64 ]] || architecture=arm64
	if [ -f "$store/$1.tar.gz" ]; then tar -C "$root" -xzf "$store/$1.tar.gz"; return; fi
	if [ "${1%-arm64}" = musl ]; then bootstrap_musl "$root" $architecture; return; fi
	bootstrap "${1%-arm64}" "$root" $architecture || { grep -E '^[EW]:' "$work/log" | tail -3; return 1; }
	rm -f "$root"/var/cache/apt/archives/*.deb
	tar -C "$root" -czf "$work/archive" . && mv "$work/archive" "$store/$1.tar.gz"
}
# apt_into_root RELEASE: lets apt in the root reach the archive as this machine's does
apt_into_root() {
	local release=${1%-arm64} components=main
	if is_ubuntu "$release"; then components='main universe'; fi
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	cp /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" 2>/dev/null
	echo "deb [trusted=yes] $(mirror_of "$release") $release $components" >"$root/etc/apt/sources.list"
	inside "apt-get -qq update" || skip "apt does not reach the archive: $(grep -m1 -E '^[EW]:' "$work/out")"
}
# tests_into_root FOLDER: copies the simulated driver and the sample framework of the build in FOLDER, and a systemctl that does nothing
# (only the units' files count); also NVIDIA's driver 550 and the phantom GPU if both are here
tests_into_root() {
	local driver=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers/550.163.01 phantom=$1/tests/phantom
	mkdir -p "$root/opt/tests"
	printf '#!/bin/sh\n' >"$root/usr/bin/systemctl" && chmod 755 "$root/usr/bin/systemctl"
	real=''
	# The phantom needs a glibc newer than 2.17, so portable builds have none.
	[ -f "$phantom/phantom.so" ] || phantom=$here/../build/release/tests/phantom
	if [ -e "$root/lib64/ld-linux-x86-64.so.2" ] && [ -f "$phantom/phantom.so" ] && [ -d "$driver" ] && cp "$phantom/phantom.so" "$root/opt/tests/" && inside "LD_PRELOAD=/opt/tests/phantom.so /bin/true" &&
		[ ! -s "$work/out" ]; then
		mkdir -p "$root/opt/driver"
		find "$driver" -name '*.so*' -exec cp -P -t "$root/opt/driver" {} +
		real="LD_PRELOAD=/opt/tests/phantom.so LD_LIBRARY_PATH=/opt/driver:/opt/tests PHANTOM_GPU=sm_86 PHANTOM_DRIVER_VERSION=550.163.01 \
			JITWARM_PCI_DEVICES=$("$phantom/phantom-probe" pci sm_86) CUDA_DEVICE_ORDER=PCI_BUS_ID JITWARM_STORE=0 HOME=/tmp/real"
	fi
	cp -P "$1"/tests/simdriver/lib/libcuda.so.* "$root/opt/tests/" && cp -L "$1/tests/framework/libsample_framework.so" "$1/tests/framework/framework-app" "$root/opt/tests/"
}
# inside COMMAND: returns its status; its output is in $work/out
inside() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private bash -c '
		root=$1 && shift && mount -t proc proc "$root/proc" && exec env -i HOME=/root PATH=/opt/jitwarm/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			DEBIAN_FRONTEND=noninteractive LD_LIBRARY_PATH=/opt/tests SIMDRIVER_GPUS=sm_86 \
			JITWARM_PCI_DEVICES=10de:2484@0000:01:00.0 ${2:+"JITWARM_STORE=$2"} chroot "$root" /bin/sh -c "$1"' inside "$root" "$1" "${trial_store-}" >"$work/out" 2>&1
}
must() { inside "$1" || fail "$1 ($?)"; }
must_end() { # STATUS COMMAND
	local status=0
	inside "$2" || status=$?
	[ $status = "$1" ] || fail "$2 ended with $status, not $1"
}

# ---- a system package: installed, then these functions, with the upgrade and the removal in between

library=/opt/tests/libsample_framework.so
units() { find "$root/etc/systemd" -name '*jitwarm*' 2>/dev/null | LC_ALL=C sort; }
# own: lists the user's own files below the home folder, with their contents
own() { (cd "$root/root" && find . -type f ! -name .bash_history -print0 | LC_ALL=C sort -z | xargs -0 sha256sum); }
# traces ALLOWED: lists jitwarm's names in the root, except those of the tests, of the user and ALLOWED
traces() {
	find "$root" -xdev \( -path "$root/root" -o -path "$root/opt" -o -path "$root/proc" -o -path "$root/var/log" \) -prune -o -iname '*jitwarm*' ! -path "$root${1:-/none}" -print
}
# story_real: as an account of its own, under driver 550
story_real() {
	[ -n "$real" ] || { say "driver 550 on the phantom GPU: not here, or not for this C library"; return; }
	mkdir -p "$root/tmp/real"
	must_end 1 "env $real jitwarm check $library"
	must "env $real jitwarm prime $library"
	must "env $real jitwarm check $library"
	must "env $real /opt/tests/framework-app"
	grep -q 'compiled 0 of' "$work/out" || fail "under driver 550 the framework compiles"
	rm -rf --one-file-system "$root/tmp/real"
	say "primed under driver 550 on the phantom GPU"
}
story_installed() { # NAME
	must "jitwarm --version"
	must "jitwarm scan --target sm_86 $library"
	must_end 1 "jitwarm check $library"
	must "jitwarm prime $library"
	must "jitwarm check $library"
	must "/opt/tests/framework-app"
	grep -q 'compiled 0 of' "$work/out" || fail "the framework compiles"
	story_real
	must "jitwarm key generate"
	must "jitwarm tune --apply --scope user --max-size 4G"
	must "jitwarm startup enable --all-users $library"
	units_before=$(units) own_before=$(own)
	[ -n "$units_before" ] || fail "no units were written"
	[ "$(wc -l <<<"$own_before")" -gt 5 ] || fail "there is nothing to keep"
	say "$1: installed, primed; $(wc -l <<<"$units_before") units, $(wc -l <<<"$own_before") files of the user's own"
}
story_upgraded() {
	diff <(echo "$own_before") <(own) >"$work/out" || fail "the upgrade changed what is the user's"
	[ "$(units)" = "$units_before" ] || fail "the upgrade changed units"
	must "jitwarm check $library"
	own_before=$(own)
}
story_removed() { # NAME PATH-THAT-MAY-STAY
	diff <(echo "$own_before") <(own) >"$work/out" || fail "the removal changed what is the user's"
	traces "${2-}" >"$work/out"
	[ ! -s "$work/out" ] || fail "left behind"
	say "$1: upgraded and removed; what was the user's is as it was"
}
