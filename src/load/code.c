/*
 * Patterns of errors against the codes that check a machine's packets, or
 * correct them: how many there were, and how many the codes did not find, or
 * corrected.  The codes are linear, so a pattern alone decides, and no packet
 * is sent.
 */
#include <math.h>
#include <string.h>

#include "base/hamming.h"
#include "base/mem.h"
#include "base/rs10.h"
#include "link/code.h"
#include "load/code_fec.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct code, field)

enum {
	SYMBOLS_ALL = -1, /* words of keys */
	FROM_MACHINE = -1,
	BURST_BITS = 8, /* that a flip on a coded fibre becomes */
	SLICE = 1 << 14, /* patterns between two looks at Ctrl-C */
};

struct code {
	struct load load;
	/* keys */
	int64_t symbols, bursts, header, checks, count, all_pairs;
	int64_t burst, is_aligned;

	struct rs10 rs;
	bool corrects; /* links have forward error correction */
	struct code_fec fec;
	uint64_t outcomes[N_CODE_OUTCOMES];
	uint32_t n_bits, n_places; /* of a full packet on the wire */
	/* Patterns to come in all, and looked at; only the process of the
	 * first node has any. */
	uint64_t n_patterns;
	uint64_t done, escaped, crc_escaped;
	uint8_t hamming[HAMMING_BITS]; /* the checks that a bit changes */
	uint16_t *crc; /* [bit] what a CRC-16 makes of it */
};

static const struct param params[] = {
	KEY(PARAM_COUNT, "symbols", AT(symbols), "0", 0, RS10_PLACES, "all",
		"number of wrong ten-bit symbols in each pattern, at random "
		"positions; all: every symbol is random"),
	KEY_COUNT("bursts", AT(bursts), "0", 0, 64,
		"number of bursts of errors in each pattern, of up to eight "
		"bits each, the effect of one wrong bit on a coded fibre"),
	KEY_WORD("pairs", AT(all_pairs), "none", "none|all",
		"patterns of two bursts; all: one pattern for every pair of "
		"bytes that the bursts can hit"),
	KEY_COUNT("header", AT(header), "0", 0, 4,
		"number of wrong bits in a header, in all possible patterns"),
	KEY(PARAM_COUNT, "checks", AT(checks), "machine", 0, CHECKS_MOST,
		"machine",
		"number of check symbols; machine: the number that the machine "
		"has on each hop"),
	KEY_COUNT("burst", AT(burst), "0", 0, CODE_MOST_BURST,
		"length in bits of a burst of errors in each pattern, on links "
		"with forward error correction; its first and last bits are "
		"wrong, the others at random"),
	KEY_FLAG("aligned", AT(is_aligned), "no",
		"whether the burst begins with a symbol of ten bits"),
	KEY_COUNT("count", AT(count), "100000", 1, 10000000000,
		"number of random patterns"),
};

static struct code *of(struct load *l)
{
	return (struct code *)l;
}

static uint32_t draw_below(struct code *c, uint32_t n)
{
	return code_draw_below(&c->fec.random, n);
}

/* --- patterns --- */

/* One of so many wrong symbols; whether it escapes. */
static bool try_symbols(struct code *c)
{
	struct rs10_error e[RS10_PLACES];

	code_draw_symbols(&c->fec.random, c->n_places, e, (uint32_t)c->symbols);
	return !rs10_finds(&c->rs, e, (uint32_t)c->symbols);
}

static bool try_all_symbols(struct code *c)
{
	uint16_t value[RS10_PLACES];
	uint64_t bits = 0;

	for (uint32_t i = 0; i < c->n_places; i++, bits >>= RS10_BITS) {
		if (i % 6 == 0)
			bits = code_draw(&c->fec.random);
		value[i] = (uint16_t)(bits & RS10_PLACES);
	}
	return !rs10_finds_all(&c->rs, value, c->n_places);
}

/* A burst at a byte: adds its bits and returns what a CRC makes of it. */
static uint32_t add_burst(
	struct code *c, uint32_t byte, uint32_t *bit, uint32_t *n)
{
	uint32_t burst = 1 + draw_below(c, (1 << BURST_BITS) - 1);
	uint32_t crc = 0;

	for (uint32_t i = 0; i < BURST_BITS; i++) {
		if (!(burst >> i & 1))
			continue;
		bit[(*n)++] = BURST_BITS * byte + i;
		crc ^= c->crc[BURST_BITS * byte + i];
	}
	return crc;
}

