#include "nic/util/outbox.h"

void outbox_on_room(const struct nic_at *a, struct outbox *o, uint32_t fifo,
	outbox_leave *leave)
{
	struct packet_list *l = &o->line[fifo];

	while (l->first && net_has_room(a->nic->net, a->s, fifo))
		leave(a, fifo, packet_pop(a->nic->net->packets, l));
}
