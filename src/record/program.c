#include "record/program.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

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

/* Whether the user has set it for the program. */
static bool is_set(const struct load_launch *how, const char *variable)
{
	size_t n = strcspn(variable, "=");

	for (size_t i = 0; how->variables && how->variables[i]; i++)
		if (!strncmp(how->variables[i], variable, n) &&
			how->variables[i][n] == '=')
			return true;
	return false;
}

size_t record_environment(
	const struct load_launch *how, const char *variable[RECORD_VARIABLES])
{
	size_t n = 0;

	for (char **v = environ; *v && n < RECORD_VARIABLES; v++)
		if (matters(*v) && !is_set(how, *v))
			variable[n++] = *v;
	for (size_t i = 0; how->variables && how->variables[i]; i++)
		if (n < RECORD_VARIABLES && strchr(how->variables[i], '='))
			variable[n++] = how->variables[i];
	qsort(variable, n, sizeof(*variable), by_text);
	return n;
}
