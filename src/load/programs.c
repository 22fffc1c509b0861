#include "load/programs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/order.h"
#include "outside/proxy.h"

/* What a node takes that does something, more or less: its message unit, its
 * caches' footprint, and of each program the stack that it has touched. */
enum {
	NODE_BYTES = 24 << 10,
	PROGRAM_BYTES = 12 << 10,
	SLICES_PER_STALL = 4,
};

struct programs_arrivals {
	_Alignas(64) struct hist latency;
	sim_time last; /* packet */
	site_id complainer; /* where wrong.code is set */
	struct err wrong;
};

int programs_need_memory(
	const struct programs *p, uint64_t memory, struct err *e)
{
	if ((uint64_t)p->load.host_params->memory < memory)
		return err_set(e,
			"%s: needs a host.memory of at least %.1f GiB",
			p->load.ops->name, (double)memory / (1 << 30));
	return 0;
}

int programs_need_nic(const struct programs *p, struct err *e)
{
	if (!p->load.nic_ops)
		return err_set(e,
			"%s: needs a network interface, but nic.kind is none "
			"on this machine (plain fits any machine)",
			p->load.ops->name);
	return 0;
}

/* A machine that has an interface. */
static const char *example_of(const char *nic)
{
	size_t i = 0;

	while (nic_registry[i] && strcmp(nic_registry[i]->name, nic) != 0)
		i++;
	return nic_registry[i] ? nic_registry[i]->machine : "none";
}

int programs_need(const struct programs *p, const char *nic, uint64_t memory,
	struct err *e)
{
	const struct load *l = &p->load;

	if (programs_need_nic(p, e))
		return -1;
	if (strcmp(l->nic_ops->name, nic) != 0)
		return err_set(e,
			"%s: runs only on machines with nic.kind %s, such as "
			"%s",
			l->ops->name, nic, example_of(nic));
	return programs_need_memory(p, memory, e);
}

static struct programs_arrivals *mine(struct programs *p, site_id s)
{
	return &p->arrivals[p->owner[s]];
}

void programs_delivered(
	void *arg, site_id s, const struct packet *packet, sim_time t)
{
	struct programs *p = arg;
	struct programs_arrivals *a = mine(p, s);

	load_delivered(&p->load, s, packet, t);
	/* the change of a barrier's status is no packet */
	if (packet->born != SIM_NEVER) {
		hist_add(&a->latency, t - packet->born);
		load_count_latency(&p->load, p->owner[s], t - packet->born);
	}
	if (t > a->last)
		a->last = t;
}

void programs_open(struct programs *p)
{
	p->arrivals = map_alloc(p->load.net->n_workers * sizeof(*p->arrivals));
	p->owner = sim_worker(p->load.net->sim, 0)->owner;
}

uint64_t programs_arrived(const struct programs *p, sim_time *last)
{
	uint64_t n = 0, latest;

	*last = 0;
	for (uint32_t i = 0; i < p->load.net->n_workers; i++) {
		const struct programs_arrivals *a = &p->arrivals[i];

		n += a->latency.n;
		*last = a->last > *last ? a->last : *last;
	}
	latest = (uint64_t)*last;
	sim_max(p->load.net->sim, &latest, 1);
	*last = (sim_time)latest;
	sim_sum(p->load.net->sim, &n, 1);
	return n;
}

/* Its programs that have not ended. */
struct waiting {
	const struct load *load;
	struct load_waiters *waiters; /* NULL: they are not described */
	struct host_waiting first; /* of these, not described */
	sim_time since; /* the last of them */
	uint64_t n;
	/* Of several processes, those of this one, which others may not
	 * describe. */
	struct host_waiting *told;
	size_t n_told;
};

