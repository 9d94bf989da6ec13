/* What a unit gets from the files of EnvironmentFile= (systemd.exec(5)). */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "doctor/environment_file.h"

struct list {
	char text[400];
};

static int add(void *context, char *name, char *value)
{
	struct list *list = context;
	const size_t used = strlen(list->text);

	(void)snprintf(list->text + used, sizeof list->text - used, "%s=%s|", name, value);
	return 0;
}

static void assert_read(const char *file, const char *expected)
{
	struct list list = {""};
	char text[400];

	(void)snprintf(text, sizeof text, "%s", file);
	assert_int_equal(environment_file_each(text, add, &list), 0);
	assert_string_equal(list.text, expected);
}

static void variables_are_read_as_systemd_says(void **state)
{
	(void)state;
	assert_read("", "");
	assert_read("A=1\nB=two words  \n", "A=1|B=two words|");
	assert_read("  A = 1\n\n\tB= 2\r\n", "A=1|B=2|");
	assert_read("# A=1\n; B=2\nC=3 # not a comment", "C=3 # not a comment|");
	assert_read("# goes on \\\nA=1\nB=2\n", "B=2|");
	assert_read("# a=it's\nA=1\n; b=\"\nB=2\n", "A=1|B=2|");
	assert_read("A=\"x \\\"y\\\" \\$z \\n\" \nB='a \"b\" \\'\n", "A=x \"y\" $z \\n|B=a \"b\" \\|");
	assert_read("A=one\\\ntwo\nB=\"l1\nl2\"\nC=a\\ \n", "A=onetwo|B=l1\nl2|C=a |");
	assert_read("1A=x\nA-B=x\n=x\nno line\nB=\n", "B=|");
	assert_read("A=\"open\nB=2", "A=open\nB=2|");
	assert_read("A=x\\", "A=x\\|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(variables_are_read_as_systemd_says)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
