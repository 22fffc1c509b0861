/*
 * The MMU (QSN-F54 to F56).  It leads from a context and an address to card
 * memory, the host's memory, or a command queue.
 *
 *	units --- the translation that was used last
 *	            |
 *	          two TLBs, one for each active page size
 *	            |
 *	          four engines that walk the tables in card memory
 *	            |
 *	          the driver
 *
 * A page that is being filled is in its TLB already, and all who ask for it
 * wait for the same walk; nobody else waits.  The fixed times of units are for
 * hits; what a walk takes comes on top, and includes its accesses to card
 * memory.  If nic.mmu.on is no, translation takes no time.
 */
#include "nic/elan4/units.h"

#include "base/mem.h"

/* --- set-up --- */

int elan_mmu_set_up(
	struct elan_mmu_how *how, const struct elan_params *p, struct err *e)
{
	static const uint8_t shifts[] = { 12, 13, 16, 17, 19, 21, 22, 25 };
	const struct elan_mmu_params *m = &p->mmu;
	uint64_t sets = (uint64_t)m->entries / ELAN_TLB_WAYS;

	if (m->sizes.n != ELAN_TLBS || m->sizes.v[0] >= m->sizes.v[1])
		return err_set(e, "nic.mmu.sizes: want two sizes, the smaller "
				  "one first");
	if (m->entries % ELAN_TLB_WAYS || sets & (sets - 1))
		return err_set(e,
			"nic.mmu.entries: %lld is not a power of two times %d "
			"ways",
			(long long)m->entries, ELAN_TLB_WAYS);
	*how = (struct elan_mmu_how){
		.shift = { shifts[m->sizes.v[0]], shifts[m->sizes.v[1]] },
		.is_on = m->on,
		.fill = m->fill,
		.link = m->link,
	};
	return 0;
}

void elan_mmu_forget(struct elan_mmu *m)
{
	m->recent = (struct elan_recent){ .context = UINT32_MAX };
}

void elan_mmu_init(struct elan_mmu *m, const struct elan_params *p)
{
	for (uint32_t i = 0; i < ELAN_TLBS; i++)
		tlb_init(&m->tlb[i], (uint32_t)p->mmu.entries, ELAN_TLB_WAYS);
	elan_mmu_forget(m);
}

static void elan_mmu_fini(struct elan_mmu *m)
{
	for (uint32_t i = 0; i < ELAN_TLBS; i++)
		tlb_fini(&m->tlb[i]);
	mem_free(m->walk);
}

static uint64_t elan_mmu_memory(const struct elan_mmu *m)
{
	return tlb_memory(&m->tlb[0]) + tlb_memory(&m->tlb[1]) +
	       m->walk_room * sizeof(*m->walk);
}

NIC_MEMBER_OPS(elan_mmu, NULL);

static struct elan_mmu *mmu_of(const struct nic_at *a)
{
	return &elan_here(a)->mmu;
}

static const struct elan_mmu_how *how_of(const struct nic_at *a)
{
	return &elan_of(a)->mmu;
}

static sim_time later(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

/* --- walks --- */

/* When a page of a TLB is there; t: it is. */
static sim_time when_here(
	const struct elan_mmu *m, const struct elan_page *p, sim_time t)
{
	if (t >= m->filled)
		return t;
	for (uint32_t i = 0; i < m->n_walks; i++)
		if (m->walk[i].page == p->at &&
			m->walk[i].context == p->context)
			t = later(t, m->walk[i].ready);
	return t;
}

static void note_walk(struct elan_mmu *m, struct elan_walk w, sim_time now)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_walks; i++)
		if (m->walk[i].ready > now)
			m->walk[n++] = m->walk[i];
	if (n == m->walk_room)
		m->walk = mem_grow(m->walk, ++m->walk_room, sizeof(*m->walk));
	m->walk[n++] = w;
	m->n_walks = n;
	m->filled = later(m->filled, w.ready);
}

/* One of the engines follows a chain; when it is at its end. */
static sim_time walk(const struct nic_at *a, uint32_t links)
{
	const struct elan_mmu_how *how = how_of(a);
	sim_time *engine = mmu_of(a)->walked;

	for (uint32_t i = 1; i < ELAN_WALKS; i++)
		if (mmu_of(a)->walked[i] < *engine)
			engine = &mmu_of(a)->walked[i];
	*engine = later(*engine, a->t) + how->fill + links * how->link;
	elan_count(a)->tlb_links += links;
	return *engine;
}

