#!/bin/bash
# two-laptops.sh BUILD-FOLDER   the story of a pack between machines, whole commands under the simulated driver
#
# Laptop A primes the sample framework, exports and signs. B, the same driver in another account, trusts the key and imports:
# its first start compiles nothing. C and D have another driver, and E an older one: each is told what differs and what it can
# do. Then settings and start-up on B, taken back to the byte. Exit status 0, 1 with the step that does not hold, 77 not built.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# = 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd)
jitwarm=$build/src/jitwarm
framework=$build/tests/framework
library=$framework/libsample_framework.so
simulated=$build/tests/simdriver/lib/libcuda.so.1
# shellcheck source=/dev/null
. "$root/tests/documents/keep.sh"
[ -e "$library" ] && [ -e "$simulated" ] || { echo "skipped: $library or $simulated is not built"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=$scratch/stdout err=$scratch/stderr log=$scratch/driver.log
pack=$scratch/lab.jwpack
status=0 driver=()
unset "${!CUDA_@}" "${!SIMDRIVER_@}" "${!JITWARM_@}" "${!XDG_@}" CONDA_PREFIX VIRTUAL_ENV ZDOTDIR
export NO_COLOR=1 LC_ALL=C.UTF-8 SHELL=/bin/bash SIMDRIVER_LOG=$log

fail() {
	echo "FAILED: $*"
	for file in "$out" "$err"; do [ ! -s "$file" ] || { echo "--- $(basename "$file")"; head -c 4000 "$file"; }; done
	exit 1
}
step() { echo "ok   $*"; }

# new_driver FOLDER RELEASE CUDA DATE TIME: the simulated driver with another release and build stamp, in its file and its keys
new_driver() {
	mkdir -p "$scratch/$1"
	python3 - "$simulated" "$scratch/$1/libcuda.so.$2" "$4" "$5" <<-'P'
		import sys
		source, copy, date, time = sys.argv[1:]
		data = open(source, "rb").read()
		assert data.count(b"Feb 29 202423:59") == 1 and data.count(b":58\0") >= 5
		data = data.replace(b"Feb 29 202423:59", (date + time[:5]).encode()).replace(b":58\0", time[5:].encode() + b"\0")
		open(copy, "wb").write(data)
	P
	ln -s "libcuda.so.$2" "$scratch/$1/libcuda.so.1"
	printf '%s\n' "LD_LIBRARY_PATH=$scratch/$1" "SIMDRIVER_VERSION=$2" "SIMDRIVER_CUDA=$3" "SIMDRIVER_STAMP=$4 $5" >"$scratch/$1/environment"
}
# laptop NAME [DRIVER]: from here on, with a separate home
laptop() {
	driver=()
	[ $# = 1 ] || mapfile -t driver <"$scratch/$2/environment"
	export HOME="$scratch/$1/home"
	cache=$HOME/.nv/ComputeCache
	mkdir -p "$HOME"
	rm -f "$log"
}
# under WANTED-STATUS COMMAND...
under() {
	local wanted=$1
	shift
	status=0
	timeout 300 "$root/scripts/with-simdriver.sh" -B "$build" sm_86 -- env "${driver[@]}" "$@" >"$out" 2>"$err" </dev/null || status=$?
	[ "$status" = "$wanted" ] || fail "$(basename "$1") ${*:2}: status $status, not $wanted"
}
run() {
	under "$1" "$jitwarm" "${@:2}"
	keep_document "$out"
}
says() { grep -qF -e "$1" "$out" || fail "stdout does not say “$1”"; }
complains() { grep -qF -e "$1" "$err" || fail "stderr does not say “$1”"; }
value() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$out" "$1" || fail "no $1"; }
is() { [ "$(value "$1")" = "$2" ] || fail "$1 is $(value "$1"), not $2"; }
entries() { find "$cache" -path "$cache/?/?/*" -type f 2>/dev/null | wc -l; }
compiles() { touch "$log" && grep -c ' compile ' "$log" || true; }
# first_start COMPILED: what the test application says of itself, and the driver's own log beside it
first_start() {
	rm -f "$log"
	under 0 "$framework/framework-app"
	tail -1 "$out" | grep -q "^compiled $1 of " || fail "the application: $(tail -1 "$out"), not $1"
	[ "$(compiles)" = "$1" ] || fail "the driver compiled $(compiles) modules, not $1"
}
all_but_state() { (cd "$HOME" && find . -path ./.local -prune -o -path ./.nv -prune -o -printf '%p %y %m %l\n' | sort &&
	find . -path ./.local -prune -o -path ./.nv -prune -o -type f -exec sha256sum {} + | sort); }

new_driver rebuilt 550.201.02 12040 'Jun  7 2024' 08:09:10
new_driver newer 560.100.01 12060 'Mar  1 2025' 10:20:30
new_driver older 535.200.01 12020 'May  5 2023' 05:06:07

# ---- A: primes, exports, signs

laptop A
run 1 check "$library"
run 0 prime "$library" --json
modules=$(value 'd["compiled"]')
[ "$modules" -gt 4 ] && [ "$(entries)" = "$modules" ] || fail "$modules compiled, $(entries) entries"
first_start 0
run 0 key generate --no-passphrase
run 0 export -o "$pack" --sign
says 'jitwarm key trust RW'
key=$(sed -n 's/.*jitwarm key trust \(RW[A-Za-z0-9+/]*=*\).*/\1/p' "$out")
run 0 key list
says "$key"
step "A: $modules modules primed, exported and signed"

# ---- B: the same driver, another account

laptop B
run 3 import "$pack"
complains 'is not trusted here'
complains 'jitwarm key trust PUBLIC-KEY'
[ "$(entries)" = 0 ] || fail 'a pack of a stranger was imported'
run 0 key trust "$key" lab
run 0 import "$pack" --json
is '(d["accepted"], d["added"], d["refused"], d["signed_by"])' "($modules, $modules, 0, 'lab')"
run 0 check "$library"
says "warm, all $modules modules"
first_start 0
run 0 prime "$library"
says 'Warm: all'
[ "$(compiles)" = 0 ] && [ "$(entries)" = "$modules" ] || fail "$(compiles) compiled after all, $(entries) entries"
for file in $(cd "$cache" && find . -path './?/?/*' -type f); do
	cmp -s "$cache/$file" "$scratch/A/home/.nv/ComputeCache/$file" || fail "$file is not what A's driver wrote"
done
cp "$pack" "$scratch/sound.jwpack"
printf 'x' | dd of="$pack" bs=1 seek=5000 conv=notrunc status=none
run 3 import "$pack"
cp "$scratch/sound.jwpack" "$pack"
step 'B: trusted, imported, warm at the first start; a changed pack is refused'

# ---- C: a newer driver

laptop C newer
run 0 key trust "$key" lab
run 2 import "$pack"
says "refused        $modules entries"
says 'driver stamp “Feb 29 2024 23:59:58” (this machine'\''s is “Mar  1 2025 10:20:30”)'
says 'driver version 550.200.01 (CUDA 12.4) (this machine'\''s is 560.100.01 (CUDA 12.6)): older, --carry-over takes it'
! grep -qE 'architecture|key form|ABI|OS ' "$out" || fail 'fields that are alike are named as differing'
[ "$(entries)" = 0 ] || fail 'entries for another driver were written'
run 1 check "$library"
run 0 import --carry-over --dry-run "$pack"
says 'nothing was written'
[ "$(entries)" = 0 ] || fail '--dry-run has written'
run 0 import --carry-over "$pack" --json
is '[(g["verdict"], g["carried"], g["entries"]) for g in d["groups"]]' "[('accepted', True, $modules)]"
run 0 check "$library"
first_start 0
step 'C: told what differs, carried over, nothing compiled'

