/* Whose rights root has in a user namespace is read from the kernel's map of ids. */
#include "check.h"

#include "os/posix/posix.h"

TEST(root_alone_in_its_namespace_is_an_account)
{
	static const struct {
		const char *map;
		bool is_account;
	} cases[] = {
		{"         0          0 4294967295\n", false}, /* no user namespace */
		{"         0       1000          1\n", true},  /* unshare -r */
		{"0 1000 1\n1 100000 65536\n", true},          /* rootless Podman */
		{"1 100000 65536\n0 1000 1\n", true},
		{"         0     100000      65536\n", false}, /* unprivileged LXC, userns-remap */
		{"0 1000 2\n", false},
		{"0 0 1\n", false}, /* made by root */
		{"1000 1000 1\n", false},
		{"", false},
		{"\n", false},
		{"0 1000\n", false},
		{"x", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (posix_root_is_account(cases[i].map) != cases[i].is_account)
			fail_msg("“%s”: %s", cases[i].map,
					 cases[i].is_account ? "root is the machine's" : "root is an account");
}

RUN_TESTS(NULL, NULL)
