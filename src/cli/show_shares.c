/* What each of several Weft processes would simulate. */
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/show.h"
#include "net/shares.h"

enum { MOST_ROWS = 32 };

static void add_share(
	struct facts *f, const struct net_share *x, uint32_t process)
{
	char size[SHOW_SIZE];

	show_size(x->memory, size);
	facts_group(f, NULL);
	facts_count(f, "process", process);
	facts_count(f, "nodes", x->nodes);
	facts_count(f, "others", x->others);
	facts_count(f, "wires", x->wires);
	facts_count(f, "cut_wires", x->cut);
	facts_count(f, "neighbours", x->near);
	facts_count(f, "estimated_bytes", x->memory);
	facts_text(f, "_size", size);
	facts_end(f);
}

/* Each wire leaves two sites. */
static void add_sum(struct facts *f, const struct net_share *x, uint32_t n)
{
	uint64_t wires = 0, cut = 0, most = 0;
	char size[SHOW_SIZE];

	for (uint32_t i = 0; i < n; i++) {
		wires += x[i].wires;
		cut += x[i].cut;
		most = x[i].memory > most ? x[i].memory : most;
	}
	show_size(most, size);
	facts_count(f, "cut_wires", cut / 2);
	facts_count(f, "all_wires", wires / 2);
	facts_real(
		f, "_percent", wires ? 100 * (double)cut / (double)wires : 0);
	facts_text(f, "_most", size);
	facts_line(f, NULL, "");
	facts_line(f, "cut",
		"{cut_wires} of {all_wires} wires, {_percent:.3g} %, connect "
		"different processes");
	facts_line(f, "memory",
		"a saturated run needs about {_most} in a process; those of a "
		"computer add up");
}

static void add_all(struct facts *f, const struct machine *m,
	const struct net_share *x, uint32_t n)
{
	bool has_others = m->topo->n_routers > m->topo->n_nodes;

	facts_text(f, "weft", WEFT_VERSION);
	facts_text(f, "machine", m->header.name);
	facts_count(f, "processes", n);
	facts_list(f, "shares");
	for (uint32_t i = 0; i < n; i++)
		add_share(f, &x[i], i);
	facts_end(f);
	facts_table(f, "shares",
		has_others
			? m->topo->n_io
				  ? ">process|>nodes|>IO nodes=others|>cut "
				    "wires=cut_wires|>neighbours|>memory=_size"
				  : ">process|>nodes|>switches=others|>cut "
				    "wires=cut_wires|>neighbours|>memory=_size"
			: ">process|>nodes|>cut wires=cut_wires|"
			  ">neighbours|>memory=_size",
		MOST_ROWS);
	if (n > MOST_ROWS)
		facts_say(f, NULL, "... and %u more; --json has all",
			n - MOST_ROWS);
	add_sum(f, x, n);
}

int show_shares(const struct cli_args *a, const struct machine *m, FILE *f,
	struct err *e)
{
	const struct net_setup s = show_net(m);
	struct net_share *x;
	struct facts all;

	if (a->processes > m->topo->n_nodes)
		return err_set(e,
			"--processes: %u (want at most one for each of the %u "
			"nodes)",
			a->processes, m->topo->n_nodes);
	x = mem_alloc(a->processes, sizeof(*x));
	net_count_shares(x, &s, a->processes);
	facts_init(&all);
	add_all(&all, m, x, a->processes);
	cli_write(a, &all, CLI_BOLD, f);
	facts_fini(&all);
	mem_free(x);
	return 0;
}
