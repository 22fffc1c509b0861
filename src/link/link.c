#include "link/link.h"

#include "base/units.h"
#include "base/wide.h"

#define AT(field) offsetof(struct link_params, field)
#define PS_PER_S  INT64_C(1000000000000)

#define LINK_MIN_RATE 1000000 /* B/s */
#define LINK_MAX_RATE INT64_C(1000000000000)

#define LATENCY(class, name_, def_, help_, source_)                            \
	{                                                                      \
		.name = "latency." name_, .type = PARAM_TIME,                  \
		.offset = AT(latency) + (class) * sizeof(int64_t),             \
		.def = def_, .min = 1, .max = PS_PER_S / 1000, .help = help_,  \
		.source = source_                                              \
	}

#define SIZE(field_, def_, min_, max_, help_, source_)                         \
	{                                                                      \
		.name = #field_, .type = PARAM_BYTES, .offset = AT(field_),    \
		.def = def_, .min = min_, .max = max_, .help = help_,          \
		.source = source_                                              \
	}

const struct param link_params_table[] = {
	{ .name = "rate",
		.type = PARAM_RATE,
		.offset = AT(rate),
		.def = "2 GB/s",
		.min = LINK_MIN_RATE,
		.max = LINK_MAX_RATE,
		.help = "raw rate of a link in each direction",
		.source = "BGQ-N5" },
	{ .name = "lanes",
		.type = PARAM_COUNT,
		.offset = AT(lanes),
		.def = "1",
		.min = 1,
		.max = 64,
		.help = "lanes that a link's bits are spread over",
		.source = "assumed: one, of the whole rate" },
	{ .name = "lane-rate",
		.type = PARAM_RATE,
		.offset = AT(lane_rate),
		.def = "0 B/s",
		.max = LINK_MAX_RATE,
		.help = "raw rate of a lane, in place of link.rate; 0 B/s: the "
			"link's rate divided by its lanes" },
	{ .name = "code",
		.type = PARAM_WORD,
		.offset = AT(code),
		.def = "none",
		.words = LINK_CODES,
		.help = "line code; 4b5b takes a fifth of the raw rate",
		.source = NULL },
	SIZE(header, "32 B", 1, 4096, "bytes in front of the payload",
		"BGQ-N20"),
	SIZE(trailer, "8 B", 0, 4096, "check bytes behind the payload",
		"BGQ-N22"),
	SIZE(payload, "512 B", 0, 8096, "largest payload of a packet",
		"BGQ-N21"),
	SIZE(chunk, "32 B", 1, 4096, "what one token stands for", "BGQ-G3"),
	SIZE(protocol, "16 B", 0, 4096,
		"bytes that the far end owes for each packet it gets: an "
		"acknowledgement and a token packet",
		"calibrated: BGQ-N23"),
	SIZE(gap, "8 B", 0, 4096, "idle bytes between two packets",
		"calibrated: BGQ-N111"),
	SIZE(transaction, "0 B", 0, 8096,
		"bytes of payload that share one head of per-transaction "
		"bytes; 0: the payload is not divided",
		NULL),
	{ .name = "per-transaction",
		.type = PARAM_BYTES,
		.offset = AT(per_transaction),
		.def = "0 B",
		.min = 0,
		.max = 4096,
		.help = "what goes in front of each transaction" },
};

const size_t link_params_n =
	sizeof(link_params_table) / sizeof(link_params_table[0]);

const struct param link_carried_table[] = {
	SIZE(route, "0 B", 0, 64,
		"bytes in front of the header for each switch that a packet "
		"will pass; each takes its own off. They need no tokens",
		NULL),
};

const size_t link_carried_n =
	sizeof(link_carried_table) / sizeof(link_carried_table[0]);

const struct param link_latency_table[] = {
	{ .name = "logic",
		.type = PARAM_TIME,
		.offset = AT(logic),
		.def = "16 ns",
		.min = 0,
		.max = PS_PER_S / 1000,
		.help = "what of each latency is the router's logic, for the "
			"time budget; changes no time",
		.source = "BGQ-N28" },
	LATENCY(WIRE_BOARD, "board", "42 ns",
		"from the grant in one router to the head's arrival in the "
		"next, on one board: logic, SerDes and wire",
		"calibrated: BGQ-N92 less BGQ-N91 (40 ns of it is BGQ-N27)"),
	LATENCY(WIRE_BOARDS, "boards", "49 ns",
		"the same from board to board inside a midplane",
		"calibrated: BGQ-N91 less BGQ-N90 (40 ns of it is BGQ-N27)"),
	LATENCY(WIRE_MIDPLANES, "midplanes", "199 ns",
		"the same from midplane to midplane: two link chips and a "
		"fibre more",
		"calibrated: BGQ-N31 (150 ns over a board crossing)"),
	LATENCY(WIRE_LOOP, "loop", "139 ns",
		"the same out of a midplane and back through its link chips",
		"assumed: a board crossing and two link chips of 45 ns"),
	LATENCY(WIRE_INNER, "inner", "54 ns",
		"the same in a dimension that never leaves the board (E)",
		"calibrated: BGQ-N102, with BGQ-N90 to BGQ-N92"),
};

