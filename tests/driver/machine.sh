#!/bin/bash
# machine.sh PACKAGES BUILD [LAYOUT...]   an upgrade of the driver by apt on a Debian machine that has jitwarm's package (needs root, and the network)
#
# A root of Debian 12 that debootstrap made boots with systemd as its first process, in namespaces of its own. A local archive has a
# package libcuda1 in two versions with NVIDIA's own libraries, 535.309.01 and 550.163.01, on the phantom GPU, in one of two layouts: as
# in Debian's packages, or as in Ubuntu's. An account has primed, and has typed “jitwarm startup enable”. Then apt-get installs the
# newer version, and nothing else is done: nothing is cold under 535. The machine boots with 550's module, once with the account's
# manager (linger), and once without it until the account logs on: jitwarm primes, and then the program's start compiles nothing. The
# shortest transaction takes 2 s longer at most than the shortest without jitwarm's package.
#
# PACKAGES: the folder of scripts/package.sh -o (deb); BUILD: the folder of a build. Exit status: 0; 1 something does not hold; 77 skipped.
set -uo pipefail

root_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root_folder/scripts
# shellcheck source=scripts/trial.sh
. "$here/trial.sh"
say() { printf 'machine.sh: %s\n' "$*"; }
skip() { say "skipped: $*"; exit 77; }
usage() { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
fail()
{
	tail -n 20 "$work/out"
	[ -z "${machine-}" ] || ! in_machine journalctl --no-pager -n 40 || cat "$work/out"
	say "FAILED: $*"
	exit 1
}
former=535.309.01 next=550.163.01
drivers=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
[ $# -ge 2 ] || usage
trial_of bookworm "$1" "$2"
shift 2
layouts=("$@")
[ ${#layouts[@]} -gt 0 ] || layouts=(debian ubuntu)
for driver in $former $next; do [ -d "$drivers/$driver" ] || skip "driver $driver is not here (scripts/get.sh drivers)"; done
compgen -G "$packages/jitwarm_*.deb" >/dev/null || skip "no package in $packages"

# ---- the archive of packages

# package_of VERSION LAYOUT: makes the driver's package, like the real one except for its dependencies
package_of()
{
	local tree=$work/libcuda1 libraries=usr/lib/x86_64-linux-gnu
	[ "$2" = ubuntu ] || libraries+=/nvidia/current
	rm -rf "$tree"
	mkdir -p "$tree/DEBIAN" "$tree/$libraries"
	find "$drivers/$1" -name '*.so*' -exec cp -P -t "$tree/$libraries" {} +
	[ "$2" = ubuntu ] || mv "$tree/$libraries"/libnvidia-gpucomp.so* "$tree/usr/lib/x86_64-linux-gnu/" 2>/dev/null
	printf 'Package: libcuda1\nVersion: %s\nArchitecture: amd64\nMaintainer: test <test@localhost>\nDescription: NVIDIA CUDA driver library\n' "$1" \
		>"$tree/DEBIAN/control"
	{
		printf '#!/bin/sh\nset -e\n[ "$1" = configure ] || exit 0\n'
		[ "$2" = ubuntu ] || for name in libcuda.so.1 libnvidia-ptxjitcompiler.so.1 libnvidia-nvvm.so.4; do
			echo "update-alternatives --quiet --install /usr/lib/x86_64-linux-gnu/$name nvidia--$name /$libraries/$name 100"
		done
		echo ldconfig
	} >"$tree/DEBIAN/postinst"
	chmod 755 "$tree/DEBIAN/postinst"
	dpkg-deb --root-owner-group -Zgzip -z1 -b "$tree" "$root/opt/archive/libcuda1_$1_amd64.deb" >/dev/null
}
# archive LAYOUT: makes the archive
archive()
{
	mkdir -p "$root/opt/archive"
	package_of $former "$1" && package_of $next "$1" || fail "the packages"
	(cd "$root/opt/archive" && dpkg-scanpackages -m . >Packages 2>/dev/null) || fail "dpkg-scanpackages"
	echo "deb [trusted=yes] file:/opt/archive ./" >"$root/etc/apt/sources.list.d/local.list"
}

# ---- the machine

# boot SOCKET: starts the machine with its own processes, mounts and control groups, and waits for the socket
boot()
{
	# shellcheck disable=SC2016
	unshare --mount --pid --uts --ipc --cgroup --fork --kill-child --propagation private bash -c '
		cd "$1" && mount --rbind . . && cd "$1" && mount -t proc proc proc && mount -t sysfs sysfs sys && mount -t tmpfs tmpfs run &&
		mount -t tmpfs tmpfs dev && cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty dev/ && mkdir dev/pts dev/shm &&
		ln -s /proc/self/fd dev/fd && mount -t cgroup2 cgroup2 sys/fs/cgroup && pivot_root . . && umount -l . && cd / &&
		exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal --show-status=no' boot "$root" \
		</dev/null >"$work/console" 2>&1 &
	machine=$!
	for _ in $(seq 100); do
		first=$(cat "/proc/$machine/task/$machine/children" 2>/dev/null)
		[ -z "$first" ] || ! in_machine test -S "$1" || return 0
		sleep 0.2
	done
	cat "$work/console"
	skip "systemd does not start here as the first process of namespaces"
}
halt() { kill -KILL "${first% }" 2>/dev/null; wait "$machine" 2>/dev/null; machine=''; }
trap '[ -z "${machine-}" ] || halt; trial_end' EXIT
in_machine() { nsenter -t "${first% }" -a env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@" >"$work/out" 2>&1; }
# types: runs the commands that the account types in a session of its own
types()
{
	in_machine setpriv --reuid 1000 --regid 1000 --init-groups env HOME=/home/me XDG_RUNTIME_DIR=/run/user/1000 \
		DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus sh -c "set -a; . /home/me/.config/environment.d/gpu.conf; set +a; cd; $1"
}
must_type() { types "$1" || fail "$1 ($?)"; }
# runs: sets the kernel's loaded module and the GPU for all programs of the account's manager
runs()
{
	printf '%s\n' LD_PRELOAD=/opt/tests/phantom.so PHANTOM_GPU=sm_86 "PHANTOM_DRIVER_VERSION=$1" "PHANTOM_MODULE_VERSION=$1" CUDA_DEVICE_ORDER=PCI_BUS_ID \
		"JITWARM_PCI_DEVICES=$("$tests/tests/phantom/phantom-probe" pci sm_86)" LD_LIBRARY_PATH=/opt/tests >"$root/home/me/.config/environment.d/gpu.conf"
}
seconds() { date +%s.%N; }
# installs VERSION: upgrades, and puts the time in seconds into `took`; no other work of this machine may run then, or it would be measured,
# too
installs()
{
	local began
	began=$(seconds)
	in_machine nice -n -20 apt-get -qq install -y --allow-downgrades "libcuda1=$1" || fail "apt-get install libcuda1=$1"
	took=$(python3 -c 'import sys; print("%.2f" % (float(sys.argv[2]) - float(sys.argv[1])))' "$began" "$(seconds)")
}
cached() { (cd "$root/home/me/.nv/ComputeCache" && find . -path './?/?/*' -type f | LC_ALL=C sort); }
# keeps: the running driver loses no entries
keeps() { [ -z "$(comm -23 <(echo "$cached_before") <(cached))" ] || fail "an entry of the running driver is gone"; }

prepare()
{
	root_of bookworm || skip "no root of bookworm"
	apt_into_root bookworm
	inside "apt-get -qq install -y --no-install-recommends systemd dbus libpam-systemd dbus-user-session ca-certificates" || skip "systemd cannot be installed"
	must "useradd -m -u 1000 me && mkdir -p /var/lib/systemd/linger /home/me/.config/environment.d && touch /var/lib/systemd/linger/me"
	mkdir -p "$root/opt/tests" "$root/opt/packages"
	cp "$tests/tests/phantom/phantom.so" "$root/opt/tests/" && cp -L "$tests/tests/framework/libsample_framework.so" "$tests/tests/framework/framework-app" "$root/opt/tests/"
	cp "$packages"/jitwarm_*.deb "$root/opt/packages/"
	# The packages' libraries stay, since the booted machine has no network.
	must "apt-get -qq install -y --no-install-recommends /opt/packages/jitwarm_*.deb && apt-get -qq remove -y jitwarm"
	must "rm -f /etc/resolv.conf && chown -R me: /home/me"
}
try_layout()
{
	local without=() with=() bus=/run/user/1000/bus
	prepare
	archive "$1"
	runs $former
	boot $bus
	in_machine apt-get -qq update || fail "apt-get update"
	for _ in 1 2; do
		installs $former
		installs $next
		without+=("$took")
	done
	installs $former
	in_machine apt-get -qq install -y --no-install-recommends /opt/packages/"$(basename "$packages"/jitwarm_*.deb)" || fail "jitwarm's package"
	must_type "jitwarm prime $library"
	must_type "jitwarm startup enable $library"
	must_type "jitwarm check $library"
	cached_before=$(cached)
	[ "$(wc -l <<<"$cached_before")" -ge 4 ] || fail "nothing was compiled"

	installs $next
	with=("$took")
	keeps
	must_type "jitwarm check $library --target sm_86 --driver $former"
	# The upgrade is undone, and made once more.
	installs $former
	must_type "jitwarm check $library"
	installs $next
	with+=("$took")
	keeps
	halt

	# Without linger, nothing of the account's runs before it logs on; the start of its manager stands for the logon.
	runs $next
	cp -a "$root/home/me" "$work/home"
	rm "$root/var/lib/systemd/linger/me"
	boot /run/dbus/system_bus_socket
	! in_machine test -S $bus || fail "the account's manager runs before the logon"
	in_machine systemctl start user@1000.service || fail "no logon"
	first_start
	halt
	rm -rf "$root/home/me" && mv "$work/home" "$root/home/me" && touch "$root/var/lib/systemd/linger/me"
	boot $bus
	first_start
	halt
	say "$1: apt-get took ${without[*]} s without jitwarm, ${with[*]} s with it; after the boot, the cache was ready for $next"
	python3 -c 'import sys; a, b = (min(map(float, times.split())) for times in sys.argv[1:]); sys.exit(b > a + 2)' "${without[*]}" "${with[*]}" || fail "jitwarm holds apt-get up"
	rm -rf --one-file-system "$root"
}
# first_start: after the boot, what the account's manager has run, and the first start of the program
first_start()
{
	for _ in $(seq 1000); do
		in_machine journalctl --no-pager -b -q _UID=1000
		! grep -q 'Finished jitwarm.service' "$work/out" || break
		sleep 0.2
	done
	grep -q 'Finished jitwarm.service' "$work/out" || fail "nothing ran after the logon"
	must_type "jitwarm check $library"
	cached_before=$(cached)
	must_type "/opt/tests/framework-app"
	grep -q 'compiled 0 of' "$work/out" || fail "the first start under $next compiles"
	[ "$(cached)" = "$cached_before" ] || fail "the first start under $next adds entries"
	in_machine journalctl --no-pager -q _UID=1000 -p warning
	! grep -i jitwarm "$work/out" || fail "units complain"
}
for layout in "${layouts[@]}"; do try_layout "$layout"; done
