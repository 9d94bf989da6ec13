#!/bin/bash
# A pack between two laptops: the first primes, exports and signs; the second, with nothing but the same driver, trusts the
# key, imports, and compiles nothing at the first start. Paths with Hangul and an emoji on the way.
. "$(dirname "$0")/lib.sh"
has_command export || exit 77
pack=$work/연구실\ 😀.jwpack
cached() { (cd "$cache" && find . -path './?/?/*' -type f -exec sha256sum {} + | sort -k2); }

# A
fresh_user
jitwarm prime --json "$sample_dll"
exits 0 prime
modules=$(json 'd["compiled"]')
[ "$modules" -gt 4 ] || fail "$modules modules"
jitwarm key generate --no-passphrase
exits 0 'key generate'
jitwarm export -o "$(windows_path "$pack")" --sign --json
exits 0 export
json_is 'd["entries"]' "$modules"
key=$(json 'd["public_key"]')
cached > "$work/a"

# B: as after the installation of Windows
fresh_user
jitwarm check "$sample_dll"
exits 1 'check before'
jitwarm import "$(windows_path "$pack")"
exits 3 'import of a stranger'
complains 'jitwarm key trust PUBLIC-KEY'
[ ! -e "$cache" ] || [ -z "$(cached)" ] || fail 'a pack of a stranger was imported'
jitwarm key trust "$key" lab
exits 0 'key trust'
jitwarm import "$(windows_path "$pack")" --json
exits 0 import
json_is 'd["added"], d["refused"], d["signed_by"]' "($modules, 0, 'lab')"
cached > "$work/b"
cmp "$work/a" "$work/b" || fail 'not the entries of the first'
jitwarm check "$sample_dll"
exits 0 check
says "warm, all $modules modules"
[ "$(app)" = 0 ] || fail 'the application has modules compiled after the import'

# C: a newer driver
make_newer
fresh_user
under_newer "$build/src/jitwarm.exe" key trust "$key" lab
under_newer "$build/src/jitwarm.exe" import "$(windows_path "$pack")"
exits 2 'import for a newer driver'
says 'driver stamp “Feb 29 2024 23:59:58” (this machine'
[ ! -e "$cache" ] || [ -z "$(cached)" ] || fail 'entries for another driver were written'
says 'driver version 551.61 (CUDA 12.4) (this machine'
says ': older, --carry-over takes it'
under_newer "$build/src/jitwarm.exe" import --carry-over "$(windows_path "$pack")"
exits 0 'import --carry-over'
under_newer "$build/src/jitwarm.exe" check "$sample_dll"
exits 0 'check after --carry-over'
under_newer "$build/tests/framework/framework-app.exe"
exits 0 framework-app
grep -q '^compiled 0 of' "$out" || fail 'the application has modules compiled after --carry-over'
