/* Which names may hold device code: every part of jitwarm gives the same answer. No file is a
 * variant of another, since one of variants counts. */
#include "code_files.h"
#include "find/named_paths.h"

TEST_WITH(names_have_one_answer, make_tree, remove_tree)
{
	static const struct named_file files[] = {
		{.name = "lib.so", .counts = true},
		{.name = "libx.so.12", .counts = true},
		{.name = "libz.so.1.2.3", .counts = true},
		{.name = "ext.cpython-311-x86_64-linux-gnu.so", .counts = true},
		{.name = "ext.pyd", .counts = true},
		{.name = "other.dll", .counts = true},
		{.name = "cudart64_12.dll", .counts = true},
		{.name = "app.exe", .counts = true},
		{.name = "unit.o", .counts = true},
		{.name = "unit.obj", .counts = true},
		{.name = "k.fatbin", .counts = true},
		{.name = "c.cubin", .counts = true},
		{.name = "k.ptx", .counts = true},
		{.name = "k2.ptx.zst", .counts = true},
		{.name = "c2.cubin.zst", .counts = true},
		{.name = "k2.fatbin.zst", .counts = true},
		{.name = "p-1-py3-none-any.whl", .counts = true},
		{.name = "p-1-0.conda", .counts = true},
		/* in capitals, as on old media */
		{.name = "UPPER.PTX", .counts = true},
		{.name = "LIBY.SO", .counts = true},
		{.name = "LIBY.SO.2", .counts = true},
		{.name = "APP2.EXE", .counts = true},
		{.name = "P-2.WHL", .counts = true},
		/* hidden from users, not from programs */
		{.name = ".hidden.so", .counts = true},
		{.name = ".hidden/k.ptx", .counts = true},
		{.name = "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/k.ptx", .counts = true},
		{.name = "with space/\xc3\xbcml\xc3\xa4ut.ptx", .counts = true},
		/* kinds without a reader, or kinds that rarely hold device code */
		{.name = "lib.a"},
		{.name = "lib.lib"},
		{.name = "k.ptx.gz"},
		{.name = "data.tar.zst"},
		{.name = "data.tar"},
		{.name = "data.zip"},
		{.name = "old.egg"},
		{.name = "k.cubin.nvdisasm"},
		{.name = "k.cu"},
		{.name = "mod.py"},
		{.name = "readme.txt"},
		{.name = "model.safetensors"},
		{.name = "k.bin"},
		/* nearly the name of a library */
		{.name = ".so"},
		{.name = "libx.so.12.bak"},
		{.name = "libx.so.old"},
		{.name = "libx.so~"},
		{.name = "libx.source"},
		{.name = "libx.so.py"},
		{.name = "libx.so.1.py"},
		{.name = "folder.so/readme"},
		{.name = "so"},
		{.name = "ptx"},
		{.name = ".ptx"},
		{.name = "k.ptx.12"},
		/* a program has to be executable */
		{.name = "program"},
		{.name = "__pycache__/k.ptx"},
		{.name = ".git/k.ptx"},
		{.name = "include/a/k.ptx"},
	};

	expect_one_answer(files, sizeof files / sizeof *files);
}

static bool always(void *context)
{
	(void)context;
	return true;
}

TEST_WITH(search_of_folder_is_cancelled, make_tree, remove_tree)
{
	const struct jw_cancel cancel = {.is_cancelled = always};
	const char *const paths[] = {tree};
	struct jw_found *found = NULL;

	files_put_text(tree, "a/readme", "no device code");
	GIVES(JW_ERR_INTERRUPTED, named_paths_find(why, paths, 1, false, cancel, &found));
	GIVES(JW_ERR_INTERRUPTED,
		  jw_scan(why, &(struct jw_scan_options){.paths = paths, .path_count = 1, .cancel = cancel},
				  NULL));
}

RUN_TESTS(NULL, NULL)
