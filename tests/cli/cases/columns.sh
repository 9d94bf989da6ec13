# widest: the columns of the output, without commands, which stay on one line
widest() { sed -E '/^  jitwarm /d; s/^ *“jitwarm [^”]*”[.,;:)]*$//' "$out" | wc -L; }
# Text follows the terminal's width from 40 to 200 columns without losing a word, and fits 80 or 100 columns in files and pipes.
varies run "--help" # cli-help has these texts
for columns in 20 57 200 900; do
	wide=$((columns < 40 ? 40 : columns > 200 ? 200 : columns))
	for command in "" scan prime export "cache list"; do
		# shellcheck disable=SC2086
		COLUMNS=$columns run 0 $command --help
		[[ $(widest) -le $wide ]] || fail "the help is wider than $wide: $(widest)"
		[[ $columns != 900 || $(wc -L <"$out") -gt 100 || -z $command ]] || fail "the help leaves columns empty"
		tr -s '[:space:]' ' ' <"$out" >"$work/words"
		[[ $columns != 20 ]] || cp "$work/words" "$work/words.${command// /-}"
		cmp -s "$work/words" "$work/words.${command// /-}" || fail "the help differs at $columns columns"
	done
done
COLUMNS=nonsense snapshot run 0 help scan
[[ $(wc -L <"$out") -le 80 ]] || fail "the help is wider than 80"
is_wine && exit 0 # a console has the width of its window, and nothing here makes a window

cat >"$work/fits.py" <<'PYTHON'
"""fits.py COLUMNS PIPED SHOWN: no line that was shown is wider than that, unless it is one word, and no word of the piped one lacks."""
import re, sys, unicodedata
columns = int(sys.argv[1])
piped, shown = (open(name, encoding="utf-8", newline="").read().replace("\r", "") for name in sys.argv[2:])
# Light and dark terminals show these styles alike: no background, no black, no white.
strange = set(re.findall(r"\x1b\[([0-9;]*)m", shown)) - {"0", "1", "2", "31", "32", "33"}
if strange:
    sys.exit(f"these styles are not for every terminal: {strange}")
shown = re.sub(r"\x1b\[[0-9;]*[mK]", "", shown)
for line in shown.split("\n"):
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in line)
    # A command is never folded.
    if len(line) + wide > columns and not re.search(r"^(Next|다음):? +jitwarm|^(Then|그다음): pip |^ +(jitwarm|pip) |^ *“[^”]*”\S*$", line) and re.search(r"\S +\S", re.sub(r"^\S*( \S+)*:? {2,}", "", line)):
        sys.exit(f"wider than {columns}: {line}")
lacking = sorted(set(piped.split()) - set(shown.split()))
sys.exit(f"at {columns} columns these are missing: {lacking}" if lacking else 0)
PYTHON
narrow=60 wide=200
# shown STATUS ARGUMENT…: runs it at a narrow and a wide width in turns, 40 or 60 and 80 or 200
shown() {
	local columns try
	# A pipe has the command's columns; rows of tables with titles stay whole there.
	case ${2-} in status | check | doctor | which | lint | tune | prime | stauts)
		columns=80
		[[ $2 != which && $2 != lint ]] || columns=100
		stored='' run "$@"
		cat "$out" "$err" >"$work/piped"
		stored='' COLUMNS=none run "$@" # whose folds depend on the lengths of this machine's paths
		cat "$out" "$err" >"$work/shown"
		[[ $(wc -l <"$work/shown") -ge $(wc -l <"$work/piped") ]] || fail "lines are joined"
		python3 "$work/fits.py" "$columns" "$work/piped" "$work/shown" || fail "${*:2}"
		;;
	esac
	narrow=$((100 - narrow))
	[[ $narrow == 60 ]] || wide=$((280 - wide))
	for columns in ${widths-$narrow $wide}; do
		for try in 1 2; do # other programs may change the machine that some commands report on between two runs
			run "$@"
			cat "$out" "$err" >"$work/piped"
			# shellcheck disable=SC2086
			TERM=xterm timeout 200 python3 "$cases/../on-terminal.py" --both "$columns" $JITWARM "${@:2}" >"$work/shown" 2>&1
			[[ $? == "$1" ]] || fail "status $? at a terminal"
			! python3 "$work/fits.py" "$columns" "$work/piped" "$work/shown" || continue 2
		done
		fail "${*:2}"
	done
}
with_simdriver sm_86
mkdir -p "$work/lib"
printf '.version 9.0\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$work/lib/new.ptx"
shown 0 status
shown 0 scan --target sm_86,sm_89,sm_120 --driver 13.0 "$sample"
snapshot shown 1 check "$sample" lib
shown 1 check --target sm_86 --driver 550.163.01 "$sample" lib
shown 0 which --target rtx5090 tensorflow xformers
shown 64 check --nonsense
shown 1 prime -n "$sample"
run 0 prime "$sample"
shown 0 check "$sample"
CUDA_CACHE_DISABLE=1 shown 2 doctor --no-probe "$sample"
# A command in quotes stays on one line.
# shellcheck disable=SC2086
CUDA_CACHE_DISABLE=1 TERM=xterm timeout 200 python3 "$cases/../on-terminal.py" --both 60 $JITWARM doctor --no-probe "$sample" >"$work/shown" 2>&1
grep -q '^ *“grep -rns CUDA_CACHE_DISABLE .*bashrc”' "$work/shown" || fail "a command is folded: $(cat "$work/shown")"
# The answers of which begin in one column, on a continued line, too.
for columns in 40 60 80; do
	# shellcheck disable=SC2086
	TERM=xterm timeout 200 python3 "$cases/../on-terminal.py" --both $columns $JITWARM which --target rtx5090 tensorflow >"$work/shown" 2>&1
	python3 - "$work/shown" <<'PYTHON' || fail "which at $columns columns: $(cat "$work/shown")"
