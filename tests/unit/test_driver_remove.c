/* Removing jitwarm's state removes its own files, and leaves all others. */
#include "folder.h"

#include <jitwarm/error.h>
#include <jitwarm/system.h>

#include "files.h"
#include "os/env.h"

static bool is_there(const char *name)
{
	bool there = os_exists(keep(os_join(folder, name)));

	return there;
}

static void remove_it(bool with_keys, bool kept_expected)
{
	struct jw_state_removal removal = {.with_keys = with_keys, .dry_run = true};
	bool others = false;

	/* A dry run reports the same removals as the run itself. */
	for (int i = 0; i < 2; i++) {
		OK(jw_state_remove(why, &removal));
		assert_non_null(removal.path);
		assert_int_equal(removal.keys_stay, kept_expected);
		assert_true(!i || removal.others_stay == others);
		assert_true(removal.others_stay || !is_there("state/letter.txt"));
		others = removal.others_stay;
		jw_text_free(removal.path);
		removal.dry_run = false;
	}
}

TEST(other_files_and_keys_stay)
{
	char *path = keep(os_join(folder, "state"));

	OK(os_env_set(why, "JITWARM_STATE", path));
	files_put_text(folder, "state/state.json", "{}");
	files_put_text(folder, "state/state-lock", "");
	files_put_text(folder, "state/store/a.jwpack", "x");
	files_put_text(folder, "state/keys/default.key", "untrusted comment: x");
	files_put_text(folder, "state/letter.txt", "x");
	remove_it(false, true);
	assert_false(is_there("state/state.json"));
	assert_false(is_there("state/state-lock"));
	assert_false(is_there("state/store"));
	assert_true(is_there("state/keys/default.key"));
	assert_true(is_there("state/letter.txt"));
	remove_it(true, false);
	assert_false(is_there("state/keys"));
	assert_true(is_there("state/letter.txt"));
	path = keep(os_join(folder, "state/letter.txt"));
	OK(os_remove(why, path));
	remove_it(false, false);
	assert_false(is_there("state"));
}

/* The folder has the user's own files, with names that begin like jitwarm's, and folders with
 * jitwarm's names. */
TEST(what_only_looks_like_ours_stays)
{
	static const char *const others[] = {
		"state/workspace/thesis.tex",
		"state/speedtest.txt",
		"state/drivers-licence.pdf",
		"state/runs/exp1/model.pt",
		"state/runs/exp1-2",
		"state/runs/notes.lock",
		"state/runs.txt",
		"state/store/newspaper.pdf",
		"state/store/news/a.jwpack",
		"state/drivers/model.json",
		"state/inventory-2019.xlsx",
		"state/ptxas/mine.txt",
		"state/keys/server.key",
		"state/trusted/server.pub",
		"state/ledger-book",
		"state/totals.json",
		"state/runs-primed.jsonl",
		"state/runs-timeline.json",
		"state/folders",
		"state/state.json.backup",
		"state/speed.json",
		"state/folders.txt",
		"state/store/a.jwpack.old",
		"state/verified-today",
	};
	static const char *const ours[] = {
		"state/state.json",
		"state/state.json.abc123",
		"state/runs/12-345/x",
		"state/runs/12-345.lock",
		"state/store/new",
		"state/store/new.a0b1c2",
		"state/store/sm_86-0.jwpack",
		"state/inventory-09e34088",
		"state/ledger-lock",
		"state/ledger-0e0b1b4dba9d",
		"state/verified-0e0b1b4db",
		"state/runs.jsonl",
		"state/drivers/0123.json",
		"state/drivers/0-1.json",
		"state/trusted/a.pub",
		"state/keys/default.key",
		"state/keys/default.pub",
		"state/state-lock",
		"state/store/.new.jitwarm-0a1b2c3d",
	};

	OK(os_env_set(why, "JITWARM_STATE", keep(os_join(folder, "state"))));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		files_put_text(folder, others[i], "somebody's");
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		files_put_text(folder, ours[i], "untrusted comment: ours");
	remove_it(true, false);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!is_there(others[i]))
			fail_msg("removed: %s", others[i]);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (is_there(ours[i]))
			fail_msg("left: %s", ours[i]);
	assert_false(is_there("state/runs/12-345"));
	/* No file of jitwarm is left in it. */
	for (int i = 0; i < 2; i++) {
		struct jw_state_removal removal = {.with_keys = true, .dry_run = i, .path = folder};

		OK(jw_state_remove(why, &removal));
		assert_null(removal.path);
		assert_true(removal.others_stay);
	}
}

RUN_TESTS(make_folder, remove_folder)
