/*
 * Descriptor fetch.  FIFOs that have a descriptor, but none in the unit, are
 * chosen by priority and at random (BGQ-F110); the fetched descriptor is
 * checked, and its FIFO joins those with packets to cut.  An invalid descriptor
 * stops its FIFO, and no other.
 */
#include "base/mem.h"
#include "nic/bgq_mu/units.h"
#include "route/hint.h"

/* --- choice --- */

enum mu_level mu_fetch_level(const struct mu_node *n)
{
	/* user descriptors precede their data, so that no engine starves */
	return n->n_wanting[MU_LEVEL_SYSTEM] ? MU_LEVEL_SYSTEM : MU_LEVEL_HIGH;
}

static inline bool wants_any(const struct mu_node *n)
{
	return n->n_wanting[MU_LEVEL_SYSTEM] | n->n_wanting[MU_LEVEL_HIGH] |
	       n->n_wanting[MU_LEVEL_NORMAL];
}

/* Adds a FIFO to those that want a descriptor, or removes it. */
static inline void turn_wanting(
	struct mu_node *n, const struct mu_inj_fifo *f, uint32_t inj, int by)
{
	uint32_t l = f->level;

	n->n_wanting[l] = (uint16_t)(n->n_wanting[l] + by);
	n->wanting[l][inj / 64] ^= UINT64_C(1) << inj % 64;
}

/* A FIFO joins those that engines may choose, or leaves them. */
static inline void count_able(uint16_t *n_able, uint32_t engines, int by)
{
	static const uint16_t bit[MU_NET_FIFOS] = { 1u << 0, 1u << 1, 1u << 2,
		1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7, 1u << 8, 1u << 9,
		1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15 };
	uint16_t set = (uint16_t)engines, more = (uint16_t)by;

	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		n_able[i] = (uint16_t)(n_able[i] + (set & bit[i] ? more : 0));
}

/* FIFOs may use different engines: counts those for each engine, until none is
 * left. */
void mu_fetch_count_mixed(struct mu_senders *s, uint32_t engines, int by)
{
	for (uint32_t i = 0; !s->are_mixed && i < MU_NET_FIFOS; i++)
		s->n_able[i] = s->engines >> i & 1 ? s->n : 0;
	count_able(s->n_able, engines, by);
	s->are_mixed = s->n + by > 0;
}

/* One of the highest level, at random. */
static uint32_t choose(const struct nic_at *a)
{
	uint32_t l = 0, k, word = 0;
	uint64_t m;

	while (!mu_here(a)->n_wanting[l])
		l++;
	k = mu_random(mu_here(a), mu_here(a)->n_wanting[l]);
	m = mu_here(a)->wanting[l][0];
	while (k >= (uint32_t)__builtin_popcountll(m)) {
		k -= (uint32_t)__builtin_popcountll(m);
		m = mu_here(a)->wanting[l][++word];
	}
	while (k--)
		m &= m - 1;
	return word * 64 + (uint32_t)__builtin_ctzll(m);
}

void mu_fetch_halt(const struct nic_at *a, uint32_t inj)
{
	struct mu_inj_fifo *f = mu_inj_used(mu_here(a), inj);

	/* a FIFO is among those that send until its last packet is cut */
	if (f->state == MU_INJ_SENDING && f->next < f->n_packets)
		mu_fetch_set_sending(a, f, inj, false);
	f->state = MU_INJ_HALTED;
}

static inline __attribute__((always_inline)) void fetch(
	const struct nic_at *a, struct mu_inj_fifo *f, uint32_t inj)
{
	sim_time done;

	if (!mu_port_allows(a, f->head, MU_DESCRIPTOR_BYTES, false,
		    mu_is_system(inj))) {
		mu_tell(a, MU_ERROR_RANGE, inj, f->head);
		mu_fetch_halt(a, inj);
		return;
	}
	done = mu_port_read(a, MU_ASK_FETCH, f->head, MU_DESCRIPTOR_BYTES);
	f->state = MU_INJ_FETCHING;
	sim_post_self(a->w, a->s, done + mu_of(a)->params.arbitration,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_FETCHED + inj), 0, 0);
}

