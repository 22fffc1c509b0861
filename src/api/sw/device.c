/* Devices and memory of SWverbs. */
#include "api/sw/sw.h"

#include <errno.h>

#include "base/mem.h"

enum { ID_BITS = 24 };

/* --- a process's objects --- */

struct swv_handle {
	struct slot slot;
	uint32_t serial, kind;
	struct swv_object *object;
};

static void free_sq(struct swv_sq *sq)
{
	for (uint32_t i = 0; i < SW_TREES; i++)
		mem_free(sq->trees[i]);
	mem_free(sq);
}

static void free_device(struct swv_device *d)
{
	struct swv_key *k;

	while (d->n_queues)
		if (d->queue[--d->n_queues])
			swv_free_rq(d->queue[d->n_queues]);
	mem_free(d->queue);
	while (d->interfaces) {
		struct swv_interface *in = d->interfaces;

		if (in->raw)
			swv_free_rq(in->raw);
		if (in->sq)
			free_sq(in->sq);
		swv_known_fini(&in->known);
		d->interfaces = in->next;
		mem_free(in);
	}
	while (d->cqs) {
		struct swv_cq *cq = d->cqs;

		d->cqs = cq->next;
		swv_free_cq(cq);
	}
	while ((k = d->keys)) {
		d->keys = k->next;
		mem_free(k);
	}
	slots_fini(&d->works);
	swv_windows_fini(&d->windows);
	swv_silent_fini(&d->silent);
	mem_free(d);
}

static void fini(void *kept)
{
	struct swv_process *p = kept;

	while (p->devices) {
		struct swv_device *d = p->devices;

		p->devices = d->next;
		free_device(d);
	}
	slots_fini(&p->handles);
}

static uint64_t device_memory(const struct swv_device *d)
{
	uint64_t sum = sizeof(*d) + slots_memory(&d->works) +
		       swv_windows_memory(&d->windows) +
		       swv_silent_memory(&d->silent);
	const struct swv_interface *in;
	const struct swv_cq *cq;

	for (in = d->interfaces; in; in = in->next)
		sum += sizeof(*in) + swv_known_memory(&in->known);
	for (cq = d->cqs; cq; cq = cq->next)
		sum += sizeof(*cq) + ring_memory(&cq->done);
	for (uint32_t i = 0; i < d->n_queues; i++)
		if (d->queue[i])
			sum += sizeof(struct swv_rq) +
			       ring_memory(&d->queue[i]->buffers) +
			       ring_memory(&d->queue[i]->early);
	return sum;
}

static uint64_t held(const void *kept)
{
	const struct swv_process *p = kept;
	uint64_t sum = slots_memory(&p->handles);

	for (const struct swv_device *d = p->devices; d; d = d->next)
		sum += device_memory(d);
	return sum;
}

struct nic *swv_nic(void)
{
	return nic_check(host_nic(program_host()), &swhni_ops);
}

struct swv_process *swv_process(void)
{
	static const struct program_library library = {
		.size = sizeof(struct swv_process),
		.fini = fini,
		.held = held,
	};
	struct swv_process *p;

	swv_nic(); /* which there must be */
	p = program_keep(&library);
	if (!p->is_open)
		slots_init(&p->handles, sizeof(struct swv_handle));
	p->is_open = true;
	return p;
}

void *swv_find(enum swv_kind kind, const void *handle)
{
	uintptr_t h = (uintptr_t)handle;
	const struct swv_handle *x = slots_find(
		&swv_process()->handles, (uint32_t)(h % (1u << ID_BITS)));

	return x && x->kind == kind && x->serial == h >> ID_BITS ? x->object
								 : NULL;
}

void *swv_handle(
	enum swv_kind kind, struct swv_object *object, struct swv_device *dev)
{
	struct swv_process *p = swv_process();
	uint32_t id = slots_take(&p->handles);
	struct swv_handle *x = slots_at(&p->handles, id);

	x->serial = ++p->serial;
	x->kind = kind;
	x->object = object;
	object->handle = (uintptr_t)x->serial << ID_BITS | id;
	object->dev = dev;
	return (void *)object->handle;
}

void swv_drop(const struct swv_object *object)
{
	slots_give(&swv_process()->handles,
		(uint32_t)(object->handle % (1u << ID_BITS)));
}

/* --- devices --- */

static bool is_up(uint32_t port)
{
	struct nic *nic = swv_nic();

	return port < swhni_n_ports(nic) &&
	       swhni_port(nic, program_node(), port).is_up;
}

