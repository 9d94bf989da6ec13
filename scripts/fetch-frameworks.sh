#!/usr/bin/env bash
# fetch-frameworks.sh [--list] [NAME...]   downloads the real wheels that docs/frameworks.md was measured on
#
# A NAME is a line of the table below ("tensorflow-2.3.1-linux"); without one all of them are fetched (about 5 GB). They go
# to $JITWARM_FRAMEWORKS, by default ~/.cache/jitwarm/frameworks/NAME/, and stay wheels: nothing is installed or unpacked.
# A wheel that is there is not fetched again.
set -euo pipefail

store=${JITWARM_FRAMEWORKS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/frameworks}

# name | requirement | python | implementation | platforms
table='
tensorflow-2.3.1-linux      | tensorflow==2.3.1        | 3.8  | cp | manylinux2010_x86_64
tensorflow-2.3.1-windows    | tensorflow==2.3.1        | 3.8  | cp | win_amd64
tensorflow-2.10.0-windows   | tensorflow-gpu==2.10.0   | 3.8  | cp | win_amd64
tensorflow-2.18.0-linux     | tensorflow==2.18.0       | 3.11 | cp | manylinux_2_17_x86_64
torch-1.4.0-linux           | torch==1.4.0             | 3.8  | cp | manylinux1_x86_64
torch-1.7.1-linux           | torch==1.7.1             | 3.8  | cp | manylinux1_x86_64
catboost-1.2.10-linux       | catboost==1.2.10         | 3.11 | cp | manylinux2014_x86_64
catboost-1.2.10-windows     | catboost==1.2.10         | 3.11 | cp | win_amd64
xgboost-1.0.2-linux         | xgboost==1.0.2           | 3.8  | py | manylinux1_x86_64
xgboost-1.3.3-linux         | xgboost==1.3.3           | 3.8  | py | manylinux2010_x86_64
xgboost-1.7.6-linux         | xgboost==1.7.6           | 3.8  | py | manylinux2014_x86_64
ctranslate2-4.6.2-linux     | ctranslate2==4.6.2       | 3.11 | cp | manylinux2014_x86_64,manylinux_2_17_x86_64
nvidia-cufft-linux          | nvidia-cufft==12.0.0.61  | 3.11 | py | manylinux2014_x86_64,manylinux_2_27_x86_64
nvidia-cusparse-linux       | nvidia-cusparse==12.6.3.3 | 3.11 | py | manylinux2014_x86_64,manylinux_2_27_x86_64
cupy-14.2.0-linux           | cupy-cuda12x==14.2.0 cuda-pathfinder==1.9.0 numpy==2.4.6 nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127 | 3.11 | cp | manylinux2014_x86_64,manylinux_2_27_x86_64,manylinux_2_28_x86_64
cupy-12.3.0-linux           | cupy-cuda110==12.3.0 fastrlock==0.8.4 numpy==1.26.4 nvidia-cuda-nvrtc-cu11==11.7.99 nvidia-cuda-runtime-cu11==11.7.99 | 3.11 | cp | manylinux2014_x86_64,manylinux_2_17_x86_64,manylinux_2_28_x86_64
'

usage() { sed -n '2,6s/^# \{0,1\}//p' "$0"; }
rows() { printf '%s\n' "$table" | sed -E 's/[[:space:]]*\|[[:space:]]*/|/g; s/[[:space:]]+$//' | grep '|'; }
have() { compgen -G "$store/$1/*.whl" >/dev/null; }

fetch() {
	local name=$1 requirement=$2 python=$3 implementation=$4 platforms=() requirements=() p
	have "$name" && return 0
	IFS=, read -ra tags <<<"$5"
	IFS=' ' read -ra requirements <<<"$requirement"
	for p in "${tags[@]}"; do platforms+=(--platform "$p"); done
	rm -rf "$store/.$name.new"
	mkdir -p "$store/.$name.new"
	echo "$name: fetching" >&2
	if ! python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version "$python" \
		--implementation "$implementation" "${platforms[@]}" -d "$store/.$name.new" "${requirements[@]}" >&2; then
		echo "fetch-frameworks.sh: $name: $requirement cannot be fetched" >&2
		rm -rf "$store/.$name.new"
		return 1
	fi
	mv "$store/.$name.new" "$store/$name"
}

wanted=()
for argument in "$@"; do
	case $argument in
	--list) rows | while IFS='|' read -r name requirement _; do
			printf '%s %-28s %s\n' "$(have "$name" && echo '*' || echo ' ')" "$name" "$requirement"
		done
		exit 0 ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 64 ;;
	*) rows | grep -q "^$argument|" || { echo "fetch-frameworks.sh: no such line: $argument (see --list)" >&2; exit 64; }
		wanted+=("$argument") ;;
	esac
done

mkdir -p "$store"
failed=0
while IFS='|' read -r name requirement python implementation platforms; do
	if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then continue; fi
	fetch "$name" "$requirement" "$python" "$implementation" "$platforms" || failed=1
	have "$name" && ls "$store/$name"/*.whl
done < <(rows)
exit $failed