void mu_fetch_want(const struct nic_at *a, uint32_t inj)
{
	struct mu_inj_fifo *f = mu_inj_used(mu_here(a), inj);

	if (f->state != MU_INJ_IDLE || !f->is_enabled || f->head == f->tail)
		return;
	if (nic_has_book(a))
		mu_account_want(a, inj);
	f->state = MU_INJ_WAITING;
	if (!wants_any(mu_here(a)) && mu_port_is_free(a, MU_ASK_FETCH)) {
		/* a draw from one */
		mu_random(mu_here(a), 1);
		fetch(a, f, inj);
		return;
	}
	turn_wanting(mu_here(a), f, inj, 1);
	mu_port_ask(a, MU_ASK_FETCH);
}

void mu_fetch_take(const struct nic_at *a)
{
	uint32_t inj = choose(a);
	struct mu_inj_fifo *f = mu_inj_used(mu_here(a), inj);

	turn_wanting(mu_here(a), f, inj, -1);
	if (f->is_enabled)
		fetch(a, f, inj);
	else /* software has thought better of it */
		f->state = MU_INJ_IDLE;
	if (wants_any(mu_here(a)))
		mu_port_ask(a, MU_ASK_FETCH);
}

/* --- descriptors --- */

/*
 * Engines by map.  They are named for ports, of which the even ones lead in
 * the plus direction: so the pairs of a map from the top down are those of
 * engines from the bottom up, and minus stays on top.
 */
static uint16_t engines_of(const struct mu *mu, uint64_t map)
{
	uint32_t m = (uint32_t)map, out, able;

	out = (m >> 14 & 0x3) | (m >> 10 & 0xc) | (m >> 6 & 0x30) |
	      (m >> 2 & 0xc0) | (m << 2 & 0x300);
	out = out << MU_NET_USER | (m >> 5 & 1) << MU_NET_LOCAL |
	      (m >> 4 & 1) << (MU_NET_LOCAL + 1);
	out |= (m & MU_MAP_HIGH ? 1u : 0) << MU_NET_HIGH;
	out |= (m & MU_MAP_SYSTEM ? 1u : 0) << MU_NET_SYSTEM;
	able = out & mu->serving;
	for (out &= ~able; out; out &= out - 1)
		able |= 1u << mu->worker_of[__builtin_ctz(out)];
	return (uint16_t)able;
}

/* NO_SITE: no such node. */
static site_id destination(const struct mu *mu, const struct mu_header *h)
{
	uint64_t dst = 0;

	for (uint32_t i = 0; i < MU_DIMS; i++)
		dst += mu->place[i][mu_coord(h, i)];
	return dst < NO_SITE ? (site_id)dst : NO_SITE;
}

/* The hints of one dimension, minus and plus, in the network's order; 0: none;
 * -1: they lead nowhere. */
static int hints_of(const struct torus *t, uint32_t dim, uint32_t given,
	site_id src, site_id dst)
{
	uint32_t x, y;

	if (!given)
		return 0;
	if (given == 3 || dim >= t->n_dims)
		return -1;
	x = torus_coord(t, src, dim);
	y = torus_coord(t, dst, dim);
	if (t->ring[dim] == TORUS_MESH && !(given == 1 ? y > x : y < x))
		return -1;
	if (t->dim[dim] == 1 && t->ring[dim] != TORUS_LOOP)
		return -1;
	return given == 1 ? 1 : 2;
}

static bool is_io_node(const struct nic_at *a)
{
	return a->s >= a->nic->net->n_nodes;
}

/*
 * Only system packets cross IO links (BGQ-F41): to the IO node behind an exit,
 * or from one by a link that it has.  NO_SITE where that is not so; else the
 * node by which they enter the torus.
 */
static site_id take_io(const struct nic_at *a, struct mu_inj_fifo *f)
{
	const struct torus *t = mu_of(a)->torus;
	const struct mu_header *h = &f->descriptor.header;

	if (mu_channel(h) != MU_SYSTEM || mu_is_deposit(h))
		return NO_SITE;
	if (is_io_node(a)) {
		if (mu_is_to_io(h) || mu_io_link(h) >= t->io_links ||
			torus_io_exit(t, a->s, mu_io_link(h)) == NO_ROUTER)
			return NO_SITE;
		f->hints = hint_from_io(t, mu_io_link(h));
		return torus_io_exit(t, a->s, mu_io_link(h));
	}
	if (!mu_is_to_io(h) || mu_io_link(h) || !torus_is_exit(t, f->dst))
		return NO_SITE;
	f->hints = hint_to_io(t);
	return a->s;
}

