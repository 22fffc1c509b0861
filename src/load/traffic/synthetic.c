/*
 * Synthetic traffic.  Each node is a source that never ends; what packet k
 * of node s is, and when an open loop generates it, are functions of (seed,
 * s, k), so a backlog needs no memory: a node only remembers k.
 *
 * Under load=max a packet is made whenever an injection FIFO has room.  In
 * an open loop packet k is due a random (exponential) time after packet
 * k - 1, and its latency counts from then.
 */
#include "load/registry.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/wide.h"
#include "load/keys.h"
#include "load/pattern.h"
#include "meas/batches.h"
#include "route/hint.h"
#include "sim/exponential.h"
#include "sim/random.h"

#define AT(field) offsetof(struct synthetic, field)
#define PS_PER_S  INT64_C(1000000000000)

enum { LOAD_MAX = -1, AUTO = -1, USUAL = 512 };

enum {
	BATCH_PACKETS = 32, /* length of a batch, in packet times */
	MEASURE_BATCHES = 10,
	WARM_LIMIT = 60, /* batches, when nothing settles */
	MEASURE_LIMIT = 120,
	GOAL_PPM = 5000, /* half width of the confidence interval */
	BACKLOG_PPM = 20000, /* growth that means saturated */
};

struct source {
	uint64_t k; /* the next packet's number */
	struct random_bits bits; /* one draw serves four packets */
	sim_time due; /* of an open loop's packet k */
	packet_id pending; /* made, but its FIFO was full */
	uint32_t fifo; /* of that, or NET_NO_FIFO: any */
	bool is_timed; /* its due event is on its way */
};

/* Per worker. */
struct meter {
	_Alignas(64) uint64_t *batch; /* bytes delivered in each */
	uint32_t room;
	struct hist latency;
};

enum stage { WARMING, MEASURING, DONE };

enum { MIXED = 2, PPM = 1000000, MOST_LOAD = 4 };

struct synthetic {
	struct load load;
	/* keys */
	int64_t rate; /* a PARAM_LOAD, or LOAD_MAX */
	int64_t bytes;
	int64_t routing; /* 0 dynamic, 1 deterministic, MIXED */
	int64_t class; /* 0 user, 1 high, 2 system */
	char zones[PARAM_TEXT_MAX];
	int64_t warmup, measure; /* or AUTO */
	int64_t hot, share, hashed;

	struct pattern pattern;
	uint8_t kind;
	bool is_mixed;
	int64_t peak; /* 0: none */
	int64_t offered; /* bytes per second and node; 0: all it can */
	sim_time gap; /* mean, of an open loop, Q8 */
	struct source *source;
	struct meter *meter;
	sim_time batch, shift; /* batch i begins at i * batch - shift */
	sim_time packet_time;
	enum stage stage;
	sim_time from, until; /* measured */
	uint64_t backlog_before, generated_before;
	bool is_saturated;
};

static const struct param params[] = {
	KEY(PARAM_LOAD, "load", AT(rate), "max", 1, MOST_LOAD *PPM, "max",
		"offered load: payload per second and node, or a fraction of "
		"the pattern's peak rate, or of one link's rate where the "
		"pattern has no known peak; max: a packet whenever an "
		"injection FIFO has room"),
	KEY(PARAM_BYTES, "bytes", AT(bytes), "auto", 0, 8096, "auto",
		"payload of each packet; auto: 512 B, or as much as one "
		"carries"),
	KEY_WORD("routing", AT(routing), "dynamic",
		"dynamic|deterministic|mixed",
		"routing of packets; dynamic: adaptive; deterministic: always "
		"by the same way; mixed: a share of them deterministic"),
	KEY(PARAM_FRACTION, "hashed", AT(hashed), "50 %", 0, 1000000, NULL,
		"share of a mix's packets that are routed deterministically"),
	KEY_WORD("class", AT(class), "user", "user|high|system",
		"class of the packets; high and system packets are routed "
		"deterministically"),
	KEY_ZONES(AT(zones)),
	KEY(PARAM_TIME, "warmup", AT(warmup), "auto", 0, PS_PER_S, "auto",
		"warm-up time that is not measured; auto: until the throughput "
		"is steady"),
	KEY(PARAM_TIME, "measure", AT(measure), "auto", 1000000, PS_PER_S,
		"auto",
		"measured time; auto: until the throughput is known to within "
		"0.5 % with 95 % confidence"),
	KEY_NODE("hot", AT(hot), "0", "node that is the hotspot"),
	KEY(PARAM_FRACTION, "share", AT(share), "10 %", 0, 1000000, NULL,
		"share of all packets that are sent to the hotspot"),
};

