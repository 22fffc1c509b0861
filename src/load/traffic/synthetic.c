/* The course of a run of synthetic traffic: keys, warm-up, measurement. */
#include "load/traffic/synthetic.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/wide.h"
#include "load/keys.h"
#include "load/registry.h"
#include "meas/batches.h"

#define AT(field) offsetof(struct synthetic, field)

enum { USUAL = 512, MOST_LOAD = 4, MOST_BURST = 1000000 };

/* Of a message; and the longest mean time between units. */
#define MOST_MESSAGE (INT64_C(1) << 30)
#define MOST_GAP     (100 * PS_PER_S)

enum {
	BATCH_PACKETS = 32, /* length of a batch, in packet times, */
	BATCH_UNITS = 8, /* times a unit's packets, up to so many */
	MEASURE_BATCHES = 10,
	WARM_LIMIT = 60, /* batches, when nothing settles */
	MEASURE_LIMIT = 120,
	GOAL_PPM = 5000, /* half width of the confidence interval */
	SHORTFALL_PPM = 20000, /* of what is offered: less is noise */
	LEAST_UNITS = 10, /* that a measured time must be long enough for */
	LEAST_WAYS = 3, /* times a packet's way, until a network is full */
};

#define KEY_LOAD                                                               \
	KEY(PARAM_LOAD, "load", AT(rate), "max", 1, MOST_LOAD *PPM, "max",     \
		"offered load: payload per second and node, or a fraction of " \
		"the pattern's peak rate, or of one link's rate if the "       \
		"pattern has no known peak; max: a packet whenever an "        \
		"injection FIFO has room")

#define KEY_HOT(text) KEY_NODE("hot", AT(hot), "0", text)

/* Of all patterns. */
#define KEYS                                                                   \
	KEY(PARAM_BYTES, "bytes", AT(bytes), "auto", 0, 8096, "auto",          \
		"payload of each packet; auto: 512 B, or link.payload if "     \
		"that is less"),                                               \
		KEY(PARAM_BYTES, "message", AT(message), "auto", 1,            \
			MOST_MESSAGE, "auto",                                  \
			"payload of each message, whose packets all go to "    \
			"one node; "                                           \
			"auto: one packet"),                                   \
		KEY_WORD("routing", AT(routing), "dynamic",                    \
			"dynamic|deterministic|mixed",                         \
			"routing of packets; dynamic: adaptive; "              \
			"deterministic: "                                      \
			"always the same route; mixed: deterministic for a "   \
			"share of them"),                                      \
		KEY(PARAM_FRACTION, "hashed", AT(hashed), "50 %", 0, 1000000,  \
			NULL,                                                  \
			"share of messages with routing=mixed that are "       \
			"routed "                                              \
			"deterministically"),                                  \
		KEY_WORD("class", AT(class), "user", "user|high|system",       \
			"class of the packets; high and system packets are "   \
			"routed "                                              \
			"deterministically"),                                  \
		KEY_ZONES(AT(zones)),                                          \
		KEY(PARAM_TIME, "warmup", AT(warmup), "auto", 0, PS_PER_S,     \
			"auto",                                                \
			"warm-up time that is not measured; auto: until the "  \
			"throughput is steady"),                               \
		KEY(PARAM_TIME, "measure", AT(measure), "auto", 1000000,       \
			PS_PER_S, "auto",                                      \
			"measured time; auto: until the throughput is known "  \
			"to "                                                  \
			"within 0.5 % with 95 % confidence")

/* Of those that generate at random times. */
#define KEY_BURST                                                              \
	KEY_COUNT("burst", AT(burst), "1", 1, MOST_BURST,                      \
		"number of messages that a node generates at once; the "       \
		"average load stays "                                          \
		"the same")

static const struct param params[] = {
	KEY_LOAD,
	KEYS,
	KEY_BURST,
	KEY_HOT("node that is the hotspot"),
	KEY(PARAM_FRACTION, "share", AT(share), "10 %", 0, 1000000, NULL,
		"share of all messages that the hotspot receives"),
};

static const struct param shift_params[] = {
	KEY_COUNT("by", AT(by), "1", 1, TOPO_MAX_ROUTERS,
		"number of groups between the sender's and the receiver's"),
	KEY_LOAD,
	KEYS,
	KEY_BURST,
};

