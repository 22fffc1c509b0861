/* Where commands write: stdout, which gets all or nothing, and files. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"

void cli_out_open(struct cli_out *o)
{
	o->file = open_memstream(&o->text, &o->size);
	if (!o->file)
		mem_give_up();
}

int cli_out_close(struct cli_out *o, struct err *e)
{
	bool ok;

	cli_stop_flag(); /* whole or not at all */
	/* what was lost on the way was lost for lack of memory */
	ok = !ferror(o->file);
	if (fclose(o->file) || !ok)
		mem_give_up();
	ok = fwrite(o->text, 1, o->size, stdout) == o->size &&
	     fflush(stdout) == 0;
	mem_free(o->text);
	if (!ok)
		return err_set(
			e, "cannot write the output: %s", strerror(errno));
	return 0;
}

void cli_out_drop(struct cli_out *o)
{
	fclose(o->file);
	mem_free(o->text);
}

int cli_print(const struct cli_args *a,
	int (*perform)(const struct cli_args *a, FILE *f, struct err *e),
	struct err *e)
{
	struct cli_out out;

	cli_out_open(&out);
	if (!perform(a, out.file, e))
		return cli_out_close(&out, e);
	cli_out_drop(&out);
	return -1;
}

int cli_can_write(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char folder[1024];
	struct stat is;

	if (!stat(path, &is)) {
		if (S_ISDIR(is.st_mode))
			return err_set(e, "%s: is a directory", path);
		return access(path, W_OK)
			       ? err_set(e, "%s: %s", path, strerror(errno))
			       : 0;
	}
	snprintf(folder, sizeof(folder), "%.*s",
		slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	if (access(folder, W_OK))
		return err_set(
			e, "%s: cannot be created: %s", path, strerror(errno));
	return 0;
}

FILE *cli_create(const char *path, struct err *e)
{
	FILE *f = path ? fopen(path, "w") : stdout;

	if (!f)
		err_set(e, "%s: %s", path, strerror(errno));
	return f;
}

int cli_finish(FILE *f, const char *path, struct err *e)
{
	struct stat is;
	bool is_file = path && !fstat(fileno(f), &is) && S_ISREG(is.st_mode);

	if ((fflush(f) || ferror(f)) && !e->code)
		err_set(e, "%s: cannot be written: %s",
			path ? path : "the output", strerror(errno));
	if (path && fclose(f) && !e->code)
		err_set(e, "%s: cannot be written: %s", path, strerror(errno));
	if (e->code && is_file)
		unlink(path);
	return e->code ? -1 : 0;
}

bool cli_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR");

	return !(no && *no) && isatty(fileno(f));
}

size_t cli_width(FILE *f)
{
	struct winsize size;

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}
