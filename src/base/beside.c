#define _GNU_SOURCE /* readlink() */
#include "base/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool beside_program(const char *way, char *path, size_t size)
{
	char exe[512];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;
	int wanted;

	if (n <= 0)
		return false;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (!slash)
		return false;
	*slash = '\0';
	wanted = snprintf(path, size, "%s/%s", exe, way);
	return wanted >= 0 && (size_t)wanted < size;
}