import re, sys
rows = re.findall(r"^(  \d\S*(?: – \S+)? +|   +)[^ ]", re.sub(r"\x1b\[[0-9;]*m", "", open(sys.argv[1], encoding="utf-8").read().split("Newest")[1]), re.M)
assert len([row for row in rows if row.strip()]) > 5 and len({len(row) for row in rows}) == 1, rows
PYTHON
done
snapshot shown 2 find "$work/lib"
shown 0 cache list
shown 0 cache verify
snapshot shown 0 tune --max-size 2GiB
shown 1 startup status
shown 0 key list
shown 0 store list
shown 64 stauts
shown 3 scan no-such-package
run 0 export -o "$work/a.jwpack"
shown 0 import --allow-unsigned "$work/a.jwpack" --cache "$work/no/such" --dry-run
run 0 key generate
# shellcheck disable=SC2086
TERM=xterm timeout 200 python3 "$cases/../on-terminal.py" --both 40 $JITWARM export --sign -o "$work/a.jwpack" >"$work/shown" 2>&1
grep -qE '^ *jitwarm key trust RW\S{54}' "$work/shown" || fail "a command is folded"
rm -r "$work/cache"
export CUDA_CACHE_DISABLE=1
shown 0 status

# In Korean, a Hangul syllable takes two columns. The shell itself has no such locale.
unset CUDA_CACHE_DISABLE
JITWARM="${JITWARM% *} env LC_ALL=ko_KR.UTF-8 ${JITWARM##* }"
widths="40 60 80"
for columns in $widths; do
	for command in "" prime export "cache list"; do
		# shellcheck disable=SC2086
		COLUMNS=$columns run 0 $command --help
		grep -q 사용법 "$out" || fail "the help is not Korean"
		[[ $(widest) -le $columns ]] || fail "the Korean help is wider than $columns"
	done
done
snapshot shown 0 status
snapshot run 0 prime "$sample"
shown 0 cache list
snapshot run 0 cache list
python3 - "$out" <<'PYTHON' || fail "the columns of a table in Korean"
import sys, unicodedata
def places(line):
    """The columns at which a cell may begin: behind two blanks."""
    column, found, blanks = 0, {0}, 0
    for sign in line:
        if sign != " " and blanks >= 2:
            found.add(column)
        blanks = blanks + 1 if sign == " " else 0
        column += 2 if unicodedata.east_asian_width(sign) in "WF" else 1
    return found
_, head, *rows = [line for line in open(sys.argv[1], encoding="utf-8").read().splitlines() if line]
assert "항목" in head, head
# Columns of numbers are aligned to the right: these seven begin where their heading does.
left = [column for column in places(head) if sum(column in places(row) for row in rows) == len(rows)]
assert len(left) >= 4, (head, rows[0], left)
PYTHON
