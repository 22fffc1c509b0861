#include "net/send.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/guest.h"
#include "sim/random.h"

/* When what waits for a link that never returns goes on: after all runs. */
#define STUCK (LINK_MAX_TIME - 1000000 * (sim_time)SIM_NS)

static uint32_t link_of(const struct net *n, const struct net_sending *x)
{
	return net_link_at(n, x->site, x->port);
}

void net_wire(const struct net *n, const struct router_ops *own, site_id s,
	port_id p, struct link_sender *l)
{
	struct topo_end far = n->topo->ops->peer(n->topo, s, p);
	const struct router *peer;

	l->peer = far.router;
	if (far.router == NO_ROUTER)
		return;
	peer = net_router(n, far.router);
	l->peer_port = (uint8_t)far.port;
	l->is_far = !sim_is_own(sim_owner(n->sim, s), far.router) ||
		    peer->ops != own;
	l->wire = (uint8_t)n->topo->ops->wire(n->topo, s, p);
	for (uint32_t c = 0; c < LINK_CHANNELS && c < peer->ops->n_channels;
		c++)
		l->tokens[c] = (int16_t)peer->ops->capacity(peer, far.port, c);
}

/* Packets wait for a link that returns soon. */
static bool is_pause(const struct faults *f, const struct fault_outage *o)
{
	if (f->heals)
		return !o->is_death;
	return o->until != SIM_NEVER && o->until - o->from <= f->patience;
}

bool net_pauses(const struct net *n, site_id s, port_id p, sim_time t)
{
	const struct faults *f = n->faults;
	uint32_t link = net_link_at(n, s, p);
	const struct fault_outage *o = &f->outage[f->link[link].outage];

	while (o->link == link && o->until <= t)
		o++;
	return n->retry && o->link == link && is_pause(f, o);
}

static void lose(
	struct net *n, struct sim_worker *w, const struct net_sending *x)
{
	struct net_client *c = net_sender(n, x->id);

	n->tally[w->id].lost++;
	n->faults->link[link_of(n, x)].lost++;
	sim_post_self(w, x->site, x->tail + 2 * n->link.latency[x->class],
		SIM_KEY(PHASE_TOKEN, x->port), (uint16_t)x->channel, x->tokens);
	/* Who opened it knows whether it comes again. */
	if (n->book && book_is_networks(n->book, x->id))
		book_drop(n->book, w->id, x->id);
	c->ops.on_lost(c, w, x->id);
}

bool net_is_lost(
	struct net *n, struct sim_worker *w, const struct net_sending *x)
{
	if (!n->faults || !faults_cut(n->faults, link_of(n, x), x->t,
				  x->tail + n->link.latency[x->class]))
		return false;
	n->faults->tally[w->id].wire[x->class].lost++;
	lose(n, w, x);
	return true;
}

/* --- bits on the wire --- */

struct copy {
	struct net *net;
	struct sim_worker *w;
	packet_id id;
	struct faults *faults;
	uint32_t link, wire, bits, bytes;
	bool is_fibre;
	uint32_t n_sent; /* copies of it */
	bool is_stopped; /* the sender, by a word of its buffer */
	bool is_bad; /* the receiver knows that bits are wrong */
	sim_time latency;
};

static struct fault_counts *counts_of(const struct copy *c)
{
	return &c->faults->tally[c->w->id].wire[c->wire];
}

static const struct link_code *code_of(const struct copy *c)
{
	return c->net->link.code_of[c->wire];
}

static uint32_t with_bursts(const struct copy *c, uint32_t bits,
	uint32_t bit[NET_FLIPS], uint32_t n)
{
	uint32_t all = faults_add_bursts(
		c->faults, c->link, c->wire, bits, bit, n, NET_FLIPS);

	counts_of(c)->bit_errors += all > n ? all - n : 0;
	return all;
}

