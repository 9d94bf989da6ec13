# A package that ships a library for each of several CUDA versions: all count, whatever PyTorch lies beside it, and a named one alone.
empty_environment "$work/env"
site=$(site_of "$work/env")
mkdir -p "$site/quant-1.0.dist-info" "$site/quant" "$site/torch"
printf 'Name: quant\nVersion: 1.0\n' >"$site/quant-1.0.dist-info/METADATA"
for cuda in 118 124 128; do
	printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k%s() { ret; }\n' $cuda >"$site/quant/libquant_cuda$cuda.ptx"
	printf 'quant/libquant_cuda%s.ptx,,\n' $cuda >>"$site/quant-1.0.dist-info/RECORD"
done
printf "cuda: Optional[str] = '12.4'\n" >"$site/torch/version.py"
export VIRTUAL_ENV=$work/env
gpu=(--target sm_86 --driver 550.163.01)

run 0 scan "${gpu[@]}" --json quant
json 'd["totals"][0]["modules"] == 3'
run 1 check "${gpu[@]}" --cache cache --json "$site/quant/libquant_cuda124.ptx"
json 'd["modules"] == 1'