static const struct param router_params[] = {
	KEY_COUNT("by", AT(by), "1", 1, TOPO_MAX_ROUTERS,
		"number of routers between the sender's and the receiver's"),
	KEY_COUNT("along", AT(along), "1", 1, TOPO_MAX_DIMS,
		"dimension of the shift"),
	KEY_LOAD,
	KEYS,
	KEY_BURST,
};

static const struct param matrix_params[] = {
	KEY_TEXT("file", AT(file), "none",
		"traffic matrix: a line of source,destination,weight or "
		"source,destination,rate for each pair of nodes"),
	KEY_LOAD,
	KEYS,
	KEY_BURST,
};

static const struct param incast_params[] = {
	KEY_HOT("node that receives"),
	KEY(PARAM_COUNT, "fan", AT(fan), "all", 1, TOPO_MAX_ROUTERS, "all",
		"number of nodes that send a message at the same time, chosen "
		"at random each time"),
	KEY(PARAM_TIME, "period", AT(period), "auto", 1000, PS_PER_S, "auto",
		"interval between incasts; auto: twice the time that the "
		"receiver's link needs for the messages of an incast"),
	KEYS,
};

enum { N_PARAMS = sizeof(params) / sizeof(params[0]) };
enum { N_ROUTER = sizeof(router_params) / sizeof(router_params[0]) };
enum { N_SHIFT = sizeof(shift_params) / sizeof(shift_params[0]) };
enum { N_MATRIX = sizeof(matrix_params) / sizeof(matrix_params[0]) };
enum { N_INCAST = sizeof(incast_params) / sizeof(incast_params[0]) };

static struct synthetic *of(struct load *l)
{
	return (struct synthetic *)l;
}

/* --- the course of a run --- */

static int64_t peak_of(const struct synthetic *y)
{
	if (!y->bytes || y->pattern.kind != PATTERN_RANDOM)
		return 0;
	return load_peak(y->load.topo, y->load.link, (uint32_t)y->bytes);
}

/* The time that a link needs for what is sent at once. */
static sim_time unit_time(const struct synthetic *y)
{
	uint32_t packets = y->per_unit > y->whole ? y->per_unit : y->whole;

	return packets * y->packet_time;
}

static void set_batches(struct synthetic *y)
{
	uint32_t unit = y->per_unit < BATCH_UNITS ? y->per_unit : BATCH_UNITS;

	y->batch = BATCH_PACKETS * unit * y->packet_time;
	if (y->batch < unit_time(y))
		y->batch = unit_time(y);
	if (y->pattern.kind == PATTERN_INCAST)
		y->batch = (y->batch / y->period + 1) * y->period;
	if (y->measure != AUTO)
		y->batch = y->measure / MEASURE_BATCHES;
	if (y->warmup != AUTO)
		y->shift = (y->batch - y->warmup % y->batch) % y->batch;
	/* the warm-up begins when it does */
	y->shift = (y->shift + y->batch - y->load.begin % y->batch) % y->batch;
}

static uint64_t unit_bytes(const struct synthetic *y)
{
	return (uint64_t)y->message * (uint64_t)(y->burst ? y->burst : 1);
}

/* Bytes per second and node, in millionths: as the key says, or of the peak. */
static int128 offered(const struct synthetic *y, int128 link)
{
	if (y->matrix.is_rates)
		return (int128)y->matrix.total * PPM / y->matrix.n;
	if (y->rate > UNIT_ABSOLUTE)
		return (int128)(y->rate - UNIT_ABSOLUTE) * PPM;
	return (y->peak ? y->peak : link) * y->rate;
}

