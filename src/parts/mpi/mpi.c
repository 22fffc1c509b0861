#include "parts/mpi/mpi.h"

#include "host/host.h"

#define AT(field) offsetof(struct mpi_params, field)
#define TIME(name_, field_, def_, help_, source_)                              \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, 0, PS_PER_S / 1000,     \
		help_, source_)

#define MOST_EAGER (INT64_C(16) << 10)
#define MOST_POOL  INT64_C(4096)
#define MOST_RANKS (INT64_C(1) << 30)

static const struct param rows[] = {
	TIME("turn", turn, "0 ns",
		"time from a completion to the library's next operation; ranks "
		"that have work at the same time run in parallel for so long",
		"assumed: no paper gives it"),
	TIME("test", test, "100 ns",
		"time of a call that tests and finds nothing",
		"assumed: the usual time of a call"),
	TIME("look", look, "20 ns",
		"time of the first look at an empty queue in a call that waits",
		"assumed: some loads from a cache"),
	TIME("register", reg, "0 ns", "time to register a buffer",
		"assumed: registrations are kept"),
	PARAM_ROW(PARAM_BYTES, "eager", AT(eager), "0 B", 0, MOST_EAGER,
		"longest message that is sent before its receiver has asked "
		"for it; 0 B: the machine's own choice",
		"assumed: the machine's own"),
	PARAM_ROW(PARAM_COUNT, "pool", AT(pool), "64", 1, MOST_POOL,
		"blocks of slots for short messages that the senders of a rank "
		"share in a large job",
		"assumed: as many as a rank has busy partners"),
	PARAM_ROW(PARAM_COUNT, "pool-above", AT(pool_above), "256", 0,
		MOST_RANKS,
		"most ranks of a job in which every pair of ranks has all its "
		"slots; with more, ranks have pools",
		"assumed: 2 MiB of slots a rank"),
	TIME("send", send, "0 ns",
		"time of the library's part of a send, unless the interface's "
		"parameters have it",
		"assumed: no paper gives it"),
	TIME("receive", receive, "0 ns", "the same of a receive",
		"assumed: no paper gives it"),
	TIME("match", match, "0 ns",
		"time of each further entry of a list that is searched for a "
		"match, unless the interface matches",
		"assumed: no paper gives it"),
};

static const struct part_block blocks[] = {
	{ "mpi", rows, sizeof(rows) / sizeof(rows[0]), 0 },
	{ 0 },
};

const struct mpi_params *mpi_params(const struct parts *p)
{
	return part_params(p, &part_mpi);
}

const struct mpi_params *mpi_params_of(const struct host *h)
{
	return mpi_params(host_parts(h));
}

const struct part_ops part_mpi = {
	.name = "mpi",
	.needs = "nic",
	.blocks = blocks,
	.params_size = sizeof(struct mpi_params),
};
