#include <jitwarm/target.h>

#include <stddef.h>

/* Source: NVIDIA's list of CUDA GPUs; docs/compat.md. */
static const struct {
	uint16_t sm;
	const char *names;
} capabilities[] = {
	{35, "K20, K40, GTX 780"},
	{37, "K80"},
	{50, "GTX 750, Quadro K2200"},
	{52, "GTX 9, M40, M60"},
	{53, "Jetson TX1, Jetson Nano"},
	{60, "P100"},
	{61, "GTX 10, P4, P40"},
	{62, "Jetson TX2"},
	{70, "V100, Titan V"},
	{72, "Jetson Xavier"},
	{75, "RTX 20, GTX 16, T4"},
	{80, "A100, A30"},
	{86, "RTX 30, A10, A40, A4000, A6000"},
	{87, "Jetson Orin"},
	{88, ""},
	{89, "RTX 40, L4, L40"},
	{90, "H100, H200, GH200"},
	{100, "B100, B200"},
	{101, "Jetson Thor"},
	{103, "B300"},
	{107, ""},
	{110, "Jetson Thor"},
	{120, "RTX 50, RTX PRO 6000 Blackwell"},
	{121, "GB10"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *jw_target_products(struct jw_target target)
{
	for (size_t i = 0; i < COUNT(capabilities); i++)
		if (capabilities[i].sm == target.sm)
			return capabilities[i].names;
	return "";
}

bool jw_target_plausible(struct jw_target target)
{
	for (size_t i = 0; i < COUNT(capabilities); i++)
		if (capabilities[i].sm == target.sm)
			return true;
	return target.sm > capabilities[COUNT(capabilities) - 1].sm;
}
