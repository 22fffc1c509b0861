#include "parts/vms/vms.h"

#include <stdlib.h>
#include <string.h>

/* "1 of node 5" */
static int read_vm(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	char *end;

	(void)k;
	p->port = PART_SITE;
	if (n != 4 || strcmp(word[1], "of") != 0 ||
		strcmp(word[2], "node") != 0)
		return err_set(e, "want the number of a virtual machine and "
				  "its node, for example vm 1 of node 5");
	p->unit = (uint32_t)strtoul(word[0], &end, 10);
	if (*end || *word[0] < '1' || *word[0] > '9' || end - word[0] > 4)
		return err_set(e,
			"\"%.20s\" is not the number of a virtual machine",
			word[0]);
	return part_find_site(
		names, "node", word[3], 0, names->topo->n_nodes, &p->site, e);
}

const struct part_kind part_vm = { .word = "vm", .read = read_vm };

static const struct part_kind *const words[] = { &part_vm, NULL };

const struct part_ops part_vms = {
	.name = "vms",
	.needs = "vms",
	.words = words,
};
