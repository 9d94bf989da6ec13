#!/bin/bash
# Programs come from where the system says, and not from where anybody may put one: the current folder, the root of the
# current drive, a folder that a variable names.
. "$(dirname "$0")/lib.sh"
has_command startup enable || exit 77
fresh_user
witness=$build/tests/windows/witness.exe
drive=$build/wine/$user/drive_c
planted=$build/tests/windows/planted # in ASCII: cmd's “set” knows its code page alone
rm -rf "$planted"
mkdir -p "$planted/System32"
export JITWARM_WITNESS
JITWARM_WITNESS=$(windows_path "$work/started")
cp "$sample_dll" "$work/"
library=$(windows_path "$work/${sample_dll##*/}")

# not_started WHAT: the planted program did not run
not_started() { [ ! -e "$work/started" ] || fail "$1 started $(cat "$work/started")"; }

# The test itself works: the planted program reports its start.
under "$gpus" "$witness"
[ -e "$work/started" ] || fail 'the witness tells nothing'
rm "$work/started"

# Task Scheduler's program is planted by SystemRoot, by a variable of the tests' own, and in the current folder.
cp "$witness" "$planted/System32/schtasks.exe"
cp "$witness" "$planted/schtasks.exe"
cd "$planted"
for variable in SystemRoot=$(windows_path "$planted") "JITWARM_SCHTASKS=$(windows_path "$planted/schtasks.exe")"; do
	# Wine sets SystemRoot for each program that it starts from Linux.
	under "$gpus" cmd /c "set $variable& $(windows_path "$build/src/jitwarm.exe") startup status"
	not_started "startup status with ${variable%%=*}"
done
! strings -el -a "$build/src/jitwarm.exe" "$build/src/jitwarmw.exe" | grep -E 'JITWARM_(SCHTASKS|SYSTEMCTL)' || fail 'a hook of the tests is in the program'
! strings -a "$build/src/jitwarm.exe" "$build/src/jitwarmw.exe" | grep -E 'JITWARM_(SCHTASKS|SYSTEMCTL)' || fail 'a hook of the tests is in the program'

# ptxas is planted at Linux's place for toolkits, below the root of the current drive, and in a relative folder of PATH.
mkdir -p "$drive/usr/local/cuda-12.4/bin" "$planted/bin"
trap 'rm -rf "$drive/usr"; restore_schtasks' EXIT
cp "$witness" "$drive/usr/local/cuda-12.4/bin/ptxas.exe"
cp "$witness" "$planted/bin/ptxas.exe"
cp "$witness" "$planted/ptxas.exe"
cd "$drive"
for path in '' '.' 'bin' '\' 'usr\local\cuda-12.4\bin' '\usr\local\cuda-12.4\bin'; do
	WINEPATH=$path jitwarm make --target sm_86 --driver 550.163.01 -o "$(windows_path "$work/pack")" "$library"
	not_started "a ptxas with “$path” on PATH"
	complains 'needs ptxas 12.4'
done
CUDA_PATH='\usr\local\cuda-12.4' jitwarm make --target sm_86 --driver 550.163.01 -o "$(windows_path "$work/pack")" "$library"
not_started 'CUDA_PATH without a drive'

# The toolkit's own folder counts.
toolkit="$drive/Program Files/NVIDIA GPU Computing Toolkit"
mkdir -p "$toolkit/CUDA/v12.4/bin"
trap 'rm -rf "$drive/usr" "$toolkit"; restore_schtasks' EXIT
cp "$witness" "$toolkit/CUDA/v12.4/bin/ptxas.exe"
jitwarm make --target sm_86 --driver 550.163.01 -o "$(windows_path "$work/pack")" "$library"
grep -q 'CUDA.v12\.4.bin.ptxas' "$work/started" || fail 'the toolkit of Program Files is not found'
rm -f "$work/started"

# run does not take a bare name from the current folder.
cp "$witness" "$planted/python.exe"
cd "$planted"
jitwarm run --record "$(windows_path "$work/r.json")" -- python x.py
not_started 'run -- python'
complains 'no such program on PATH'
for path in . 'bin' '\'; do
	cp "$witness" "$planted/bin/python.exe"
	WINEPATH=$path jitwarm run --record "$(windows_path "$work/r.json")" -- python x.py
	not_started "run -- python with “$path” on PATH"
	complains 'no such program on PATH'
done
jitwarm run --record "$(windows_path "$work/r.json")" -- '.\python' x.py
[ -e "$work/started" ] || fail 'a program that was named by its folder was not started'