enum { N_PARAMS = sizeof(params) / sizeof(params[0]) };

static struct synthetic *of(struct load *l)
{
	return (struct synthetic *)l;
}

/* --- sources --- */

static sim_time gap(const struct synthetic *y, site_id s, uint64_t k)
{
	uint64_t x = random_draw(y->load.seed, s, RANDOM_GAP, k).a;

	return (sim_time)((uint128)(uint64_t)y->gap * exponential_q32(x | 1) >>
			  40);
}

/* Of a source's k-th packet: the deterministic ones are evenly spread. */
static uint8_t mixed_kind(const struct synthetic *y, uint64_t k)
{
	uint64_t h = (uint64_t)y->hashed;

	return (k + 1) * h / PPM != k * h / PPM ? PACKET_DETERMINISTIC
						: PACKET_DYNAMIC;
}

static inline __attribute__((always_inline)) packet_id make_packet(
	struct synthetic *y, struct sim_worker *w, site_id s, sim_time t)
{
	struct source *src = &y->source[s];
	struct net *n = y->load.net;
	uint64_t bits;
	packet_id id;
	struct packet *p;
	site_id to;

	if (src->k % 4 == 0)
		src->bits =
			random_draw(y->load.seed, s, RANDOM_TARGET, src->k / 4);
	bits = src->k % 2 ? src->bits.b : src->bits.a;
	to = pattern_target(
		&y->pattern, s, src->k, src->k % 4 < 2 ? bits << 32 : bits);
	if (to == NO_SITE)
		return NO_PACKET;
	id = packet_take(n->pool, w->id);
	p = &n->packets[id];
	*p = (struct packet){
		.src = s,
		.dst = to,
		.number = (uint32_t)src->k,
		.born = y->rate == LOAD_MAX ? t : src->due,
		.kind = y->is_mixed ? mixed_kind(y, src->k) : y->kind,
		.bytes = (uint16_t)y->bytes,
	};
	src->k++;
	if (y->rate != LOAD_MAX)
		src->due += gap(y, s, src->k);
	return id;
}

/* load=max: a FIFO that has room is filled up. */
static void fill(struct synthetic *y, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	while (net_has_room(y->load.net, s, fifo)) {
		packet_id id = make_packet(y, w, s, t);

		if (!id)
			return;
		net_inject(y->load.net, w, s, fifo, id, t);
	}
}

/* Makes and injects packets until something has to be waited for. */
static void pump(struct synthetic *y, struct sim_worker *w, site_id s,
	uint32_t first, sim_time t)
{
	struct source *src = &y->source[s];

	for (;;) {
		packet_id id = src->pending;
		uint32_t fifo;

		if (!id && y->rate != LOAD_MAX && src->due > t) {
			if (!src->is_timed)
				sim_post(w, s, src->due,
					SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0,
					0);
			src->is_timed = true;
			return;
		}
		if (!id) {
			id = make_packet(y, w, s, t);
			if (!id)
				return;
			src->pending = id;
			src->fifo = load_own_fifo(y->load.net, id);
		}
		fifo = src->fifo;
		if (fifo == NET_NO_FIFO)
			fifo = load_find_fifo(y->load.net, s, id, first);
		else if (!net_has_room(y->load.net, s, fifo))
			return;
		if (fifo == NET_NO_FIFO)
			return;
		src->pending = NO_PACKET;
		if (y->rate == LOAD_MAX)
			y->load.net->packets[id].born = t;
		net_inject(y->load.net, w, s, fifo, id, t);
	}
}

static void on_room(struct net *n, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct synthetic *y = n->client_state;

	if (y->source[s].due <= t)
		y->source[s].is_timed = false;
	if (y->rate == LOAD_MAX && y->kind == PACKET_DYNAMIC)
		fill(y, w, s, fifo, t);
	else
		pump(y, w, s, fifo < net_fifos(n, NET_USER).count ? fifo : 0,
			t);
}

/* A FIFO is to be filled for the first time, or a packet is due. */
static void on_event(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	struct sim_event e)
{
	n->client->on_room(n, w, s, sim_aux(&e), t);
}

