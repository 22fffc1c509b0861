#include "link/link.h"

#include <string.h>

#include "base/hamming.h"
#include "base/mem.h"
#include "base/rs10.h"
#include "base/units.h"
#include "base/wide.h"

#define AT(field) offsetof(struct link_params, field)

#define SIZE(field_, def_, min_, max_, help_, source_)                         \
	PARAM_ROW(PARAM_BYTES, #field_, AT(field_), def_, min_, max_, help_,   \
		source_)

const struct param link_params_table[] = {
	PARAM_ROW(PARAM_RATE, "rate", AT(rate), "10 GB/s", TOPO_MIN_RATE,
		TOPO_MAX_RATE, "raw rate of a link in each direction",
		"default"),
	PARAM_ROW(PARAM_COUNT, "lanes", AT(lanes), "1", 1, 64,
		"number of lanes of a link",
		"assumed: one lane of the full rate"),
	PARAM_ROW(PARAM_RATE, "lane-rate", AT(lane_rate), "0 B/s", 0,
		TOPO_MAX_RATE,
		"raw rate of a lane, as an alternative to link.rate; 0 B/s: "
		"the link's rate divided by the number of lanes",
		NULL),
	PARAM_ROW(PARAM_COUNT, "lanes-least", AT(least_lanes), "1", 1, 64,
		"number of working lanes below which a link is dead", NULL),
	PARAM_ROW(PARAM_TIME, "retrain", AT(retrain), "0 ps", 0, PS_PER_S,
		"time that a link needs to retrain when one of its lanes dies "
		"or returns",
		NULL),
	PARAM_ONE_OF("code", AT(code), "none", LINK_CODES,
		"line code; 4b5b and 8b10b leave four fifths of the raw rate, "
		"64b66b leaves 64 of 66 bits",
		NULL),
	SIZE(header, "16 B", 1, 4096,
		"size of the header in front of the payload", "default"),
	SIZE(trailer, "4 B", 0, 4096,
		"size of the check bytes after the payload", "default"),
	SIZE(payload, "1 KiB", 0, 8096, "largest payload of a packet",
		"default"),
	SIZE(chunk, "16 B", 1, 4096,
		"buffer space that one token (credit) stands for", "default"),
	SIZE(word, "0 B", 0, 4096,
		"unit that the payload is rounded up to on the wire; 0: a "
		"chunk",
		NULL),
	PARAM_ROW(PARAM_COUNT, "control.words", AT(control), "0", 0, 64,
		"number of control words sent after every link.control.every "
		"words",
		NULL),
	PARAM_ROW(PARAM_COUNT, "control.every", AT(control_every), "1", 1, 4096,
		"number of words between control words", NULL),
	SIZE(protocol, "0 B", 0, 4096,
		"bytes that the receiver returns for each packet: an "
		"acknowledgement and a token packet",
		"default"),
	SIZE(gap, "0 B", 0, 4096, "idle bytes between two packets", "default"),
	SIZE(transaction, "0 B", 0, 8096,
		"payload of a transaction, which has link.per-transaction "
		"bytes of overhead; 0: the payload is not divided",
		NULL),
	PARAM_ROW(PARAM_BYTES, "per-transaction", AT(per_transaction), "0 B", 0,
		4096, "overhead of each transaction", NULL),
	{ 0 },
};

const struct param link_train_table[] = {
	PARAM_ROW(PARAM_COUNT, "train", AT(train), "1", 1, LINK_TRAIN,
		"number of packets of a message that are simulated as one "
		"train, which takes their time and space; buffers and windows "
		"have room for some more",
		"assumed: every packet by itself"),
	{ 0 },
};

const struct param link_carried_table[] = {
	SIZE(route, "0 B", 0, 64,
		"number of route bytes in front of the header for each switch "
		"on a packet's route; each switch removes its own, and they "
		"need no tokens",
		NULL),
	{ 0 },
};

const struct param link_fibre_table[] = {
	PARAM_ONE_OF("fibre-code", AT(fibre_code), "same", "same|" LINK_CODES,
		"line code of optical cables (topology.cable.copper); same: "
		"link.code",
		NULL),
	{ 0 },
};

