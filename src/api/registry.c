#include <string.h>

#include "api/api.h"
#include "base/name.h"

const struct api *const api_registry[] = {
	&spi_api,
	&elan_api,
	&gni_api,
	&plain_api,
	&ape_api,
	&sw_api,
	NULL,
};

const struct api *api_to(const struct nic_ops *nic)
{
	uint32_t i;

	for (i = 0; api_registry[i] && api_registry[i]->nic != nic; i++)
		;
	return api_registry[i];
}

const struct api *api_find(const char *name, struct err *e)
{
	char names[128] = "";

	for (uint32_t i = 0; api_registry[i]; i++) {
		const char *its = api_registry[i]->name;

		if (its && !strcmp(its, name))
			return api_registry[i];
		name_add(names, sizeof(names), its && *names ? ", " : "");
		name_add(names, sizeof(names), its ? its : "");
	}
	err_set(e, "no programming interface is called \"%s\" (want one of %s)",
		name, names);
	return NULL;
}
