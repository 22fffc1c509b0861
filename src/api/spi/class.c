/*
 * Class routes: the kernel gives out their numbers and looks at what is set;
 * the builder makes trees over boxes.
 */
#include <errno.h>

#include "api/spi/unit.h"
#include "coll/tree.h"

_Static_assert((int)SPI_CLASS_ROUTES == (int)CLASS_ROUTES, "as many");

enum { CHANNEL = BGQ_CLASS_INPUT_VC_SYSTEM };

_Static_assert((int)BGQ_CLASS_INPUT_VC_SUBCOMM == CHANNEL * (int)CLASS_SUB,
	"in the order of enum class_channel");

static struct tree *tree(void)
{
	return tree_of(unit()->net);
}

/* --- registers --- */

uint32_t unit_ports(uint32_t links)
{
	uint32_t ports = 0;

	for (uint32_t i = 0; i < 2 * MU_DIMS + 1; i++)
		if (links & (unsigned)BGQ_CLASS_LINK_AM >> i)
			ports |= 1u << (i < 2 * MU_DIMS ? i ^ 1 : i);
	return ports;
}

static uint32_t to_links(uint32_t ports)
{
	uint32_t links = 0;

	for (uint32_t i = 0; i < 2 * MU_DIMS + 1; i++)
		if (ports >> i & 1)
			links |= (unsigned)BGQ_CLASS_LINK_AM >>
				 (i < 2 * MU_DIMS ? i ^ 1 : i);
	return links;
}

static struct class_route from_register(const ClassRoute_t *r)
{
	uint32_t local =
		r->input & BGQ_CLASS_INPUT_LINK_LOCAL ? CLASS_LOCAL_BIT : 0;

	return (struct class_route){
		.inputs = (uint16_t)(unit_ports(r->input) | local),
		.output = (uint16_t)unit_ports(r->output),
		.channel = (uint8_t)(r->input / CHANNEL),
	};
}

static ClassRoute_t to_register(const struct class_route *r)
{
	uint32_t local =
		r->inputs & CLASS_LOCAL_BIT ? BGQ_CLASS_INPUT_LINK_LOCAL : 0;

	return (ClassRoute_t){
		.input = (uint16_t)(to_links(r->inputs) | local |
				    (uint32_t)r->channel * CHANNEL),
		.output = (uint16_t)to_links(r->output),
	};
}

/* --- the kernel --- */

static int32_t check_id(uint32_t id)
{
	if (id >= SPI_CLASS_ROUTES)
		return EINVAL;
	return id >= SPI_CLASS_SYSTEM && !program_is_system() ? EPERM : 0;
}

int32_t Kernel_QueryCollectiveClassRoutes(
	uint32_t *n, uint32_t *ids, uint32_t most)
{
	*n = 0;
	for (uint32_t i = 0; i < SPI_CLASS_ROUTES && *n < most; i++)
		if (!check_id(i) && !tree_is_taken(tree(), program_node(), i))
			ids[(*n)++] = i;
	return 0;
}

int32_t Kernel_AllocateCollectiveClassRoute(uint32_t id)
{
	int32_t wrong = check_id(id);

	if (wrong)
		return wrong;
	if (tree_is_taken(tree(), program_node(), id))
		return EAGAIN;
	tree_take_route(tree(), program_node(), id, true);
	return 0;
}

/* Number 0 is everybody's, and so the system's. */
static int32_t check_mine(uint32_t id)
{
	int32_t wrong = check_id(id);

	if (wrong)
		return wrong;
	if ((id == SPI_CLASS_WORLD && !program_is_system()) ||
		!tree_is_taken(tree(), program_node(), id))
		return EPERM;
	return 0;
}

int32_t Kernel_DeallocateCollectiveClassRoute(uint32_t id)
{
	static const struct class_route none = { 0 };
	int32_t wrong = check_mine(id);

	if (wrong)
		return wrong;
	unit_dcr();
	tree_set_route(tree(), program_node(), id, &none);
	tree_take_route(tree(), program_node(), id, false);
	return 0;
}

int32_t Kernel_SetCollectiveClassRoute(uint32_t id, const ClassRoute_t *route)
{
	struct class_route r = from_register(route);
	int32_t wrong = check_mine(id);

	if (wrong)
		return wrong;
	if (r.channel >= N_CLASS_CHANNELS)
		return EINVAL;
	if (r.channel == CLASS_SYSTEM && !program_is_system())
		return EPERM;
	if (r.output & (r.output - 1))
		return KERNEL_CLASS_TWO_OUTPUTS;
	if (route->output & BGQ_CLASS_INPUT_LINK_LOCAL)
		return KERNEL_CLASS_LOCAL_OUTPUT;
	if (!(r.inputs & CLASS_LOCAL_BIT) && !program_is_system())
		return KERNEL_CLASS_NO_LOCAL_INPUT;
	if (r.inputs & r.output)
		return KERNEL_CLASS_BOTH_WAYS;
	if (tree_shares(tree(), program_node(), id, &r))
		return KERNEL_CLASS_SHARED_LINK;
	unit_dcr();
	tree_set_route(tree(), program_node(), id, &r);
	return 0;
}

int32_t Kernel_GetCollectiveClassRoute(uint32_t id, ClassRoute_t *route)
{
	struct class_route r;

	if (id >= SPI_CLASS_ROUTES ||
		!tree_route(tree(), program_node(), id, &r))
		return EINVAL;
	unit_dcr();
	*route = to_register(&r);
	return 0;
}

/* --- the builder --- */

MUHWI_Destination_t MUSPI_PickWorldRoot(void)
{
	return spi_destination(tree_root(tree()));
}

static bool is_box(const MUSPI_Box_t *box, struct topo_box *b)
{
	struct topo_grid g;

	topo_grid_of(unit()->net->topo, &g);
	*b = topo_box_all(&g);
	for (uint32_t i = 0; i < MU_DIMS; i++) {
		uint32_t length = i < g.n_dims ? g.dim[i] : 1;

		if (box->low[i] > box->high[i] || box->high[i] >= length)
			return false;
		b->first[i] = box->low[i];
		b->length[i] = box->high[i] - box->low[i] + 1u;
	}
	return true;
}

int32_t MUSPI_BuildNodeClassroute(
	const MUSPI_Box_t *box, uint32_t channel, ClassRoute_t *route)
{
	struct class_route r;
	struct topo_box b;

	if (channel % CHANNEL || channel / CHANNEL >= N_CLASS_CHANNELS ||
		!is_box(box, &b) ||
		!tree_build(tree(), &b, program_node(), channel / CHANNEL, &r))
		return EINVAL;
	*route = to_register(&r);
	return 0;
}

int32_t MUSPI_GetClassrouteIds(uint32_t *mask)
{
	uint32_t n, ids[SPI_CLASS_ROUTES];

	*mask = 0;
	Kernel_QueryCollectiveClassRoutes(&n, ids, SPI_CLASS_ROUTES);
	while (n)
		*mask |= 1u << ids[--n];
	return *mask ? 0 : EAGAIN;
}

int32_t MUSPI_SetClassrouteId(uint32_t id, const ClassRoute_t *route)
{
	int32_t wrong = Kernel_AllocateCollectiveClassRoute(id);

	if (wrong)
		return wrong;
	wrong = Kernel_SetCollectiveClassRoute(id, route);
	if (wrong)
		Kernel_DeallocateCollectiveClassRoute(id);
	return wrong;
}

int32_t MUSPI_ReleaseClassrouteId(uint32_t id)
{
	return Kernel_DeallocateCollectiveClassRoute(id);
}
