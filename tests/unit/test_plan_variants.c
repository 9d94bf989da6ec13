/* Files are variants, of which a program loads one, if their names differ only in a version of what
 * is installed or in a GPU's architecture. Other numbers and words tell kernels apart. */
#include "check.h"

#include "plan/plan.h"

TEST(a_name_tells_variants_from_other_kernels)
{
	static const struct {
		const char *first, *second;
		bool variants;
	} pairs[] = {
		{"libx_cuda118.so", "libx_cuda12.8.so", true},
		{"libx_cuda11_8.so", "libx_cuda12_4.so", true},
		{"libx-cu118.so", "libx-cu130.so", true},
		{"libx_cu11x.so", "libx_cu12x.so", true},
		{"libcuda11.so", "libcuda12.so", true},
		{"libxCUDA11.so", "libxCUDA12.so", true},
		{"x_cudnn8.dll", "x_cudnn9.dll", true},
		{"libx_cudnn8.9.so", "libx_cudnn9.10.so", true},
		{"libx_sm_90a.so", "libx_sm_100f.so", true},
		{"libx_cc86.so", "libx_cc8.9.so", true},
		{"libx_cc_8_6.so", "libx_cc_8_9.so", true},
		{"libx_arch80.so", "libx_arch90.so", true},
		{"x_torch26.so", "x_torch27.so", true},
		{"x.cpython-310-x86_64-linux-gnu.so", "x.cpython-311-x86_64-linux-gnu.so", true},
		{"x.cp310-win_amd64.pyd", "x.cp311-win_amd64.pyd", true},
		{"libx.so.11", "libx.so.12.4", true},
		{"cublas64_11.dll", "cublas64_12.dll", true},
		{"nvrtc64_112_0.dll", "nvrtc64_120_0.dll", true},
		{"kernel_sm_86.cubin", "kernel_compute_75.ptx", true},
		{"kernel_86.cubin", "kernel_90a.cubin", true},
		{"kernel.86.cubin.zst", "kernel.120.cubin.zst", true},
		{"libx.so", "x.dll", true},
		{"sm90/x.so", "sm100/x.so", true},
		{"cuda_v12/libx.so", "cuda_v13/libx.so", true},
		{"cuda-12/libx.so", "cuda-13/libx.so", true},
		{"libx_cuda118.so", "libx_cuda121_nocublaslt.so", true},
		{"x-cu11.so", "x.so", true},
		{"libx_cuda12.so", "libx.so", true},
		{"libx_sm90.so", "x.dll", true},

		{"_vllm_fa2_C.abi3.so", "_vllm_fa3_C.abi3.so", false},
		{"conv2d.so", "conv3d.so", false},
		{"conv_cuda_2d.so", "conv_cuda_3d.so", false},
		{"gemm_fp16.so", "gemm_fp8.so", false},
		{"int4.so", "int8.so", false},
		{"flash_attn_2_cuda.so", "flash_attn_3_cuda.so", false},
		{"libplasm2.so", "libplasm3.so", false},
		{"gemm_sm80_64.so", "gemm_sm80_128.so", false},
		{"gemm_sm80_1.so", "gemm_sm80_2.so", false},
		{"x_cuda_1.so", "x_cuda_2.so", false},
		{"autogptq_cuda_64.so", "autogptq_cuda_256.so", false},
		{"x_torch2d.so", "x_torch3d.so", false},
		{"x_sm_1.so", "x_sm_2.so", false},
		{"gemm64_32.so", "gemm64_64.so", false},
		{"fused.so", "fused_norm.so", false},
		{"fused_sm90.so", "fused_sm90_norm.so", false},
		{"1/x.so", "2/x.so", false},
		{"k1.cubin", "k2.cubin", false},
		{"k_1.cubin", "k_2.cubin", false},
		{"k80.cubin", "k90.cubin", false},
		{"kernel_86.cubin", "kernel_75.ptx", false},
		{"kernel_86.so", "kernel_90.so", false},
		{"gemm_80x64.cubin", "gemm_90x64.cubin", false},
		{"x-cu.so", "x.so", false},
		{"x-v2.so", "x.so", false},
		{"x.so", "y.so", false},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if ((fate_variants(pairs[i].first, NULL) == fate_variants(pairs[i].second, NULL)) !=
				pairs[i].variants ||
			(fate_variants("x.whl", pairs[i].first) == fate_variants("x.whl", pairs[i].second)) !=
				pairs[i].variants)
			fail_msg("%s, %s: not %s", pairs[i].first, pairs[i].second,
					 pairs[i].variants ? "variants" : "apart");
}

RUN_TESTS(NULL, NULL)