struct swv_device *swv_open(uint32_t job, uint32_t process)
{
	struct swv_process *p = swv_process();
	struct swv_device *d = mem_alloc(1, sizeof(*d));

	d->job = job;
	d->process = process;
	slots_init(&d->works, sizeof(struct swv_work));
	swv_windows_init(&d->windows, program_now());
	for (uint32_t i = 0; i < WEFT_SW_PORTS; i++)
		d->is_up[i] = is_up(i);
	d->next = p->devices;
	p->devices = d;
	swv_handle(SW_DEVICE, &d->object, d);
	return d;
}

int weft_sw_open(const struct weft_sw_options *options, struct weft_sw **dev)
{
	struct weft_sw_options o = { 0 };
	int code;

	if (options)
		o = *options;
	if (!dev || o.job >= SWHNI_JOBS || o.turn >= SWHNI_TURNS)
		return EINVAL;
	code = o.vm ? swv_join_vm(o.vm) : 0;
	if (code)
		return code;
	*dev = (struct weft_sw *)swv_open(
		SWHNI_JOB(o.job, o.turn), program_process())
		       ->object.handle;
	return 0;
}

static void unlink_device(struct swv_process *p, struct swv_device *d)
{
	struct swv_device **x = &p->devices;

	while (*x != d)
		x = &(*x)->next;
	*x = d->next;
}

/* The handles of everything that belongs to a device. */
static void drop_all(struct swv_process *p, const struct swv_device *d)
{
	for (uint32_t i = 1; i <= p->handles.room; i++) {
		const struct swv_handle *x = slots_find(&p->handles, i);

		if (x && x->object->dev == d)
			slots_give(&p->handles, i);
	}
}

int weft_sw_close(struct weft_sw *dev)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct swv_process *p = swv_process();
	struct nic_at a;

	if (!d)
		return EBADF;
	for (struct swv_interface *in = d->interfaces; in; in = in->next)
		swv_user_close(&in->user);
	a = nic_now(swv_nic());
	for (const struct swv_key *k = d->keys; k; k = k->next)
		swhni_deregister(&a, d->job, k->key);
	drop_all(p, d);
	unlink_device(p, d);
	free_device(d);
	return 0;
}

/* Bytes of the rings of an interface. */
static uint64_t ring_bytes(const struct swv_user *u)
{
	return u->n_entries * sizeof(struct swhni_descriptor) +
	       u->n_completions * sizeof(struct workq_completion) +
	       (uint64_t)u->n_slots * SWHNI_SLOT;
}

int weft_sw_query(struct weft_sw *dev, struct weft_sw_device *x)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct nic *nic = swv_nic();
	const struct swhni_params *p = nic->params;

	if (!d)
		return EBADF;
	if (!x)
		return EINVAL;
	*x = (struct weft_sw_device){
		.node = program_node(),
		.engine = swhni_engine(nic, d->process),
		.job = d->job % SWHNI_JOBS,
		.turn = d->job / SWHNI_JOBS,
		.vm = swhni_vm_of(nic, program_node(), d->process),
		.ports = swhni_n_ports(nic),
		.in_flight = (uint32_t)p->messages,
		.windows = SW_WINDOWS,
		.window = SW_WINDOW,
		.held = device_memory(d),
		.resent = d->resent,
		.probed = d->probed,
		.duplicates = d->doubles,
		.dropped = swhni_dropped(nic, program_node(), d->job),
	};
	for (const struct swv_interface *in = d->interfaces; in;
		in = in->next) {
		x->interfaces++;
		x->held += ring_bytes(&in->user);
	}
	for (uint32_t i = 0; i < SWHNI_INTERFACES; i++)
		x->free_interfaces += !swhni_interface(nic, x->node, i);
	return 0;
}

int weft_sw_query_port(
	struct weft_sw *dev, uint32_t port, struct weft_sw_port *p)
{
	struct nic *nic = swv_nic();
	struct swhni_port x;

	if (!swv_find(SW_DEVICE, dev))
		return EBADF;
	if (!p || port >= swhni_n_ports(nic))
		return EINVAL;
	x = swhni_port(nic, program_node(), port);
	*p = (struct weft_sw_port){ x.is_up, x.lanes, x.packets };
	return 0;
}

/* --- memory --- */