/* Sends so many bits; returns how many were flipped, and which were first. */
static uint32_t flips(
	const struct copy *c, uint32_t bits, uint32_t bit[NET_FLIPS])
{
	struct fault_link *l = &c->faults->link[c->link];
	uint32_t n = 0;

	while (l->left < bits) {
		if (n < NET_FLIPS)
			bit[n] = (uint32_t)l->left;
		n++;
		faults_draw(c->faults, c->link, c->wire);
	}
	l->left -= bits;
	counts_of(c)->bit_errors += n;
	n = n < NET_FLIPS ? n : NET_FLIPS;
	return c->faults->bursts ? with_bursts(c, bits, bit, n) : n;
}

static void report(
	const struct copy *c, enum ras_what what, sim_time t, uint64_t number)
{
	struct topo_end at = topo_link_end(&c->net->links, c->link);
	const struct ras_event e = {
		.at = t,
		.site = at.router,
		.port = at.port,
		.what = what,
		.number = number,
	};

	faults_report(c->faults, c->w->id, &e);
}

/* The same of so many bytes, as they are behind the decoder. */
static uint32_t send_by_fec(
	struct copy *c, uint32_t bytes, sim_time t, uint32_t *bit)
{
	const struct link_fec *f = c->net->link.fec;
	uint32_t bits = code_bits(code_of(c), bytes);
	uint32_t flip[NET_FLIPS], n = flips(c, bits, flip);
	struct fec_done done;

	c->is_bad = false;
	if (!n)
		return 0;
	done = fec_pass(f, fec_phase(f, t), bits, flip, n, bit, NET_FLIPS);
	counts_of(c)->corrected += done.corrected;
	counts_of(c)->failed += done.failed;
	counts_of(c)->wrong += done.wrong;
	c->is_bad = done.failed > 0;
	return done.n_bits;
}

/* The same of so many bytes, as they are behind the link's chips. */
static uint32_t send_bits(
	struct copy *c, uint32_t bytes, sim_time t, uint32_t *bit)
{
	struct faults *f = c->faults;
	uint32_t flip[NET_FLIPS], n;
	struct link_chips *chips;
	struct chip_done done;

	if (c->net->link.fec)
		return send_by_fec(c, bytes, t, bit);
	if (!c->is_fibre)
		return flips(c, code_bits(code_of(c), bytes), bit);
	n = flips(c, (bytes + CHIP_DATA - 1) / CHIP_DATA * CHIP_ROW, flip);
	chips = f->fibres[c->link];
	if (!n && !(chips && chip_missing(chips)))
		return 0;
	chips = faults_chips(f, c->link);
	done = chip_pass(chips, &c->net->link.chips, t, flip, n, bytes,
		random_draw(f->seed, faults_key(f, c->link), RANDOM_ESCAPE,
			UINT64_C(1) << 40 | f->link[c->link].draws)
			.a,
		bit, NET_FLIPS);
	counts_of(c)->rebuilt += done.rebuilt;
	if (done.is_replaced)
		report(c, RAS_REPLACED, t, chips->fibre);
	return done.n_bits;
}

/* Of no packet: bytes of the link itself. */
static struct copy short_copy(struct net *n, struct sim_worker *w,
	uint32_t link, uint32_t class, uint32_t bytes)
{
	return (struct copy){ .net = n,
		.w = w,
		.faults = n->faults,
		.link = link,
		.wire = class,
		.bytes = bytes,
		.is_fibre = n->faults && n->faults->fibres &&
			    n->topo->wire[class].is_fibre,
		.latency = n->link.latency[class] };
}

static struct copy copy_of(
	struct net *n, struct sim_worker *w, const struct net_sending *x)
{
	struct copy c = short_copy(n, w, link_of(n, x), x->class, x->bytes);

	c.id = x->id;
	c.bits = code_bits(code_of(&c), x->bytes);
	return c;
}

/* A packet goes on as flipped bits have made it. */
static void keep_flips(const struct copy *c, const uint32_t *bit, uint32_t n)
{
	struct net_client *client = net_sender(c->net, c->id);
	const struct net_client_faults *faults = client->ops.faults;

	c->net->packets[c->id].flags |= PACKET_HURT;
	for (uint32_t i = 0; faults->on_hurt && i < n; i++)
		faults->on_hurt(client, c->w, c->id,
			&(struct net_flip){ bit[i], c->bits, code_of(c) });
}

/* --- links that do not retry --- */

