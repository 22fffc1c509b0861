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
		.is_demand = m->on && m->demand,
		.fill = m->fill,
		.link = m->link,
	};
	return 0;
}

void elan_mmu_forget(struct elan_mmu *m)
{
	m->recent = (struct elan_recent){ .context = UINT32_MAX };
	for (uint32_t i = 0; i < ELAN_RECENT; i++)
		m->before[i] = m->recent;
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

	if (!f.has && !f.is_bad) { /* it is looked at for the first time */
		elan_table_add(elan_here(a), p, to);
		f = elan_table_find(a, p);
	}
	if (f.is_bad)
		return false;
	*t = walk(a, f.links);
	*frame = f.frame;
	elan_count(a)->tlb_fills++;
	tlb_put(&mmu_of(a)->tlb[p->tlb], p->context, p->at >> p->shift,
		f.frame);
	note_walk(mmu_of(a), (struct elan_walk){ p->at, *t, p->context }, a->t);
	return true;
}

/* --- looking --- */

/* The first of two places for an address: parts of a page may be two areas'. */
static struct elan_recent *before(struct elan_mmu *m, uint64_t at)
{
	uint32_t hash = (uint32_t)(at >> 12) * UINT32_C(0x9e3779b1);

	return &m->before[hash >> 27 & (ELAN_RECENT - 2)];
}

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
		x->flags, x->tlb, NULL, 0 };
}

/* Whether a recent translation has it. */
static inline bool has(const struct elan_recent *r, uint32_t context,
	uint64_t at, uint64_t bytes)
{
	return at - r->first <= r->more && r->context == context &&
	       bytes - 1 <= r->more - (at - r->first);
}

/* For the next time. */
static void keep_recent(const struct nic_at *a, uint64_t at)
{
	struct elan_mmu *m = mmu_of(a);
	struct elan_recent *r = &m->recent;

	if (r->context == UINT32_MAX)
		return;
	r->page = r->first >> how_of(a)->shift[r->tlb];
	r->entry = tlb_place(&m->tlb[r->tlb], r->context, r->page);
	before(m, at)[1] = before(m, at)[0];
	before(m, at)[0] = *r;
}

static uint64_t where(const struct elan_area *x, uint64_t at)
{
	return x->to + (at - x->first);
}

/* Looks up one page of an area. */
static enum elan_sight look_page(const struct nic_at *a,
	const struct elan_area *x, const struct elan_page *p, uint64_t *to,
	sim_time *t)
{
	struct elan_mmu *m = mmu_of(a);
	struct elan_found f;
	uint64_t frame;

	*t = a->t;
	m->recent.context = UINT32_MAX;
	if (tlb_look(&m->tlb[p->tlb], p->context, p->at >> p->shift, &frame)) {
		elan_count(a)->tlb_hits++;
		*t = when_here(m, p, a->t);
	} else if (elan_area_lacks(x, p->shift, p->at)) {
		f = elan_table_find(a, p);
		*t = walk(a, f.links);
		if (!f.is_bad)
			return ELAN_MISSING;
		elan_context_stop(a, p->context);
		return ELAN_NOWHERE;
	} else if (!fill(a, p,
			   elan_frame(
				   where(x, p->at), x->flags & ELAN_TO_QUEUE),
			   &frame, t)) {
		elan_context_stop(a, p->context);
		return ELAN_NOWHERE;
	}
	*to = elan_frame_at(frame);
	if (*t == a->t)
		set_recent(m, x, p->at, p->at + ((UINT64_C(1) << p->shift) - 1),
			*to);
	return ELAN_SEEN;
}