const struct param link_checks_table[] = {
	PARAM_ROW(PARAM_COUNT, "checks.hop", AT(check_hop), "0", 0, CHECKS_MOST,
		"number of ten-bit symbols that check a packet on every hop",
		NULL),
	PARAM_ROW(PARAM_COUNT, "checks.end", AT(check_end), "0", 0, CHECKS_MOST,
		"number of ten-bit symbols that check a packet at its "
		"destination",
		NULL),
	PARAM_ROW(PARAM_COUNT, "checks.header", AT(check_header), "0", 0,
		HAMMING_CHECKS, "number of bits that check a packet's header",
		NULL),
	{ 0 },
};

const struct param link_block_table[] = {
	PARAM_ROW(PARAM_COUNTS, "widths", AT(widths), "0", 0, 64,
		"numbers of lanes that a link can run with, from all of them "
		"down: with 4x2x1, three working lanes run as two; 0: any "
		"number",
		NULL),
	PARAM_ONE_OF("fec", AT(fec), "none", LINK_FECS,
		"forward error correction; rs528: RS(528,514), which corrects "
		"up to seven wrong ten-bit symbols in 528 and costs no "
		"bandwidth beyond that of link.code=64b66b",
		NULL),
	{ 0 },
};

const struct param link_lane_table[] = {
	PARAM_ROW(PARAM_RATE, "lane-limit", AT(lane_limit), "0 B/s", 0,
		TOPO_MAX_RATE, "highest raw rate of a lane; 0: no limit", NULL),
	PARAM_ROW(PARAM_RATE, "lane-reliable", AT(lane_reliable), "0 B/s", 0,
		TOPO_MAX_RATE,
		"raw rate of a lane above which links have the bit error rate "
		"faults.fast-lanes; 0: never",
		NULL),
	{ 0 },
};

int64_t link_width(const struct link_params *p, int64_t working)
{
	if (!p->widths.n || !p->widths.v[0])
		return working;
	for (int64_t i = 0; i < p->widths.n; i++)
		if (p->widths.v[i] <= working)
			return p->widths.v[i];
	return 0;
}

/* From all lanes down to the least number that works. */
static int check_widths(const struct link_params *p, struct err *e)
{
	int64_t i;

	if (!p->widths.n || !p->widths.v[0])
		return 0;
	if (p->widths.v[0] != p->lanes)
		return err_set(e,
			"link.widths: the first number, %lld, is not the "
			"number of lanes of a link (link.lanes is %lld)",
			(long long)p->widths.v[0], (long long)p->lanes);
	for (i = 1; i < p->widths.n; i++)
		if (p->widths.v[i] >= p->widths.v[i - 1] || !p->widths.v[i])
			return err_set(e,
				"link.widths: want smaller and smaller numbers "
				"above 0, not %lld after %lld",
				(long long)p->widths.v[i],
				(long long)p->widths.v[i - 1]);
	if (p->widths.v[i - 1] > p->least_lanes)
		return err_set(e,
			"link.widths: no width for %lld lanes, with which a "
			"link works (link.lanes-least)",
			(long long)p->least_lanes);
	return 0;
}

static int check_fec(const struct link_params *p, struct err *e)
{
	if (!p->fec || !strcmp(link_codes[p->code].name, "64b66b"))
		return 0;
	return err_set(e,
		"link.fec: rs528 replaces blocks of 64b66b; it needs "
		"link.code=64b66b, not %s",
		link_codes[p->code].name);
}

int link_params_settle(struct link_params *p, bool has_rate, struct err *e)
{
	int64_t rate = p->lanes * p->lane_rate;
	char one[48], all[48], given[48], most[48];

	if (p->least_lanes > p->lanes)
		return err_set(e,
			"link.lanes-least: %lld is more than the %lld lanes of "
			"a link (link.lanes)",
			(long long)p->least_lanes, (long long)p->lanes);
	if (check_widths(p, e) || check_fec(p, e))
		return -1;
	if (!p->lane_rate)
		return 0;
	units_format(UNIT_RATE, p->lane_rate, one, sizeof(one));
	units_format(UNIT_RATE, rate, all, sizeof(all));
	units_format(UNIT_RATE, p->lane_limit, most, sizeof(most));
	units_format(UNIT_RATE, p->rate, given, sizeof(given));
	if (has_rate && rate != p->rate)
		return err_set(e,
			"link.rate: %s, but link.lanes x link.lane-rate is %s; "
			"set only one of the two",
			given, all);
	if (rate < TOPO_MIN_RATE || rate > TOPO_MAX_RATE)
		return err_set(e,
			"link.lane-rate: %lld lanes of %s are out of range (1 "
			"MB/s to 1000 GB/s)",
			(long long)p->lanes, one);
	if (p->lane_limit && p->lane_rate > p->lane_limit)
		return err_set(e,
			"link.lane-rate: %s is more than the transceivers' "
			"limit of %s (link.lane-limit)",
			one, most);
	p->rate = rate;
	return 0;
}

