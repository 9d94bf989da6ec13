/* Which accounts of a list are people, and what each account's number, group and folder are,
 * computed a second time as plainly as possible, without code of src, for every combination of
 * small sets. */
#include "check.h"

#include <stdio.h>
#include <unistd.h>

#include <jitwarm/accounts.h>

#include "base/buf.h"
#include "environments.h"
#include "os/identity.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The account's number and its group always differ. */
static const unsigned owners[] = {0, 1, 499, 500, 999, 1000, 1001, 2000, 2001, 60000, 60001};
enum { GROUP_OF_FIRST = 700, FOLDERS = 3, ALL = COUNT(owners) * FOLDERS };

static struct one {
	char name[16], home[600];
	unsigned owner, group;
	bool has_folder;
} all[ALL];

static void make_list(void)
{
	struct buf text = BUF_MAX(1 << 16);
	char *folder = at("home/here");

	put("home/here/file", "");
	for (size_t i = 0; i < ALL; i++) {
		struct one *one = &all[i];

		(void)snprintf(one->name, sizeof one->name, "user%zu", i);
		one->owner = owners[i / FOLDERS];
		one->group = GROUP_OF_FIRST + 997 * (unsigned)i;
		one->has_folder = i % FOLDERS == 0;
		(void)snprintf(one->home, sizeof one->home, "%s%s", folder,
					   i % FOLDERS == 0   ? ""
					   : i % FOLDERS == 1 ? "/missing"
										  : "/file");
		buf_add(&text, "%s:x:%u:%u::%s:/bin/sh\n", one->name, one->owner, one->group, one->home);
	}
	put("system/etc/passwd", buf_text(&text));
	buf_free(&text);
	mem_free(folder);
}

static void expect(const struct jw_account *got, const struct one *one)
{
	char number[16];

	(void)snprintf(number, sizeof number, "%u", one->owner);
	assert_string_equal(got->name, one->name);
	assert_string_equal(got->home, one->home);
	assert_string_equal(got->id, number);
	assert_int_equal(got->owner, one->owner);
	assert_int_equal(got->group, one->group);
}

CASE(people_are_accounts_in_a_range_that_have_a_folder)
{
	static const unsigned bounds[] = {0, 500, 1000, 2000, 60000};

	set("JITWARM_SYSTEM_ROOT", "system");
	make_list();
	for (size_t i = 0; i < COUNT(bounds) * COUNT(bounds); i++) {
		const unsigned least = bounds[i % COUNT(bounds)], most = bounds[i / COUNT(bounds)];
		struct jw_accounts accounts;
		char text[200];
		size_t at_now = 0;

		(void)snprintf(text, sizeof text, "# UID_MIN 7\nUID_MIN\t%u\n SYS_UID_MAX 8\nUID_MAX  %u\n",
					   least, most);
		put("system/etc/login.defs", text);
		OK(jw_accounts_people(why, &accounts));
		for (size_t k = 0; k < ALL; k++)
			if (all[k].owner && all[k].owner >= least && all[k].owner <= most && all[k].has_folder)
				expect(&accounts.items[at_now++], &all[k]);
		assert_int_equal(accounts.count, at_now);
		jw_accounts_free(&accounts);
	}
}

CASE(an_account_is_found_by_its_name_and_by_its_number)
{
	set("JITWARM_SYSTEM_ROOT", "system");
	make_list();
	for (size_t i = 0; i < ALL; i++) {
		/* A name counts before a number. */
		for (unsigned named = 0; named < 2; named++) {
			struct jw_account found = {0};

			OK(os_find_account(why, named ? all[i].name : NULL, named ? 4711 : all[i].owner,
							   &found));
			expect(&found, &all[named ? i : i / FOLDERS * FOLDERS]);
			mem_free(found.name);
			mem_free(found.home);
			mem_free(found.id);
		}
		GIVES(JW_ERR_NOT_FOUND, os_find_account(why, NULL, all[i].group, &(struct jw_account){0}));
		GIVES(JW_ERR_NOT_FOUND,
			  os_find_account(why, "nobody here", all[i].owner, &(struct jw_account){0}));
	}
}

RUN_TESTS(NULL, NULL)
