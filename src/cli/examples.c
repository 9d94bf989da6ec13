#include "cli/examples.h"

#include <string.h>

/* documents-commands runs each of them. */
static const struct {
	const char *name, *lines;
} examples[] = {
	{"status", "jitwarm\njitwarm status --json\n"},
	{"scan", "jitwarm scan tensorflow\njitwarm scan --target rtx3070,h100 ./libmodel.so\n"},
	{"find", "jitwarm find\njitwarm find ~/projects\n"},
	{"check", "jitwarm check tensorflow\njitwarm check --explain --environment ~/venv\n"},
	{"prime", "jitwarm prime tensorflow\njitwarm prime -n torch\njitwarm prime --budget-time 5m\n"},
	{"make", "jitwarm make --target rtx3070 --driver 550.163.01 -o lab.jwpack torch\n"
			 "jitwarm make --target sm_86 --driver 550.163.01 -n torch\n"},
	{"ahead", "jitwarm ahead\njitwarm ahead --fetch\n"},
	{"bake", "jitwarm bake -o baked ./libmodel.so\n"
			 "jitwarm bake --index -o . --target rtx3070 --fetch xgboost==1.5.2\n"},
	{"bake verify", "jitwarm bake verify torch\n"},
	{"lint", "jitwarm lint dist/model-1.0.whl --gpus rtx20..rtx50 --max-start 5s\n"},
	{"doctor", "jitwarm doctor\njitwarm doctor --fix tensorflow\njitwarm doctor --pid 4242\n"},
	{"watch", "jitwarm watch 4242\njitwarm watch --for 1m 4242\n"},
	{"run", "jitwarm run -- python train.py\n"
			"jitwarm run --record train.json -- python train.py\n"},
	{"export", "jitwarm export -o lab.jwpack --sign\n"
			   "jitwarm export --arch rtx3070 tensorflow\n"},
	{"import", "jitwarm import lab.jwpack\njitwarm import --dry-run lab.jwpack\n"},
	{"push", "jitwarm push oci://registry.example/lab/cache:torch --sign torch\n"},
	{"pull", "jitwarm pull oci://registry.example/lab/cache:torch\n"},
	{"store list", "jitwarm store list\n"},
	{"key generate", "jitwarm key generate\njitwarm key generate --no-passphrase lab\n"},
	{"key trust", "jitwarm key trust lab.pub lab\n"},
	{"key distrust", "jitwarm key distrust lab\n"},
	{"key list", "jitwarm key list\n"},
	{"cache list", "jitwarm cache list\n"},
	{"cache verify", "jitwarm cache verify\njitwarm cache verify --repair\n"},
	{"tune", "jitwarm tune\njitwarm tune --apply tensorflow\njitwarm tune --print docker\n"
			 "jitwarm tune --undo\n"},
	{"cache prune", "jitwarm cache prune --driver former\n"
					"jitwarm cache prune --driver former --apply\n"},
	{"startup enable", "jitwarm startup enable\n"
					   "jitwarm startup enable --service ollama --account ollama\n"},
	{"startup disable", "jitwarm startup disable\n"},
	{"startup status", "jitwarm startup status\n"},
	{"uninstall", "jitwarm uninstall\n"},
	{"compiler fetch", "jitwarm compiler fetch 12.4\n"},
	{"config", "jitwarm config\n"},
	{"completion", "jitwarm completion bash\n"},
	{"help", "jitwarm help prime\n"},
};

const char *examples_of(const struct cli_command *command)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		if (!strcmp(examples[i].name, command->name))
			return examples[i].lines;
	return "";
}