static int set_load(struct synthetic *y, struct err *e)
{
	int128 one, most, ppm;

	if (!y->bytes)
		return err_set(e, "load: packets without payload have no rate "
				  "(want load=max with bytes=0)");
	one = load_link_rate(y->load.link, (uint32_t)y->bytes);
	most = one * y->load.topo->n_ports * MOST_LOAD;
	ppm = offered(y, one);
	if (ppm > most * PPM && !(y->rate > 0 && y->rate < UNIT_ABSOLUTE))
		return err_set(e,
			"load: more than %d times what all links of a router "
			"carry (want at most %.4g GB/s)",
			MOST_LOAD, (double)most / 1e9);
	if ((int128)unit_bytes(y) * PS_PER_S * PPM > ppm * MOST_GAP)
		return err_set(e, "load: too small: a node would send less "
				  "than once in 100 s");
	y->offered = (int64_t)(ppm / PPM);
	y->gap = (sim_time)((int128)unit_bytes(y) * PS_PER_S * 256 * PPM / ppm);
	return 0;
}

/* Trains of a message, or packets: the packets of a train take the same card,
 * as they would without trains. */
static uint32_t count_trains(const struct synthetic *y)
{
	uint32_t cards = y->load.topo->cards ? y->load.topo->cards : 1;
	uint32_t round = cards * y->train, rest = y->cut % round;

	return y->cut / round * cards + (rest < cards ? rest : cards);
}

/* Trains are exact for a message that is alone: they leave a node one after
 * the other, as packets do, or by cards whose paths do not meet. */
static int check_trains(const struct synthetic *y, struct err *e)
{
	const struct topo *t = y->load.topo;
	bool is_adaptive = !y->class && y->routing != 1;

	if (y->train <= 1 || y->cut <= 1)
		return 0;
	if (t->cards && !t->has_apart_paths)
		return err_set(e,
			"coarse: paths of a node's cards share links, where "
			"trains of one message wait for each other (want "
			"coarse=1)");
	if (!t->cards && t->node_ports > 1 && is_adaptive)
		return err_set(e,
			"coarse: packets of a message leave a node by several "
			"links at once, but a train by one (want coarse=1, or "
			"packets that follow one path: routing=deterministic)");
	return 0;
}

/* A message's packets are full but for the last one. */
static int cut_messages(struct synthetic *y, struct err *e)
{
	int64_t most = y->load.link->payload;

	if (y->bytes == AUTO)
		y->bytes = most < USUAL ? most : USUAL;
	if (y->bytes > most)
		return err_set(e,
			"bytes: %lld is more than a packet carries (want at "
			"most %lld, or message=%lld for messages of several "
			"packets)",
			(long long)y->bytes, (long long)most,
			(long long)y->bytes);
	if (!y->bytes && y->message != AUTO)
		return err_set(e, "message: packets without payload carry no "
				  "message");
	if (y->message == AUTO)
		y->message = y->bytes;
	y->each = (uint32_t)(y->bytes == most ? link_longest(y->load.link)
					      : y->bytes);
	y->train = y->bytes ? y->each / (uint32_t)y->bytes : 1;
	y->cut = 1;
	if (y->message > y->bytes)
		y->cut = (uint32_t)((y->message + y->bytes - 1) / y->bytes);
	if (check_trains(y, e))
		return -1;
	y->per_message = count_trains(y);
	y->last_bytes = (uint32_t)(y->message - (y->per_message - 1) * y->each);
	y->per_unit = y->per_message * (uint32_t)(y->burst ? y->burst : 1);
	y->whole = y->per_message;
	if ((uint64_t)y->per_message * (uint64_t)(y->burst ? y->burst : 1) >
		UINT32_MAX)
		return err_set(e, "burst: more than 2^32 packets at once");
	return 0;
}

/* All that comes to one node at once, and how often. */
static int set_incast(struct synthetic *y, struct err *e)
{
	uint32_t others = load_n_nodes(&y->load) - 1;
	int64_t rate, bytes;

	if (y->fan == AUTO)
		y->fan = others;
	if (y->fan > others)
		return err_set(e, "fan: only %u other nodes can send", others);
	if (!y->bytes)
		return err_set(e, "bytes: packets of an incast need a payload");
	rate = load_link_rate(y->load.link, (uint32_t)y->bytes);
	bytes = y->fan * y->message;
	if (y->period == AUTO)
		y->period = (sim_time)((int128)bytes * 2 * PS_PER_S / rate);
	if ((int128)bytes * PS_PER_S >
		(int128)y->period * rate * y->load.topo->n_ports * MOST_LOAD)
		return err_set(e,
			"period: too short: nodes would send more than %d "
			"times what all links of a router carry",
			MOST_LOAD);
	y->whole = y->per_message * (uint32_t)y->fan;
	y->rate = UNIT_ABSOLUTE;
	y->offered =
		(int64_t)((int128)bytes * PS_PER_S / y->period / (others + 1));
	return 0;
}

