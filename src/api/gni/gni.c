/* Domains, memory and endpoints of Gemini's user-level interface. */
#include "api/gni/gni.h"

#include <string.h>

#include "base/mem.h"
#include "host/program.h"

enum {
	ID_BITS = 24,
	NODE_SHIFT = 14, /* in a segment's handle, below its serial number */
	FIRST_HANDLE = 256, /* of a node; those below are other libraries' */
};

/* --- a process's objects --- */

static void fini(void *kept)
{
	struct gni_process *p = kept;

	for (uint32_t i = 1; i <= p->ends.room; i++)
		if (slots_find(&p->ends, i))
			gni_close_smsg(slots_at(&p->ends, i));
	for (uint32_t i = 1; i <= p->posts.room; i++)
		if (slots_find(&p->posts, i))
			mem_free(((struct gni_post *)slots_at(&p->posts, i))
					 ->bytes);
	slots_fini(&p->cdms);
	slots_fini(&p->cqs);
	slots_fini(&p->ends);
	slots_fini(&p->segments);
	slots_fini(&p->posts);
}

static uint64_t held(const void *kept)
{
	const struct gni_process *p = kept;

	return slots_memory(&p->cdms) + slots_memory(&p->cqs) +
	       slots_memory(&p->ends) + slots_memory(&p->segments) +
	       slots_memory(&p->posts);
}

static const struct program_library library = { sizeof(struct gni_process),
	fini, held };

struct gni_process *gni_process(void)
{
	struct gni_process *p;

	gni_nic(); /* which there must be */
	p = program_keep(&library);
	if (!p->is_open) {
		p->is_open = true;
		slots_init(&p->cdms, sizeof(struct gni_domain));
		slots_init(&p->cqs, sizeof(struct gni_queue));
		slots_init(&p->ends, sizeof(struct gni_end));
		slots_init(&p->segments, sizeof(struct gni_segment));
		slots_init(&p->posts, sizeof(struct gni_post));
	}
	return p;
}

struct nic *gni_nic(void)
{
	return nic_check(host_nic(program_host()), &gemini_ops);
}

const struct gemini_params *gni_params(void)
{
	return gni_nic()->params;
}

void gni_charge_kernel(void)
{
	program_charge(gni_params()->kernel);
}

void *gni_new(struct slots *s, uint32_t cdm, uintptr_t *handle)
{
	uint32_t id = slots_take(s);
	struct gni_object *x = slots_at(s, id);

	x->serial = ++gni_process()->serial;
	x->cdm = cdm;
	*handle = (uintptr_t)x->serial << ID_BITS | id;
	return x;
}

void gni_give(struct slots *s, void *object)
{
	slots_give(s,
		(uint32_t)((size_t)((char *)object - s->items) / s->size) + 1);
}

static void *find(const struct slots *s, const void *handle)
{
	uintptr_t h = (uintptr_t)handle;
	struct gni_object *x = slots_find(s, (uint32_t)(h % (1u << ID_BITS)));

	return x && x->serial == h >> ID_BITS ? x : NULL;
}

struct gni_domain *gni_find_nic(gni_nic_handle_t nic)
{
	struct gni_domain *x = find(&gni_process()->cdms, nic);

	return x && x->is_attached ? x : NULL;
}

struct gni_queue *gni_find_cq(gni_cq_handle_t cq)
{
	return find(&gni_process()->cqs, cq);
}

struct gni_end *gni_find_ep(gni_ep_handle_t ep)
{
	return find(&gni_process()->ends, ep);
}

/* --- domains --- */

gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie,
	uint32_t modes, gni_cdm_handle_t *cdm)
{
	struct gni_process *p = gni_process();
	struct gni_domain *x;
	uintptr_t handle;

	(void)cookie;
	if (modes || !cdm)
		return GNI_RC_INVALID_PARAM;
	x = gni_new(&p->cdms, 0, &handle);
	x->inst_id = inst_id;
	x->ptag = ptag;
	*cdm = (gni_cdm_handle_t)handle;
	gni_charge_kernel();
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm, uint32_t device_id,
	uint32_t *local_addr, gni_nic_handle_t *nic)
{
	struct gni_domain *x = find(&gni_process()->cdms, cdm);

	if (!x || !local_addr || !nic)
		return GNI_RC_INVALID_PARAM;
	if (device_id)
		return GNI_RC_NO_MATCH;
	if (x->is_attached)
		return GNI_RC_INVALID_STATE;
	x->is_attached = true;
	*local_addr = program_node();
	*nic = (gni_nic_handle_t)(uintptr_t)cdm;
	gni_charge_kernel();
	return GNI_RC_SUCCESS;
}

static void drop_segment(void *segment)
{
	const struct gni_segment *x = segment;

	ranges_drop(gemini_handles(gni_nic(), program_node()),
		GNI_HANDLE(&x->handle));
	gni_give(&gni_process()->segments, segment);
}

static void drop_end(void *end)
{
	gni_close_smsg(end);
	gni_give(&gni_process()->ends, end);
}

/* All of a kind that belong to a domain. */
static void drop_all(struct slots *s, uint32_t cdm, void (*drop)(void *))
{
	struct gni_object *x;

	for (uint32_t i = 1; i <= s->room; i++) {
		x = slots_find(s, i);
		if (x && x->cdm == cdm)
			drop(x);
	}
}

gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm)
{
	struct gni_process *p = gni_process();
	struct gni_domain *x = find(&p->cdms, cdm);
	uint32_t serial;

	if (!x)
		return GNI_RC_INVALID_PARAM;
	serial = x->object.serial;
	drop_all(&p->ends, serial, drop_end);
	drop_all(&p->segments, serial, drop_segment);
	drop_all(&p->cqs, serial, gni_close_cq);
	gni_give(&p->cdms, x);
	gni_charge_kernel();
	return GNI_RC_SUCCESS;
}

/* --- memory --- */

struct gni_segment *gni_find_mem(const gni_mem_handle_t *mem)
{
	struct slots *s = &gni_process()->segments;
	struct gni_segment *x;

	for (uint32_t i = 1; i <= s->room; i++) {
		x = slots_find(s, i);
		if (x && x->handle.qword1 == mem->qword1 &&
			x->handle.qword2 == mem->qword2)
			return x;
	}
	return NULL;
}

/* The lowest number that no handle of the node has; 0: there is none. */
static uint32_t free_number(const struct ranges *r)
{
	bool is_used[GNI_HANDLES] = { false };
	uint32_t i;

	for (i = 0; i < r->n; i++)
		is_used[r->range[i].number % GNI_HANDLES] = true;
	i = FIRST_HANDLE;
	while (i < GNI_HANDLES && is_used[i])
		i++;
	return i < GNI_HANDLES ? i : 0;
}

static uint32_t rights(uint32_t flags)
{
	return flags & GNI_MEM_READ_ONLY ? GEMINI_READ
					 : GEMINI_READ | GEMINI_WRITE;
}

gni_return_t GNI_MemRegister(gni_nic_handle_t nic, uint64_t address,
	uint64_t length, gni_cq_handle_t dst_cq, uint32_t flags,
	uint32_t vmdh_index, gni_mem_handle_t *mem)
{
	const uint32_t known = GNI_MEM_READ_ONLY | GNI_MEM_RELAXED_PI_ORDERING |
			       GNI_MEM_STRICT_PI_ORDERING;
	const struct gni_domain *d = gni_find_nic(nic);
	const struct gni_queue *q = gni_find_cq(dst_cq);
	struct ranges *r = gemini_handles(gni_nic(), program_node());
	struct gni_segment *x;
	uintptr_t handle;
	uint32_t number;

	if (!d || (dst_cq && !q) || flags & ~known || !mem || !length ||
		vmdh_index != UINT32_MAX || !program_has(address, length))
		return GNI_RC_INVALID_PARAM;
	if (!(number = free_number(r)))
		return GNI_RC_ERROR_RESOURCE;
	ranges_add(r, number, program_base() + address, length,
		rights(flags) | (q ? gemini_events_to(gni_nic(), program_node(),
					     q->queue.cq)
				   : 0));
	ranges_find(r, number)->tag = 1 + d->ptag;
	x = gni_new(&gni_process()->segments, d->object.serial, &handle);
	x->bytes = length;
	x->handle = *mem = (gni_mem_handle_t){ address,
		number | (q ? GNI_HANDLES : 0) | program_node() << NODE_SHIFT |
			(uint64_t)x->object.serial << 32 };
	gni_charge_kernel();
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemDeregister(gni_nic_handle_t nic, gni_mem_handle_t *mem)
{
	const struct gni_domain *d = gni_find_nic(nic);
	struct gni_segment *x = d && mem ? gni_find_mem(mem) : NULL;

	if (!x || x->object.cdm != d->object.serial)
		return GNI_RC_INVALID_PARAM;
	drop_segment(x);
	gni_charge_kernel();
	return GNI_RC_SUCCESS;
}

/* --- endpoints --- */

gni_return_t GNI_EpCreate(
	gni_nic_handle_t nic, gni_cq_handle_t src_cq, gni_ep_handle_t *ep)
{
	const struct gni_domain *d = gni_find_nic(nic);
	struct gni_end *x;
	uintptr_t handle;

	if (!d || (src_cq && !gni_find_cq(src_cq)) || !ep)
		return GNI_RC_INVALID_PARAM;
	x = gni_new(&gni_process()->ends, d->object.serial, &handle);
	x->cq = src_cq;
	x->tag = 1 + d->ptag;
	x->remote_event = d->inst_id;
	*ep = (gni_ep_handle_t)handle;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpBind(
	gni_ep_handle_t ep, uint32_t remote_addr, uint32_t remote_id)
{
	struct gni_end *x = gni_find_ep(ep);

	if (!x || remote_addr >= gni_nic()->n_nodes)
		return GNI_RC_INVALID_PARAM;
	if (x->is_bound)
		return GNI_RC_INVALID_STATE;
	x->is_bound = true;
	x->node = remote_addr;
	if (!x->has_data)
		x->local_event = remote_id;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpUnbind(gni_ep_handle_t ep)
{
	struct gni_end *x = gni_find_ep(ep);

	if (!x)
		return GNI_RC_INVALID_PARAM;
	if (!x->is_bound)
		return GNI_RC_INVALID_STATE;
	x->is_bound = false;
	gni_close_smsg(x);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpSetEventData(
	gni_ep_handle_t ep, uint32_t local_event, uint32_t remote_event)
{
	struct gni_end *x = gni_find_ep(ep);

	if (!x)
		return GNI_RC_INVALID_PARAM;
	x->has_data = true;
	x->local_event = local_event;
	x->remote_event = remote_event;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpDestroy(gni_ep_handle_t ep)
{
	struct gni_end *x = gni_find_ep(ep);

	if (!x)
		return GNI_RC_INVALID_PARAM;
	drop_end(x);
	return GNI_RC_SUCCESS;
}