void programs_name_rank(const struct load *l, site_id node, uint32_t process,
	char *text, size_t size)
{
	const struct proxy *p;
	uint32_t n = 0;

	text[0] = '\0';
	p = l->ops->ranks ? l->ops->ranks(l, &n) : NULL;
	for (uint32_t i = 0; i < n; i++)
		if (p[i].node == node && p[i].process == process)
			snprintf(text, size, "rank %u (node %u)", i, node);
}

static void add_waiting(const struct load *l, struct load_waiters *r,
	const struct host_waiting *w)
{
	struct load_waiting *x;
	uint32_t i = 0;

	r->n++;
	while (i < r->n_listed && strcmp(r->first[i].first.what, w->what) != 0)
		i++;
	if (i == LOAD_MAX_WAITING)
		return;
	x = &r->first[i];
	if (i == r->n_listed) {
		r->n_listed++;
		x->first = *w;
		programs_name_rank(
			l, w->node, w->process, x->who, sizeof(x->who));
	}
	x->same++;
}

/* Nobody may have noticed: its programs wait for nothing more. */
static bool is_dead(const struct load *l, site_id node)
{
	return host_dies_at(l->host, node) <= sim_now(l->net->sim);
}

/* Those who can explain what they wait for come first: others wait for them,
 * at the end say. */
static void count_one(struct waiting *x, const struct host_waiting *w)
{
	if (!x->n++ || (w->is_explained && !x->first.is_explained))
		x->first = *w;
	if (x->since < w->since)
		x->since = w->since;
}

/* Explanations may take long. */
static bool is_enough(const struct waiting *x, const struct host_waiting *w)
{
	return w->is_explained && x->waiters->n_listed == LOAD_MAX_WAITING;
}

/* Counts it; whether it is to be listed, too. */
static bool is_listed(struct waiting *x, const struct host_waiting *w)
{
	count_one(x, w);
	if (!x->waiters || is_dead(x->load, w->node))
		return false;
	if (!is_enough(x, w))
		return true;
	x->waiters->n++;
	return false;
}

static void on_waiting(void *arg, const struct host_waiting *w)
{
	struct waiting *x = arg;
	struct host_waiting told = *w;

	if (load_rank(x->load, w->node) == UINT32_MAX)
		return;
	if (!is_listed(x, w))
		return;
	host_describe(x->load->host, &told);
	add_waiting(x->load, x->waiters, &told);
}

/* How many there are; in *since, which may be NULL, when the last began to. */
static uint64_t count_waiting(const struct load *l, sim_time *since)
{
	struct waiting x = { .load = l };
	uint64_t last;

	host_each_waiting(l->host, on_waiting, &x);
	last = (uint64_t)x.since;
	sim_sum(l->net->sim, &x.n, 1);
	sim_max(l->net->sim, &last, 1);
	if (since)
		*since = (sim_time)last;
	return x.n;
}

/* Describes as many as one process would have to, were it alone: of all
 * programs together it would be no more. */
static void tell_one(void *arg, const struct host_waiting *w)
{
	struct waiting *x = arg;
	struct host_waiting *told;

	if (load_rank(x->load, w->node) == UINT32_MAX)
		return;
	x->told = mem_more(x->told, x->n_told, sizeof(*x->told));
	told = &x->told[x->n_told++];
	*told = *w;
	if (is_enough(x, w))
		return;
	host_describe(x->load->host, told);
	if (!is_dead(x->load, w->node))
		add_waiting(x->load, x->waiters, told);
}

static int by_node(const void *a, const void *b)
{
	const struct host_waiting *x = a, *y = b;

	return 2 * order(x->node, y->node) + order(x->thread, y->thread);
}

/* Of several processes: all programs, in the order of nodes. */
static void list_told(struct waiting *x)
{
	const struct load *l = x->load;
	struct load_waiters *waiters = x->waiters;

	host_each_waiting(l->host, tell_one, x);
	memset(waiters, 0, sizeof(*waiters));
	x->told =
		sim_gather(l->net->sim, x->told, &x->n_told, sizeof(*x->told));
	if (x->n_told)
		qsort(x->told, x->n_told, sizeof(*x->told), by_node);
	for (size_t i = 0; i < x->n_told; i++)
		if (is_listed(x, &x->told[i]))
			add_waiting(l, waiters, &x->told[i]);
	mem_free(x->told);
}

