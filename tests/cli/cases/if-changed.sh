# --if-changed remembers only a run that has left nothing, whatever other options it has.
with_simdriver sm_86
anew() { rm -rf "$work/cache" "$work/state" "$work/other" "$work/store" && mkdir "$work/store"; }
unchanged() { says "$out" "Nothing has changed"; }

# A budget leaves modules: the next run continues, with and without a budget.
for budget in "--budget-time 1ms" "--budget-size 40K"; do
	anew
	for _ in 1 2; do
		# shellcheck disable=SC2086
		differs_for WINDOWS snapshot run 1 prime --if-changed $budget "$sample"
		out_lacks "Nothing has changed"
	done
	run 0 prime --if-changed "$sample"
	out_lacks "Nothing has changed"
	run 0 check "$sample"
	# shellcheck disable=SC2086
	run 0 prime --if-changed $budget "$sample"
	out_has "Nothing has changed"
done

# A module that the driver refuses is left, too.
anew
printf '.version 6.3\n.target sm_52\n.address_size 64\n.visible .entry good()\n{\n\tret;\n}\n' >"$work/good.ptx"
sed 's/good/refused/' "$work/good.ptx" >"$work/refused.ptx"
for _ in 1 2 3; do
	SIMDRIVER_FAULT=error:refused run '1|2' prime --if-changed "$work/good.ptx" "$work/refused.ptx"
	out_lacks "Nothing has changed"
done

# Each option of prime: a run that was remembered leaves its files warm.
declare -A values=([--nvrtc-options]=-O0 [--nvrtc]=$work/none [--nvrtc-name]=k.cu [--jobs]=1 [--budget-time]=1ms [--budget-size]=40K [--store]=$work/store
	[--cache]=$work/other [--json-log]=$work/log [--progress]=json [--gpu]=sm_86 [--environment]=$work)
run 0 prime --help --all
mapfile -t options < <(sed -nE 's/^ +(-., )?(--[a-z-]+)( .*)?$/\2/p' "$out" | sort -u)
((${#options[@]} > 20)) || fail "prime has the options ${options[*]}"
for option in "${options[@]}"; do
	case $option in
	--help | --quiet | --if-changed | --recording) continue ;; # a recording is another set of modules: cli-record
	esac
	anew
	typed=("$option" ${values[$option]+"${values[$option]}"})
	[[ $option != --allow-unsigned ]] || typed+=(--store "$work/store")
	[[ $option != --store ]] || typed+=(--allow-unsigned)
	for time in 1 2; do
		varies run . && varies tree .
		run '0|1|2|3|64' prime --if-changed "${typed[@]}" "$sample"
		fixed run . && fixed tree .
		unchanged || says "$out" '"skipped"' || continue
		[[ $time == 2 ]] || fail "$option: nothing has changed at the first time"
		checked=()
		[[ $option != --cache ]] || checked=(--cache "$work/other")
		[[ $option != --all ]] || checked=(--all)
		varies run . && varies tree .
		run 0 check "${checked[@]}" "$sample"
		fixed run . && fixed tree .
	done
done

# Options that decide what is compiled make it another run.
anew
run 0 prime --if-changed "$sample"
for option in --all; do
	run '0|1|2|3' prime --if-changed "$option" "$sample"
	out_lacks "Nothing has changed"
done
run 0 prime --if-changed "$sample"
out_has "Nothing has changed"
