/* The card's processor does one job after the other, so the end of a job is
 * known when it is added. */
#include "nic/apenet/card.h"

sim_time ape_nios_done_at(const struct nic_at *a, sim_time takes)
{
	struct ape_node *n = a->node;

	n->busy += (uint64_t)takes;
	n->nios_at = n->nios_at > a->t ? n->nios_at : a->t;
	n->nios_at += takes > 0 ? takes : 1;
	return n->nios_at;
}

struct ape_job *ape_nios_add(const struct nic_at *a, enum ape_job_kind kind,
	uint32_t id, sim_time takes)
{
	struct ape_job *j = ring_push(&ape_here(a)->jobs);

	j->kind = kind;
	j->id = id;
	ape_post(a, ape_nios_done_at(a, takes), APE_NIOS, kind);
	return j;
}

/* Drops the pages of a buffer from the TLB. */
static void forget_pages(const struct nic_at *a, const struct range *r)
{
	uint64_t page = gpu_of(r->first) ? APE_GPU_PAGE : APE_PAGE;
	uint64_t first = r->first / page;

	tlb_drop(&ape_here(a)->tlb, gpu_of(r->first), first,
		r->last / page - first + 1);
}

static void enrol(const struct nic_at *a, const struct ape_job *j)
{
	struct ape_node *n = a->node;
	const struct range *r;

	if (j->kind == JOB_ENROL) {
		ranges_add(&n->buffers, j->id, j->at, j->bytes, 0);
	} else if ((r = ranges_find(&n->buffers, j->id))) {
		forget_pages(a, r);
		ranges_drop(&n->buffers, j->id);
	}
	n->enrolled = j->number;
	host_poke(a->nic->host, a->w, a->s, a->t);
}

void ape_nios_on_done(const struct nic_at *a, uint32_t what)
{
	const struct ape_job *j;

	if (what == JOB_COMMAND) {
		ape_send_go(a);
		return;
	}
	j = ring_pop(&ape_here(a)->jobs);
	if (j->kind == JOB_GET)
		ape_send_reply(a, j->id);
	else if (j->kind == JOB_MISS)
		ape_receive_translated(a, j->id);
	else if (!ape_is_dead(a))
		enrol(a, j);
}

static uint64_t ask(const struct nic_at *a, enum ape_job_kind kind,
	uint32_t key, uint64_t at, uint64_t bytes)
{
	struct ape_job *j = ape_nios_add(a, kind, key, ape_params(a)->enrol);

	j->at = at;
	j->bytes = bytes;
	j->number = ++ape_here(a)->asked_for;
	return j->number;
}

uint64_t ape_enrol(
	const struct nic_at *a, uint32_t key, uint64_t at, uint64_t bytes)
{
	return ask(a, JOB_ENROL, key, at, bytes);
}

uint64_t ape_strike(const struct nic_at *a, uint32_t key)
{
	return ask(a, JOB_STRIKE, key, 0, 0);
}

uint64_t ape_enrolled(struct nic *nic, site_id s)
{
	return ((struct ape_node *)nic_node(nic, s))->enrolled;
}

void ape_enter(
	struct nic *nic, site_id s, uint32_t key, uint64_t at, uint64_t bytes)
{
	struct ape_node *n = nic_node(nic, s);

	ranges_drop(&n->buffers, key);
	ranges_add(&n->buffers, key, at, bytes, 0);
}

const struct range *ape_buffer(struct nic *nic, site_id s, uint32_t key)
{
	return ranges_find(
		&((struct ape_node *)nic_node(nic, s))->buffers, key);
}