/* The time that bytes take at a rate, to the nearest picosecond. */
static sim_time wire_time(int64_t bytes, int64_t rate)
{
	return (sim_time)(((int128)bytes * PS_PER_S + rate / 2) / rate);
}

int64_t link_data_rate(const struct link_params *p)
{
	static const struct topo_wire any;

	return link_wire_rate(p, &any);
}

int64_t link_wire_rate(const struct link_params *p, const struct topo_wire *w)
{
	const struct link_code *c = link_code_of(p, w);

	return (w->rate ? w->rate : p->rate) * c->data / c->raw;
}

static int64_t word_of(const struct link_params *p)
{
	return p->word ? p->word : p->chunk;
}

sim_time link_control_slot(const struct link_params *p)
{
	int64_t words = p->control_every + p->control;

	return p->control ? wire_time(words * word_of(p), link_data_rate(p))
			  : 0;
}

/* With the control words among them, which come after so many words whatever
 * these are of: to the nearest byte. */
static int64_t with_control(const struct link_params *p, int64_t bytes)
{
	int64_t every = p->control_every ? p->control_every : 1;

	return bytes + (bytes * p->control + every / 2) / every;
}

/* So many words of payload in the links' own format, with a number of
 * transactions; 0: as many as they fill. */
static int64_t plain_bytes(
	const struct link_params *p, int64_t words, int64_t heads)
{
	int64_t bytes = words * word_of(p);

	if (p->transaction && !heads)
		heads = (bytes + p->transaction - 1) / p->transaction;
	return p->header + bytes + heads * p->per_transaction + p->trailer;
}

int64_t link_round_trip(const struct link_rules *r, uint32_t wire)
{
	uint32_t row = link_row(r, wire, 0);
	sim_time ser = r->ser[row * r->row + link_place(r, 0, r->max_payload)];
	sim_time one = ser + r->rate[row].gap;

	return 1 + (2 * r->latency[wire] + one - 1) / one;
}

int64_t link_wire_bytes(const struct link_params *p, int64_t payload)
{
	int64_t words = (payload + word_of(p) - 1) / word_of(p);

	return with_control(p, plain_bytes(p, words, 0));
}

/* --- what follows --- */

static int check(const struct link_params *p, struct err *e)
{
	if (p->header > p->chunk && !p->formats)
		return err_set(e,
			"link.header: %lld bytes do not fit into a chunk of "
			"%lld (link.chunk)",
			(long long)p->header, (long long)p->chunk);
	if (p->train > 1 && p->payload * p->train > UINT16_MAX)
		return err_set(e,
			"link.train: %lld packets of %lld bytes are longer "
			"than %d bytes (want at most %lld)",
			(long long)p->train, (long long)p->payload, UINT16_MAX,
			(long long)(UINT16_MAX / p->payload));
	if (p->train > 1 && p->payload % word_of(p))
		return err_set(e,
			"link.train: want a payload of whole words of %lld "
			"bytes (link.payload)",
			(long long)word_of(p));
	if (p->n_formats > LINK_FORMATS)
		return err_set(e, "link: %u packet formats, want at most %d",
			p->n_formats, LINK_FORMATS);
	return 0;
}

/* What a packet of so many words is on the wire in a format. */
static int64_t bytes_of(
	const struct link_params *p, uint32_t format, int64_t words)
{
	const struct link_format *f = p->formats ? &p->formats[format] : NULL;

	return f ? f->header + words * f->word + f->trailer
		 : plain_bytes(p, words, format);
}

/* Those of the interface, or numbers of transactions. */
static uint32_t n_formats(const struct link_params *p)
{
	if (p->formats)
		return p->n_formats;
	return p->transaction ? 1 + LINK_TRANSACTIONS : 1;
}

/* And in a buffer. */
static uint32_t chunks_of(
	const struct link_params *p, uint32_t format, int64_t words)
{
	int64_t payload = words * word_of(p);
	int64_t bytes =
		p->formats ? bytes_of(p, format, words) : p->chunk + payload;
	int64_t chunks = (bytes + p->chunk - 1) / p->chunk;

	return (uint32_t)(chunks ? chunks : 1);
}