/* Fills a TLB with a page; false: its tables cannot be read. */
static bool fill(const struct nic_at *a, const struct elan_page *p, uint64_t to,
	uint64_t *frame, sim_time *t)
{
	struct elan_found f = elan_table_find(a, p);

	if (f.is_bad)
		return false;
	if (!f.has) { /* it is looked at for the first time */
		elan_table_add(elan_here(a), p, to);
		f = elan_table_find(a, p);
	}
	*t = walk(a, f.links);
	*frame = f.frame;
	elan_count(a)->tlb_fills++;
	tlb_put(&mmu_of(a)->tlb[p->tlb], p->context, p->at >> p->shift,
		f.frame);
	note_walk(mmu_of(a), (struct elan_walk){ p->at, *t, p->context }, a->t);
	return true;
}

/* --- looking --- */

static void set_recent(struct elan_mmu *m, const struct elan_area *x,
	uint64_t first, uint64_t last, uint64_t to)
{
	if (first < x->first) {
		to += x->first - first;
		first = x->first;
	}
	if (last > x->last)
		last = x->last;
	m->recent = (struct elan_recent){ first, last - first, to, x->context,
		x->flags };
}

static uint64_t where(const struct elan_area *x, uint64_t at)
{
	return x->to + (at - x->first);
}

/* Looks up one page of an area; false: see fill(). */
static bool look_page(const struct nic_at *a, const struct elan_area *x,
	uint64_t page, uint64_t *to, sim_time *t)
{
	struct elan_mmu *m = mmu_of(a);
	const struct elan_page p = {
		.at = page,
		.context = x->context,
		.tlb = x->tlb,
		.shift = how_of(a)->shift[x->tlb],
	};
	uint64_t frame;

	*t = a->t;
	if (tlb_look(&m->tlb[p.tlb], p.context, page >> p.shift, &frame)) {
		elan_count(a)->tlb_hits++;
		*t = when_here(m, &p, a->t);
	} else if (!fill(a, &p,
			   elan_frame(where(x, page), x->flags & ELAN_TO_QUEUE),
			   &frame, t)) {
		return false;
	}
	*to = elan_frame_at(frame);
	if (*t == a->t)
		set_recent(
			m, x, page, page + ((UINT64_C(1) << p.shift) - 1), *to);
	else
		elan_mmu_forget(m);
	return true;
}

/* Looks up all pages of [at, at + bytes), which the area has. */
static struct elan_view look_pages(const struct nic_at *a,
	const struct elan_area *x, uint64_t at, uint64_t bytes)
{
	uint64_t size = UINT64_C(1) << how_of(a)->shift[x->tlb];
	uint64_t page = at - at % size, to = 0,
		 n = (at % size + bytes - 1) / size;
	struct elan_view v = { .t = a->t, .flags = x->flags };
	sim_time t;

	for (uint64_t i = 0; i <= n; i++) {
		if (!look_page(a, x, page + i * size, &to, &t)) {
			elan_context_stop(a, x->context);
			return (struct elan_view){ .state = ELAN_NOWHERE };
		}
		if (!i)
			v.at = x->flags & ELAN_TO_QUEUE ? at : to + at % size;
		v.t = later(v.t, t);
	}
	return v;
}

void elan_mmu_drop(
	struct elan_node *n, const struct elan_area *x, uint32_t shift)
{
	uint64_t first = x->first >> shift, last = x->last >> shift;

	tlb_drop(&n->mmu.tlb[x->tlb], x->context, first, last - first + 1);
	for (uint64_t i = first; n->mmu.table[x->tlb] && i <= last; i++)
		elan_table_remove(
			n, &(struct elan_page){ i << shift, x->context, x->tlb,
				   (uint8_t)shift, false });
	elan_mmu_forget(&n->mmu);
}

struct elan_view elan_mmu_look(const struct nic_at *a, uint32_t context,
	uint64_t at, uint64_t bytes, enum elan_use use)
{
	struct elan_area made;
	const struct elan_area *x =
		elan_area_find(elan_here(a), context, at, bytes, &made);

	if (!x || (use == ELAN_TO_WRITE && x->flags & ELAN_READ_ONLY))
		return (struct elan_view){ .state = ELAN_NOWHERE };
	if (bytes && how_of(a)->is_on)
		return look_pages(a, x, at, bytes);
	if (bytes && !(x->flags & ELAN_TO_QUEUE))
		set_recent(mmu_of(a), x, x->first, x->last, x->to);
	return (struct elan_view){
		.at = x->flags & ELAN_TO_QUEUE ? at : where(x, at),
		.t = a->t,
		.flags = x->flags,
	};
}
