#include "net/params_testing.h"

#include "base/param_testing.h"

void net_params_defaults(struct net_params *p)
{
	param_table_defaults(net_params_table, p);
	param_table_defaults(net_every_table, p);
}
