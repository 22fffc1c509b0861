#include <stdio.h>
#include <string.h>

#include "api/api.h"

const struct api *const api_registry[] = {
	&spi_api,
	&elan_api,
	&gni_api,
	&plain_api,
	&ape_api,
	NULL,
};

const struct api *api_to(const struct nic_ops *nic)
{
	uint32_t i;

	for (i = 0; api_registry[i] && api_registry[i]->nic != nic; i++)
		;
	return api_registry[i];
}

/* "spi, elan" */
static void list_names(char *text, size_t size)
{
	const char *between = "";
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; api_registry[i] && used < size; i++) {
		if (!api_registry[i]->name)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s",
			between, api_registry[i]->name);
		between = ", ";
	}
}

const struct api *api_find(const char *name, struct err *e)
{
	char names[128];
	uint32_t i;

	for (i = 0; api_registry[i]; i++)
		if (api_registry[i]->name &&
			!strcmp(api_registry[i]->name, name))
			return api_registry[i];
	list_names(names, sizeof(names));
	err_set(e, "no programming interface is called \"%s\" (want one of %s)",
		name, names);
	return NULL;
}
