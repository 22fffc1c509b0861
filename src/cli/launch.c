#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "load/load.h"

static int check_folder(const char *path, struct err *e)
{
	struct stat s;

	if (stat(path, &s))
		return err_set(e, "--wdir: %.200s: %s", path, strerror(errno));
	if (!S_ISDIR(s.st_mode) || access(path, X_OK))
		return err_set(e,
			"--wdir: %.200s: it is not a folder that may "
			"be entered",
			path);
	return 0;
}

int cli_launch(const struct cli_args *a, struct load_launch *how, struct err *e)
{
	*how = (struct load_launch){
		.folder = a->folder,
		.variables = a->variable,
		.is_debugged = a->is_debugged,
		.debugged = a->debugged,
	};
	return a->folder ? check_folder(a->folder, e) : 0;
}
