#include "topo/switches.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* --- plans --- */

void switches_plan_nodes(struct switches_plan *p, uint32_t n)
{
	p->nodes = mem_more(p->nodes, p->n, sizeof(*p->nodes));
	p->nodes[p->n++] = n;
}

void switches_plan_join(struct switches_plan *p, uint32_t a, uint32_t b,
	uint32_t links, uint32_t cable)
{
	while (links--) {
		p->edge = mem_more(p->edge, p->n_edges, sizeof(*p->edge));
		p->edge[p->n_edges++] = (struct switches_edge){ a, b, cable };
	}
}

int switches_plan_cable(struct switches_plan *p, struct switches_cable c)
{
	uint32_t i;

	for (i = 0; i < p->n_cables; i++)
		if (p->cable[i].metres == c.metres &&
			p->cable[i].rate == c.rate)
			return (int)i;
	if (i == SWITCHES_CABLES)
		return -1;
	p->cable[p->n_cables++] = c;
	return (int)i;
}

void switches_plan_fini(struct switches_plan *p)
{
	mem_free(p->nodes);
	mem_free(p->name);
	mem_free(p->edge);
	memset(p, 0, sizeof(*p));
}

/* --- building --- */

void switches_name(
	const struct switches *s, uint32_t number, char *text, size_t size)
{
	if (s->plan.name)
		snprintf(text, size, "%s", s->plan.name[number]);
	else
		snprintf(text, size, "s%u", number);
}

static int check_ports(struct switches *s, const uint32_t *used,
	const char *blame, struct err *e)
{
	char name[SWITCHES_NAME];

	s->topo.n_ports = 1;
	for (uint32_t i = 0; i < s->plan.n; i++) {
		if (used[i] > s->topo.n_ports)
			s->topo.n_ports = used[i];
		if (used[i] <= TOPO_MAX_PORTS)
			continue;
		switches_name(s, i, name, sizeof(name));
		return err_set(e,
			"%s: switch %s would have %u ports, more than the %d "
			"allowed",
			blame, name, used[i], TOPO_MAX_PORTS);
	}
	return 0;
}

/* Numbers of sites and ports. */
static int count(struct switches *s, const char *blame, struct err *e)
{
	const struct switches_plan *p = &s->plan;
	uint32_t *used = mem_alloc(p->n + 1, sizeof(*used));
	uint64_t nodes = 0;
	int bad;

	s->first = mem_alloc(p->n + 1, sizeof(*s->first));
	for (uint32_t i = 0; i < p->n; i++) {
		s->first[i] = (uint32_t)nodes;
		used[i] = p->nodes[i];
		nodes += p->nodes[i];
		if (nodes + p->n > TOPO_MAX_ROUTERS)
			break;
	}
	for (size_t i = 0; i < p->n_edges; i++) {
		used[p->edge[i].a]++;
		used[p->edge[i].b]++;
	}
	if (nodes + p->n > TOPO_MAX_ROUTERS)
		bad = err_set(e, "%s: more than %d nodes and switches", blame,
			TOPO_MAX_ROUTERS);
	else if (!nodes)
		bad = err_set(e, "%s: no switch has a node", blame);
	else
		bad = check_ports(s, used, blame, e);
	mem_free(used);
	if (bad)
		return -1;
	s->first[p->n] = (uint32_t)nodes;
	s->topo.n_nodes = (router_id)nodes;
	s->topo.n_routers = (router_id)nodes + p->n;
	s->topo.node_ports = 1;
	return 0;
}

