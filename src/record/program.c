#include "record/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static bool is_program(const char *path)
{
	struct stat is;

	return !stat(path, &is) && S_ISREG(is.st_mode) && !access(path, X_OK);
}

void record_find_program(const char *name, char path[PROGRAM_PATH])
{
	const char *folder = getenv("PATH");
	size_t n;

	snprintf(path, PROGRAM_PATH, "%s", name);
	if (strchr(name, '/'))
		return;
	for (; folder && *folder; folder += n + (folder[n] == ':')) {
		n = strcspn(folder, ":");
		snprintf(path, PROGRAM_PATH, "%.*s/%s", (int)n, folder, name);
		if (n && is_program(path))
			return;
	}
	path[0] = '\0';
}

static bool matters(const char *variable)
{
	static const char *const begin[] = { "OMPI_", "OPAL_", "PMIX_", "PRTE_",
		"FI_", "MPI", "OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_",
		"LD_LIBRARY_PATH=", "LD_PRELOAD=", "PYTHON", "GFORTRAN_",
		"MALLOC_" };

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (!strncmp(variable, begin[i], strlen(begin[i])))
			return true;
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t record_environment(const char **variable, size_t most)
{
	size_t n = 0;

	for (char **v = environ; *v && n < most; v++)
		if (matters(*v))
			variable[n++] = *v;
	qsort(variable, n, sizeof(*variable), by_text);
	return n;
}
