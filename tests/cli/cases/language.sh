# Texts for people follow the locale, and texts for programs do not. jitwarm reads no catalogue from any file.
is_wine && exit 0 # there it follows the language of Windows' surface
with_simdriver sm_86
unset LANGUAGE LC_MESSAGES LC_CTYPE LANG
# in_locale VARIABLE=VALUE… STATUS ARGUMENT…: the shell itself has no such locale
in_locale() { # "VARIABLE=VALUE…" STATUS ARGUMENT…
	local JITWARM="${JITWARM% *} env -u LC_ALL $1 ${JITWARM##* }"
	run "${@:2}"
}
korean() { in_locale LC_ALL=ko_KR.UTF-8 "$@"; }

snapshot korean 0 status
for label in Next Cache Driver; do out_lacks "$label"; done
in_locale "LC_MESSAGES=ko_KR.UTF-8 LC_CTYPE=C.UTF-8" 0 status
out_has "캐시    "
in_locale "LC_ALL= LANG=ko_KR.utf8" 0 status
out_has "캐시    "
in_locale "LANG=en_US.UTF-8 LANGUAGE=ko:en" 0 status
out_has "캐시    "
# These are a short word, a worker's message, and a value that is not one of the program's words.
snapshot korean 0 doctor "Unsupported .version 8.7; current version is '8.4'"
CUDA_VISIBLE_DEVICES=9 snapshot korean 2 status
snapshot korean 0 which --target rtx2080ti --platform linux torch==2.15.0
run 0 key generate mine
run 0 key trust "$JITWARM_STATE/keys/mine.pub" theirs
snapshot korean 0 key list
JITWARM_STORE=yes snapshot korean 0 config
CUDA_CACHE_DISABLE=1 snapshot korean 2 doctor --no-probe "$sample"
snapshot korean 1 lint --gpus rtx30 --max-start 0 "$sample"
snapshot korean 0 check --help
korean 64 prime --jbos 3
err_has "--jbos"
err_has "알 수 없는 옵션"
korean 64 stauts
err_has "“status”"
JITWARM_STORE=1 snapshot korean 0 prime "$sample"
korean 0 check "$sample"
out_has "준비됨"
rm -rf "$work/cache"
JITWARM_STORE=1 snapshot korean 0 prime "$sample"
# Columns are as wide as their contents.
korean 0 cache list
python3 - "$out" <<'PYTHON' || fail "columns"
import re, sys, unicodedata
rows = re.findall(r"^(.* (?:결과|[0-9.]+ (?:[KMG]i)?B))  ", open(sys.argv[1], encoding="utf-8").read(), re.M)
ends = {sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in row) for row in rows}
sys.exit(len(rows) < 2 or len(ends) != 1 and f"{rows}")
PYTHON
# In these first commands, no line is English, which three English words in one line would show.
for arguments in "status" "scan $sample" "check $sample" "prime -n $sample" "cache list" "cache verify" "tune $sample" "doctor $sample" \
	"lint $sample --gpus rtx30..rtx50" "lint --gpus rtx30 --max-start 1s $sample" "key list" "key generate" "store list" \
	"export -o $work/k.jwpack" "import --allow-unsigned $work/k.jwpack" "startup status" "stauts" "check --foo" "prime -j x $sample" \
	"make --target rtx4090 $sample" "completion tcsh" "check $work/nothing.so"; do
	# shellcheck disable=SC2086
	snapshot korean "0|1|3|64" $arguments
	! cat "$out" "$err" | sed -E "s|$work[^ ]*||g; s/“[^”]*”//g; s/(jitwarm|-)[^ ]*//g" | grep -E '(^|[ (])[a-z]+ [a-z]+ [a-z]+' || fail "English: jitwarm $arguments"
done

# Everything else is English: without a locale, in another one, or in one without UTF-8, which gets ASCII.
for locale in C ko_KR.EUC-KR kor_KR.UTF-8; do
	in_locale "LC_ALL=$locale" 0 status
	out_has "Cache   "
	! grep -qP '[\x{AC00}-\x{D7A3}]' "$out" || fail "Hangul with LC_ALL=$locale"
done
snapshot in_locale LC_ALL=ko_KR.EUC-KR 64 stauts
! grep -q '[^ -~]' "$err" || fail "not ASCII"
in_locale "LC_ALL=C.UTF-8 LANGUAGE=ko" 0 status
out_has "Cache   "