/* The first of them, not described; all of them, in waiters. */
static struct host_waiting list_waiting(
	const struct load *l, struct load_waiters *waiters)
{
	struct waiting x = { .load = l, .waiters = waiters };

	load_tell_waiting(l);
	if (sim_is_shared(l->net->sim))
		list_told(&x);
	else
		host_each_waiting(l->host, on_waiting, &x);
	return x.first;
}

/*
 * Errors that nobody has found may keep a network busy for ever, with a message
 * of a length that they made: who waits so long then waits in vain.
 */
static bool waits_in_vain(const struct load *l)
{
	sim_time long_ago = sim_now(l->net->sim) - 10 * l->net->params.stall;
	sim_time since;

	if (long_ago <= 0 || !net_escaped(l->net))
		return false;
	return count_waiting(l, &since) && since < long_ago;
}

/*
 * Packets that a receiver cannot take yet come again for ever.  If for long
 * nothing else happens, nothing will: who waits does so in vain.
 */
static bool tries_in_vain(struct programs *p, const struct nic_pending *e)
{
	const struct net *n = p->load.net;
	sim_time now = sim_now(n->sim);

	if (e->patient < e->n)
		p->busy_at = now;
	return now - p->busy_at >= 100 * n->params.stall;
}

/*
 * Cards may repeat a question for as long as the answer is no.  If for long no
 * program has had anything to do, and interfaces did nothing else, the answer
 * will not change.  A program that computes has an event at its end.
 */
static bool asks_in_vain(struct programs *p, const struct nic_pending *e)
{
	const struct load *l = &p->load;
	sim_time now = sim_now(l->net->sim), since;
	uint64_t deeds = 0;

	if (e->programs || !nic_only_asks(l->nic, l->place, &deeds) ||
		deeds != p->deeds) {
		p->deeds = deeds;
		p->active_at = now;
		return false;
	}
	count_waiting(l, &since);
	p->active_at = since > p->active_at ? since : p->active_at;
	return now - p->active_at >= 10 * l->net->params.stall;
}

/*
 * A machine check has stopped a unit of the network, packets stand behind it,
 * and for long none has moved: programs that look at registers for what will
 * never be there would do so for ever.
 */
static bool looks_in_vain(struct programs *p)
{
	const struct net *n = p->load.net;
	sim_time now = sim_now(n->sim);
	uint64_t hops;

	if (!n->faults || !faults_stopped(n->faults, NULL))
		return false;
	hops = net_hops(n);
	if (hops != p->hops || !p->hops_at) {
		p->hops = hops;
		p->hops_at = now;
	}
	return net_n_packets(n) && now - p->hops_at >= 100 * n->params.stall;
}

/* A slice may have nothing but tokens, which are events or none by the owners
 * of their ends: it does not count. */
static void count_quiet(struct programs *p, bool is_quiet)
{
	uint64_t n = sim_n_events(p->load.net->sim);

	p->quiet = is_quiet ? p->quiet + (n != p->n_events) : 0;
	p->n_events = n;
}

/*
 * Where others share the machine something always happens: it is over when its
 * own programs are, or when nothing of it has happened for long.
 */
static bool is_over(struct programs *p)
{
	const struct load *l = &p->load;
	struct nic_pending e;

	if (!count_waiting(l, NULL))
		return true;
	e = nic_any_pending(l->nic, l->place);
	count_quiet(p, !e.n);
	p->load.is_stalled = l->is_idle || p->quiet > 2 * SLICES_PER_STALL ||
			     waits_in_vain(l) || asks_in_vain(p, &e) ||
			     looks_in_vain(p);
	return p->load.is_stalled;
}

