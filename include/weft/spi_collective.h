/*
 * Blue Gene/Q's collectives, a part of its system programming interface
 * (weft/spi.h): class routes, and descriptors for packets on them.
 */
#ifndef WEFT_SPI_COLLECTIVE_H
#define WEFT_SPI_COLLECTIVE_H

#include "weft/spi.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- descriptors --- */

enum {
	/* of a collective's Misc */
	MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD = MU_COMM_WORLD << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_USER_SUB_COMM = MU_SUB_COMM << 5,
	MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM_COLLECTIVE = MU_SYSTEM_COLLECTIVE
							 << 5,
	MUHWI_COLLECTIVE_TYPE_BROADCAST = MU_BROADCAST,
	MUHWI_COLLECTIVE_TYPE_REDUCE = MU_REDUCE,
	MUHWI_COLLECTIVE_TYPE_ALLREDUCE = MU_ALLREDUCE,
	/* of its Op_Code */
	MUHWI_COLLECTIVE_OP_CODE_AND = MU_OP_AND,
	MUHWI_COLLECTIVE_OP_CODE_OR = MU_OP_OR,
	MUHWI_COLLECTIVE_OP_CODE_XOR = MU_OP_XOR,
	MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_ADD = MU_OP_UNSIGNED_ADD,
	MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_MIN = MU_OP_UNSIGNED_MIN,
	MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_MAX = MU_OP_UNSIGNED_MAX,
	MUHWI_COLLECTIVE_OP_CODE_SIGNED_ADD = MU_OP_SIGNED_ADD,
	MUHWI_COLLECTIVE_OP_CODE_SIGNED_MIN = MU_OP_SIGNED_MIN,
	MUHWI_COLLECTIVE_OP_CODE_SIGNED_MAX = MU_OP_SIGNED_MAX,
	MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_ADD = MU_OP_FLOAT_ADD,
	MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_MIN = MU_OP_FLOAT_MIN,
	MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_MAX = MU_OP_FLOAT_MAX,
};

/* Fields of a collective.  Its Torus_FIFO_Map is MU_MAP_USER_COLLECTIVE, or the
 * system's. */
typedef struct {
	uint8_t Op_Code;
	uint16_t Word_Length; /* bytes: 4, 8, ... 512; 8 for doubles */
	uint8_t Class_Route;
	uint8_t Misc; /* byte 3 of the header: channel and type */
	uint8_t Skip;
} MUSPI_CollectiveDescriptorInfoFields_t;

typedef struct {
	MUSPI_BaseDescriptorInfoFields_t Base;
	MUSPI_CollectiveDescriptorInfoFields_t Collective;
	MUSPI_MemoryFIFODescriptorInfoFields_t MemFIFO;
} MUSPI_CollectiveMemoryFIFODescriptorInfo_t;

typedef struct {
	MUSPI_BaseDescriptorInfoFields_t Base;
	MUSPI_CollectiveDescriptorInfoFields_t Collective;
	MUSPI_DirectPutDescriptorInfoFields_t DirectPut;
} MUSPI_CollectiveDirectPutDescriptorInfo_t;

/* A broadcast: every member's unit executes the descriptors. */
typedef struct {
	MUSPI_BaseDescriptorInfoFields_t Base;
	MUSPI_CollectiveDescriptorInfoFields_t Collective;
	MUSPI_RemoteGetDescriptorInfoFields_t RemoteGet;
} MUSPI_CollectiveRemoteGetDescriptorInfo_t;

int32_t MUSPI_CreateCollectiveMemoryFIFODescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_CollectiveMemoryFIFODescriptorInfo_t *info);
int32_t MUSPI_CreateCollectiveDirectPutDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_CollectiveDirectPutDescriptorInfo_t *info);
int32_t MUSPI_CreateCollectiveRemoteGetDescriptor(MUHWI_Descriptor_t *desc,
	const MUSPI_CollectiveRemoteGetDescriptorInfo_t *info);

/* --- class routes --- */

/*
 * A node's part of a tree (ClassRoute_t): the links by which contributions
 * arrive on the way up, and the link by which their result leaves, none at the
 * root.  Its input also has the channel.
 */
enum {
	BGQ_CLASS_INPUT_VC_USER = 0x0000, /* all nodes of the job */
	BGQ_CLASS_INPUT_VC_SYSTEM = 0x1000,
	BGQ_CLASS_INPUT_VC_SUBCOMM = 0x2000,
	SPI_CLASS_ROUTES = 16,
	SPI_CLASS_WORLD = 0, /* all nodes: set before programs start */
	SPI_CLASS_SYSTEM = 14, /* and above: for the system */
};

/* Return the free numbers on this node; allocate a number (EAGAIN if it is in
 * use); free it and clear its route. */
int32_t Kernel_QueryCollectiveClassRoutes(
	uint32_t *n, uint32_t *ids, uint32_t most);
int32_t Kernel_AllocateCollectiveClassRoute(uint32_t id);
int32_t Kernel_DeallocateCollectiveClassRoute(uint32_t id);

/* Sets a route that the caller has allocated.  All members must set it
 * before any uses it.  Returns an error number, or one of these errors of
 * the route: */
enum {
	KERNEL_CLASS_TWO_OUTPUTS = 1,
	KERNEL_CLASS_LOCAL_OUTPUT = 2,
	KERNEL_CLASS_NO_LOCAL_INPUT = 3, /* every member contributes */
	KERNEL_CLASS_BOTH_WAYS = 4, /* a link is input and output */
	/* A route of the system and one for all nodes share a link. */
	KERNEL_CLASS_SHARED_LINK = 5,
};
int32_t Kernel_SetCollectiveClassRoute(uint32_t id, const ClassRoute_t *route);
/* EINVAL if it is not set. */
int32_t Kernel_GetCollectiveClassRoute(uint32_t id, ClassRoute_t *route);

/* A box of nodes, by the coordinates of its first and last node. */
typedef struct {
	uint8_t low[MU_DIMS], high[MU_DIMS];
} MUSPI_Box_t;

/* The node that all routes lead towards, so that routes of overlapping boxes
 * cannot deadlock. */
MUHWI_Destination_t MUSPI_PickWorldRoot(void);
/* This node's route in the tree over a box; EINVAL if it is not in the box. */
int32_t MUSPI_BuildNodeClassroute(
	const MUSPI_Box_t *box, uint32_t channel, ClassRoute_t *route);
/* Return a mask of free numbers, or EAGAIN; allocate a number and set its
 * route; free it. */
int32_t MUSPI_GetClassrouteIds(uint32_t *mask);
int32_t MUSPI_SetClassrouteId(uint32_t id, const ClassRoute_t *route);
int32_t MUSPI_ReleaseClassrouteId(uint32_t id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