# ---- D: another build of the same CUDA version needs no option. E: an older driver can do nothing with it.

laptop D rebuilt
run 0 key trust "$key" lab
run 0 import "$pack"
says "carried over to this machine's"
first_start 0
laptop E older
run 0 key trust "$key" lab
for option in --dry-run --carry-over; do
	run 2 import $option "$pack"
	says 'an older driver cannot load a newer one'
done
[ "$(entries)" = 0 ] || fail 'entries of a newer driver were written'
# (one of the modules is of a newer PTX than it reads)
run 0 prime "$library" --json
is 'd["compiled"] + d["cannot"]' "$modules"
step 'D: carried over by itself; E: refused, primed instead'

# ---- B again: settings that stay, and start-up

laptop B
printf 'export EDITOR=vi' >"$HOME/.profile"
chmod 640 "$HOME/.profile"
all_but_state >"$scratch/before"
run 0 tune --apply --max-size 2GiB
says written
grep -q 'CUDA_CACHE_MAXSIZE=.2147483648' "$HOME/.profile" || fail "the profile: $(cat "$HOME/.profile")"
run 0 tune --apply --max-size 2GiB
says unchanged
under 0 bash -c '. ~/.profile; exec "$0" check "$1"' "$jitwarm" "$library"
run 0 tune --undo
all_but_state >"$scratch/after"
diff "$scratch/before" "$scratch/after" >"$out" || fail 'the home is not as it was after tune --undo'

mkdir -p "$scratch/bin"
cat >"$scratch/bin/systemctl" <<-'S'
	#!/bin/sh
	echo "$*" >>"$0.log"
S
chmod +x "$scratch/bin/systemctl"
export PATH=$scratch/bin:$PATH XDG_RUNTIME_DIR=$scratch/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
run 1 startup status
run 0 startup enable "$library"
grep -q -e '--user enable --now' "$scratch/bin/systemctl.log" || fail 'systemctl was not told'
run 0 startup status --json
is 'd["enabled"]' True
# What the unit runs, and again: the first log line of two
command=$(sed -n 's/^ExecStart=//p' "$HOME/.config/systemd/user/jitwarm.service")
for _ in 1 2; do
	rm -f "$log"
	under 0 bash -c "$command"
	[ "$(compiles)" = 0 ] || fail "start-up compiled $(compiles) modules that were imported"
done
run 0 startup status --json
is '[(r["status"], r["skipped"]) for r in d["runs"]]' '[(0, False), (0, True)]'
run 0 startup disable
run 1 startup status
find "$HOME/.config" -type d -empty -delete 2>/dev/null || true
all_but_state >"$scratch/after"
diff "$scratch/before" "$scratch/after" >"$out" || fail 'the home is not as it was after startup disable'
first_start 0
step 'B: settings and start-up set, shown, and taken back to the byte'
