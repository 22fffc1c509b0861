/* What the messages of an interface can do, before any program has begun. */
#include "api/api.h"
#include "api/msg/msg.h"

uint32_t msg_most_processes(const struct nic_ops *nic)
{
	const struct api *api = api_to(nic);

	return api && api->msg->most_processes ? api->msg->most_processes
					       : HOST_THREADS;
}

bool msg_adds(const struct nic_ops *nic)
{
	const struct api *api = api_to(nic);

	return api && api->msg->reduce;
}