/* A train of so many words: full packets, and the words of the last one. */
static int64_t full_packets(
	const struct link_params *p, int64_t words, int64_t *rest)
{
	int64_t each = p->payload / word_of(p);
	int64_t n = p->train > 1 && words > each ? (words - 1) / each : 0;

	*rest = words - n * each;
	return n;
}

/* The rates of links that lack no lane, by class of wire; that of the links'
 * own parameters is the first. */
static void find_rates(struct link_rules *r, const struct link_params *p,
	const struct topo *t, int64_t rate[TOPO_MAX_WIRES + 1])
{
	uint32_t k;

	rate[0] = link_data_rate(p);
	r->n_rates = 1;
	for (uint32_t i = 0; t && i < t->n_wires; i++) {
		rate[r->n_rates] = link_wire_rate(p, &t->wire[i]);
		for (k = 0; rate[k] != rate[r->n_rates]; k++)
			;
		r->rate_of[i] = (uint8_t)k;
		r->n_rates += k == r->n_rates;
	}
}

/* A packet, or a train, whose packets have gaps between them. */
static void fill_place(struct link_rules *r, const struct link_params *p,
	uint32_t row, size_t at, uint32_t format, int64_t words, int64_t rate)
{
	int64_t rest, n = full_packets(p, words, &rest), each, last;

	last = with_control(p, bytes_of(p, format, rest));
	r->bytes[at] = (uint32_t)last;
	r->ser[at] = wire_time(last * p->lanes, rate);
	if (!row)
		r->chunks[at] = (uint16_t)chunks_of(p, format, rest);
	if (!n)
		return;
	each = with_control(p, bytes_of(p, format, r->each / r->word));
	r->bytes[at] += (uint32_t)(n * each);
	r->ser[at] += n * (wire_time(each * p->lanes, rate) + r->rate[row].gap);
	if (!row)
		r->chunks[at] =
			(uint16_t)(r->chunks[at] +
				   n * chunks_of(p, format, r->each / r->word));
}

/* A row: every format, and as many words more as there may be of payload. */
static void fill_row(struct link_rules *r, const struct link_params *p,
	uint32_t row, int64_t rate, int64_t dead)
{
	uint32_t n = r->n_formats, words = r->row / n;
	int64_t lanes = link_width(p, p->lanes - dead);

	if (!lanes)
		lanes = 1; /* the link is dead */

	r->rate[row] = (struct link_rate){
		.gap = wire_time(p->gap * p->lanes, rate * lanes),
		.owed = wire_time(p->protocol * p->lanes, rate * lanes),
	};
	for (uint32_t f = 0; f < n; f++) {
		for (uint32_t i = 0; i < words; i++) {
			size_t at = (size_t)row * r->row + r->first[f] + i;

			fill_place(r, p, row, at, f, i, rate * lanes);
			if (!dead && r->ser[at] > r->longest)
				r->longest = r->ser[at];
		}
	}
}

static int size_rows(
	struct link_rules *r, const struct link_params *p, struct err *e)
{
	uint32_t n = n_formats(p), most = 0, fullest = 0;
	uint32_t words = (r->max_payload + r->word - 1) / r->word;

	for (uint32_t f = 0; f < n; f++) {
		int64_t rest, packets = full_packets(p, words, &rest);
		uint32_t chunks =
			chunks_of(p, f, rest) +
			(uint32_t)packets * chunks_of(p, f, r->each / r->word);

		r->first[f] = f * (2 * words + 1);
		if (chunks > most) {
			most = chunks;
			fullest = f;
		}
	}
	r->n_formats = n;
	r->extra = words;
	r->max_chunks = most;
	r->row = n * (2 * words + 1);
	if (most > LINK_MAX_CHUNKS)
		return err_set(e,
			"link.payload: %u bytes are %u chunks of %u%s%s, and a "
			"packet with its header holds at most %d",
			r->max_payload, most, r->chunk,
			p->formats && n > 1 ? " in a " : "",
			p->formats && n > 1 ? p->formats[fullest].name : "",
			LINK_MAX_CHUNKS);
	if (r->row > UINT16_MAX)
		return err_set(e,
			"link.word: %u bytes are %u words of %u, too many for "
			"%u packet formats",
			r->max_payload, words, r->word, n);
	return 0;
}