/* Keys of a node's processes alternate, and those at the end are others'. */
static int add(struct swv_device *d, struct swhni_handle *h, uint32_t *key)
{
	uint32_t n = host_n_processes(program_host());
	struct nic_at a = nic_now(swv_nic());
	struct swv_key *k;
	int code;

	h->job = d->job;
	h->process = d->process;
	h->at += program_base();
	h->key = 1 + d->n_keys * n + h->process;
	if (h->key >= SW_KEYS)
		return ENOSPC;
	/* another device of the process may have it */
	while ((code = swhni_register(&a, h)) == EBUSY &&
		h->key + n < SW_KEYS) {
		d->n_keys++;
		h->key += n;
	}
	if (code)
		return code == EAGAIN || code == EBUSY ? ENOSPC : code;
	d->n_keys++;
	k = mem_alloc(1, sizeof(*k));
	*k = (struct swv_key){ d->keys, h->key };
	d->keys = k;
	*key = h->key;
	return 0;
}

static int check(const struct swv_device *d, uint64_t at, uint64_t bytes,
	uint32_t rights, const uint32_t *key)
{
	if (!d)
		return EBADF;
	if (!key || !bytes || rights > (WEFT_SW_READ | WEFT_SW_WRITE))
		return EINVAL;
	return program_has(at, bytes) ? 0 : EFAULT;
}

int weft_sw_reg(struct weft_sw *dev, uint64_t at, uint64_t bytes,
	uint32_t rights, uint64_t page, uint32_t *key)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct swhni_handle h = {
		.space = page ? SWHNI_PAGED : SWHNI_PHYSICAL,
		.rights = (uint8_t)rights,
		.at = at,
		.bytes = bytes,
	};
	int code = check(d, at, bytes, rights, key);

	if (code)
		return code;
	if (page && (page & (page - 1) || page >> SWHNI_LEAST_PAGE == 0 ||
			    page >> SWHNI_MOST_PAGE > 1))
		return EINVAL;
	h.page = page ? (uint8_t)__builtin_ctzll(page) : 0;
	return add(d, &h, key);
}

int weft_sw_reg_segment(struct weft_sw *dev, uint64_t at, uint64_t bytes,
	uint32_t rights, uint32_t *key)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct swhni_handle h = {
		.space = SWHNI_SEGMENT,
		.rights = (uint8_t)rights,
		.at = at,
		.bytes = bytes,
	};
	int code = check(d, at, bytes, rights, key);

	return code ? code : add(d, &h, key);
}

/* Where the key stands in the device's list; NULL: it is not the device's. */
static struct swv_key **find_key(struct swv_device *d, uint32_t key)
{
	struct swv_key **k = &d->keys;

	while (*k && (*k)->key != key)
		k = &(*k)->next;
	return *k ? k : NULL;
}

static uint32_t count_users(const struct swv_device *d, uint32_t key)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i <= d->works.room; i++) {
		const struct swv_work *x = slots_find(&d->works, i);

		n += x && !x->is_fsm && x->d.own_key == key;
	}
	return n;
}

int weft_sw_dereg(struct weft_sw *dev, uint32_t key)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	struct swv_key **k, *gone;
	struct nic_at a;
	int code;

	if (!d)
		return EBADF;
	k = find_key(d, key);
	if (!k)
		return EINVAL;
	swv_progress(d);
	if (count_users(d, key))
		return EBUSY;
	a = nic_now(swv_nic());
	code = swhni_deregister(&a, d->job, key);
	if (code)
		return code;
	gone = *k;
	*k = gone->next;
	mem_free(gone);
	return 0;
}

int weft_sw_query_mr(struct weft_sw *dev, uint32_t key, struct weft_sw_mr *mr)
{
	struct swv_device *d = swv_find(SW_DEVICE, dev);
	const struct swhni_handle *h;

	if (!d)
		return EBADF;
	if (!mr || !find_key(d, key))
		return EINVAL;
	h = swhni_handle(swv_nic(), program_node(), key);
	*mr = (struct weft_sw_mr){
		.at = h->at - program_base(),
		.bytes = h->bytes,
		.rights = h->rights,
		.page = h->space == SWHNI_PAGED ? UINT64_C(1) << h->page : 0,
		.is_segment = h->space == SWHNI_SEGMENT,
		.users = count_users(d, key),
	};
	return 0;
}

bool swv_has_bytes(const struct swv_device *dev, uint32_t key, uint64_t offset,
	uint64_t bytes)
{
	const struct swhni_handle *h =
		swhni_handle(swv_nic(), program_node(), key);
	uint64_t first;

	if (!h || h->job != dev->job || h->process != dev->process)
		return false;
	first = h->space == SWHNI_PHYSICAL ? h->at : 0;
	return offset >= first && offset - first <= h->bytes &&
	       bytes <= h->bytes - (offset - first);
}