static bool take_hints(const struct nic_at *a, struct mu_inj_fifo *f)
{
	unsigned given = mu_hints(&f->descriptor.header);
	site_id src = a->s;

	f->hints = 0;
	if (mu_is_for_io(&f->descriptor.header) || is_io_node(a))
		src = take_io(a, f);
	if (src == NO_SITE || !given)
		return src != NO_SITE;
	if (!a->nic->net->route->tables) /* which does not go by hints */
		return true;
	for (uint32_t i = 0; i < MU_DIMS; i++) {
		int h = hints_of(mu_of(a)->torus, i,
			given >> (2 * (MU_DIMS - 1 - i)) & 3, src, f->dst);

		if (h < 0)
			return false;
		f->hints |= (uint16_t)(h << 2 * i);
	}
	return true;
}

/* A line broadcast goes along one dimension, in order (BGQ-G39). */
static bool may_deposit(const struct nic_at *a, const struct mu_inj_fifo *f)
{
	const struct mu_header *h = &f->descriptor.header;
	uint32_t n = 0;

	for (uint32_t i = 0; i < mu_of(a)->n_dims; i++)
		n += f->hints >> 2 * i & 3 ||
		     torus_coord(mu_of(a)->torus, a->s, i) !=
			     torus_coord(mu_of(a)->torus, f->dst, i);
	return n == 1 && a->nic->net->route->tables && !mu_is_dynamic(h) &&
	       (mu_packet_type(h) == MU_FIFO || mu_packet_type(h) == MU_PUT);
}

static bool is_local(const struct nic_at *a, const struct mu_inj_fifo *f)
{
	return f->dst == a->s && !f->hints;
}

/* Permissions: MU_INTERRUPTS if nothing is wrong. */
static enum mu_interrupt check_rights(
	const struct mu_descriptor *d, uint32_t inj)
{
	const struct mu_header *h = &d->header;

	if (mu_is_collective(h))
		return !mu_is_system(inj) &&
				       (mu_channel(h) == MU_SYSTEM_COLLECTIVE ||
					       mu_fifo_map(d) &
						       MU_MAP_SYSTEM_COLLECTIVE)
			       ? MU_ERROR_PERMISSION
			       : MU_INTERRUPTS;
	if (mu_is_system(inj))
		return MU_INTERRUPTS;
	if (mu_is_for_io(h) || mu_channel(h) == MU_SYSTEM ||
		mu_fifo_map(d) & MU_MAP_SYSTEM)
		return MU_ERROR_PERMISSION;
	return MU_INTERRUPTS;
}

/* Sets the fields that all packets of a valid descriptor share. */
static void take_fields(struct mu_inj_fifo *f)
{
	static const uint8_t kind[] = {
		[MU_DYNAMIC] = PACKET_DYNAMIC,
		[MU_DETERMINISTIC] = PACKET_DETERMINISTIC,
		[MU_HIGH] = PACKET_HIGH,
		[MU_SYSTEM] = PACKET_SYSTEM,
	};
	struct mu_header *h = &f->descriptor.header;

	f->kind = kind[mu_channel(h)];
	f->tag = f->kind == PACKET_SYSTEM ? MU_TAG_SYSTEM : 0;
	f->flags = (uint8_t)((mu_stays_on_bubble(h) ? PACKET_STAY : 0) |
			     (mu_is_deposit(h) ? PACKET_DEPOSIT : 0));
}

