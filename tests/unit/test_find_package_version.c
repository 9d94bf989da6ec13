/* Versions of packages, by their numbers. */
#include "check.h"

#include "find/requirement.h"

static const struct {
	const char *version, *wanted;
	bool fits;
} cases[] = {
	{"2.1", "", true},
	{"2.1", "==2.1", true},
	{"2.1", "==2.1.0", true},
	{"2.1.0", "==2.1", true},
	{"2.1.0+cu118", "==2.1", true},
	{"2.1.0+cu118", "==2.1+cu118", true},
	{"2.1.0+cu118", "==2.1+cu121", false},
	{"2.1.0+cu118", "==2.1.*", true},
	{"2.1", "==20.*", false},
	{"20.1", "==2.*", false},
	{"2", "==2.0.*", true},
	{"2.1", "!=2.1", false},
	{"2.1", "!=2.*", false},
	{"2.2", "!=2.1.*", true},
	{"2.1", ">=2.1", true},
	{"2.1", ">=2.2", false},
	{"2.10", ">=2.9", true},
	{"2.9", ">=2.10", false},
	{"2.1", ">2.1", false},
	{"2.1.post1", ">2.1", false},
	{"2.1+cu118", ">2.1", false},
	{"2.1", "<2.1", false},
	{"2.1", "<2.2", true},
	{"2.1rc1", "<2.1", false},
	{"2.1rc1", "<=2.1", true},
	{"2.1rc1", "<2.2", true},
	{"2.1rc1", "==2.1", true},
	{"2.1rc1", "==2.1.0rc1", true},
	{"2.1.0rc1", "==2.1rc2", false},
	{"2.1", "==2.1rc1", false},
	{"2.1rc1", "!=2.1rc1", false},
	{"2.1", ">=2.1rc1", true},
	{"2.1", "~=2.0", true},
	{"2.1", "~=2.0.1", false},
	{"2.0.9", "~=2.0.1", true},
	{"2.1", "~=2.1rc1", true},
	{"1.0", "==1!1.0", false},
	{"2.1", ">=2,!=2.1", false},
	{"2.1", ">= 2 , < 3", true},
	{"2.1", "===2.1", true},
	{"2.1.0", "===2.1", false},
	{"20240101", ">=20230101", true},
	{"2.1.2", "=2.1", true}, /* conda's */
	{"2.1", "=2.1.*", true},
	{"2.10", "=2.1", false},
	{"1.1.1w", ">=1.1", true},
	{"1.1.1w", "==1.1.1w", true},
	{"1.1.1w", "===1.1.1w", true},
	{"1.1.1w", "===1.1.1", false},
	{"2023c_x", "", true},
	{"v2", "!=3", false},
	{"v2", "===v2", true},
	{"1.2.3.4.5.6.7.8.9", ">=1", false},
};

TEST(versions_are_ordered)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!version_is_wanted(cases[i].wanted) ||
			version_fits(cases[i].version, cases[i].wanted) != cases[i].fits)
			fail_msg("%s %s", cases[i].version, cases[i].wanted);
}

TEST(other_texts_are_no_versions)
{
	static const char *const others[] = {"2.1",       "=",
										 "==",        ">=x",
										 "~=2",       ">=2.*",
										 "<2.*",      "~=2.1.*",
										 "=>2",       "==2 3",
										 "== 2;x",    ">=2 <3",
										 "==-1",      "@ x",
										 "(>=2)",     ">",
										 ",torch",    "[x]",
										 "==!1",      "==2.1(a",
										 "===",       "==2*.1",
										 "==2.1.*.1", "==2.1*",
										 "=2/x",      "==1234567890123456789"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (version_is_wanted(others[i]) || version_fits("2.1", others[i]))
			fail_msg("%s", others[i]);
}

TEST(packages_are_read_as_they_are_typed)
{
	static const struct {
		const char *text, *name, *extras, *versions; /* name NULL: not one */
	} typed[] = {
		{"torch", "torch", "", ""},
		{"Torch>=2,<3", "torch", "", ">=2,<3"},
		{"my_jax [cuda12, x] ~= 0.4", "my-jax", "cuda12,x", "~= 0.4"},
		{"torch[]==2", "torch", "", "==2"},
		{.text = "torch,numpy"},
		{.text = "torch[x"},
		{.text = "torch[/x]"},
		{.text = "torch[x]y"},
		{.text = "torch>=2;python_version>'3'"},
		{.text = "torch @ https://example.org/torch.whl"},
		{.text = "./torch"},
		{.text = "torch/"},
		{.text = ">=2"},
		{.text = ""},
	};

	for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
		struct typed_package found;

		if (requirement_typed(typed[i].text, &found) != (typed[i].name != NULL))
			fail_msg("“%s”", typed[i].text);
		if (!typed[i].name)
			continue;
		assert_string_equal(found.requirement.name, typed[i].name);
		assert_string_equal(found.requirement.extras, typed[i].extras);
		assert_string_equal(found.versions, typed[i].versions);
	}
}

RUN_TESTS(NULL, NULL)