static int read_matrix(struct synthetic *y, struct err *e)
{
	if (!*y->file || !strcmp(y->file, "none"))
		return err_set(e, "file: want a traffic matrix (see "
				  "weft-run(1))");
	if (matrix_read(&y->matrix, y->file, "node", load_n_nodes(&y->load), e))
		return -1;
	if (y->matrix.is_rates && y->rate != LOAD_MAX)
		return err_set(e,
			"load: %s has rates, so the load cannot be given",
			y->file);
	return 0;
}

static int set_pattern(struct synthetic *y, struct err *e)
{
	y->pattern.kind = (enum pattern_kind)y->load.ops->variant;
	y->pattern.n = load_n_nodes(&y->load);
	y->pattern.is_part = y->load.place != NULL;
	y->pattern.matrix = &y->matrix;
	y->pattern.hot = (site_id)y->hot;
	y->pattern.by = (uint32_t)y->by;
	y->pattern.along = (uint32_t)y->along;
	y->pattern.share_ppm = (uint32_t)y->share;
	return pattern_init(&y->pattern, y->load.topo, y->load.seed, e);
}

static int synthetic_init(struct load *l, struct err *e)
{
	struct synthetic *y = of(l);

	if (cut_messages(y, e) || load_set_zones(l->route, y->zones, e) ||
		set_pattern(y, e))
		return -1;
	if (y->pattern.kind == PATTERN_MATRIX && read_matrix(y, e))
		return -1;
	if (y->pattern.kind == PATTERN_INCAST && set_incast(y, e))
		return -1;
	y->kind = load_kind(y->class, y->routing == 1);
	y->is_mixed = y->routing == MIXED && !y->class;
	y->is_open = y->rate != LOAD_MAX || y->matrix.is_rates;
	y->peak = peak_of(y);
	y->packet_time = load_packet_time(l->link, y->each);
	set_batches(y);
	if (!y->is_open && y->burst > 1)
		return err_set(e, "burst: has no effect with load=max, where a "
				  "node always sends");
	if (!y->is_open || y->pattern.kind == PATTERN_INCAST)
		return 0;
	return set_load(y, e);
}

static void synthetic_start(struct load *l)
{
	struct synthetic *y = of(l);

	y->meter = map_alloc(sim_n_workers(l->net->sim) * sizeof(*y->meter));
	source_start(y);
}

/* All workers' and processes' samples of batches [from, to), to be freed: a
 * window may be longer than any number of them. */
static uint64_t *samples(const struct synthetic *y, uint32_t from, uint32_t to)
{
	uint64_t *sample = mem_alloc(to - from + 1, sizeof(*sample));

	for (uint32_t w = 0; w < sim_n_workers(y->load.net->sim); w++) {
		const struct meter *m = &y->meter[w];

		for (uint32_t i = from; i < to && i < m->room; i++)
			sample[i - from] += m->batch[i];
	}
	sim_sum(y->load.net->sim, sample, to - from);
	return sample;
}

/*
 * What nodes have generated until now, and what of it is still under way: what
 * faults took is not.  That a message's last packet may be shorter comes out
 * even.  Not by batches, which end a part of a window ago.
 */
static struct judged look(const struct synthetic *y, uint32_t n)
{
	enum { PACKETS, GONE, DELIVERED, N };
	uint64_t x[N] = { [PACKETS] = source_generated(y) };
	struct judged now = { .batches = n };

	for (uint32_t w = 0; w < sim_n_workers(y->load.net->sim); w++) {
		const struct meter *m = &y->meter[w];

		x[GONE] += m->lost + m->damaged;
		for (uint32_t i = 0; i < m->room; i++)
			x[DELIVERED] += m->batch[i];
	}
	sim_sum(y->load.net->sim, x, N);
	now.generated = (uint64_t)((uint128)x[PACKETS] * (uint64_t)y->message /
				   y->per_message);
	now.gone = x[GONE] * (uint64_t)y->each;
	now.inside = now.generated - x[DELIVERED] - now.gone;
	return now;
}