static void hurt(struct net *n, struct sim_worker *w,
	const struct net_sending *x, uint32_t bits)
{
	uint32_t link = link_of(n, x);
	struct fault_link *l = &n->faults->link[link];
	struct fault_counts *c = &n->faults->tally[w->id].wire[x->class];
	struct net_client *client = net_sender(n, x->id);
	struct packet *p = &n->packets[x->id];

	if (!(p->flags & PACKET_HURT))
		c->hurt++;
	p->flags |= PACKET_HURT;
	while (l->left < bits) {
		c->bit_errors++;
		if (client->ops.faults->on_hurt)
			client->ops.faults->on_hurt(client, w, x->id,
				&(struct net_flip){
					faults_place(n->faults, link, x->class,
						l->draws, (uint32_t)l->left,
						bits),
					bits, n->link.code_of[x->class] });
		faults_draw(n->faults, link, x->class);
	}
}

/* The same where flips come in bursts or are corrected; whether some are
 * left. */
static bool hurt_by_list(
	struct net *n, struct sim_worker *w, const struct net_sending *x)
{
	struct copy c = copy_of(n, w, x);
	uint32_t bit[NET_FLIPS], n_bits = send_bits(&c, x->bytes, x->t, bit);

	if (!n_bits && !c.is_bad)
		return false;
	if (!(n->packets[x->id].flags & PACKET_HURT))
		counts_of(&c)->hurt++;
	keep_flips(&c, bit, n_bits);
	return true;
}

static bool send_once(
	struct net *n, struct sim_worker *w, const struct net_sending *x)
{
	struct net_client *client = net_sender(n, x->id);
	uint32_t link = link_of(n, x);
	uint32_t bits = code_bits(n->link.code_of[x->class], x->bytes);
	bool is_hurt;

	if (net_is_lost(n, w, x))
		return false;
	if (n->link.fec || n->faults->bursts) {
		is_hurt = hurt_by_list(n, w, x);
	} else {
		is_hurt = n->faults->link[link].left < bits;
		if (is_hurt)
			hurt(n, w, x, bits);
		n->faults->link[link].left -= bits;
	}
	if (!is_hurt || !client->ops.faults->is_dropped ||
		!client->ops.faults->is_dropped(client, w, x->id))
		return true;
	n->faults->tally[w->id].wire[x->class].headless++;
	lose(n, w, x);
	return false;
}

/* --- links that retry --- */

/* Fibres that have failed by some time; whether the link is dead, or pauses
 * while one is replaced. */
static enum retry_fate look_at_fibres(
	const struct copy *c, sim_time from, sim_time until, sim_time *back)
{
	struct faults *f = c->faults;
	struct fault_link *l = &f->link[c->link];
	const struct fault_escape *x = &f->fibre[l->fibre];
	struct link_chips *chips;

	for (; x->link == c->link && x->at < until; x++, l->fibre++)
		if (!chip_fail(faults_chips(f, c->link), x->unit))
			report(c, RAS_FIBRES, x->at, x->unit);
	chips = f->fibres[c->link];
	if (!chips || (!chips->is_dead &&
			      (until <= chips->pause || from >= chips->until)))
		return RETRY_PASSES;
	*back = chips->until;
	return chips->is_dead ? RETRY_IS_DEAD : RETRY_IS_CUT;
}

/* Flips that the hop's checks do not find, where the plan has some for the next
 * packet with room for them. */
static uint32_t escape(const struct copy *c, sim_time t, uint32_t *bit)
{
	struct faults *f = c->faults;
	struct fault_link *l = &f->link[c->link];
	const struct fault_escape *x = f->escape ? &f->escape[l->escape] : NULL;
	const struct packet *p = &c->net->packets[c->id];
	uint32_t first = 8 * c->net->link.header, n;

	if (!x || x->link != c->link || x->at > t)
		return 0;
	n = checks_codeword(c->net->link.checks,
		random_draw(f->seed, faults_key(f, c->link), RANDOM_ESCAPE,
			l->escape)
			.a,
		first, first + 8u * p->bytes, bit);
	l->escape += n > 0;
	return n;
}