static void on_packet(struct net *n, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct synthetic *y = n->client_state;
	struct packet *p = &n->packets[id];
	struct meter *m = &y->meter[w->id];
	uint32_t i = (uint32_t)((tail + y->shift) / y->batch);

	(void)fifo;
	(void)t;
	load_delivered(&y->load, s, p, tail);
	if (i >= m->room) {
		uint32_t room = 2 * i + 64;

		m->batch = mem_grow(m->batch, room, sizeof(*m->batch));
		memset(m->batch + m->room, 0,
			(room - m->room) * sizeof(*m->batch));
		m->room = room;
	}
	m->batch[i] += p->bytes;
	if (y->stage == MEASURING)
		hist_add(&m->latency, tail - p->born);
	packet_give(n->pool, w->id, id);
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

/* --- the course of a run --- */

static int64_t peak_of(const struct synthetic *y, const struct topo *t,
	const struct link_params *link)
{
	if (!y->bytes || y->pattern.kind != PATTERN_RANDOM)
		return 0;
	return load_peak(t, link, (uint32_t)y->bytes);
}

static void set_batches(struct synthetic *y)
{
	y->batch = BATCH_PACKETS * y->packet_time;
	if (y->measure != AUTO)
		y->batch = y->measure / MEASURE_BATCHES;
	if (y->warmup != AUTO)
		y->shift = (y->batch - y->warmup % y->batch) % y->batch;
}

/* Bytes per second and node: as the key says, or of the peak. */
static int set_load(struct synthetic *y, const struct topo *t,
	const struct link_params *link, struct err *e)
{
	bool is_rate = y->rate > UNIT_ABSOLUTE;
	int128 one = load_link_rate(link, (uint32_t)y->bytes);
	int128 most = one * t->n_ports * MOST_LOAD;
	int128 ppm = is_rate ? (int128)(y->rate - UNIT_ABSOLUTE) * PPM
			     : (y->peak ? y->peak : one) * y->rate;

	if (!y->bytes)
		return err_set(e, "load: packets without payload have no rate "
				  "(want load=max with bytes=0)");
	if (is_rate && ppm > most * PPM)
		return err_set(e,
			"load: more than %d times what all links of a router "
			"carry (want at most %.4g GB/s)",
			MOST_LOAD, (double)most / 1e9);
	y->offered = (int64_t)(ppm / PPM);
	y->gap = (sim_time)((int128)y->bytes * PS_PER_S * 256 * PPM / ppm);
	return 0;
}

static int synthetic_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct synthetic *y = of(l);

	if (y->bytes == AUTO)
		y->bytes = link->payload < USUAL ? link->payload : USUAL;
	if (y->bytes > link->payload)
		return err_set(e,
			"bytes: %lld is more than a packet carries (want at "
			"most %lld)",
			(long long)y->bytes, (long long)link->payload);
	if (load_set_zones(r, y->zones, e))
		return -1;
	y->pattern.kind = (enum pattern_kind)l->ops->variant;
	y->pattern.hot = (site_id)y->hot;
	y->pattern.share_ppm = (uint32_t)y->share;
	if (pattern_init(&y->pattern, t, l->seed, e))
		return -1;
	y->kind = load_kind(y->class, y->routing == 1);
	y->is_mixed = y->routing == MIXED && !y->class;
	y->peak = peak_of(y, t, link);
	y->packet_time = load_packet_time(link, (uint32_t)y->bytes);
	set_batches(y);
	return y->rate == LOAD_MAX ? 0 : set_load(y, t, link, e);
}

/* Under load=max nodes and their FIFOs begin one after the other, within a
 * packet's time: hardware would not begin in step, either. */
static sim_time first_fill(const struct synthetic *y, site_id s, uint32_t fifo)
{
	uint64_t x = random_draw(y->load.seed, s, RANDOM_GAP, 0).a;
	uint64_t time = (uint64_t)y->packet_time;

	return (sim_time)((random_below(x, time) +
				  fifo * time /
					  net_fifos(y->load.net, NET_USER)
						  .count) %
			  time);
}

