/* Registers of switches as a part of a machine. */
#include "base/mem.h"
#include "coll/multicast.h"
#include "facts/facts.h"
#include "host/host.h"
#include "parts/registers/inside.h"
#include "route/lists.h"

_Static_assert(sizeof(struct registers_body) ==
		       REGISTERS_HEAD + WEFT_SWNET_WORDS * sizeof(uint64_t),
	"the head of a body");

#define AT(field) offsetof(struct registers_params, field)
#define TIME(name_, field_, def_, help_, source_)                              \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, 0, PS_PER_S, help_,     \
		source_)

static const struct param params[] = {
	TIME("control", control, "100 ns",
		"time in which a switch's control unit decodes a command",
		"assumed: some 85 cycles of 852 MHz, as a small processor "
		"needs"),
	TIME("row", row, "20 ns",
		"time in which the row units pass a command on, all at once",
		"assumed: 17 cycles, across the chip"),
	TIME("agent", agent, "20 ns",
		"time in which the ports' agents access registers, all at once",
		"assumed: 17 cycles"),
	TIME("word", word, "1.2 ns", "time to collect a word of an answer",
		"assumed: a cycle of 852 MHz"),
	PARAM_ROW(PARAM_COUNT, "queue", AT(queue), "16", 1, 4096,
		"number of commands that wait at a switch; more are dropped",
		"assumed: a small queue"),
	PARAM_ROW(PARAM_TIME, "jtag", AT(jtag), "1 ms", 1000000, PS_PER_S,
		"time of an access by JTAG",
		"assumed: about 10,000 bits at 10 MHz"),
};

static const struct part_block blocks[] = {
	{ "registers", params, sizeof(params) / sizeof(params[0]), 0 },
	{ 0 },
};

struct registers *registers_of(const struct host *h)
{
	return part_state(host_parts(h), &part_registers);
}

uint32_t registers_n_chips(const struct registers *r)
{
	return r->n_chips;
}

static void on_empty(uint32_t most)
{
	err_give_up(
		EXIT_LIMIT, "more than %u management packets in flight", most);
}

/* Other routers are for comparisons: their switches have no registers. */
static void *open_registers(
	const void *own, const struct part_place *at, struct err *e)
{
	const struct fattree *tree = fattree_find(at->topo);
	const struct router *router = at->net->router[NET_SWITCHES];
	struct registers *r;

	(void)e;
	if (!tree || !at->route->lists || !router->ops->drops ||
		!router->ops->written || !multicast_has(at->net->coll))
		return NULL;
	r = mem_alloc(1, sizeof(*r));
	*r = (struct registers){ .params = own,
		.net = at->net,
		.topo = at->topo,
		.tree = tree,
		.n_chips = at->net->n_sites - at->net->n_nodes };
	r->chip = mem_alloc(registers_n_chips(r), sizeof(*r->chip));
	r->lost = mem_alloc(at->net->n_workers, sizeof(*r->lost));
	pool_init(&r->pool, &(struct pool_setup){
				    .n_workers = at->net->n_workers,
				    .lines = (sizeof(struct registers_body) +
						     CACHE_LINE - 1) /
					     CACHE_LINE,
				    .most = 1 << 16,
				    .on_empty = on_empty,
			    });
	return r;
}

static void close_registers(void *state)
{
	struct registers *r = state;

	for (uint32_t i = 0; i < registers_n_chips(r); i++) {
		if (r->chip[i])
			mem_free(r->chip[i]->maps);
		mem_free(r->chip[i]);
	}
	pool_fini(&r->pool);
	mem_free(r->lost);
	mem_free(r->chip);
	mem_free(r);
}

static void start_registers(const void *own, const struct part_place *at)
{
	struct registers *r = part_state(at->parts, &part_registers);
	uint32_t n;
	site_id *site;

	(void)own;
	if (!r)
		return;
	n = registers_n_chips(r);
	site = mem_alloc(n, sizeof(*site));
	for (uint32_t i = 0; i < n; i++)
		site[i] = r->net->n_nodes + i;
	net_attach_some(r->net, site, n, &chip_client, r);
	mem_free(site);
}

static uint64_t memory_of(const void *state)
{
	const struct registers *r = state;
	uint64_t n = registers_n_chips(r) * sizeof(*r->chip);

	for (uint32_t i = 0; i < registers_n_chips(r); i++)
		if (r->chip[i])
			n += sizeof(**r->chip) +
			     (r->chip[i]->maps ? sizeof(struct command_maps)
					       : 0);
	return n + pool_touched(&r->pool) * r->pool.setup.lines * CACHE_LINE;
}

/* Sums over all switches; nothing if no program has managed them. */
static void add_facts(const void *own, const struct part_place *at,
	sim_time end, struct facts *f)
{
	const struct registers *r = part_state(at->parts, &part_registers);
	enum { COMMANDS, ACCESSES, REFUSED, N };
	uint64_t sum[N] = { 0 };

	(void)own;
	(void)end;
	if (!r)
		return;
	for (uint32_t i = 0; i < registers_n_chips(r); i++) {
		const struct chip *c = r->chip[i];

		sum[COMMANDS] += c ? c->commands : 0;
		sum[ACCESSES] += c ? c->accesses : 0;
		sum[REFUSED] += c ? c->refused : 0;
	}
	sim_sum(r->net->sim, sum, N);
	if (!sum[COMMANDS] && !sum[ACCESSES] && !sum[REFUSED])
		return;
	facts_group(f, "management");
	facts_count(f, "commands", sum[COMMANDS]);
	facts_count(f, "jtag_accesses", sum[ACCESSES]);
	facts_count(f, "refused", sum[REFUSED]);
	facts_line(f, "management",
		"switches executed {commands} command{commands|s} in band, "
		"{jtag_accesses} by JTAG[refused?, and refused {refused}]");
	facts_end(f);
}

static int audit(const void *state, struct err *e)
{
	const struct registers *r = state;

	for (uint32_t i = 0; i < registers_n_chips(r); i++)
		if (r->chip[i] && r->chip[i]->n_queued)
			return err_set(e,
				"switch %u has %u commands that it does not "
				"execute",
				i, r->chip[i]->n_queued);
	return 0;
}

const struct part_ops part_registers = {
	.name = "registers",
	.needs = "written-tables",
	.blocks = blocks,
	.params_size = sizeof(struct registers_params),
	.open = open_registers,
	.close = close_registers,
	.start = start_registers,
	.memory = memory_of,
	.facts = add_facts,
	.audit = audit,
};
