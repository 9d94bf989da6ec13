# What jitwarm asks for a wheel, a key of an object store or a registry runs as the account whose home root has, and never as root
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
mkdir -m 755 "$open/bin"
mkdir -m 777 "$open/marks"
# No index is asked, whatever runs
export PIP_INDEX_URL=http://127.0.0.1:1/simple PIP_RETRIES=0 VIRTUAL_ENV=$open/env
empty_environment "$open/env"
rm "$open/env/bin/python3" && ln -s "$open/bin/python3" "$open/env/bin/python3"
for name in python3 uv aws skopeo oras; do
	printf '#!/bin/sh\nset -- $(id -u)\ngrep -E "^(Uid|Gid|Groups|CapPrm)" /proc/$$/status >"%s/%s-$1"\nexit 1\n' "$open/marks" $name >"$open/bin/$name"
	chmod 755 "$open/bin/$name"
done
as_mallory mkdir "$home/.aws" "$home/bin"
as_mallory sh -c "printf '[default]\nregion = us-east-1\ncredential_process = $open/bin/aws\n' >'$home/.aws/config'"
as_mallory cp "$open"/bin/* "$home/bin"
HOME=$home CUDA_CACHE_PATH=$home/cache run 0 prime --quiet "$sample"
for bin in "$open/bin" "$home/bin"; do
	export PATH=$bin:$PATH
	HOME=$home run '1|2|3' compiler fetch 12.4
	HOME=$home CUDA_CACHE_PATH=$home/cache run '0|1|2|3' push oci://127.0.0.1:1/caches:tag; cp "$err" "$open/said-push"
	HOME=$home run '0|1|2|3' prime --quiet --share s3://bucket/prefix --share-unsigned "$sample"
	for name in python3 skopeo; do
		[[ -e $open/marks/$name-$mallory ]] || fail "$name did not run as the account: $(ls "$open/marks"), $(cat "$open/said-push")"
		grep -q "^Uid:	$mallory	$mallory	$mallory	$mallory" "$open/marks/$name-$mallory" || fail "$name: $(cat "$open/marks/$name-$mallory")"
	done
	[[ -z $(find "$open/marks" -name '*-0') ]] || fail "run as root: $(ls "$open/marks")"
	rm -f "$open/marks"/*
done
# In root's own home none that the account may replace
chown -R $mallory "$open/bin"
run '0|1|2|3' compiler fetch 12.4
CUDA_CACHE_PATH=$work/cache run 0 prime --quiet "$sample"
CUDA_CACHE_PATH=$work/cache run '0|1|2|3' push oci://127.0.0.1:1/caches:tag
[[ -z $(ls "$open/marks") ]] || fail "run by root: $(ls "$open/marks")"