static void wire_up(struct switches *s)
{
	const struct switches_plan *p = &s->plan;
	size_t per = s->topo.n_ports, n = p->n * per;
	uint32_t *used = mem_alloc(p->n, sizeof(*used));

	s->at = mem_alloc(s->topo.n_nodes, sizeof(*s->at));
	s->far = mem_alloc(n, sizeof(*s->far));
	s->class = mem_alloc(n, sizeof(*s->class));
	for (size_t i = 0; i < n; i++)
		s->far[i].router = NO_ROUTER;
	for (uint32_t i = 0; i < p->n; i++) {
		for (used[i] = 0; used[i] < p->nodes[i]; used[i]++) {
			router_id node = s->first[i] + used[i];

			s->at[node] = i;
			s->far[i * per + used[i]] =
				(struct topo_end){ node, 0 };
			s->class[i * per + used[i]] = SWITCHES_DOWN;
		}
	}
	for (size_t i = 0; i < p->n_edges; i++) {
		uint32_t a = p->edge[i].a, b = p->edge[i].b;
		uint32_t from = used[a]++, to = used[b]++;
		uint32_t class = SWITCHES_CABLE + p->edge[i].cable;

		s->far[a * per + from] =
			(struct topo_end){ s->topo.n_nodes + b, to };
		s->far[b * per + to] =
			(struct topo_end){ s->topo.n_nodes + a, from };
		s->class[a * per + from] = (uint8_t) class;
		s->class[b * per + to] = (uint8_t) class;
	}
	mem_free(used);
}

static void set_wires(struct switches *s)
{
	static const char *const names[] = { "node up", "node down", "cable",
		"cable 2", "cable 3", "cable 4", "cable 5", "cable 6",
		"cable 7", "cable 8", "cable 9", "cable 10", "cable 11" };

	_Static_assert(sizeof(names) / sizeof(*names) == TOPO_MAX_WIRES,
		"a name for each");
	s->topo.n_wires = SWITCHES_CABLE + s->plan.n_cables;
	for (uint32_t i = 0; i < s->topo.n_wires; i++) {
		struct switches_cable c = { s->node_cable, 0 };
		/* in front of what leaves a node there is no switch */
		int64_t logic = i == SWITCHES_UP ? 0 : s->logic;

		if (i >= SWITCHES_CABLE)
			c = s->plan.cable[i - SWITCHES_CABLE];
		s->topo.wire[i] = (struct topo_wire){
			.name = names[i],
			.latency = logic + s->delay * c.metres,
			.logic = logic,
			.rate = c.rate,
			.metres = c.metres,
		};
	}
}

/* Passes the marks of switches on to those without one, the nearest first. */
static void spread(const struct switches *s, router_id *mark)
{
	uint32_t n = s->plan.n, head = 0, tail = 0;
	uint32_t *queue = mem_alloc(n, sizeof(*queue));

	for (uint32_t i = 0; i < n; i++)
		if (mark[i] != NO_ROUTER)
			queue[tail++] = i;
	while (head < tail) {
		size_t at = queue[head++];

		for (port_id p = 0; p < s->topo.n_ports; p++) {
			router_id r = s->far[at * s->topo.n_ports + p].router;

			if (r == NO_ROUTER || r < s->topo.n_nodes ||
				mark[r - s->topo.n_nodes] != NO_ROUTER)
				continue;
			mark[r - s->topo.n_nodes] = mark[at];
			queue[tail++] = r - s->topo.n_nodes;
		}
	}
	mem_free(queue);
}

/* Whether each switch can be reached from switch 0. */
static int check_whole(
	const struct switches *s, const char *blame, struct err *e)
{
	router_id *mark = mem_alloc(s->plan.n, sizeof(*mark));
	char name[SWITCHES_NAME], other[SWITCHES_NAME];
	uint32_t i;

	memset(mark, 0xff, s->plan.n * sizeof(*mark));
	mark[0] = 0;
	spread(s, mark);
	for (i = 0; i < s->plan.n && mark[i] != NO_ROUTER;)
		i++;
	mem_free(mark);
	if (i == s->plan.n)
		return 0;
	switches_name(s, 0, name, sizeof(name));
	switches_name(s, i, other, sizeof(other));
	return err_set(e,
		"%s: the network has separate parts: no path leads from switch "
		"%s to switch %s",
		blame, name, other);
}

/* The home of a switch is its first node, or that of the nearest switch which
 * has one. */
