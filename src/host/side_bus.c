/*
 * A card in a bus: PCI-X, HyperTransport and PCI Express are tables of
 * parameters of one kind of bus.
 */
#include "host/side_bus.h"

#include "base/mem.h"

#define AT(field) offsetof(struct side_bus_params, field)
#define MOST_STEP (PS_PER_S / 100000) /* 10 us */

struct side_bus {
	struct side side;
	struct side_bus_params params;
	sim_time full; /* time of a packet of read data with a whole payload */
	struct bus *places;
};

/* --- parameters --- */

#define TIME(name_, field_, def_, min_, help_, source_)                        \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, min_, MOST_STEP, help_, \
		source_)
#define BYTES(name_, field_, def_, min_, max_, help_, source_)                 \
	PARAM_ROW(PARAM_BYTES, name_, AT(field_), def_, min_, max_, help_,     \
		source_)
#define READS(most_, reads_, wait_, reads_from, wait_from)                     \
	BYTES("request", request, most_, 8, 4096,                              \
		"largest read of a single request", reads_from),               \
		{ .name = "reads",                                             \
			.type = PARAM_COUNT,                                   \
			.offset = AT(reads),                                   \
			.def = reads_,                                         \
			.min = 1,                                              \
			.max = 1024,                                           \
			.help = "largest number of outstanding reads",         \
			.source = reads_from },                                \
		TIME("wait", bus.wait, wait_, 0,                               \
			"time from a read request until its data is at the "   \
			"bridge",                                              \
			wait_from)
#define ENDS(store_, see_)                                                     \
	TIME("store", store, store_, 0,                                        \
		"time of a core's store from the bus to the card",             \
		"assumed: a bridge"),                                          \
		TIME("see", see, see_, 0,                                      \
			"time from a write on the bus until a load sees it",   \
			"assumed: a bridge")
#define HEADER(name_, kind_, def_, help_, source_)                             \
	BYTES("header." name_, bus.header[kind_], def_, 0, 256, help_, source_)
/* Of a bus with two directions and packets. */
#define PACKETS(rate_, words_, rate_from, payload_, store_, request_, data_,   \
	write_, packets_from)                                                  \
	{ .name = "rate",                                                      \
		.type = PARAM_RATE,                                            \
		.offset = AT(rate),                                            \
		.def = rate_,                                                  \
		.min = 1000000,                                                \
		.max = PS_PER_S,                                               \
		.words = words_,                                               \
		.help = "rate in each direction",                              \
		.source = rate_from },                                         \
		BYTES("payload", bus.payload, payload_, 8, 4096,               \
			"largest payload of a packet", packets_from),          \
		HEADER("store", BUS_STORE, store_,                             \
			"overhead of a core's store, in bytes", packets_from), \
		HEADER("request", BUS_REQUEST, request_,                       \
			"size of a read request", packets_from),               \
		HEADER("data", BUS_DATA, data_,                                \
			"overhead of a packet of data that the card reads, "   \
			"in bytes",                                            \
			packets_from),                                         \
		HEADER("write", BUS_WRITE, write_,                             \
			"overhead of a packet of data that the card writes, "  \
			"in bytes",                                            \
			packets_from)

static const struct param pcix_rows[] = {
	TIME("clock", bus.clock, "7.5 ns", 1, "clock cycle of the bus",
		"QSN-N22"),
	BYTES("width", bus.width, "8 B", 1, 64, "bytes moved in a clock cycle",
		"QSN-N22"),
	TIME("turn", bus.turn, "6.8 ns", 0, "time of a change of direction",
		"calibrated: QSN-N53"),
	TIME("overhead.store", bus.overhead[BUS_STORE], "82.5 ns", 0,
		"overhead of a burst of stores", "calibrated: QSN-N30"),
	TIME("overhead.data", bus.overhead[BUS_DATA], "100.9 ns", 0,
		"overhead of a burst of read data", "calibrated: QSN-N71"),
	TIME("overhead.write", bus.overhead[BUS_WRITE], "100.9 ns", 0,
		"overhead of a burst of writes", "calibrated: QSN-N71"),
	READS("512 B", "12", "750 ns", "QSN-N24, QSN-N66", "QSN-N27"),
	ENDS("200 ns", "76 ns"),
};

static const struct param ht_rows[] = {
	PACKETS("9.6 GB/s", NULL, "GEM-N38", "64 B", "12 B", "12 B", "4 B",
		"12 B", "GEM-N39, GEM-N41"),
	READS("64 B", "12", "100 ns", "assumed: covers the wait",
		"assumed: a load from memory"),
	ENDS("20 ns", "50 ns"),
};

static const struct param pcie_rows[] = {
	PACKETS("lanes", "lanes", "APE-N3", "128 B", "24 B", "24 B", "24 B",
		"24 B", "APE-G13"),
	PARAM_ROW(PARAM_COUNT, "lanes", AT(lanes), "8", 1, 32,
		"number of lanes", "APE-N3"),
	PARAM_ROW(PARAM_COUNT, "generation", AT(generation), "2", 1, 3,
		"generation of PCI Express: lanes of 2.5, 5 and 8 Gb/s, the "
		"first two with an 8b/10b code, the last with 128b/130b",
		"APE-N3, APE-N26"),
	READS("512 B", "16", "832 ns", "APE-G13", "calibrated: APE-N5"),
	ENDS("150 ns", "150 ns"),
};

/* --- life --- */

/* Bytes a second of a lane, in each direction. */
static int64_t lane_rate(int64_t generation)
{
	return generation == 3 ? INT64_C(8000000000) / 8 * 128 / 130
			       : generation * INT64_C(2500000000) / 10;
}