/* The same, and the link has not noticed. */
static void let_pass(const struct copy *c, const uint32_t *bit, uint32_t n)
{
	struct link_retry *q = &c->net->retry[c->link];
	uint32_t bytes = c->bytes;

	q->escaped++;
	checks_escaped(&q->sums, q->good + bytes, bit, n, bytes);
	keep_flips(c, bit, n);
}

/* Whether the far end finds that bits of a copy were flipped. */
static bool is_found(const struct copy *c, const uint32_t *bit, uint32_t n)
{
	struct net_client *client = net_sender(c->net, c->id);
	const struct net_client_faults *faults = client->ops.faults;
	const struct link_checks *k = c->net->link.checks;

	if (k) {
		enum checks_finding found = checks_find(k, bit, n);

		counts_of(c)->headers += found == CHECKS_HEADER;
		if (found != CHECKS_NOTHING)
			return true;
		let_pass(c, bit, n);
	} else if (!faults->is_found ||
		   faults->is_found(client, c->w, c->id, bit, n, c->bits)) {
		return true;
	}
	counts_of(c)->escaped++;
	return false;
}

/* All but the first copy of a packet are read from the sender's buffer. */
static bool reads_copy(struct copy *c, sim_time t)
{
	struct net *n = c->net;
	struct topo_end at;

	if (!c->n_sent++)
		return true;
	at = topo_link_end(&n->links, c->link);
	c->is_stopped = !faults_reads(c->faults, c->w->id, at.router,
		fault_buffer_of(FAULT_SENDER, at.port, 0), &n->packets[c->id],
		c->bytes, t);
	return !c->is_stopped;
}

static enum retry_fate fate(
	void *arg, sim_time from, sim_time until, sim_time *back)
{
	struct copy *c = arg;
	struct faults *f = c->faults;
	uint32_t bit[NET_FLIPS + CHECKS_CODEWORD], n;

	if (!f)
		return RETRY_PASSES;
	if (!reads_copy(c, from))
		return RETRY_IS_DEAD;
	if (faults_cut(f, c->link, from, until + c->latency)) {
		const struct fault_outage *o =
			&f->outage[f->link[c->link].outage];

		*back = o->until;
		return is_pause(f, o) ? RETRY_IS_CUT : RETRY_IS_DEAD;
	}
	if (c->is_fibre) {
		enum retry_fate fibres =
			look_at_fibres(c, from, until + c->latency, back);

		if (fibres != RETRY_PASSES)
			return fibres;
	}
	n = send_bits(c, c->bytes, from, bit);
	n += escape(c, from, bit + n);
	if (!n && !c->is_bad)
		return RETRY_PASSES;
	counts_of(c)->hurt++;
	return c->is_bad || is_found(c, bit, n) ? RETRY_FAILS : RETRY_PASSES;
}

static bool is_ack_lost(void *arg)
{
	struct copy *c = arg;
	uint32_t bit[NET_FLIPS];

	return c->faults && (send_bits(c, c->net->link.protocol,
				     c->net->retry[c->link].clear, bit) ||
				    c->is_bad);
}

/* A link has been silent for all its tries, of a packet since some time. */
static void report_dead(const struct copy *c, const struct retry_packet *p)
{
	const struct retry_params *r = &c->net->link.retry;
	const struct link_retry *q = &c->net->retry[c->link];

	counts_of(c)->reported++;
	report(c, RAS_DEAD, p->t + r->tries * retry_each(q, r, p),
		(uint64_t)r->tries);
}

static void count(const struct copy *c, const struct retry_packet *p,
	const struct retry_done *done)
{
	struct link_retry *q = &c->net->retry[c->link];

	q->good += done->is_lost ? 0 : c->bytes;
	if (!c->faults)
		return;
	counts_of(c)->resent += done->resent;
	counts_of(c)->echoes += done->echoes;
	if (done->is_reported ||
		(done->is_lost && !c->net->gives_up && !c->is_stopped))
		report_dead(c, p);
}

/* Notes what waits for a link that never returns. */
static __attribute__((noinline)) void hold(
	const struct net *n, const struct net_sending *x, struct link_retry *q)
{
	const struct packet *p = &n->packets[x->id];
	char text[NET_STUCK_TEXT];

	if (x->is_guest)
		n->guest->ops->name(n->guest, x->id, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "a packet from node %u to node %u",
			p->src, p->dst);
	mem_free(q->held);
	q->held = mem_text(text);
	q->since = x->t;
}

