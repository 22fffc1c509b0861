/*
 * One-sided programming on Gemini.  Each call is an operation of one or several
 * transactions of the interface, whose events name it; it is complete when all
 * of them have come.
 */
#include "api/dmapp/dmapp.h"

enum { VERSION = 1, ENTRIES = 1024, FIRST_HANDLE = 256 };

static void fini(void *kept)
{
	slots_fini(&((struct dmapp *)kept)->ops);
}

static uint64_t held(const void *kept)
{
	return slots_memory(&((const struct dmapp *)kept)->ops);
}

static const struct program_library library = { sizeof(struct dmapp), fini,
	held };

struct dmapp *dmapp_state(void)
{
	gni_nic(); /* which there must be */
	return program_keep(&library);
}

/* --- jobs and segments --- */

uint32_t dmapp_n_processes(void)
{
	return host_n_processes(program_host());
}

uint32_t dmapp_n_pes(void)
{
	return gni_nic()->n_nodes * dmapp_n_processes();
}

static dmapp_seg_desc_t all_memory(void)
{
	return (dmapp_seg_desc_t){ .len = host_memory_each(program_host()) };
}

dmapp_return_t dmapp_init(const void *requested, void *actual)
{
	struct ranges *r = gemini_handles(gni_nic(), program_node());
	struct dmapp *d = dmapp_state();

	if (requested || actual || d->is_open)
		return DMAPP_RC_INVALID_PARAM;
	if (!gni_open_queue(&d->queue, ENTRIES))
		return DMAPP_RC_RESOURCE_ERROR;
	slots_init(&d->ops, sizeof(struct dmapp_op));
	d->is_open = true;
	d->posted = d->ended = 0;
	ranges_add(r, DMAPP_HANDLE + program_process(), program_base(),
		host_memory_each(program_host()), GEMINI_READ | GEMINI_WRITE);
	gni_charge_kernel();
	return DMAPP_RC_SUCCESS;
}

/* Segments of the process, by where they are. */
static void drop_segments(struct ranges *r)
{
	uint64_t base = program_base();
	uint64_t end = base + host_memory_each(program_host());
	uint32_t i = r->n;

	while (i--)
		if (r->range[i].flags & GEMINI_DMAPP &&
			r->range[i].first >= base && r->range[i].first < end)
			ranges_drop(r, r->range[i].number);
}

dmapp_return_t dmapp_finalize(void)
{
	struct ranges *r = gemini_handles(gni_nic(), program_node());
	struct dmapp *d = dmapp_state();

	if (!d->is_open)
		return DMAPP_RC_INVALID_PARAM;
	if (d->posted != d->ended)
		return DMAPP_RC_NOT_DONE;
	gemini_cq_close(d->queue.nic, d->queue.node, d->queue.cq);
	ranges_drop(r, DMAPP_HANDLE + program_process());
	drop_segments(r);
	slots_fini(&d->ops);
	d->is_open = false;
	return DMAPP_RC_SUCCESS;
}

dmapp_return_t dmapp_get_jobinfo(dmapp_jobinfo_t *info)
{
	if (!info || !dmapp_state()->is_open)
		return DMAPP_RC_INVALID_PARAM;
	*info = (dmapp_jobinfo_t){
		.version = VERSION,
		.npes = dmapp_n_pes(),
		.pe = program_node() * dmapp_n_processes() + program_process(),
		.data_seg = all_memory(),
		.sheap_seg = all_memory(),
	};
	return DMAPP_RC_SUCCESS;
}

dmapp_return_t dmapp_mem_register(
	uint64_t addr, uint64_t length, dmapp_seg_desc_t *seg)
{
	struct ranges *r = gemini_handles(gni_nic(), program_node());
	uint32_t number = GEMINI_HANDLES;

	if (!dmapp_state()->is_open || !seg || !length ||
		!program_has(addr, length))
		return DMAPP_RC_INVALID_PARAM;
	while (--number >= FIRST_HANDLE)
		if (ranges_add(r, number, program_base() + addr, length,
			    GEMINI_READ | GEMINI_WRITE | GEMINI_DMAPP))
			break;
	if (number < FIRST_HANDLE)
		return DMAPP_RC_RESOURCE_ERROR;
	*seg = (dmapp_seg_desc_t){ addr, length, number };
	gni_charge_kernel();
	return DMAPP_RC_SUCCESS;
}

