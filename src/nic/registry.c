#include "nic/bgq_mu/bgq_mu.h"

const struct nic_ops *const nic_registry[] = {
	&bgq_mu_ops,
	NULL,
};