static struct net_sent send_again(
	struct net *n, struct sim_worker *w, const struct net_sending *x)
{
	struct copy c = copy_of(n, w, x);
	const struct retry_luck luck = { fate, is_ack_lost, &c, n->gives_up };
	/* of a guest's no copy is counted */
	const struct retry_packet p = { x->t, x->tail - x->t, x->gap, c.latency,
		n->packets[x->id].chunks, x->is_guest ? 0 : x->bytes,
		x->channel };
	struct retry_done done = retry_send(&n->retry[c.link], &n->link.retry,
		(uint32_t)n->full, &p, &luck);

	if (done.resent)
		n->resent[(size_t)c.link * NET_MOST_CHANNELS + x->channel] +=
			done.resent;
	count(&c, &p, &done);
	if (done.is_lost && !n->gives_up) {
		n->tally[w->id].stuck++;
		hold(n, x, &n->retry[c.link]);
		return (struct net_sent){ .arrival = STUCK,
			.free_at = STUCK,
			.resent = done.resent };
	}
	if (done.is_lost) {
		counts_of(&c)->lost++;
		lose(n, w, x);
	} else {
		book_until(n->book, x->id, CAUSE_RETRY, done.start + c.latency);
	}
	return (struct net_sent){
		.is_lost = done.is_lost,
		.arrival = done.start + c.latency,
		.free_at = done.free_at,
		.resent = done.resent,
	};
}

struct net_sent net_send(
	struct net *n, struct sim_worker *w, const struct net_sending *x)
{
	if (n->retry)
		return send_again(n, w, x);
	return (struct net_sent){
		.is_lost = !send_once(n, w, x),
		.arrival = x->t + n->link.latency[x->class],
	};
}

sim_time net_send_by(struct net *n, struct sim_worker *w, struct link_sender *l,
	const struct net_sending *x)
{
	struct net_sent sent = net_send(n, w, x);

	if (!x->is_guest)
		l->count[x->channel] += (uint64_t)sent.resent * x->bytes;
	if (l->free_at < sent.free_at)
		l->free_at = sent.free_at;
	if (l->owed_until < l->free_at)
		l->owed_until = l->free_at;
	return sent.is_lost ? SIM_NEVER : sent.arrival;
}

void net_post_far(struct sim_worker *w, const struct link_sender *l, sim_time t,
	uint32_t channel, packet_id id)
{
	sim_post(w, l->peer, t, SIM_KEY(PHASE_ARRIVAL, l->peer_port), channel,
		id);
}

void net_post_back(struct sim_worker *w, const struct link_sender *l,
	sim_time t, uint32_t channel, uint32_t chunks)
{
	sim_post(w, l->peer, t, SIM_KEY(PHASE_TOKEN, l->peer_port), channel,
		chunks);
}

void net_post_returns(
	struct sim_worker *w, site_id s, port_id p, struct link_returns *r)
{
	for (; r->n; r->n--) {
		uint64_t x = r->stamp[r->n - 1];

		sim_post_self(w, s, link_stamp_time(x), SIM_KEY(PHASE_TOKEN, p),
			(uint16_t)link_stamp_channel(x), link_stamp_chunks(x));
	}
}

/* --- short packets --- */

/* When the copy that leaves at t is known to be in vain; 0: it comes through.
 * No outage is passed by: others that leave sooner are looked at later. */
static sim_time short_failed(struct copy *c, sim_time t, sim_time ser)
{
	static const struct link_retry none;
	const struct link_retry *q =
		c->net->retry ? &c->net->retry[c->link] : &none;
	const struct faults *f = c->faults;
	const struct fault_outage *o = &f->outage[f->link[c->link].outage];
	sim_time end = t + ser + c->latency, back = 0;
	uint32_t bit[NET_FLIPS];
	enum retry_fate fibres;

	while (o->link == c->link && o->until <= t)
		o++;
	if (o->link == c->link && o->from < end)
		return o->until;
	fibres = c->is_fibre ? look_at_fibres(c, t, end, &back) : RETRY_PASSES;
	if (fibres != RETRY_PASSES)
		return fibres == RETRY_IS_DEAD ? SIM_NEVER : back;
	if (!send_bits(c, c->bytes, t, bit) && !c->is_bad)
		return 0;
	return t + ser + retry_timeout(q, &c->net->link.retry, c->latency);
}

