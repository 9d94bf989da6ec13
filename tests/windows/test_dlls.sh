#!/bin/bash
# Libraries that lie beside a downloaded jitwarm.exe, or in the current folder, are not loaded instead of Windows' own.
. "$(dirname "$0")/lib.sh"
fresh_user
downloads=$work/다운로드
mkdir -p "$downloads"
export JITWARM_WITNESS
JITWARM_WITNESS=$(windows_path "$work/loaded")
cp "$build/src/jitwarm.exe" "$build/src/jitwarmw.exe" "$sample_dll" "$downloads/"
names=(version userenv iphlpapi powrprof bcrypt crypt32 dbghelp psapi)
for name in "${names[@]}"; do
	cp "$build/tests/windows/planted.dll" "$downloads/$name.dll"
done
export WINE_NATIVE_FIRST
WINE_NATIVE_FIRST=$(IFS=,; echo "${names[*]}")

# The test itself works: a program linked with IPHLPAPI.dll in the usual way loads the planted one. It also loads libraries with which
# Wine's own are linked; Windows' own load theirs from System32.
cp "$build/tests/windows/careless.exe" "$downloads/"
under "$gpus" "$downloads/careless.exe"
grep -qi iphlpapi "$work/loaded" || fail 'the planted library is loaded by nobody'
for name in version userenv powrprof bcrypt crypt32 dbghelp psapi; do
	! grep -qi "[\\/]$name\.dll" "$work/loaded" || rm "$downloads/$name.dll"
done
rm "$work/loaded"

cd "$downloads"
pack=$(windows_path "$work/pack")
library=$(windows_path "$downloads/${sample_dll##*/}")
for command in --version status 'prime LIBRARY' 'cache verify' 'check LIBRARY' 'export -o PACK' 'key create me' 'compiler fetch 12.4 --dry-run' \
	'tune --path C:\x' 'startup status'; do
	words=()
	for word in $command; do
		word=${word/LIBRARY/$library}
		words+=("${word/PACK/$pack}")
	done
	under "$gpus" "$downloads/jitwarm.exe" "${words[@]}"
	[ ! -e "$work/loaded" ] || fail "“$command” loaded $(cat "$work/loaded")"
done

# Wine's loader ignores the program's flags, and where linked libraries come from if they are not loaded at the first call.
for program in "$build"/{src/,}jitwarm{,w}.exe; do
	flags=$(python3 "$root/scripts/pe-load-config.py" --show "$program")
	[ "$flags" = 0x800 ] || fail "$program: DependentLoadFlags $flags"
done
linked=$(x86_64-w64-mingw32-objdump -p "$build/src/jitwarm.exe" | sed -n 's/^[[:space:]]*DLL Name: //p' | tr '\n' ' ')
# Windows always loads these from System32 (KnownDLLs; ntdll is in each process before any other).
for library in $linked; do
	case ${library,,} in
	advapi32.dll | kernel32.dll | msvcrt.dll | ntdll.dll | ole32.dll | setupapi.dll | shell32.dll | user32.dll | ws2_32.dll) ;;
	*) fail "linked with $library, which anybody may put beside a download" ;;
	esac
done
