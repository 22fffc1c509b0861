/*
 * Management messages.  The node's manager stores requests into a window of the
 * chip, which sends them on the management channel by the port that they name.
 * Answers and events are written to memory, where the manager finds them in
 * order.  If another manager asks who the node is, the chip itself answers.
 *
 * A management packet shares the FIFO of its port with others of that channel,
 * one at a time.
 */
#include "nic/swhni/manage.h"

#include <errno.h>
#include <string.h>

#include "nic/swhni/card.h"
#include "parts/registers/registers.h"

enum { SW_REQUESTS = 64 }; /* in the window */

struct sw_manage {
	struct packet_list line[SW_PORTS];
	struct ring answers; /* struct registers_body *: in memory */
	uint32_t n_stored; /* requests that have not left */
	uint32_t process;
	bool is_open; /* the node has a manager */
};

static struct registers *registers(const struct nic_at *a)
{
	return registers_of(a->nic->host);
}

static struct sw_manage *manage_of(const struct nic_at *a)
{
	struct sw_node *n = a->node;

	if (!n->manage) {
		n->manage = mem_alloc(1, sizeof(*n->manage));
		ring_init(&n->manage->answers, sizeof(void *));
	}
	return n->manage;
}

void sw_manage_fini(struct sw_node *n)
{
	if (!n->manage)
		return;
	ring_fini(&n->manage->answers);
	mem_free(n->manage);
}

/* --- leaving --- */

/* A packet leaves, if no other is in the FIFO. */
void sw_manage_go_on(const struct nic_at *a, uint32_t port)
{
	struct net *net = a->nic->net;
	const struct net_fifos *f = &sw_of(a)->fifos[SW_SYSTEM];
	struct sw_line *l = &sw_here(a)->line[SW_SYSTEM][port];
	struct sw_manage *m = sw_here(a)->manage;
	uint32_t fifo = f->first + port % f->count;

	if (!m || !m->line[port].first || l->is_busy ||
		!net_has_room(net, a->s, fifo))
		return;
	*l = (struct sw_line){ .fast = l->fast,
		.list = l->list,
		.n = l->n,
		.out_at = l->out_at,
		.is_busy = true };
	sw_here(a)->inside--;
	sw_here(a)->managed++;
	m->n_stored--;
	net_inject(net, a->w, a->s, fifo,
		packet_pop(net->packets, &m->line[port]), a->t);
}

/* A packet is at its port, which its body names. */
static void on_out(const struct nic_at *a, packet_id id)
{
	struct packet *packets = a->nic->net->packets;
	uint32_t port = registers_body(&packets[id])->rail;

	packet_push(packets, &manage_of(a)->line[port], id);
	sw_manage_go_on(a, port);
}

static void send(const struct nic_at *a, site_id dst,
	const struct registers_body *b, bool is_source, sim_time ready)
{
	packet_id id = registers_packet(
		registers(a), a->w, a->s, dst, b, is_source, a->t);

	sw_here(a)->inside++;
	manage_of(a)->n_stored++;
	ticks_post(a, &sw_here(a)->ticks, ready, SW_MANAGE_OUT, id);
}

/* --- arriving --- */

void sw_manage_on_packet(
	const struct nic_at *a, uint32_t port, packet_id id, sim_time tail)
{
	struct packet *p = &a->nic->net->packets[id];

	if (p->flags & PACKET_HURT) {
		registers_give(registers(a), a->w, id);
		return;
	}
	registers_body(p)->rail = (uint16_t)port;
	sw_here(a)->inside++;
	ticks_post(a, &sw_here(a)->ticks, tail + sw_params(a)->in, SW_MANAGE_IN,
		id);
}

/* Who is this?  The answer leaves by the port at which the request came. */
static void identify(const struct nic_at *a, packet_id id)
{
	struct registers *r = registers(a);
	const struct packet *p = &a->nic->net->packets[id];
	bool is_source = p->kind == PACKET_VECTOR;
	struct registers_body b = *registers_body(p);

	b.kind = REGISTERS_ANSWER;
	b.status = WEFT_SWNET_OK;
	b.n_words = 3;
	b.word[0] = WEFT_SWNET_IDENTITY(0, sw_of(a)->n_ports, b.rail);
	b.word[1] = registers_guid(r, a->s);
	b.word[2] = registers_place(r, a->s);
	if (is_source)
		registers_reverse(p, b.route);
	send(a, b.asker, &b, is_source, a->t + sw_params(a)->out);
}

