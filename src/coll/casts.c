#include "coll/casts.h"

#include "base/mem.h"

struct note {
	uint32_t src, number; /* the broadcast's */
	sim_time since;
	port_mask waits; /* ports that no answer has come by */
	uint8_t in; /* the port that it came by */
	uint8_t answer; /* the greatest so far */
};

struct notes {
	struct note *note;
	uint32_t n, room;
	uint64_t strays; /* answers that nobody waited for */
};

struct casts {
	struct coll coll;
	struct notes *site; /* [site] */
};

static struct casts *of(const struct coll *c)
{
	return (struct casts *)(uintptr_t)c;
}

static bool is_old(const struct coll *c, const struct note *x, sim_time t)
{
	return t - x->since > c->route->answers;
}

static void forget_old(const struct coll *c, struct notes *x, sim_time t)
{
	uint32_t i = 0;

	while (i < x->n) {
		if (is_old(c, &x->note[i], t))
			x->note[i] = x->note[--x->n];
		else
			i++;
	}
}

/* A broadcast has come and will leave by some ports. */
static void take_note(struct coll *c, struct notes *x, const struct packet *p,
	port_id in, port_mask ports, sim_time t)
{
	forget_old(c, x, t);
	if (x->n == x->room) {
		x->room = 2 * x->room + 4;
		x->note = mem_grow(x->note, x->room, sizeof(*x->note));
	}
	x->note[x->n++] = (struct note){
		.src = p->src,
		.number = p->number,
		.since = t,
		.waits = ports,
		.in = (uint8_t)in,
	};
}

static struct note *find(
	const struct notes *x, const struct packet *p, port_id in)
{
	struct note *c = x->note, *end = c + x->n;

	while (c < end && (c->src != p->dst || c->number != p->number ||
				  !(c->waits >> in & 1)))
		c++;
	return c < end ? c : NULL;
}

/* An answer has come: the ports that it goes on by, or none. */
static port_mask answer(struct coll *c, struct notes *x, struct packet *p,
	port_id in, sim_time t)
{
	struct note *note = find(x, p, in);
	port_id port;

	/* What was hurt may say anything: its sender waits in vain. */
	if (!note || is_old(c, note, t) || p->flags & PACKET_HURT) {
		x->strays++;
		return 0;
	}
	note->waits &= ~((port_mask)1 << in);
	if (p->answer > note->answer)
		note->answer = p->answer;
	if (note->waits)
		return 0;
	p->answer = note->answer;
	port = note->in;
	*note = x->note[--x->n];
	return (port_mask)1 << port;
}

static struct coll_step casts_arrive(
	struct coll *c, site_id s, struct packet *p, port_id in, sim_time t)
{
	struct notes *x = &of(c)->site[s];
	struct coll_step step = { .what = COLL_PASS };

	if (p->flags & PACKET_RANGE) {
		step.ports = c->route->ops->spread(c->route, p, s);
		if (step.ports)
			take_note(c, x, p, in, step.ports, t);
	} else if (s >= c->n_nodes) {
		step.ports = answer(c, x, p, in, t);
		if (!step.ports)
			step.what = COLL_ABSORB;
	}
	return step;
}

static void casts_init(struct coll *c)
{
	of(c)->site = map_alloc(c->n_sites * sizeof(*of(c)->site));
}

static void casts_fini(struct coll *c)
{
	site_id s;

	for (s = 0; s < c->n_sites; s++)
		mem_free(of(c)->site[s].note);
	map_free(of(c)->site, c->n_sites * sizeof(*of(c)->site));
}

static uint64_t casts_strays(const struct coll *c)
{
	uint64_t sum = 0;
	site_id s;

	for (s = 0; s < c->n_sites; s++)
		sum += of(c)->site[s].strays;
	return sum;
}

static uint64_t casts_waiting(const struct coll *c)
{
	uint64_t sum = 0;
	site_id s;

	for (s = 0; s < c->n_sites; s++)
		sum += of(c)->site[s].n;
	return sum;
}

static uint64_t casts_memory(const struct coll *c)
{
	uint64_t sum = c->n_sites * sizeof(struct notes);
	site_id s;

	for (s = 0; s < c->n_sites; s++)
		sum += of(c)->site[s].room * sizeof(struct note);
	return sum;
}

const struct coll_ops casts_ops = {
	.name = "casts",
	.size = sizeof(struct casts),
	.flags = PACKET_RANGE | PACKET_ANSWER,
	.init = casts_init,
	.fini = casts_fini,
	.arrive = casts_arrive,
	.waiting = casts_waiting,
	.strays = casts_strays,
	.memory = casts_memory,
};
