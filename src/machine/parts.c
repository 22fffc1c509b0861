#include "machine/parts.h"

#include "parts/cards/cards.h"
#include "parts/clocks/clocks.h"
#include "parts/domain/domain.h"
#include "parts/files/files.h"
#include "parts/gpus/gpus.h"
#include "parts/lofamo/lofamo.h"
#include "parts/management/management.h"
#include "parts/mpi/mpi.h"
#include "parts/registers/registers.h"
#include "parts/tables/tables.h"
#include "parts/trees/trees.h"
#include "parts/vms/vms.h"

/* Parts that others use come first. */
const struct part_ops *const part_registry[] = {
	&part_management,
	&part_registers,
	&part_tables,
	&part_trees,
	&part_files,
	&part_clocks,
	&part_gpus,
	&part_domain,
	&part_cards,
	&part_lofamo,
	&part_vms,
	&part_mpi,
	NULL,
};
