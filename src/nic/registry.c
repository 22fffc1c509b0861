#include "nic/apenet/apenet.h"
#include "nic/bgq_mu/bgq_mu.h"
#include "nic/elan4/elan4.h"
#include "nic/gemini/gemini.h"
#include "nic/plain/plain.h"
#include "nic/swhni/swhni.h"

const struct nic_ops *const nic_registry[] = {
	&bgq_mu_ops,
	&elan4_ops,
	&gemini_ops,
	&plain_ops,
	&apenet_ops,
	&swhni_ops,
	NULL,
};