sim_time programs_stall(struct programs *p)
{
	host_bury(p->load.host);
	p->load.is_stalled = count_waiting(&p->load, NULL);
	return SIM_NEVER;
}

sim_time programs_next(struct load *l)
{
	struct programs *p = (struct programs *)l;
	struct nic_pending e;
	sim_time last;

	if (l->place && is_over(p))
		return SIM_NEVER;
	e = l->place ? (struct nic_pending){ 0 }
		     : nic_any_pending(l->nic, NULL);
	if (!l->place && (!e.n || waits_in_vain(l) || tries_in_vain(p, &e) ||
				 asks_in_vain(p, &e) || looks_in_vain(p))) {
		host_bury(l->host);
		p->load.is_stalled =
			host_n_running(l->host) && count_waiting(l, NULL);
		p->is_vain = e.n && !p->load.is_stalled;
		return SIM_NEVER;
	}
	load_tell(l, p->expected ? (uint32_t)(programs_arrived(p, &last) *
					      1000 / p->expected)
				 : 0);
	return sim_slice(l->net->sim, l->net->params.stall / SLICES_PER_STALL);
}

/* The first complaint of the lowest node, of this process. */
static const struct programs_arrivals *find_wrong(const struct programs *p)
{
	const struct programs_arrivals *first = NULL, *a;

	for (uint32_t i = 0; i < p->load.net->n_workers; i++) {
		a = &p->arrivals[i];
		if (a->wrong.code &&
			(!first || a->complainer < first->complainer))
			first = a;
	}
	return first;
}

static int check_nics(const struct programs *p, struct err *e)
{
	const struct nic *nic = p->load.nic;
	char text[256];
	const struct topo *t = p->load.net->topo;
	uint32_t i, n = load_n_nodes(&p->load);
	bool is_late = nic_is_late(nic);
	site_id s;

	for (i = 0; i < n + t->n_io; i++) {
		s = i < n ? load_node(&p->load, i) : t->n_nodes + i - n;
		if (nic_errors(nic, s, text, sizeof(text))) {
			err_set_code(e, is_late ? EXIT_LIMIT : EXIT_INTERNAL,
				"node %u: the %s reports: %s%s", s,
				nic->ops->title, text,
				is_late ? ", since the network did not answer "
					  "in time"
					: "");
			break;
		}
	}
	return sim_share_first(p->load.net->sim, e, i);
}

/* Who waits, and where interfaces have reported anything, what for. */
static int tell_stalled(const struct programs *p, struct err *e)
{
	struct load_waiters *all = mem_alloc(1, sizeof(*all));
	struct host_waiting w = list_waiting(&p->load, all);
	const struct sim *sim = p->load.net->sim;
	struct err why = { 0 };
	char text[sizeof(e->text)], stall[101];

	if (sim_has(sim, w.node))
		host_describe(p->load.host, &w);
	sim_tell(sim, w.node, &w, sizeof(w));
	mem_free(all);
	nic_describe_stall(p->load.nic, stall, sizeof(stall));
	programs_name_rank(&p->load, w.node, w.process, text, sizeof(text));
	if (!*text)
		snprintf(text, sizeof(text), "node %u, thread %u", w.node,
			w.thread);
	name_add(text, sizeof(text), ": ");
	name_add(text, sizeof(text), w.what);
	name_add(text, sizeof(text), stall);
	if (check_nics(p, &why))
		return err_set_code(
			e, EXIT_DEADLOCK, "%s; %.120s", text, why.text);
	return err_set_code(e, EXIT_DEADLOCK, "%s", text);
}

/* Bytes that are not there, where packets were lost and nobody resends them,
 * are nobody's mistake. */
static int tell_wrong(
	const struct load *l, const struct err *wrong, struct err *e)
{
	uint64_t lost = net_total(l->net).lost + nic_sum(l->nic, "torn");

	if (!lost || !(l->nic->ops->can & NIC_LOSES))
		*e = *wrong;
	else
		err_set_code(e, EXIT_DEADLOCK,
			"%s, since %llu packets were lost or corrupted and "
			"nothing retransmits them (link.retry)",
			wrong->text, (unsigned long long)lost);
	return -1;
}