/* At different bytes, or two could undo each other. */
static bool try_bursts(struct code *c)
{
	uint32_t bit[64 * BURST_BITS], at[64], n = 0, crc = 0, k;

	for (uint32_t i = 0; i < c->bursts; i++) {
		do {
			at[i] = draw_below(c, c->n_bits / BURST_BITS);
			for (k = 0; at[k] != at[i]; k++)
				;
		} while (k < i);
		crc ^= add_burst(c, at[i], bit, &n);
	}
	c->crc_escaped += !crc;
	return !rs10_finds_bits(&c->rs, bit, n);
}

/* Pair i of all pairs of bytes. */
static bool try_pair(struct code *c, uint64_t i)
{
	uint32_t second = (uint32_t)((1 + sqrt(1 + 8 * (double)i)) / 2);
	uint32_t bit[2 * BURST_BITS], n = 0, crc;

	/* the root may be off by one */
	while ((uint64_t)second * (second - 1) / 2 > i)
		second--;
	while ((uint64_t)second * (second + 1) / 2 <= i)
		second++;
	crc = add_burst(c, second, bit, &n);
	crc ^= add_burst(c, (uint32_t)(i - (uint64_t)second * (second - 1) / 2),
		bit, &n);
	c->crc_escaped += !crc;
	return !rs10_finds_bits(&c->rs, bit, n);
}

/* All ways to flip so many bits of a header, from those before some bit. */
static void try_headers(
	struct code *c, uint32_t sum, uint32_t left, uint32_t end)
{
	if (!left) {
		c->done++;
		c->escaped += !sum;
		return;
	}
	for (uint32_t b = 0; b < end; b++)
		try_headers(c, sum ^ c->hamming[b], left - 1, b);
}

static bool try_one(struct code *c)
{
	if (c->corrects) {
		c->outcomes[code_fec_try(&c->fec)]++;
		return false;
	}
	if (c->all_pairs)
		return try_pair(c, c->done);
	if (c->bursts)
		return try_bursts(c);
	return c->symbols == SYMBOLS_ALL ? try_all_symbols(c) : try_symbols(c);
}

/* --- the workload --- */

static int check_keys(
	struct code *c, const struct link_params *link, struct err *e)
{
	int n = !!c->symbols + !!c->bursts + !!c->header + !!c->all_pairs;

	if (!link->check_hop || !link->check_header)
		return err_set(e, "code: this machine's packets have no "
				  "symbols that check them (link.checks), and "
				  "its links correct nothing (link.fec)");
	if (c->burst || c->is_aligned)
		return err_set(e,
			"%s: this machine's links correct nothing "
			"(want link.fec)",
			c->burst ? "burst" : "aligned");
	if (n != 1)
		return err_set(e, "code: give one of symbols, bursts, pairs "
				  "and header");
	if (c->symbols > (int64_t)c->n_places)
		return err_set(e,
			"symbols: %lld, but a full packet has %u symbols",
			(long long)c->symbols, c->n_places);
	return 0;
}

/* The same where links correct errors. */
static int check_fec_keys(const struct code *c, struct err *e)
{
	const char *other = c->bursts	     ? "bursts"
			    : c->header	     ? "header"
			    : c->all_pairs   ? "pairs"
			    : c->checks >= 0 ? "checks"
					     : NULL;

	if (other)
		return err_set(e,
			"%s: not for links with forward error "
			"correction (want symbols or burst)",
			other);
	if (!c->symbols == !c->burst)
		return err_set(e, "code: give one of symbols and burst");
	if (c->is_aligned && !c->burst)
		return err_set(e, "aligned: only with burst");
	if (c->symbols > FEC_SYMBOLS)
		return err_set(e,
			"symbols: %lld, but a codeword has %d symbols",
			(long long)c->symbols, FEC_SYMBOLS);
	if (c->burst + RS10_BITS > c->fec.n_bits)
		return err_set(e,
			"burst: %lld bits, but a full packet has only %u",
			(long long)c->burst, c->fec.n_bits);
	return 0;
}

static int init_fec(
	struct code *c, const struct link_params *link, struct err *e)
{
	c->corrects = true;
	c->fec.n_bits = code_bits(&link_codes[link->code],
		(uint32_t)link_wire_bytes(link, link->payload));
	c->fec.symbols =
		c->symbols == SYMBOLS_ALL ? FEC_SYMBOLS : (uint32_t)c->symbols;
	c->fec.burst = (uint32_t)c->burst;
	c->fec.is_aligned = c->is_aligned;
	fec_init(&c->fec.fec, link->rate);
	return check_fec_keys(c, e);
}