static void synthetic_start(struct load *l)
{
	struct synthetic *y = of(l);
	struct net *n = l->net;
	uint16_t key = SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), f;
	site_id s;

	y->source = map_alloc(n->n_sites * sizeof(*y->source));
	y->meter = map_alloc(sim_n_workers(n->sim) * sizeof(*y->meter));
	for (s = 0; s < n->n_nodes; s++) {
		struct sim_worker *w = sim_owner(n->sim, s);
		struct source *src = &y->source[s];

		if (y->rate != LOAD_MAX) {
			src->due = gap(y, s, 0);
			src->is_timed = true;
			sim_post(w, s, src->due, key, 0, 0);
			continue;
		}
		for (f = 0; f < net_fifos(n, NET_USER).count; f++)
			sim_post(w, s, first_fill(y, s, f), key, f, 0);
	}
}

/* All workers' samples of batches [from, to), to be freed: a window may be
 * longer than any number of them. */
static uint64_t *samples(const struct synthetic *y, uint32_t from, uint32_t to)
{
	uint64_t *sample = mem_alloc(to - from + 1, sizeof(*sample));
	uint32_t w, i;

	for (w = 0; w < sim_n_workers(y->load.net->sim); w++) {
		const struct meter *m = &y->meter[w];

		for (i = from; i < to && i < m->room; i++)
			sample[i - from] += m->batch[i];
	}
	return sample;
}

/* Packets due by now, and those of them that are not yet in a FIFO. */
static void count_backlog(
	const struct synthetic *y, uint64_t *generated, uint64_t *backlog)
{
	sim_time now = sim_now(y->load.net->sim);
	site_id s;

	*generated = *backlog = 0;
	if (y->rate == LOAD_MAX)
		return;
	for (s = 0; s < y->load.net->n_nodes; s++) {
		const struct source *src = &y->source[s];
		uint64_t k = src->k;
		sim_time due = src->due;

		while (due < now)
			due += gap(y, s, ++k);
		*generated += k;
		*backlog += k - src->k + (src->pending != NO_PACKET);
	}
}

static void begin_measuring(struct synthetic *y, sim_time now)
{
	y->stage = MEASURING;
	y->from = now;
	book_clear(y->load.net->book);
	count_backlog(y, &y->generated_before, &y->backlog_before);
}

static void end_measuring(struct synthetic *y, sim_time now)
{
	uint64_t generated, backlog;

	y->stage = DONE;
	y->until = now;
	count_backlog(y, &generated, &backlog);
	generated -= y->generated_before;
	y->is_saturated = backlog > y->backlog_before &&
			  (uint128)(backlog - y->backlog_before) * 1000000 >
				  (uint128)generated * BACKLOG_PPM;
}

static bool is_warm(const struct synthetic *y, uint32_t i)
{
	uint64_t *sample;
	bool is;

	if (y->warmup != AUTO)
		return (sim_time)i * y->batch - y->shift >= y->warmup;
	if (i >= WARM_LIMIT)
		return true;
	sample = samples(y, 0, i);
	is = batches_warm(sample, i);
	mem_free(sample);
	return is;
}

static uint32_t half_width(const struct synthetic *y, uint32_t i)
{
	uint32_t from = (uint32_t)((y->from + y->shift) / y->batch);
	uint64_t *sample = samples(y, from, i);
	uint32_t width = batches_half_width(sample, i - from);

	mem_free(sample);
	return width;
}

static bool is_measured(const struct synthetic *y, uint32_t i)
{
	uint32_t n = i - (uint32_t)((y->from + y->shift) / y->batch);

	if (y->measure != AUTO || n >= MEASURE_LIMIT)
		return n >= MEASURE_BATCHES;
	return n >= MEASURE_BATCHES && half_width(y, i) <= GOAL_PPM;
}

static void tell_progress(struct synthetic *y, uint32_t i, sim_time now)
{
	struct load_progress p = { .now = now };

	if (!y->load.on_progress)
		return;
	p.hops = net_total(y->load.net).hops;
	if (y->warmup != AUTO && y->measure != AUTO)
		p.per_mille = (uint32_t)(now * 1000 / (y->warmup + y->measure));
	else
		p.per_mille = i * 1000 / (2 * WARM_LIMIT);
	y->load.on_progress(y->load.progress_arg, &p);
}