/* Looks up all pages of [at, at + bytes), which the area has. */
static struct elan_view look_pages(const struct nic_at *a,
	const struct elan_area *x, uint64_t at, uint64_t bytes)
{
	uint8_t shift = how_of(a)->shift[x->tlb];
	uint64_t size = UINT64_C(1) << shift, to = 0;
	uint64_t n = (at % size + bytes - 1) / size;
	struct elan_page p = { at - at % size, x->context, x->tlb, shift,
		false };
	struct elan_view v = { .t = a->t, .flags = x->flags };
	sim_time t;

	for (uint64_t i = 0; i <= n; i++, p.at += size) {
		v.state = (uint8_t)look_page(a, x, &p, &to, &t);
		v.t = later(v.t, t);
		if (v.state != ELAN_SEEN) {
			v.at = p.at > x->first ? p.at : x->first;
			return v;
		}
		if (!i)
			v.at = v.flags & ELAN_TO_QUEUE ? at : to + at % size;
	}
	return v;
}

/* An address that the driver may know, or has not found. */
static struct elan_view look_nowhere(
	const struct nic_at *a, uint32_t context, uint64_t at)
{
	uint8_t shift = how_of(a)->shift[0];
	const struct elan_page p = { at >> shift << shift, context, 0, shift,
		true };
	struct elan_view v = { .at = at, .t = a->t, .state = ELAN_NOWHERE };
	struct elan_found f;

	if (!how_of(a)->is_on || !elan_context_is(elan_here(a), context))
		return v;
	f = elan_table_find(a, &p);
	v.t = walk(a, f.links);
	if (f.is_bad)
		elan_context_stop(a, context);
	else if (!f.has)
		v.state = ELAN_MISSING;
	return v;
}

void elan_mmu_drop(struct elan_node *n, const struct elan_area *x,
	uint32_t shift, uint64_t first, uint64_t last)
{
	first >>= shift;
	last >>= shift;
	tlb_drop(&n->mmu.tlb[x->tlb], x->context, first, last - first + 1);
	for (uint64_t i = first; n->mmu.table[x->tlb] && i <= last; i++)
		elan_table_remove(
			n, &(struct elan_page){ i << shift, x->context, x->tlb,
				   (uint8_t)shift, false });
	elan_mmu_forget(&n->mmu);
}

/* By itself, since most are found before. */
static __attribute__((noinline)) struct elan_view search(const struct nic_at *a,
	uint32_t context, uint64_t at, uint64_t bytes, enum elan_use use)
{
	const struct elan_view nowhere = { .t = a->t, .state = ELAN_NOWHERE };
	struct elan_area made;
	const struct elan_area *x;

	x = elan_area_find(elan_here(a), context, at, bytes, &made);
	if (!x) {
		at = elan_area_end(elan_here(a), context, at);
		if (elan_area_find(elan_here(a), context, at, 1, &made))
			return nowhere; /* but in two areas */
		return look_nowhere(a, context, at);
	}
	if (use == ELAN_TO_WRITE && x->flags & ELAN_READ_ONLY)
		return nowhere;
	if (bytes && how_of(a)->is_on) {
		struct elan_view v = look_pages(a, x, at, bytes);

		keep_recent(a, at);
		return v;
	}
	if (bytes && !(x->flags & ELAN_TO_QUEUE))
		set_recent(mmu_of(a), x, x->first, x->last, x->to);
	return (struct elan_view){
		.at = x->flags & ELAN_TO_QUEUE ? at : where(x, at),
		.t = a->t,
		.flags = x->flags,
	};
}

/* Looks first where one at that address was found before, if its TLB still has
 * it. */
struct elan_view elan_mmu_look(const struct nic_at *a, uint32_t context,
	uint64_t at, uint64_t bytes, enum elan_use use)
{
	struct elan_mmu *m = mmu_of(a);
	const struct elan_recent *r = before(m, at);

	if (!has(r, context, at, bytes) && !has(++r, context, at, bytes))
		return search(a, context, at, bytes, use);
	if (a->t < m->filled || !r->entry || r->flags & ELAN_TO_QUEUE ||
		(use == ELAN_TO_WRITE && r->flags & ELAN_READ_ONLY) ||
		!tlb_touch(&m->tlb[r->tlb], r->entry, context, r->page))
		return search(a, context, at, bytes, use);
	m->recent = *r;
	elan_count(a)->tlb_hits++;
	return (struct elan_view){ r->to + (at - r->first), a->t, ELAN_SEEN,
		r->flags };
}