/* Checks all that is_kin() compares: MU_INTERRUPTS if nothing is wrong. */
static __attribute__((noinline)) enum mu_interrupt take_kind(
	const struct nic_at *a, struct mu_inj_fifo *f, uint32_t inj)
{
	const struct mu_descriptor *d = &f->descriptor;
	const struct mu_header *h = &d->header;
	uint64_t length = mu_length(d), map = mu_fifo_map(d);
	enum mu_interrupt wrong = check_rights(d, inj);

	if (wrong != MU_INTERRUPTS)
		return wrong;
	if (mu_is_collective(h))
		return mu_collective_take(a, f, inj);
	f->engines = engines_of(mu_of(a), map);
	if (h->byte[0] != MU_PT2PT || !f->engines ||
		map & ~(uint64_t)MU_MAP_ALL || map & MU_MAP_COLLECTIVE ||
		mu_channel(h) > MU_SYSTEM ||
		mu_is_dynamic(h) != (mu_channel(h) == MU_DYNAMIC) ||
		f->dst == NO_SITE || !take_hints(a, f))
		return MU_ERROR_DESCRIPTOR;
	if (map & MU_MAP_LOCAL && !is_local(a, f))
		return MU_ERROR_DESCRIPTOR;
	if (mu_is_deposit(h) && !may_deposit(a, f))
		return MU_ERROR_DESCRIPTOR;
	if (mu_packet_type(h) >= MU_GET &&
		(!length || length % MU_DESCRIPTOR_BYTES ||
			mu_of(a)->payload % MU_DESCRIPTOR_BYTES))
		return MU_ERROR_DESCRIPTOR;
	take_fields(f);
	return MU_INTERRUPTS;
}

/* Whether take_kind() would find the same as for the FIFO's last descriptor,
 * which was valid for any destination. */
static inline bool is_kin(const struct mu_inj_fifo *f)
{
	const struct mu_descriptor *d = &f->descriptor;
	uint64_t map = mu_fifo_map(d);

	return map && map == f->kin_map &&
	       mu_get(d->header.byte, 4) == f->kin_head &&
	       mu_packet_type(&d->header) < MU_GET;
}

static void note_kin(struct mu_inj_fifo *f)
{
	const struct mu_descriptor *d = &f->descriptor;
	const struct mu_header *h = &d->header;
	uint64_t map = mu_fifo_map(d);

	if (f->hints || map & (MU_MAP_LOCAL | MU_MAP_COLLECTIVE) ||
		mu_is_deposit(h) || mu_packet_type(h) >= MU_GET)
		map = 0;
	f->kin_map = map;
	f->kin_head = (uint32_t)mu_get(h->byte, 4);
}

/* Takes in a descriptor: MU_INTERRUPTS if nothing is wrong. */
static enum mu_interrupt take_descriptor(
	const struct nic_at *a, struct mu_inj_fifo *f, uint32_t inj)
{
	const struct mu_descriptor *d = &f->descriptor;
	uint64_t length = mu_length(d);
	uint32_t most = mu_of(a)->payload;

	f->dst = destination(mu_of(a), &d->header);
	if (!is_kin(f)) {
		enum mu_interrupt wrong = take_kind(a, f, inj);

		f->kin_map = 0;
		if (wrong != MU_INTERRUPTS)
			return wrong;
		note_kin(f);
	}
	if (f->dst == NO_SITE || length > MU_OFFSET_MASK)
		return MU_ERROR_DESCRIPTOR;
	f->payload = mu_payload(d);
	if (f->payload > UINT64_MAX - length)
		return MU_ERROR_RANGE;
	f->length = length;
	/* A message of no bytes is one packet of a header (BGQ-F14). */
	f->next = 0;
	f->n_packets = length > most ? (length + most - 1) / most : 1;
	return MU_INTERRUPTS;
}

void mu_fetch_on_done(const struct nic_at *a, uint32_t inj)
{
	struct mu_inj_fifo *f = mu_inj_used(mu_here(a), inj);
	enum mu_interrupt wrong = MU_ERROR_RANGE;
	uint32_t m;

	f->fetched++;
	if (host_read(a->nic->host, a->s, f->head, &f->descriptor,
		    sizeof(f->descriptor)))
		wrong = take_descriptor(a, f, inj);
	if (wrong != MU_INTERRUPTS) {
		mu_tell(a, wrong, inj, f->head);
		mu_fetch_halt(a, inj);
		return;
	}
	f->state = MU_INJ_SENDING;
	if (nic_has_book(a))
		mu_account_fetched(a, inj);
	mu_fetch_set_sending(a, f, inj, true);
	/* No engine changes another one's state. */
	m = f->engines &
	    ~(mu_here(a)->busy | mu_here(a)->broken | mu_here(a)->crowded);
	for (; m && f->next < f->n_packets; m &= m - 1)
		mu_inject_go_on(a, (uint32_t)__builtin_ctz(m));
}
