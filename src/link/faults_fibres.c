/* Errors that escape, and fibres that fail. */
#include <string.h>

#include "base/mem.h"
#include "link/faults.h"

bool faults_has_fibres(const struct topo *t)
{
	uint32_t i;

	for (i = 0; i < t->n_wires; i++)
		if (t->wire[i].is_fibre)
			return true;
	return false;
}

/* By link, with one of none behind them; *first[link] is a link's own. */
static struct fault_escape *list_by_link(
	struct faults *f, const struct fault_escape *v, size_t n, size_t first)
{
	struct fault_escape *list = mem_alloc(n + 1, sizeof(*list));
	size_t i;

	if (n)
		memcpy(list, v, n * sizeof(*list));
	list[n].link = NO_LINK;
	for (i = f->n_links + n; i--;) {
		size_t link = i < n ? list[i].link : i - n;
		uint32_t *x = (void *)((char *)&f->link[link] + first);

		*x = (uint32_t)(i < n ? i : n);
	}
	return list;
}

void faults_set_escapes(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	if (p->n_escapes)
		f->escape = list_by_link(f, p->escape, p->n_escapes,
			offsetof(struct fault_link, escape));
	if (!faults_has_fibres(t))
		return;
	f->fibre = list_by_link(
		f, p->fibre, p->n_fibres, offsetof(struct fault_link, fibre));
	f->fibres = map_alloc(f->n_links * sizeof(struct link_chips *));
}

struct link_chips *faults_chips(struct faults *f, uint32_t link)
{
	if (!f->fibres[link])
		f->fibres[link] = mem_alloc(1, sizeof(struct link_chips));
	return f->fibres[link];
}

void faults_free_escapes(struct faults *f)
{
	size_t i;

	for (i = 0; f->fibres && i < f->n_links; i++)
		mem_free(f->fibres[i]);
	if (f->fibres)
		map_free(f->fibres, f->n_links * sizeof(struct link_chips *));
	mem_free(f->fibre);
	mem_free(f->escape);
}