static int code_init(struct load *l, struct err *e)
{
	struct code *c = of(l);

	c->n_patterns = (uint64_t)c->count;
	if (l->link->fec)
		return init_fec(c, l->link, e);
	c->n_bits = (uint32_t)link_wire_bytes(l->link, l->link->payload) * 8;
	c->n_places = c->n_bits / RS10_BITS;
	if (c->n_places > RS10_PLACES)
		c->n_places = RS10_PLACES;
	if (check_keys(c, l->link, e))
		return -1;
	rs10_init(&c->rs, 0,
		(uint32_t)(c->checks == FROM_MACHINE ? l->link->check_hop
						     : c->checks));
	if (c->all_pairs)
		c->n_patterns = (uint64_t)(c->n_bits / BURST_BITS) *
				(c->n_bits / BURST_BITS - 1) / 2;
	return 0;
}

/* The polynomial 0x1021: each bit is the next one, times x. */
static void make_tables(struct code *c)
{
	uint32_t x = 1;

	for (uint32_t i = 0; i < HAMMING_BITS; i++)
		c->hamming[i] = (uint8_t)hamming_checks(i);
	c->crc = mem_alloc(c->n_bits, sizeof(*c->crc));
	for (uint32_t i = c->n_bits; i--;) {
		c->crc[i] = (uint16_t)x;
		x = x << 1 ^ (0x11021u & (0u - (x >> 15)));
	}
}

static void code_start(struct load *l)
{
	struct code *c = of(l);

	c->fec.random = l->seed;
	make_tables(c);
	load_wake(l, 0, 0, 0);
}

/* A part of the work, whose time is not simulated.  The rest follows in another
 * window, since runs are stopped between windows only. */
static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct code *c = me->state;

	(void)e;
	if (c->header) {
		try_headers(c, 0, (uint32_t)c->header, HAMMING_BITS);
		c->n_patterns = c->done;
	}
	for (uint32_t i = 0; i < SLICE && c->done < c->n_patterns; i++) {
		c->escaped += try_one(c);
		c->done++;
	}
	if (c->done < c->n_patterns)
		sim_post_self(
			w, s, t + 1000 * (sim_time)SIM_NS, LOAD_EVENT, 0, 0);
}

/* What the others are told while nothing runs. */
static void share_counts(struct code *c)
{
	const struct sim *sim = c->load.net->sim;
	uint64_t x[] = { c->n_patterns, c->done, c->escaped, c->crc_escaped };

	sim_tell(sim, 0, x, sizeof(x));
	c->n_patterns = x[0];
	c->done = x[1];
	c->escaped = x[2];
	c->crc_escaped = x[3];
	sim_tell(sim, 0, c->outcomes, sizeof(c->outcomes));
}

static sim_time code_next(struct load *l)
{
	share_counts(of(l));
	return of(l)->done == of(l)->n_patterns
		       ? SIM_NEVER
		       : sim_now(l->net->sim) + 1000 * (sim_time)SIM_NS;
}

static void report_fec(const struct code *c, struct load_result *r)
{
	double all = (double)(c->done ? c->done : 1);

	load_figure(r, "corrected", (double)c->outcomes[CODE_CORRECTED]);
	load_figure(r, "corrected_pct",
		100 * (double)c->outcomes[CODE_CORRECTED] / all);
	load_figure(r, "failed", (double)c->outcomes[CODE_FAILED]);
	load_figure(r, "miscorrected", (double)c->outcomes[CODE_WRONG]);
	load_figure(
		r, "miscorrected_share", (double)c->outcomes[CODE_WRONG] / all);
}

static void code_report(struct load *l, struct load_result *r)
{
	struct code *c = of(l);
	double escape;

	share_counts(c);
	escape = log2((double)c->escaped / (double)c->done);
	load_figure(r, "patterns", (double)c->done);
	if (c->corrects) {
		report_fec(c, r);
		return;
	}
	load_figure(r, "undetected", (double)c->escaped);
	load_figure(r, "detected",
		1 - (double)c->escaped / (double)(c->done ? c->done : 1));
	if (c->escaped) {
		load_figure(r, "escape_log2", escape);
		load_figure(r, "escape_bits", -escape);
	}
	if (c->bursts || c->all_pairs)
		load_figure(r, "undetected_by_crc16", (double)c->crc_escaped);
}

static void code_fini(struct load *l)
{
	mem_free(of(l)->crc);
}

static const struct net_client_ops client = {
	.on_room = load_ignore_room,
	.on_event = on_event,
	.is_sink = true,
};

const struct load_ops load_code = {
	.name = "code",
	.help = "error patterns that packet checks must detect",
	.size = sizeof(struct code),
	PARAMS(params),
	.client = &client,
	.init = code_init,
	.start = code_start,
	.next = code_next,
	.report = code_report,
	.fini = code_fini,
};
