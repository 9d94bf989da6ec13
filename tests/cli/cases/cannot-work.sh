# An option that cannot work is refused before anything starts: status 64 (3 if something is missing, 2 if only a compiler is), one line
# with the reason, nothing compiled and nothing written. The table holds the command's words, the status and the message.
differs_for WINDOWS
with_simdriver sm_86
rm -r "$CUDA_CACHE_PATH"
printf x >plain
mkdir folder
run 0 key generate # makes the key “default”
elsewhere="--target sm_86 --driver 550.163.01"
there() { find . -path ./state -prune -o -path ./home -prune -o ! -name 'std*' ! -name 'raw.*' -print | sort; }
before=$(there)

while IFS='|' read -r line status; do
	read -ra words <<<"$line"
	snapshot run "$status" "${words[@]}"
	[[ ! -e $CUDA_CACHE_PATH ]] || fail "compiled all the same"
	[[ $(there) == "$before" ]] || fail "left behind: $(there)"
done <<TABLE
prime --cache plain $sample|64
prime --recording none $sample|3
prime --recording folder $sample|64
prime --json-log folder $sample|64
prime --json-log plain/log $sample|64
prime --json-log none/log $sample|3
prime --nvrtc none/nvrtc $sample|3
prime --store plain $sample|3
make $elsewhere -o made/ $sample|2
make $elsewhere -o made/ --ptxas none $sample|3
make $elsewhere -o none/made $sample|3
make $elsewhere -o plain/ $sample|64
make $elsewhere -o folder/ --sign $sample|64
make --target sm_86 -o made --driver none/lib $sample|3
run --cache plain -- $app|64
run --record none/made -- $app|3
run --record folder -- $app|64
check --cache plain $sample|64
find --cache plain|64
cache list --cache plain|64
cache verify --cache plain|64
export -o none/made|3
export -o made --cache plain|64
export -o made --key nobody|64
export -o made --sign --key nobody|64
import --cache plain pack|64
status --driver-profile none/made|3
tune --path plain|64
TABLE
