/* For tests: a router's parameters without a machine. */
#ifndef NET_PARAMS_TESTING_H
#define NET_PARAMS_TESTING_H

#include "net/net.h"

/* Sets the defaults of net_params_table and net_every_table. */
void net_params_defaults(struct net_params *p);

#endif
