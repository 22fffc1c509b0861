#include "parts/part.h"

#include <string.h>

#include "base/mem.h"
#include "link/faults.h"

static void set_defaults(const struct part_slot *s)
{
	for (const struct part_block *b = s->ops->blocks; b && b->section; b++)
		param_defaults(&(struct param_block){
			.section = b->section,
			.rows = b->rows,
			.n_rows = b->n_rows,
			.values = (char *)s->params + b->offset,
		});
}

void parts_init(struct parts *p, const struct part_ops *const *list)
{
	*p = (struct parts){ 0 };
	for (; *list; list++) {
		struct part_slot *s = &p->slot[p->n++];

		BUG_IF(p->n > PARTS_MOST);
		s->ops = *list;
		s->params = mem_alloc(
			s->ops->params_size ? s->ops->params_size : 1, 1);
		set_defaults(s);
	}
}

static void free_params(const struct part_slot *s)
{
	for (const struct part_block *b = s->ops->blocks; b && b->section; b++)
		for (const struct param *row = b->rows;
			row < b->rows + b->n_rows; row++)
			if (row->type == PARAM_LINES)
				param_lines_free(
					(void *)((char *)s->params + b->offset +
						 row->offset));
	mem_free(s->params);
}

void parts_fini(struct parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		free_params(&p->slot[i]);
	p->n = 0;
}

static void add_words(struct parts *p)
{
	const struct part_kind *const *w;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		for (w = p->slot[i].ops->words; p->slot[i].exists && w && *w;
			w++) {
			BUG_IF(n == PARTS_WORDS);
			p->words[n++] = *w;
		}
	p->words[n] = NULL;
}

void parts_plan(
	struct parts *p, const struct part_place *at, struct fault_plan *plan)
{
	add_words(p);
	plan->parts = p->words;
	memset(plan->lacks, 0, sizeof(plan->lacks));
	for (const struct part_slot *s = p->slot; s < p->slot + p->n; s++)
		if (s->exists && s->ops->plan)
			s->ops->plan(s->params, at, plan);
}

int parts_check(
	const struct parts *p, const struct part_place *at, struct err *e)
{
	for (const struct part_slot *s = p->slot; s < p->slot + p->n; s++)
		if (s->exists && s->ops->check &&
			s->ops->check(s->params, at, e))
			return -1;
	return 0;
}

int parts_open(struct parts *p, const struct part_place *at, struct err *e)
{
	for (struct part_slot *s = p->slot; s < p->slot + p->n; s++) {
		if (!s->exists || !s->ops->open)
			continue;
		s->state = s->ops->open(s->params, at, e);
		if (e->code)
			return -1;
	}
	return 0;
}

void parts_close(struct parts *p)
{
	for (size_t i = p->n; i-- > 0;) {
		struct part_slot *s = &p->slot[i];

		if (s->state)
			s->ops->close(s->state);
		s->state = NULL;
	}
}

uint64_t parts_memory(const struct parts *p)
{
	uint64_t sum = 0;

	for (const struct part_slot *s = p->slot; s < p->slot + p->n; s++)
		if (s->state && s->ops->memory)
			sum += s->ops->memory(s->state);
	return sum;
}

static const struct part_slot *find(
	const struct parts *p, const struct part_ops *ops)
{
	for (size_t i = 0; p && i < p->n; i++)
		if (p->slot[i].ops == ops && p->slot[i].exists)
			return &p->slot[i];
	return NULL;
}

const void *part_params(const struct parts *p, const struct part_ops *ops)
{
	const struct part_slot *s = find(p, ops);

	return s ? s->params : NULL;
}

void *part_state(const struct parts *p, const struct part_ops *ops)
{
	const struct part_slot *s = find(p, ops);

	return s ? s->state : NULL;
}

void parts_facts(const struct part_place *at, sim_time end, struct facts *f)
{
	const struct part_slot *s = at->parts->slot;
	const struct part_slot *last = s + at->parts->n;

	for (; s < last; s++)
		if (s->exists && s->ops->facts)
			s->ops->facts(s->params, at, end, f);
}

void parts_show(const struct part_place *at, struct facts *f)
{
	const struct part_slot *s = at->parts->slot;
	const struct part_slot *last = s + at->parts->n;

	for (; s < last; s++)
		if (s->exists && s->ops->show)
			s->ops->show(s->params, at, f);
}

const char *parts_priced(
	const struct part_place *at, size_t i, uint64_t *number)
{
	const struct part_slot *s = &at->parts->slot[i];

	if (i >= at->parts->n || !s->exists || !s->ops->priced)
		return NULL;
	*number = s->ops->n_priced(s->params, at);
	return *number ? s->ops->priced : NULL;
}

void parts_wired(const struct part_place *at)
{
	const struct part_slot *s = at->parts->slot;
	const struct part_slot *last = s + at->parts->n;

	for (; s < last; s++)
		if (s->exists && s->ops->wired)
			s->ops->wired(s->params, at);
}

void parts_start(const struct part_place *at)
{
	const struct part_slot *s = at->parts->slot;
	const struct part_slot *last = s + at->parts->n;

	for (; s < last; s++)
		if (s->exists && s->ops->start)
			s->ops->start(s->params, at);
}

int parts_audit(const struct parts *p, struct err *e)
{
	for (const struct part_slot *s = p->slot; s < p->slot + p->n; s++)
		if (s->state && s->ops->audit && s->ops->audit(s->state, e))
			return -1;
	return 0;
}

bool parts_write(const struct part_place *at, struct route_written *x)
{
	const struct part_slot *s = at->parts->slot;
	const struct part_slot *last = s + at->parts->n;

	for (; s < last; s++)
		if (s->exists && s->ops->writes &&
			s->ops->writes(s->params, at, x))
			return true;
	return false;
}

void parts_prove(const struct part_place *at, const struct route_written *x,
	struct proof *p)
{
	const struct part_slot *s = at->parts->slot;
	const struct part_slot *last = s + at->parts->n;

	for (; s < last; s++)
		if (s->exists && s->ops->prove)
			s->ops->prove(s->params, at, x, p);
}
