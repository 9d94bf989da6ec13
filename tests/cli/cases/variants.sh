# A package that ships a library for each of six CUDA versions: only the one that the program loads counts, that of the PyTorch
# beside it; where nothing tells which, that is said.
empty_environment "$work/env"
site=$(site_of "$work/env")
mkdir -p "$site/quant-1.0.dist-info" "$site/quant" "$site/torch" "$site/bitsandbytes"
printf 'Name: quant\nVersion: 1.0\n' >"$site/quant-1.0.dist-info/METADATA"
for cuda in 118 120 121 124 126 128; do
	printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k%s() { ret; }\n' $cuda >"$site/quant/libquant_cuda$cuda.ptx"
	printf 'quant/libquant_cuda%s.ptx,,\n' $cuda >>"$site/quant-1.0.dist-info/RECORD"
	cp "$site/quant/libquant_cuda$cuda.ptx" "$site/bitsandbytes/libbitsandbytes_cuda$cuda.ptx"
done
export VIRTUAL_ENV=$work/env
gpu=(--target sm_86 --driver 550.163.01)
cuda_of_torch() { printf "from typing import Optional\n__version__ = '2.6.0'\ncuda: Optional[str] = %s\n" "$1" >"$site/torch/version.py"; }

run 0 scan "${gpu[@]}" --json quant
json 'd["totals"][0]["modules"] == 6'
err_has "6 variants for different CUDA versions"
err_has "no PyTorch beside them tells which"
cuda_of_torch "'12.4'"
run 0 scan "${gpu[@]}" --json quant
json 'len(d["files"]) == 1 and "libquant_cuda124" in d["files"][0]["path"] and d["totals"][0]["modules"] == 1'
err_has "5 of 6 variants are left out"
err_has "PyTorch's, 12.4"
run 1 check "${gpu[@]}" --cache cache --json quant
json 'd["modules"] == 1 and "libquant_cuda124" in d["files"][0]["path"]'
run 1 check "${gpu[@]}" --cache cache --json "$site/quant"
json 'd["modules"] == 1'
err_lacks "before sm_75"
# bitsandbytes 0.43 has a second one of each, for older GPUs.
for cuda in 118 124; do
	sed "s/k$cuda/older$cuda/" "$site/quant/libquant_cuda$cuda.ptx" >"$site/quant/libquant_cuda${cuda}_nocublaslt.ptx"
done
run 1 check "${gpu[@]}" --cache cache --json "$site/quant"
json 'd["modules"] == 2'
err_has "libquant_*_nocublaslt.ptx: a program loads these on GPUs before sm_75 alone, and there none without “_nocublaslt”; both count"
rm "$site"/quant/*_nocublaslt.ptx
# A file that is named counts whatever it is for.
run 1 check "${gpu[@]}" --cache cache --json "$site/quant/libquant_cuda118.ptx"
json 'd["modules"] == 1 and "cuda118" in d["files"][0]["path"]'
err_lacks "variants"
run 1 check "${gpu[@]}" --cache cache --json "$site/quant" "$site/quant/libquant_cuda118.ptx"
json 'd["modules"] == 2'
cuda_of_torch "'12.9'"
run 0 scan "${gpu[@]}" --json quant
json 'd["totals"][0]["modules"] == 6'
err_has "none is for PyTorch's, 12.9"
cuda_of_torch None
run 0 scan "${gpu[@]}" --json quant
json 'd["totals"][0]["modules"] == 6'

# Nothing tells which one a wheel's programs load: all count, and that is said.
(cd "$site" && python3 -m zipfile -c "$work/quant-1.0-py3-none-any.whl" quant/)
run 0 scan "${gpu[@]}" --json "$work/quant-1.0-py3-none-any.whl"
json 'd["totals"][0]["modules"] == 6'
err_has "quant-1.0-py3-none-any.whl: quant/libquant_*.ptx: 6 variants for different CUDA versions"
err_has "all count, since an archive does not tell which"
run 1 check "${gpu[@]}" --cache cache --json "$work/quant-1.0-py3-none-any.whl"
json 'd["modules"] == 6 and len([n for n in d["notes"] if "6 variants" in n]) == 1'
run 1 check "${gpu[@]}" --cache cache "$work/quant-1.0-py3-none-any.whl" # remembered by now
err_has "6 variants for different CUDA versions"
# Two names that are no variants of each other
mkdir "$work/two" && cp "$site/quant/libquant_cuda118.ptx" "$work/two/a_cuda118.ptx" && cp "$site/quant/libquant_cuda121.ptx" "$work/two/b_cuda121.ptx"
(cd "$work" && python3 -m zipfile -c two.zip two/)
run 0 scan "${gpu[@]}" --json "$work/two.zip"
json 'd["totals"][0]["modules"] == 2'
err_lacks variants

# bitsandbytes asks a variable first.
cuda_of_torch "'12.4'"
export BNB_CUDA_VERSION=118
run 0 scan "${gpu[@]}" --json "$site/bitsandbytes"
json 'len(d["files"]) == 1 and "cuda118" in d["files"][0]["path"]'
err_has "BNB_CUDA_VERSION's, 11.8"
run 0 scan "${gpu[@]}" --json "$site/quant"
json '"cuda124" in d["files"][0]["path"]'
