#include "nic/nic.h"

#include "base/mem.h"

struct nic *nic_new(const struct nic_setup *s, struct err *e)
{
	struct nic *nic = mem_alloc(1, s->ops->size);

	*nic = (struct nic){
		.ops = s->ops,
		.params = s->params,
		.net = s->net,
		.host = s->host,
		.on_delivered = s->on_delivered,
		.arg = s->arg,
	};
	if (nic->ops->init(nic, e)) {
		mem_free(nic);
		return NULL;
	}
	s->net->client = nic->ops->client;
	s->net->client_state = nic;
	host_set_nic(s->host, nic);
	return nic;
}

void nic_free(struct nic *nic)
{
	if (!nic)
		return;
	nic->ops->fini(nic);
	mem_free(nic);
}