static void set_wires(
	struct link_rules *r, const struct link_params *p, const struct topo *t)
{
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		r->code_of[i] = r->code;
	for (uint32_t i = 0; t && i < t->n_wires; i++) {
		r->latency[i] = t->wire[i].latency;
		r->logic[i] = t->wire[i].logic;
		r->code_of[i] = link_code_of(p, &t->wire[i]);
	}
}

static void set_routes(
	struct link_rules *r, const struct link_params *p, const int64_t *rate)
{
	enum { EACH = LINK_MAX_ROUTE + 1 };

	r->routes = mem_alloc((size_t)r->n_rates * EACH, sizeof(*r->routes));
	for (uint32_t i = 0; i < r->n_rates * EACH; i++)
		r->routes[i] = wire_time(i % EACH * p->route, rate[i / EACH]);
	memcpy(r->route_ser, r->routes, sizeof(r->route_ser));
}

int link_rules_init(struct link_rules *r, const struct link_params *p,
	const struct topo *t, struct err *e)
{
	int64_t rate[TOPO_MAX_WIRES + 1];
	uint32_t rows;

	*r = (struct link_rules){
		.max_payload = (uint32_t)link_longest(p),
		.train = p->train > 1 ? (uint32_t)p->train : 1,
		.each = (uint32_t)p->payload,
		.empty = (uint32_t)(p->header + p->trailer + p->gap),
		.chunk = (uint32_t)p->chunk,
		.word = (uint32_t)word_of(p),
		.code = &link_codes[p->code],
		.route = (uint32_t)p->route,
		.header = (uint32_t)p->header,
		.protocol = (uint32_t)p->protocol,
		.retry = p->retry,
		.chips = p->chips,
		.lanes = (uint32_t)p->lanes,
	};
	if (check(p, e) || size_rows(r, p, e) ||
		retry_check(&p->retry, r->max_chunks, e))
		return -1;
	if (p->check_hop | p->check_end | p->check_header) {
		r->checks = mem_alloc(1, sizeof(*r->checks));
		checks_init(
			r->checks, p->check_hop, p->check_end, p->check_header);
	}
	if (p->fec) {
		r->fec = mem_alloc(1, sizeof(*r->fec));
		fec_init(r->fec, p->rate);
	}
	set_wires(r, p, t);
	find_rates(r, p, t, rate);
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		r->bps[i] = rate[r->rate_of[i]];
	set_routes(r, p, rate);
	rows = r->n_rates * r->lanes;
	if (rows * r->row > UINT16_MAX)
		return err_set(e,
			"link.lanes: %u lanes with %u packet sizes each are "
			"too many (want at most %d in all)",
			r->lanes, r->n_rates * r->row, UINT16_MAX);
	r->ser = mem_alloc((size_t)rows * r->row, sizeof(*r->ser));
	r->bytes = mem_alloc((size_t)rows * r->row, sizeof(*r->bytes));
	r->chunks = mem_alloc(r->row, sizeof(*r->chunks));
	r->rate = mem_alloc(rows, sizeof(*r->rate));
	for (uint32_t i = 0; i < rows; i++)
		fill_row(r, p, i, rate[i % r->n_rates], i / r->n_rates);
	r->gap = r->rate[0].gap;
	r->owed = r->rate[0].owed;
	return 0;
}

bool link_retry_binds(const struct link_rules *r, int64_t packets)
{
	struct retry_packet x = { .gap = r->gap };
	struct retry_tokens k = { packets, 1 };

	for (uint32_t w = 0; w < TOPO_MAX_WIRES; w++) {
		if (r->latency[w] <= x.latency)
			continue;
		x.latency = r->latency[w];
		k.back = 2 * x.latency - r->logic[w];
	}
	for (uint32_t i = 0; i < r->row; i++) {
		x.ser = r->ser[i];
		x.chunks = r->chunks[i];
		if (x.ser && x.chunks <= r->max_chunks &&
			retry_binds(
				&r->retry, r->max_chunks, &x, r->longest, &k))
			return true;
	}
	return false;
}

void link_rules_fini(struct link_rules *r)
{
	mem_free(r->ser);
	mem_free(r->bytes);
	mem_free(r->chunks);
	mem_free(r->routes);
	mem_free(r->rate);
	mem_free(r->checks);
	mem_free(r->fec);
	*r = (struct link_rules){ 0 };
}