static void begin_measuring(struct synthetic *y, sim_time now)
{
	y->stage = MEASURING;
	y->from = now;
	/* of several loads each would clear the others' */
	if (!y->load.place)
		book_clear(y->load.net->book);
	if (!y->is_open)
		return;
	y->judged[0] = y->judged[1] = look(y, 0);
	y->gone = y->judged[0].gone;
}

/*
 * Judged is the last part of the measured time, at least half of it, so that a
 * network that still fills up is not taken for one that is full.  Looks are
 * few, since each has to go through all that waits: after 5 batches, 10, 20...
 */
static void note_generated(struct synthetic *y, uint32_t n)
{
	struct judged *last = &y->judged[1];

	if (!y->is_open || n < MEASURE_BATCHES / 2 || n < 2 * last->batches)
		return;
	y->judged[0] = *last;
	*last = look(y, n);
}

static uint32_t first_batch(const struct synthetic *y)
{
	return (uint32_t)((y->from + y->shift) / y->batch);
}

/* Four standard deviations of what is under way, where units are generated at
 * random: of those at both ends of the time, or of all that were generated. */
static bool is_chance(const struct synthetic *y, const struct judged *now,
	uint64_t made, uint64_t more)
{
	uint64_t some = 2 * now->inside < made ? 2 * now->inside : made;

	return (uint128)more * more <= (uint128)16 * some * unit_bytes(y);
}

/*
 * Saturated: nodes get less than they generate, by more than 2 %, by more than
 * the half width of the throughput's 95 % confidence interval, and by more than
 * chance.  Where few messages fit into the time nothing can be said.
 */
static bool is_saturated(const struct synthetic *y, const struct judged *now)
{
	uint32_t n = now->batches;
	const struct judged *was =
		&y->judged[2 * y->judged[1].batches > n ? 0 : 1];
	uint32_t first = first_batch(y) + was->batches;
	uint64_t *sample = samples(y, first, first_batch(y) + n);
	uint32_t width = batches_half_width(sample, n - was->batches);
	uint64_t made = now->generated - was->generated;
	/* what faults took may be rounded up */
	int64_t more = (int64_t)(now->inside - was->inside);

	mem_free(sample);
	if (more <= 0 || width == UINT32_MAX)
		return false;
	return (uint128)(uint64_t)more * PPM > (uint128)made * SHORTFALL_PPM &&
	       (uint128)(uint64_t)more * PPM > (uint128)made * width &&
	       !is_chance(y, now, made, (uint64_t)more);
}

/* That a packet is under way in an idle network, on average; 0: not known. */
static sim_time way_time(const struct synthetic *y)
{
	const struct net *n = y->load.net;

	if (!n->route->ops->way)
		return 0;
	return (sim_time)n->route->ops->way(n->route, n->link.latency).mean;
}

/* The least measured time that says something: ten messages, or until a network
 * that was empty when the run began has long been full. */
static sim_time least_time(const struct synthetic *y)
{
	sim_time fill = LEAST_WAYS * way_time(y) - (y->from - y->load.begin);
	sim_time units = LEAST_UNITS * unit_time(y);

	return 2 * fill > units ? 2 * fill : units;
}

static void end_measuring(struct synthetic *y, sim_time now)
{
	uint32_t n = (uint32_t)((now - y->from) / y->batch);
	struct judged end;

	y->stage = DONE;
	y->until = now;
	y->is_short = now - y->from < least_time(y);
	if (!y->is_open)
		return;
	end = look(y, n);
	y->is_saturated = !y->is_short && is_saturated(y, &end);
	y->gone = end.gone - y->gone;
}

static bool is_warm(const struct synthetic *y, uint32_t i)
{
	uint64_t *sample;
	bool is;

	if (y->warmup != AUTO)
		return (sim_time)i * y->batch - y->shift >=
		       y->load.begin + y->warmup;
	if (i >= WARM_LIMIT)
		return true;
	sample = samples(y, 0, i);
	is = batches_warm(sample, i);
	mem_free(sample);
	return is;
}