static struct side_rates side_bus_rates(const void *params)
{
	const struct side_bus_params *p = params;

	if (p->rate >= 0)
		return (struct side_rates){ p->rate, p->rate };
	return (struct side_rates){
		.data = p->lanes * lane_rate(p->generation),
		.raw = p->lanes *
		       (p->generation == 3
				       ? INT64_C(8000000000)
				       : p->generation * INT64_C(2500000000)) /
		       8,
	};
}

/* All but what PCI-X is told: a cycle is as long as the rate says. */
static void set_up(struct side_bus_params *p)
{
	p->bus.cycles = 1;
	if (p->rate < 0)
		p->rate = p->lanes * lane_rate(p->generation);
	if (!p->rate)
		return;
	p->bus.is_duplex = true;
	p->bus.width = 4;
	p->bus.clock = p->bus.width * PS_PER_S;
	p->bus.cycles = p->rate;
}

static int side_bus_init(struct side *side, const void *params, struct err *e)
{
	struct side_bus *s = (struct side_bus *)side;

	s->params = *(const struct side_bus_params *)params;
	if (s->params.lanes &&
		s->params.bus.payload & (s->params.bus.payload - 1))
		return err_set(e,
			"side.payload: %lld bytes are not a power of two",
			(long long)s->params.bus.payload);
	set_up(&s->params);
	s->full = bus_packet(
		&s->params.bus, BUS_DATA, (uint32_t)s->params.bus.payload);
	side->most_read = (uint32_t)s->params.request;
	side->n_reads = (uint32_t)s->params.reads;
	side->rate = s->params.rate;
	s->places = map_alloc(side->n_places * sizeof(*s->places));
	return 0;
}

static void side_bus_fini(struct side *side)
{
	struct side_bus *s = (struct side_bus *)side;

	map_free(s->places, side->n_places * sizeof(*s->places));
}

/* --- what crosses --- */

static struct bus *bus_of(struct side *side, site_id place)
{
	struct side_bus *s = (struct side_bus *)side;
	struct bus *b = &s->places[place];

	if (!b->params)
		bus_init(b, &s->params.bus);
	return b;
}

const struct bus *side_bus_at(struct side *side, site_id place)
{
	return bus_of(side, place);
}

/* The n requests behind one that was asked for at the same time. */
static void ask_again(struct bus *b, uint32_t n)
{
	sim_time took = n * b->request;

	b->free_at[BUS_IN] += took;
	b->busy += took;
	b->bursts += n;
}

/* Where a request takes no time of the bus, there is none to be seen. */
static sim_time side_bus_request(struct side *side, site_id place, sim_time t,
	uint64_t at, uint32_t bytes)
{
	struct bus *b = bus_of(side, place);
	sim_time first;

	(void)at;
	if (!b->params->is_duplex)
		return t + b->params->wait;
	first = bus_request(b, t);
	if (bytes > side->most_read)
		ask_again(b, (bytes - 1) / side->most_read);
	return first;
}

static sim_time side_bus_data(struct side *side, site_id place, sim_time t,
	uint64_t at, uint32_t bytes)
{
	(void)at;
	return bus_burst(bus_of(side, place), t, BUS_DATA, bytes);
}

static void side_bus_data_of(struct side *side, site_id place, sim_time t,
	sim_time step, uint32_t bytes, uint32_t n, sim_time *over)
{
	struct bus *b = bus_of(side, place);

	for (uint32_t i = 0; i < n; i++, t += step)
		over[i] = bus_burst(b, t, BUS_DATA, bytes);
}

static sim_time side_bus_least(const struct side *side, uint32_t bytes)
{
	const struct side_bus *s = (const struct side_bus *)side;
	uint32_t payload = (uint32_t)s->params.bus.payload, full;

	if (bytes < payload)
		return bus_packet(&s->params.bus, BUS_DATA, bytes);
	full = bytes / payload;
	bytes -= full * payload;
	return full * s->full +
	       (bytes ? bus_packet(&s->params.bus, BUS_DATA, bytes) : 0);
}

static sim_time side_bus_write(struct side *side, site_id place, sim_time t,
	uint64_t at, uint32_t bytes)
{
	(void)at;
	return bus_burst(bus_of(side, place), t, BUS_WRITE, bytes) +
	       ((struct side_bus *)side)->params.see;
}

static sim_time side_bus_store(
	struct side *side, site_id place, sim_time t, uint32_t bytes)
{
	return bus_store(bus_of(side, place), t, bytes) +
	       ((struct side_bus *)side)->params.store;
}

static uint64_t side_bus_memory(const struct side *side)
{
	return sizeof(struct side_bus) + side->n_places * sizeof(struct bus);
}

#define OPS(name_, title_, rows_, least_)                                      \
	{                                                                      \
		.name = name_, .title = title_,                                \
		.size = sizeof(struct side_bus), .params = rows_,              \
		.n_params = sizeof(rows_) / sizeof(rows_[0]),                  \
		.params_size = sizeof(struct side_bus_params),                 \
		.init = side_bus_init, .fini = side_bus_fini,                  \
		.request = side_bus_request, .data = side_bus_data,            \
		.least = least_, .data_of = side_bus_data_of,                  \
		.write = side_bus_write, .store = side_bus_store,              \
		.rates = side_bus_rates, .memory = side_bus_memory,            \
	}

const struct side_ops side_pcix_ops =
	OPS("pcix", "a PCI-X bus", pcix_rows, NULL);
const struct side_ops side_ht_ops =
	OPS("ht", "HyperTransport", ht_rows, side_bus_least);
const struct side_ops side_pcie_ops =
	OPS("pcie", "PCI Express", pcie_rows, side_bus_least);