const size_t link_latency_n =
	sizeof(link_latency_table) / sizeof(link_latency_table[0]);

void link_params_defaults(struct link_params *p)
{
	const struct param_block b[] = {
		{ "link", link_params_table, link_params_n, p, NULL },
		{ "link", link_carried_table, link_carried_n, p, NULL },
		{ "link", link_latency_table, link_latency_n, p, NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(b) / sizeof(b[0]); i++)
		param_defaults(&b[i]);
}

int link_params_settle(struct link_params *p, bool has_rate, struct err *e)
{
	int64_t rate = p->lanes * p->lane_rate;
	char one[48], all[48], given[48];

	if (!p->lane_rate)
		return 0;
	units_format(UNIT_RATE, p->lane_rate, one, sizeof(one));
	units_format(UNIT_RATE, rate, all, sizeof(all));
	units_format(UNIT_RATE, p->rate, given, sizeof(given));
	if (has_rate && rate != p->rate)
		return err_set(e,
			"link.rate: %s, but link.lanes x link.lane-rate is %s; "
			"give one of them",
			given, all);
	if (rate < LINK_MIN_RATE || rate > LINK_MAX_RATE)
		return err_set(e,
			"link.lane-rate: %lld x %s is out of range (1 MB/s to "
			"1000 GB/s)",
			(long long)p->lanes, one);
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
	const struct link_code *c = &link_codes[p->code];

	return p->rate * c->data / c->raw;
}

int64_t link_wire_bytes(const struct link_params *p, int64_t payload)
{
	int64_t bytes = (payload + p->chunk - 1) / p->chunk * p->chunk;
	int64_t heads = 0;

	if (p->transaction)
		heads = (bytes + p->transaction - 1) / p->transaction;
	return p->header + bytes + heads * p->per_transaction + p->trailer;
}

void link_rules_wires(struct link_rules *r, const struct topo *t)
{
	uint32_t i;

	for (i = 0; i < t->n_wires; i++) {
		if (!t->wire[i].latency)
			continue;
		r->latency[i] = t->wire[i].latency;
		r->logic[i] = t->wire[i].logic;
	}
}

int link_rules_init(
	struct link_rules *r, const struct link_params *p, struct err *e)
{
	int64_t chunks = 1 + (p->payload + p->chunk - 1) / p->chunk, i;
	int64_t rate = link_data_rate(p);

	if (p->header > p->chunk)
		return err_set(e,
			"link.header: %lld bytes do not fit a chunk of %lld",
			(long long)p->header, (long long)p->chunk);
	if (chunks > LINK_MAX_CHUNKS)
		return err_set(e,
			"link.payload: %lld bytes are %lld chunks of %lld, at "
			"most %d fit a packet with its header",
			(long long)p->payload, (long long)chunks,
			(long long)p->chunk, LINK_MAX_CHUNKS);
	*r = (struct link_rules){
		.gap = wire_time(p->gap, rate),
		.owed = wire_time(p->protocol, rate),
		.max_chunks = (uint32_t)chunks,
		.max_payload = (uint32_t)p->payload,
		.chunk = (uint32_t)p->chunk,
		.code = &link_codes[p->code],
		.route = (uint32_t)p->route,
	};
	for (i = 0; i < N_WIRE_CLASSES; i++) {
		r->latency[i] = p->latency[i];
		r->logic[i] = p->logic;
	}
	for (i = 0; i <= LINK_MAX_ROUTE; i++)
		r->route_ser[i] = wire_time(i * p->route, rate);
	for (i = 1; i <= LINK_MAX_CHUNKS; i++) {
		int64_t bytes = link_wire_bytes(p, (i - 1) * p->chunk);

		r->wire_bytes[i] = (uint32_t)bytes;
		r->ser[i] = wire_time(bytes, rate);
	}
	return 0;
}
