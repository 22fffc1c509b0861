/* The node's interface as a manager's wire. */
#include <errno.h>
#include <string.h>

#include "api/swnet/manager.h"
#include "base/mem.h"
#include "host/program.h"
#include "nic/swhni/manage.h"
#include "nic/swhni/swhni.h"

/* What a manager has beside its requests. */
struct card {
	struct nic *nic;
	struct registers *registers;
	site_id node;
};

static int card_send(void *arg, const struct weft_swnet_target *to,
	const struct registers_body *b)
{
	struct card *c = arg;
	struct nic_at a = nic_now(c->nic);
	struct registers_body own;
	int error;

	memcpy(&own, b, REGISTERS_HEAD + b->n_words * sizeof(uint64_t));
	memset(own.route, WEFT_SWNET_HERE, sizeof(own.route));
	memcpy(own.route, to->hop, to->n_hops);
	while ((error = swhni_manage_send(&a, to->rail,
			to->by == WEFT_SWNET_BY_GUID ? &to->guid : NULL,
			&own)) == EAGAIN) {
		program_charge(1000 * SIM_NS);
		a = nic_now(c->nic);
	}
	return error;
}

static bool has_answer(void *arg, uint64_t *seen)
{
	const struct card *c = arg;

	*seen = 1;
	return swhni_manage_has(c->nic, c->node);
}

static bool card_receive(void *arg, struct registers_body *b, sim_time until)
{
	PROGRAM_CALL("weft_swnet: waiting for an answer", 0, 0);
	struct card *c = arg;
	const struct swhni_params *p = c->nic->params;
	struct poll_loop loop =
		nic_poll_loop(c->nic, p->work.poll_period, p->work.poll_load);
	struct nic_at a;
	uint64_t seen;

	if (!program_poll_before(has_answer, c, loop, until, &seen))
		return false;
	a = nic_now(c->nic);
	return swhni_manage_take(&a, b);
}

static int card_jtag(void *arg, uint32_t chip, struct registers_body *b)
{
	struct card *c = arg;

	if (chip >= registers_n_chips(c->registers))
		return EINVAL;
	b->asker = c->node;
	return registers_jtag(c->registers, chip, b);
}

static sim_time card_now(void *arg)
{
	(void)arg;
	return program_now();
}

/* The manager of a process, which may end without closing it. */
struct kept {
	struct weft_swnet *m; /* or NULL */
};

static void free_kept(void *kept)
{
	struct weft_swnet *m = ((struct kept *)kept)->m;

	if (!m)
		return;
	mem_free(m->arg);
	manager_free(m);
}

static const struct program_library library = {
	.size = sizeof(struct kept),
	.fini = free_kept,
};

static struct kept *kept(void)
{
	return program_keep(&library);
}

static void card_close(void *arg)
{
	struct card *c = arg;
	struct nic_at a = nic_now(c->nic);

	kept()->m = NULL;
	swhni_manage_close(&a);
	mem_free(c);
}

static uint32_t card_n_rails(void *arg)
{
	const struct card *c = arg;

	return swhni_n_ports(c->nic);
}

static uint64_t card_guid(void *arg)
{
	const struct card *c = arg;

	return registers_guid(c->registers, c->node);
}

static const struct manager_wire card_wire = {
	.send = card_send,
	.receive = card_receive,
	.jtag = card_jtag,
	.now = card_now,
	.close = card_close,
	.n_rails = card_n_rails,
	.guid = card_guid,
};

int weft_swnet_open(struct weft_swnet **m)
{
	struct nic *nic = host_nic(program_host());
	struct card *c;
	struct nic_at a;
	int error;

	if (!m)
		return EINVAL;
	nic_check(nic, &swhni_ops);
	a = nic_now(nic);
	error = swhni_manage_open(&a, program_process());
	if (error)
		return error;
	c = mem_alloc(1, sizeof(*c));
	*c = (struct card){ .nic = nic,
		.registers = registers_of(program_host()),
		.node = program_node() };
	*m = kept()->m = manager_new(&card_wire, c);
	return 0;
}

int weft_swnet_close(struct weft_swnet *m)
{
	if (!m)
		return EINVAL;
	m->wire->close(m->arg);
	manager_free(m);
	return 0;
}
