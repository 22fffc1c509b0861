/* Whether a storm has left everything as it should be. */
#include "base/mem.h"
#include "load/bench/storm.h"

/* What was to come to each node, and what may have. */
static void expect(const struct lane *l, uint64_t *sure, uint64_t *perhaps)
{
	uint32_t f = 0;
	uint64_t k;

	for (k = 0; k < l->sent; k++) {
		struct message x = storm_message(l, k);
		bool failed = f < l->n_failed && l->failed[f] == k;
		/* of the last one of a program that died nothing is known */
		bool hangs = k + 1 == l->sent && !l->is_over;

		f += failed;
		if (x.op >= OP_GET)
			continue;
		if (!failed && !hangs)
			sure[x.dst] += x.bytes;
		perhaps[x.dst] += x.bytes;
	}
}

/* Bytes that have come to a node, which may have died before it armed its
 * counter. */
static uint64_t count_bytes(const struct storm *m, site_id node)
{
	uint64_t left = m->bench.looks->counter(&m->bench, node, 0);

	return left ? STORM_ARMED - left : 0;
}

/* Where nothing goes wrong nothing is refused but blocks without a place. */
static int check_errors(const struct storm *m, struct err *e)
{
	const struct load *l = &m->bench.programs.load;
	const char *refusal =
		m->has_more ? m->bench.driver->channel->refusal : NULL;
	uint64_t errors = 0;
	site_id i;

	if (!m->has_more || m->rogues || l->net->faults)
		return 0;
	for (i = 0; i < m->n_nodes; i++)
		errors += nic_errors(l->nic, i, NULL, 0);
	if (errors == (refusal ? nic_sum(l->nic, refusal) : 0))
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"the interfaces have refused more than blocks without a place");
}

/* Blocks that were sent have come, unless their receiver died before it looked,
 * and each attempt at most once. */
static int check_sends(const struct storm *m, struct err *e)
{
	uint64_t sent = 0, tried = 0, came = 0;
	bool is_whole = true;
	uint32_t i;

	for (i = 0; i < m->n_lanes; i++) {
		const struct lane *l = m->bench.ends[i].data;

		sent += l->sends.sent;
		tried += l->sends.tried;
		came += l->sends.came;
		is_whole &= l->is_over;
	}
	if (check_errors(m, e))
		return -1;
	if ((sent <= came || !is_whole) && came <= tried)
		return 0;
	return err_set_code(e, EXIT_INTERNAL,
		"%llu blocks were sent in %llu attempts, and %llu came",
		(unsigned long long)sent, (unsigned long long)tried,
		(unsigned long long)came);
}

int storm_check(struct load *l, struct err *e)
{
	const struct storm *m = (const struct storm *)l;
	uint64_t *sure, *perhaps;
	int failed = 0;
	uint32_t i;

	if (programs_check(l, e) || check_sends(m, e))
		return -1;
	if (!m->bench.looks->counter)
		return 0;
	sure = mem_alloc(m->n_nodes, sizeof(*sure));
	perhaps = mem_alloc(m->n_nodes, sizeof(*perhaps));
	for (i = 0; i < m->n_lanes; i++)
		expect(m->bench.ends[i].data, sure, perhaps);
	for (i = 0; i < m->n_nodes && !failed; i++) {
		uint64_t came = count_bytes(m, i);

		if (came < sure[i] || came > perhaps[i])
			failed = err_set_code(e, EXIT_INTERNAL,
				"node %u: its counter counted %llu bytes, but "
				"%llu to %llu were sent",
				i, (unsigned long long)came,
				(unsigned long long)sure[i],
				(unsigned long long)perhaps[i]);
	}
	mem_free(sure);
	mem_free(perhaps);
	return failed;
}
