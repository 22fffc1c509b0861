/* For files that still say so: the network is net/net.h. */
#include "net/net.h"