static void find_homes(struct switches *s)
{
	s->home = mem_alloc(s->plan.n, sizeof(*s->home));
	for (uint32_t i = 0; i < s->plan.n; i++)
		s->home[i] = s->plan.nodes[i] ? s->first[i] : NO_ROUTER;
	spread(s, s->home);
}

int switches_build(struct switches *s, const struct switches_plan *plan,
	const char *blame, struct err *e)
{
	s->plan = *plan;
	if (!plan->n)
		return err_set(e, "%s: there are no switches", blame);
	if (count(s, blame, e))
		return -1;
	set_wires(s);
	wire_up(s);
	if (check_whole(s, blame, e))
		return -1;
	find_homes(s);
	switches_measure(s);
	return 0;
}

void switches_fini(struct topo *t)
{
	struct switches *s = (struct switches *)t;

	switches_plan_fini(&s->plan);
	mem_free(s->first);
	mem_free(s->at);
	mem_free(s->far);
	mem_free(s->class);
	mem_free(s->home);
	mem_free(s->hops);
	s->first = NULL;
	s->at = NULL;
	s->far = NULL;
	s->class = NULL;
	s->home = NULL;
	s->hops = NULL;
}

/* --- wires and names --- */

struct topo_end switches_peer(const struct topo *t, router_id r, port_id p)
{
	const struct switches *s = switches_of(t);
	uint32_t at;

	if (r >= t->n_nodes)
		return p < t->n_ports
			       ? s->far[(size_t)(r - t->n_nodes) * t->n_ports +
					 p]
			       : (struct topo_end){ NO_ROUTER, 0 };
	if (p)
		return (struct topo_end){ .router = NO_ROUTER };
	at = s->at[r];
	return (struct topo_end){ t->n_nodes + at, r - s->first[at] };
}

uint32_t switches_wire(const struct topo *t, router_id r, port_id p)
{
	const struct switches *s = switches_of(t);

	return r < t->n_nodes
		       ? SWITCHES_UP
		       : s->class[(size_t)(r - t->n_nodes) * t->n_ports + p];
}

router_id switches_home(const struct topo *t, router_id r)
{
	return r < t->n_nodes ? r : switches_of(t)->home[r - t->n_nodes];
}

void switches_name_router(
	const struct topo *t, router_id r, char *text, size_t size)
{
	if (r < t->n_nodes)
		snprintf(text, size, "%u", r);
	else
		switches_name(switches_of(t), r - t->n_nodes, text, size);
}

/* "to s3", or "to s3 #2" for the second of parallel links. */
void switches_name_port(
	const struct topo *t, router_id r, port_id p, char *text, size_t size)
{
	const struct switches *s = switches_of(t);
	const struct topo_end *far;
	char name[SWITCHES_NAME];
	uint32_t same = 0;

	if (r < t->n_nodes) {
		snprintf(text, size, "link");
		return;
	}
	far = &s->far[(size_t)(r - t->n_nodes) * t->n_ports];
	if (far[p].router < t->n_nodes) {
		snprintf(text, size, "node %u", p);
		return;
	}
	if (far[p].router == NO_ROUTER) {
		snprintf(text, size, "empty %u", p);
		return;
	}
	for (port_id i = 0; i < p; i++)
		same += far[i].router == far[p].router;
	switches_name(s, far[p].router - t->n_nodes, name, sizeof(name));
	if (same)
		snprintf(text, size, "to %s #%u", name, same + 1);
	else
		snprintf(text, size, "to %s", name);
}

/* "50# of 4o", or "50# and 200o" where switches differ. */
void switches_sketch(const struct topo *t, char *text, size_t size)
{
	const struct switches_plan *p = &switches_of(t)->plan;
	uint32_t i = 1;

	while (i < p->n && p->nodes[i] == p->nodes[0])
		i++;
	if (i == p->n)
		snprintf(text, size, "%u# of %uo", p->n, p->nodes[0]);
	else
		snprintf(text, size, "%u# and %uo", p->n, t->n_nodes);
}