/* Repeats a short packet until it comes through; SIM_NEVER: it never does. */
static sim_time send_short(struct copy *c, sim_time t, sim_time ser)
{
	sim_time failed;

	while (c->faults && (failed = short_failed(c, t, ser))) {
		if (failed == SIM_NEVER)
			return SIM_NEVER;
		counts_of(c)->shorts++;
		t = failed;
	}
	return t;
}

static struct copy copy_by(struct net *n, struct sim_worker *w, site_id s,
	port_id p, uint32_t bytes)
{
	return short_copy(n, w, net_link_at(n, s, p),
		n->topo->ops->wire(n->topo, s, p), bytes);
}

sim_time net_send_short(struct net *n, struct sim_worker *w, site_id s,
	port_id p, uint32_t bytes, sim_time t)
{
	struct router *r = n->router[s < n->n_nodes ? NET_NODES : NET_SWITCHES];
	struct copy c = copy_by(n, w, s, p, bytes);
	sim_time ser = link_short(&n->link, c.wire, bytes), leaves;

	t = r->ops->guests->slip(r, s, p, ser, t);
	leaves = send_short(&c, t, ser);
	if (leaves == SIM_NEVER && n->retry && !n->retry[c.link].short_since) {
		n->tally[w->id].stuck++;
		n->retry[c.link].short_since = t;
	}
	return leaves;
}

void net_set_timeout(struct net *n, site_id s, port_id p, uint32_t trips)
{
	if (n->retry)
		n->retry[net_link_at(n, s, p)].timeout = trips;
}

sim_time net_send_tokens(
	struct net *n, struct sim_worker *w, site_id s, port_id p, sim_time t)
{
	uint32_t bytes = n->link.protocol / 2; /* the rest acknowledges */
	struct copy c = copy_by(n, w, s, p, bytes);
	sim_time leaves =
		send_short(&c, t, link_short(&n->link, c.wire, bytes));

	/* who never gets them could not use them either */
	return leaves == SIM_NEVER ? t : leaves;
}

void net_note_header(
	struct net *n, site_id s, port_id p, uint32_t channel, packet_id id)
{
	uint32_t number = n->numbers[net_link_at(n, s, p)]++;
	uint8_t header[BOOK_HEADER] = { 0 };
	const struct net_client *c;

	if (__builtin_expect(!book_is_followed(n->book, id), 1))
		return;
	c = net_sender(n, id);
	if (!c->ops.look->header)
		return;
	c->ops.look->header(c, id, channel, number, header);
	book_set_header(n->book, id, header);
}

void net_book_inject(struct net *n, site_id s, packet_id id)
{
	struct book_message m;

	if (book_has(n->book, id))
		return;
	m = book_message(n->book, s, BOOK_PACKET, 1, n->packets[id].born);
	m.is_networks = true;
	book_open(n->book, id, &m);
}

void net_book_depart(struct net *n, site_id s, port_id p, uint32_t class,
	uint32_t channel, packet_id id, sim_time t)
{
	sim_time latency = n->link.latency[class], logic = n->link.logic[class];

	struct book_place at = { "out by", s, BOOK_NO_NUMBER, (uint8_t)p,
		(uint8_t)channel, 0 };

	net_note_header(n, s, p, channel, id);
	n->token_waits[net_channel_at(n, s, p, channel)] +=
		book_set_wire(n->book, id, &at,
			t + (logic < latency ? logic : latency), t + latency);
}

void net_book_receive(struct net *n, struct sim_worker *w, packet_id id,
	sim_time t, sim_time tail)
{
	book_wait(n->book, id, CAUSE_RECEIVER, t);
	book_until(n->book, id, CAUSE_SERIALISATION, tail);
	if (book_is_networks(n->book, id))
		book_close(n->book, w->id, id, tail);
}