dmapp_return_t dmapp_mem_unregister(dmapp_seg_desc_t *seg)
{
	struct ranges *r = gemini_handles(gni_nic(), program_node());
	const struct range *x = seg ? ranges_find(r, seg->handle) : NULL;

	if (!dmapp_state()->is_open || !x || !(x->flags & GEMINI_DMAPP) ||
		x->first != program_base() + seg->addr)
		return DMAPP_RC_INVALID_PARAM;
	ranges_drop(r, seg->handle);
	gni_charge_kernel();
	return DMAPP_RC_SUCCESS;
}

/* --- events --- */

void dmapp_op_ended(struct dmapp *d, uint32_t id, const struct dmapp_op *x)
{
	if (x->way == DMAPP_NBI) {
		d->n_nbi--;
		d->is_failed |= x->is_failed;
		slots_give(&d->ops, id);
	}
}

void dmapp_take_events(struct dmapp *d)
{
	struct gemini_event e;

	while (gemini_queue_take(&d->queue, &e)) {
		uint32_t id = (uint32_t)e.data;
		struct dmapp_op *x = slots_at(&d->ops, id);

		d->ended++;
		x->is_failed |= e.status != GEMINI_OK;
		if (!--x->pending)
			dmapp_op_ended(d, id, x);
	}
}

void dmapp_wait_events(struct dmapp *d)
{
	gemini_queue_wait(&d->queue);
	dmapp_take_events(d);
}

dmapp_return_t dmapp_code(bool is_failed)
{
	return is_failed ? DMAPP_RC_TRANSACTION_ERROR : DMAPP_RC_SUCCESS;
}

static struct dmapp_op *find(
	struct dmapp *d, const dmapp_syncid_handle_t *syncid)
{
	struct dmapp_op *x = syncid && d->is_open
				     ? slots_find(&d->ops, (uint32_t)*syncid)
				     : NULL;

	return x && x->way == DMAPP_NB && x->serial == *syncid >> 32 ? x : NULL;
}

static dmapp_return_t end_sync(struct dmapp *d, dmapp_syncid_handle_t *syncid,
	const struct dmapp_op *x)
{
	dmapp_return_t code = dmapp_code(x->is_failed);

	slots_give(&d->ops, (uint32_t)*syncid);
	*syncid = 0;
	return code;
}

dmapp_return_t dmapp_syncid_wait(dmapp_syncid_handle_t *syncid)
{
	struct dmapp *d = dmapp_state();
	struct dmapp_op *x = find(d, syncid);

	if (!x)
		return DMAPP_RC_INVALID_PARAM;
	dmapp_take_events(d);
	while ((x = find(d, syncid))->pending)
		dmapp_wait_events(d);
	return end_sync(d, syncid, x);
}

static void look(struct dmapp *d)
{
	program_charge(gni_params()->poll_period);
	dmapp_take_events(d);
}

dmapp_return_t dmapp_syncid_test(dmapp_syncid_handle_t *syncid, int *flag)
{
	struct dmapp *d = dmapp_state();
	const struct dmapp_op *x;

	if (!find(d, syncid) || !flag)
		return DMAPP_RC_INVALID_PARAM;
	look(d);
	x = find(d, syncid);
	*flag = !x->pending;
	return *flag ? end_sync(d, syncid, x) : DMAPP_RC_SUCCESS;
}

static dmapp_return_t end_gsync(struct dmapp *d)
{
	dmapp_return_t code = dmapp_code(d->is_failed);

	d->is_failed = false;
	return code;
}

dmapp_return_t dmapp_gsync_wait(void)
{
	struct dmapp *d = dmapp_state();

	if (!d->is_open)
		return DMAPP_RC_INVALID_PARAM;
	dmapp_take_events(d);
	while (d->n_nbi)
		dmapp_wait_events(d);
	return end_gsync(d);
}

dmapp_return_t dmapp_gsync_test(int *flag)
{
	struct dmapp *d = dmapp_state();

	if (!d->is_open || !flag)
		return DMAPP_RC_INVALID_PARAM;
	look(d);
	*flag = !d->n_nbi;
	return *flag ? end_gsync(d) : DMAPP_RC_SUCCESS;
}