static uint32_t half_width(const struct synthetic *y, uint32_t i)
{
	uint32_t from = first_batch(y);
	uint64_t *sample = samples(y, from, i);
	uint32_t width = batches_half_width(sample, i - from);

	mem_free(sample);
	return width;
}

static bool is_measured(const struct synthetic *y, uint32_t i)
{
	uint32_t n = i - first_batch(y);

	if (y->measure != AUTO || n >= MEASURE_LIMIT)
		return n >= MEASURE_BATCHES;
	return n >= MEASURE_BATCHES && n * y->batch >= least_time(y) &&
	       half_width(y, i) <= GOAL_PPM;
}

static uint32_t per_mille(const struct synthetic *y, uint32_t i, sim_time now)
{
	return y->warmup != AUTO && y->measure != AUTO
		       ? (uint32_t)(now * 1000 / (y->warmup + y->measure))
		       : i * 1000 / (2 * WARM_LIMIT);
}

static sim_time synthetic_next(struct load *l)
{
	struct synthetic *y = of(l);
	sim_time now = sim_now(l->net->sim);
	uint32_t i = (uint32_t)((now + y->shift) / y->batch);
	sim_time edge = (sim_time)i * y->batch - y->shift;

	load_tell(l, per_mille(y, i, now));
	if (y->stage == WARMING && edge >= 0 && is_warm(y, i))
		begin_measuring(y, edge);
	else if (y->stage == MEASURING && is_measured(y, i))
		end_measuring(y, edge);
	else if (y->stage == MEASURING)
		note_generated(y, i - first_batch(y));
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

/* Of what came in several packets. */
static void report_whole(const struct synthetic *y, struct load_result *r)
{
	bool is_incast = y->pattern.kind == PATTERN_INCAST;
	struct hist *h = mem_alloc(1, sizeof(*h));

	for (uint32_t i = 0; i < sim_n_workers(y->load.net->sim); i++)
		hist_merge(h, &y->meter[i].whole);
	load_share_hist(&y->load, h);
	if (h->n) {
		load_figure(
			r, is_incast ? "incasts" : "messages", (double)h->n);
		load_figure(r, is_incast ? "incast_mean_ns" : "message_mean_ns",
			(double)hist_mean(h) / SIM_NS);
		load_figure(r, is_incast ? "incast_p99_ns" : "message_p99_ns",
			(double)hist_quantile(h, 990) / SIM_NS);
		load_figure(r, is_incast ? "incast_max_ns" : "message_max_ns",
			(double)h->max / SIM_NS);
	}
	mem_free(h);
}

/* What faults took, over the whole run. */
static void report_lost(const struct synthetic *y, struct load_result *r)
{
	uint64_t x[2] = { 0 }; /* lost, damaged */

	if (!y->load.net->faults)
		return;
	for (uint32_t i = 0; i < sim_n_workers(y->load.net->sim); i++) {
		x[0] += y->meter[i].lost;
		x[1] += y->meter[i].damaged;
	}
	sim_sum(y->load.net->sim, x, 2);
	load_figure(r, "packets_lost", (double)x[0]);
	load_figure(r, "packets_damaged", (double)x[1]);
}

static void synthetic_report(struct load *l, struct load_result *r)
{
	struct synthetic *y = of(l);
	uint32_t first, last, width;
	uint64_t *sample;

	if (r->ending == LOAD_FINISHED && y->is_saturated)
		r->ending = LOAD_SATURATED;
	r->has_peak = y->peak > 0;
	r->peak_bps = y->peak;
	r->offered_bps = y->offered;
	report_lost(y, r);
	stop_measuring(y);
	if (y->stage != DONE)
		return;
	first = first_batch(y);
	last = (uint32_t)((y->until + y->shift) / y->batch);
	r->has_throughput = true;
	r->gone = y->gone;
	if (y->is_short && y->is_open) {
		r->message_time = unit_time(y) + way_time(y);
		r->least_time = least_time(y);
		r->message_what = y->pattern.kind == PATTERN_INCAST
					  ? "one incast"
				  : y->burst > 1 ? "one burst"
						 : "one message";
	}
	r->measured = y->until - y->from;
	if (r->end < y->until)
		r->end = y->until;
	sample = samples(y, first, last);
	for (uint32_t i = 0; i < last - first; i++)
		r->bytes += sample[i];
	mem_free(sample);
	for (uint32_t i = 0; i < sim_n_workers(l->net->sim); i++)
		hist_merge(&r->latency, &y->meter[i].latency);
	load_share_hist(l, &r->latency);
	load_figure(r, "warmup_ns", (double)y->from / SIM_NS);
	load_figure(r, "measured_ns", (double)r->measured / SIM_NS);
	load_figure(r, "packet_time_ns", (double)y->packet_time / SIM_NS);
	report_whole(y, r);
	width = half_width(y, last);
	if (width != UINT32_MAX)
		load_figure(r, "confidence_95_half_width_pct", width / 1e4);
}

static uint64_t synthetic_message(const struct load *l)
{
	const struct synthetic *y = (const struct synthetic *)l;

	return y->bytes == l->link->payload ? (uint64_t)y->message : 0;
}

static void synthetic_fini(struct load *l)
{
	struct synthetic *y = of(l);

	pattern_fini(&y->pattern);
	matrix_free(&y->matrix);
	if (!l->net)
		return;
	source_fini(y);
	for (uint32_t i = 0; i < sim_n_workers(l->net->sim); i++)
		mem_free(y->meter[i].batch);
	map_free(y->meter, sim_n_workers(l->net->sim) * sizeof(*y->meter));
}

#define SYNTHETIC(symbol, kind, word, text, table, n)                          \
	const struct load_ops symbol = {                                       \
		.name = word,                                                  \
		.help = text,                                                  \
		.size = sizeof(struct synthetic),                              \
		.params = table,                                               \
		.n_params = n,                                                 \
		.variant = kind,                                               \
		.can_share = true,                                             \
		.client = &source_client,                                      \
		.init = synthetic_init,                                        \
		.start = synthetic_start,                                      \
		.next = synthetic_next,                                        \
		.report = synthetic_report,                                    \
		.fini = synthetic_fini,                                        \
		.message = synthetic_message,                                  \
	}
/* All but the hotspot's. */
#define PLAIN(symbol, kind, word, text)                                        \
	SYNTHETIC(symbol, kind, word, text, params, N_PARAMS - 2)

PLAIN(load_random, PATTERN_RANDOM, "random",
	"every packet to a random other node");
PLAIN(load_neighbours, PATTERN_NEIGHBOUR, "neighbours",
	"packets to all neighbours in turn");
PLAIN(load_transpose, PATTERN_TRANSPOSE, "transpose",
	"packets to the node whose number has its halves swapped");
PLAIN(load_reversal, PATTERN_REVERSE, "bit-reversal",
	"packets to the node whose number has its bits reversed");
PLAIN(load_tornado, PATTERN_TORNADO, "tornado",
	"packets just under half way round each dimension");
PLAIN(load_complement, PATTERN_COMPLEMENT, "complement",
	"packets to the node's mirror image");
PLAIN(load_permutation, PATTERN_PERMUTATION, "permutation",
	"packets that follow a random permutation of the nodes");
PLAIN(load_worst, PATTERN_WORST, "worst",
	"packets that follow the permutation with the longest paths");
SYNTHETIC(load_group_shift, PATTERN_GROUP_SHIFT, "group-shift",
	"packets to random nodes of the next group, or one further on",
	shift_params, N_SHIFT);
SYNTHETIC(load_router_shift, PATTERN_ROUTER_SHIFT, "router-shift",
	"packets to random nodes of the next router along a dimension",
	router_params, N_ROUTER);
SYNTHETIC(load_hotspot, PATTERN_HOTSPOT, "hotspot",
	"random packets, of which one node receives a given share", params,
	N_PARAMS);
SYNTHETIC(load_matrix, PATTERN_MATRIX, "matrix",
	"packets that follow a traffic matrix", matrix_params, N_MATRIX);
SYNTHETIC(load_incast, PATTERN_INCAST, "incast",
	"messages from many nodes to one at the same time", incast_params,
	N_INCAST);
