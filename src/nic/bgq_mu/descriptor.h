/* How descriptors and headers look: programs see that, too. */
#ifndef NIC_BGQ_MU_DESCRIPTOR_H
#define NIC_BGQ_MU_DESCRIPTOR_H

#include "weft/hwi.h"

#endif