int programs_check(struct load *l, struct err *e)
{
	struct programs *p = (struct programs *)l;
	const struct programs_arrivals *first = find_wrong(p);
	struct err wrong = first ? first->wrong : (struct err){ 0 };

	if (sim_share_first(l->net->sim, &wrong, first ? first->complainer : 0))
		return tell_wrong(l, &wrong, e);
	/* Where things go wrong, interfaces report it. */
	if (!p->may_err && !l->net->faults && check_nics(p, e))
		return -1;
	if (p->load.is_stalled)
		return tell_stalled(p, e);
	if (p->is_vain)
		return err_set_code(e, EXIT_DEADLOCK,
			"no program waits, but interfaces repeat for ever what "
			"others put off or deny");
	/* others may still be using it */
	if (!l->place)
		nic_audit(l->nic, e);
	return sim_share_error(l->net->sim, e);
}

void programs_fini(struct load *l)
{
	struct programs *p = (struct programs *)l;

	if (p->arrivals)
		map_free(p->arrivals, l->net->n_workers * sizeof(*p->arrivals));
}

void programs_latency(const struct programs *p, struct load_result *r)
{
	for (uint32_t i = 0; p->arrivals && i < p->load.net->n_workers; i++)
		hist_merge(&r->latency, &p->arrivals[i].latency);
	load_share_hist(&p->load, &r->latency);
}

void programs_report(const struct programs *p, struct load_result *r)
{
	if (p->load.is_stalled || (p->names_all && r->ending == LOAD_STALLED))
		list_waiting(&p->load, &r->waiters);
	programs_latency(p, r);
	r->via = "nic";
	r->nic = p->load.nic;
	r->dead_programs = host_n_dead(p->load.host);
}

uint64_t programs_estimate(
	uint64_t n_nodes, uint64_t programs_per_node, uint64_t bytes_per_node)
{
	return n_nodes * (NODE_BYTES + programs_per_node * PROGRAM_BYTES +
				 bytes_per_node);
}

void programs_give_up(struct programs *p, int code, const char *text)
{
	site_id s = program_node();
	struct programs_arrivals *a = mine(p, s);

	if (a->wrong.code && a->complainer <= s)
		return;
	a->wrong = (struct err){ 0 };
	a->complainer = s;
	err_set_code(&a->wrong, code, "node %u: %s", s, text);
}

bool programs_fail(struct programs *p, const char *format, ...)
{
	bool has_faults = p->load.net->faults;
	char text[200], all[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(all, sizeof(all), "%s%s", text,
		has_faults ? ", because of the planned faults"
			   : ", since the network did not answer in time");
	programs_give_up(p, has_faults ? EXIT_DEADLOCK : EXIT_LIMIT, all);
	return false;
}

bool programs_complain(struct programs *p, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	programs_give_up(p, EXIT_INTERNAL, text);
	return false;
}

void programs_note_stop(struct programs *p)
{
	if (p->load.net->faults)
		programs_fail(p, "the command queue has stopped");
	else
		programs_complain(p, "the command queue has stopped");
}

bool programs_is_early(struct programs *p)
{
	if (program_now() <= PROGRAMS_START)
		return true;
	programs_give_up(p, EXIT_BAD_INPUT,
		"the set-up takes longer than 10 us, after which other nodes "
		"start to send; the network interface's registers are too "
		"slow");
	return false;
}

bool programs_did(struct programs *p, const char *call, int32_t code)
{
	if (code == EIO || code == ETIMEDOUT) /* the network is to blame */
		return programs_fail(p, "%s: %s", call, strerror(code));
	return !code || programs_complain(p, "%s: %s", call, strerror(code));
}