# Documents and blocks for other programs are the same bytes in every language.
for arguments in "status --json" "check --json $sample" "lint --format github --gpus sm_86 $sample" "doctor --no-probe --report" \
	"help --man prime" "completion bash"; do
	# shellcheck disable=SC2086
	snapshot run "0|1" $arguments
	cp "$out" "$work/english"
	# shellcheck disable=SC2086
	korean "0|1" $arguments
	grep -vE '_(ms|s)"|Date' "$work/english" >"$work/a"
	grep -vE '_(ms|s)"|Date' "$out" | diff "$work/a" - || fail "$arguments differs"
done
snapshot korean 64 prime --jbos 3 --json

# A command stays as it is on one line: no language moves the quotes around a hostile name, and no terminal width breaks the command in two.
hostile="$work/q/x: will fail: ;touch pwned; for B/a folder with blanks as long as many a terminal is wide/k.ptx"
mkdir -p "${hostile%/*}"
printf '.version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >"$hostile"
for locale in C.UTF-8 ko_KR.UTF-8 C; do
	snapshot in_locale "LC_ALL=$locale" 1 find "$work/q"
	grep -qxE "(Next|다음)    jitwarm prime '$hostile'" "$out" || fail "with $locale another command"
	# shellcheck disable=SC2086
	env -u LC_ALL LC_ALL=$locale TERM=xterm timeout 200 python3 "$cases/../on-terminal.py" --both 60 $JITWARM find "$work/q" 2>&1 |
		tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' >"$work/shown"
	grep -qxE "(Next|다음)    jitwarm prime '$hostile'" "$work/shown" || fail "with $locale another command at a terminal"
	snapshot in_locale "LC_ALL=$locale" "0|1" doctor "$hostile"
	grep -qF "jitwarm prime '$hostile'" "$out" || fail "doctor with $locale: another command"
	snapshot in_locale "LC_ALL=$locale" "0|1" tune "$hostile"
	! grep -q "tune --apply" "$out" || grep -qF "tune --apply '$hostile'" "$out" || fail "tune with $locale: another command"
done

# A name that reads like a message is not translated.
mkdir -p "$work/names"
cd "$work/names" || fail "no folder"
for name in modules "x: nothing to compile" "3 modules; interrupted"; do
	sed "s/k()/k${#name}()/" "${hostile%/*}/k.ptx" >"$name.ptx" && ln -s "$name.ptx" "$name"
done
snapshot korean 1 check modules
snapshot korean 1 check "x: nothing to compile" "3 modules; interrupted"
mkdir "y: interrupted: z" && sed "s/k()/other()/" "${hostile%/*}/k.ptx" >"y: interrupted: z/k.ptx"
snapshot korean 1 check .
snapshot korean 3 check "no: interrupted: yes"
cd "$work" || fail "no folder"

# Catalogues lie in folders that others can write to.
mkdir -p "$work/evil/ko/LC_MESSAGES" "$work/evil/ko_KR.UTF-8/LC_MESSAGES"
printf 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\nmsgid "Usage: "\nmsgstr "EVIL%%n"\n' >"$work/evil.po"
if command -v msgfmt >/dev/null; then msgfmt -o "$work/evil.mo" "$work/evil.po"; else cp "$work/evil.po" "$work/evil.mo"; fi
for name in jitwarm libc messages; do
	cp "$work/evil.mo" "$work/evil/ko/LC_MESSAGES/$name.mo"
	cp "$work/evil.mo" "$work/evil/ko_KR.UTF-8/LC_MESSAGES/$name.mo"
done
snapshot korean 0 status --help
cp "$out" "$work/usual"
cd "$work/evil" || fail "no folder"
# glibc's newlocale() leaks its copy of LOCPATH.
in_locale "LC_ALL=ko_KR.UTF-8 ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 LOCPATH=$work/evil TEXTDOMAINDIR=$work/evil TEXTDOMAIN=jitwarm NLSPATH=$work/evil/%L/LC_MESSAGES/%N.mo" 0 status --help
cmp "$work/usual" "$out" || fail "another catalogue was read"
for tricky in "/$work/evil.UTF-8"; do
	in_locale "LC_ALL=$tricky" 0 status
	out_has "Cache   "
done