static void on_in(const struct nic_at *a, packet_id id)
{
	const struct packet *p = &a->nic->net->packets[id];
	const struct registers_body *b = registers_body(p);
	struct side *side = sw_of(a)->side;
	struct sw_manage *m = manage_of(a);

	if (b->kind != REGISTERS_REQUEST && m->is_open) {
		sim_time t = side->ops->write(
			side, sw_place(a, 0), a->t, 0, p->bytes);

		ticks_post(a, &sw_here(a)->ticks, t, SW_MANAGE_SEEN, id);
		return;
	}
	if (b->kind == REGISTERS_REQUEST && b->command == WEFT_SWNET_IDENTIFY)
		identify(a, id);
	else
		sw_here(a)->strays++;
	sw_here(a)->inside--;
	registers_give(registers(a), a->w, id);
}

static void on_seen(const struct nic_at *a, packet_id id)
{
	struct registers *r = registers(a);
	struct sw_manage *m = manage_of(a);
	struct registers_body *b;

	sw_here(a)->inside--;
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, &a->nic->net->packets[id], a->t);
	b = registers_keep(r, a->w, id);
	if (!m->is_open) {
		registers_free(r, a->w, b);
		return;
	}
	*(struct registers_body **)ring_push(&m->answers) = b;
	host_poke(a->nic->host, a->w, a->s, a->t);
}

void sw_manage_on_event(const struct nic_at *a, uint32_t number, uint32_t data)
{
	if (number == SW_MANAGE_OUT)
		on_out(a, data);
	else if (number == SW_MANAGE_IN)
		on_in(a, data);
	else
		on_seen(a, data);
}

/* --- for the manager --- */

int swhni_manage_open(const struct nic_at *a, uint32_t process)
{
	struct sw_manage *m;

	if (!registers(a))
		return ENOSYS;
	m = manage_of(a);
	if (m->is_open)
		return EBUSY;
	m->is_open = true;
	m->process = process;
	return 0;
}

void swhni_manage_close(const struct nic_at *a)
{
	struct sw_manage *m = manage_of(a);

	m->is_open = false;
	while (m->answers.n)
		registers_free(registers(a), a->w,
			*(struct registers_body **)ring_pop(&m->answers));
}

int swhni_manage_send(const struct nic_at *a, uint32_t port,
	const uint64_t *guid, struct registers_body *b)
{
	struct side *side = sw_of(a)->side;
	uint32_t bytes = (uint32_t)(REGISTERS_HEAD + b->n_words * 8);
	site_id dst = a->s;
	sim_time t;

	if (port >= sw_of(a)->n_ports)
		return EINVAL;
	if (guid)
		dst = registers_find(registers(a), port, *guid);
	if (dst == NO_SITE)
		return EINVAL;
	if (manage_of(a)->n_stored == SW_REQUESTS)
		return EAGAIN;
	b->asker = a->s;
	b->rail = (uint16_t)port;
	t = side->ops->store(side, sw_place(a, 0), a->t, bytes);
	send(a, dst, b, !guid, t + sw_params(a)->out);
	return 0;
}

bool swhni_manage_has(const struct nic *nic, site_id s)
{
	const struct sw_node *n = nic->nodes[s];

	return n && n->manage && n->manage->answers.n;
}

bool swhni_manage_take(const struct nic_at *a, struct registers_body *b)
{
	struct sw_manage *m = manage_of(a);
	struct registers_body *first;

	if (!m->answers.n)
		return false;
	first = *(struct registers_body **)ring_pop(&m->answers);
	memcpy(b, first, REGISTERS_HEAD + first->n_words * sizeof(uint64_t));
	registers_free(registers(a), a->w, first);
	return true;
}