static sim_time synthetic_next(struct load *l)
{
	struct synthetic *y = of(l);
	sim_time now = sim_now(l->net->sim);
	uint32_t i = (uint32_t)((now + y->shift) / y->batch);
	sim_time edge = (sim_time)i * y->batch - y->shift;

	tell_progress(y, i, now);
	if (y->stage == WARMING && edge >= 0 && is_warm(y, i))
		begin_measuring(y, edge);
	else if (y->stage == MEASURING && is_measured(y, i))
		end_measuring(y, edge);
	return y->stage == DONE ? SIM_NEVER : edge + y->batch;
}

/* A run that was stopped has measured whole batches so far, if any. */
static void stop_measuring(struct synthetic *y)
{
	sim_time now = sim_now(y->load.net->sim);
	sim_time edge = (now + y->shift) / y->batch * y->batch - y->shift;

	if (y->stage == MEASURING && edge > y->from)
		end_measuring(y, edge);
}

static void synthetic_report(struct load *l, struct load_result *r)
{
	struct synthetic *y = of(l);
	uint32_t first, last, i, width;
	uint64_t *sample;

	if (r->ending == LOAD_FINISHED && y->is_saturated)
		r->ending = LOAD_SATURATED;
	r->has_peak = y->peak > 0;
	r->peak_bps = y->peak;
	r->offered_bps = y->offered;
	stop_measuring(y);
	if (y->stage != DONE)
		return;
	first = (uint32_t)((y->from + y->shift) / y->batch);
	last = (uint32_t)((y->until + y->shift) / y->batch);
	r->has_throughput = true;
	r->measured = y->until - y->from;
	if (r->end < y->until)
		r->end = y->until;
	sample = samples(y, first, last);
	for (i = 0; i < last - first; i++)
		r->bytes += sample[i];
	mem_free(sample);
	for (i = 0; i < sim_n_workers(l->net->sim); i++)
		hist_merge(&r->latency, &y->meter[i].latency);
	load_figure(r, "warmup_ns", (double)y->from / SIM_NS);
	load_figure(r, "measured_ns", (double)r->measured / SIM_NS);
	load_figure(r, "packet_time_ns", (double)y->packet_time / SIM_NS);
	width = half_width(y, last);
	if (width != UINT32_MAX)
		load_figure(r, "confidence_95_half_width_pct", width / 1e4);
}

static void synthetic_fini(struct load *l)
{
	struct synthetic *y = of(l);
	uint32_t i;

	pattern_fini(&y->pattern);
	if (!l->net)
		return;
	for (i = 0; i < sim_n_workers(l->net->sim); i++)
		mem_free(y->meter[i].batch);
	map_free(y->meter, sim_n_workers(l->net->sim) * sizeof(*y->meter));
	map_free(y->source, l->net->n_sites * sizeof(*y->source));
}

#define SYNTHETIC(symbol, kind, word, text, n)                                 \
	const struct load_ops symbol = {                                       \
		.name = word,                                                  \
		.help = text,                                                  \
		.size = sizeof(struct synthetic),                              \
		.params = params,                                              \
		.n_params = n,                                                 \
		.variant = kind,                                               \
		.client = &client,                                             \
		.init = synthetic_init,                                        \
		.start = synthetic_start,                                      \
		.next = synthetic_next,                                        \
		.report = synthetic_report,                                    \
		.fini = synthetic_fini,                                        \
	}

SYNTHETIC(load_random, PATTERN_RANDOM, "random",
	"every packet to a random other node", N_PARAMS - 2);
SYNTHETIC(load_neighbours, PATTERN_NEIGHBOUR, "neighbours",
	"packets to all neighbours in turn", N_PARAMS - 2);
SYNTHETIC(load_transpose, PATTERN_TRANSPOSE, "transpose",
	"packets to the node whose number has its halves swapped",
	N_PARAMS - 2);
SYNTHETIC(load_reversal, PATTERN_REVERSE, "bit-reversal",
	"packets to the node whose number has its bits reversed", N_PARAMS - 2);
SYNTHETIC(load_tornado, PATTERN_TORNADO, "tornado",
	"packets just under half way round each dimension", N_PARAMS - 2);
SYNTHETIC(load_complement, PATTERN_COMPLEMENT, "complement",
	"packets to the node's mirror image", N_PARAMS - 2);
SYNTHETIC(load_permutation, PATTERN_PERMUTATION, "permutation",
	"packets according to a random permutation of the nodes", N_PARAMS - 2);
SYNTHETIC(load_hotspot, PATTERN_HOTSPOT, "hotspot",
	"random packets, a share of which go to one node", N_PARAMS);
