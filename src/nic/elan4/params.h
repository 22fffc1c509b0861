/* Parameters of an Elan4 and its host: elan.c's table. */
#ifndef NIC_ELAN4_PARAMS_H
#define NIC_ELAN4_PARAMS_H

#include <stddef.h>

#include "nic/elan4/elan4.h"

#define AT(field) offsetof(struct elan_params, field)
#define MOST_TIME (PS_PER_S / 1000)
#define MOST_STEP (PS_PER_S / 100000) /* of hardware: 10 us */

#define TIME_TO(most_, name_, field_, def_, min_, ...)                         \
	PARAM_ROW(PARAM_TIME, name_, AT(field_), def_, min_, most_, __VA_ARGS__)
/* Times of software and time-outs, and of steps of the hardware. */
#define TIME(...) TIME_TO(MOST_TIME, __VA_ARGS__)
#define STEP(...) TIME_TO(MOST_STEP, __VA_ARGS__)

#define COUNT(name_, field_, ...)                                              \
	PARAM_ROW(PARAM_COUNT, name_, AT(field_), __VA_ARGS__)
#define BYTES(name_, field_, ...)                                              \
	PARAM_ROW(PARAM_BYTES, name_, AT(field_), __VA_ARGS__)
#define RATE(name_, field_, def_, ...)                                         \
	PARAM_ROW(PARAM_RATE, name_, AT(field_), def_, 1000000, PS_PER_S,      \
		__VA_ARGS__)

/* A host: eight rows. */
#define HOST(name_, i_, store_, see_, burst_, pio_, dma_, hop_, mpi_,          \
	seen_from, pio_from, dma_from, hop_from)                               \
	STEP(name_ ".store", host[i_].store, store_, 0,                        \
		"time of a core's store from the bus to the card's queue",     \
		"assumed: bridge and queue (QSN datasheet, 1.3)"),             \
		STEP(name_ ".see", host[i_].see, see_, 0,                      \
			"time from a write of the card on the bus until a "    \
			"load sees it",                                        \
			seen_from),                                            \
		BYTES(name_ ".pio-burst", host[i_].pio_burst, burst_, 8,       \
			ELAN_BLOCK,                                            \
			"largest burst that stores are combined into",         \
			"QSN-F18"),                                            \
		STEP(name_ ".pio-overhead", host[i_].pio_overhead, pio_, 0,    \
			"overhead of a burst of stores on the bus", pio_from), \
		STEP(name_ ".dma-overhead", host[i_].dma_overhead, dma_, 0,    \
			"overhead of a burst of the card's reads or writes "   \
			"on the bus",                                          \
			dma_from),                                             \
		STEP(name_ ".hop", host[i_].hop, hop_, 0,                      \
			"additional time for each CPU between a core and the " \
			"bus bridge",                                          \
			hop_from),                                             \
		COUNT(name_ ".relaxed", host[i_].relaxed, "0", 0, 100,         \
			"share of a core's write buffers, in per cent, that "  \
			"drain early, in parts and out of order, as at an "    \
			"interrupt",                                           \
			"assumed: undisturbed cores (QSN-F18)"),               \
		STEP(name_ ".mpi", host[i_].mpi, mpi_, 0,                      \
			"time of the calls for a tagged message, half each "   \
			"for its sender's and its receiver's",                 \
			seen_from)

static const struct param elan_param_rows[] = {
	PARAM_ONE_OF("platform", AT(platform), "opteron",
		"opteron|xeon|itanium2", "type of host", "QSN-N71"),
	COUNT("cpus", cpus, "2", 1, HOST_THREADS,
		"number of CPUs of a node; hardware threads are assigned to "
		"them in turn",
		"QSN-N82"),
	STEP("command", command, "82.5 ns", 1,
		"time from the arrival of a store to the end of its packet on "
		"the link",
		"QSN-N62"),
	STEP("input", input, "157.5 ns", 1,
		"time from the arrival of a packet to its first write on the "
		"bus",
		"QSN-N61"),
	RATE("command-rate", command_rate, "1 GB/s",
		"rate at which commands are read from queues", "QSN-N12"),
	COUNT("outstanding", outstanding, "2", 1, 16,
		"largest number of unacknowledged packets of a queue",
		"QSN-N26"),
	TIME("half-packet", half_packet, "2 us", 1,
		"time after which an incomplete packet is closed", "QSN-G22"),
	STEP("dma.dispatch", dispatch, "0 ns", 0,
		"time from a descriptor to its first read",
		"calibrated: QSN-N77"),
	STEP("dma.read-latency", read_latency, "750 ns", 1,
		"latency of a read of the host's memory", "QSN-N27"),
	COUNT("dma.reads", reads, "12", 1, 16,
		"largest number of outstanding split reads", "QSN-N24"),
	BYTES("dma.read-buffer", read_buffer, "2 KiB", 512, 1 << 20,
		"size of the buffer for read data", "QSN-N23"),
	BYTES("dma.read-block", read_block, "512 B", 8, ELAN_PACKET,
		"largest read of a single request", "QSN-N66"),
	COUNT("dma.window", dma_window, "8", 1, ELAN_SPAN,
		"window of the DMA engine: number of packets from the oldest "
		"unacknowledged one",
		"assumed: covers the longest round trip"),
	{ .name = "dma.cut-through",
		.type = PARAM_FLAG,
		.offset = AT(cut_through),
		.def = "no",
		.help = "whether a DMA packet leaves while its data is still "
			"being read; the real card assembles it first",
		.source = "QSN-F81" },
	STEP("thread.clock", thread_clock, "5 ns", 1,
		"clock cycle of the thread processor", "QSN-N17"),
	STEP("thread.swap", thread_swap, "65 ns", 1,
		"time of a switch to another thread", "QSN-N9"),
	COUNT("thread.limit", threads, "256", 1, 4096,
		"largest number of threads on a card; further ones wait in "
		"their queues",
		"assumed: more than any job starts at a time"),
	TIME_TO(PS_PER_S, "thread.slice", thread_slice, "1 ms", 1000000,
		"time after which a thread that does not wait lets others run",
		"assumed: long for a thread, short for a user"),
	BYTES("thread.icache", thread_icache, "16 KiB", 256, 1 << 20,
		"size of the thread processor's instruction cache", "QSN-N7"),
	COUNT("thread.reads", thread_reads, "8", 1, 64,
		"largest number of a thread's outstanding reads of the host's "
		"memory",
		"QSN-N10"),
	RATE("thread.block", thread_block, "3.2 GB/s",
		"rate of the thread processor's block loads and stores",
		"QSN-N42"),
	PARAM_ONE_OF("match.by", AT(match.by), "card",
		"card|reject|interrupt|host",
		"who keeps a tagged message until its receive is posted; card: "
		"the matching thread, in the card's memory; reject: its "
		"sender, which tries again; interrupt: the host, which is "
		"interrupted for each; host: nothing is matched on the card, "
		"but in calls of weft_msg",
		"QSN-F61, QSN-F62"),
	COUNT("match.cycles", match.cycles, "47", 16, 100000,
		"cycles of the matching thread from a message to its first "
		"request for the bus, if it is matched by the first element of "
		"a list",
		"QSN-N64, QSN-N9"),
	COUNT("match.element", match.element, "4", 4, 100000,
		"further cycles for each further element of the list",
		"QSN-G17"),
	BYTES("match.eager", match.eager, "2 KiB", 8, ELAN_SLOT_MOST,
		"longest message that is sent with its bytes; of longer ones a "
		"descriptor is sent",
		"QSN-G18"),
	COUNT("match.slots", match.slots, "64", 4, ELAN_SLOTS_MOST,
		"number of slots for messages of a tagged port",
		"assumed: 128 KiB of early messages a port"),
	BYTES("match.spill", match.spill, "16 MiB", 0, 1 << 30,
		"host memory of a tagged port for messages that came early and "
		"leave their slots",
		"assumed: 8,192 more, in host memory"),
	PARAM_ONE_OF("hgsync", AT(hgsync), "card", "card|host|cpu",
		"how elan_hgsync() works; card: the query tests words of card "
		"memory, and an event sends the release; host: words of host "
		"memory; cpu: the CPU of rank 0 sends the release",
		"assumed: the one below QSN-N69"),
	BYTES("memory.size", memory.size, "64 MiB", 4 << 20, INT64_C(1) << 31,
		"size of the card's own memory",
		"assumed: QSN-N18 gives 2 GiB as the most"),
	STEP("memory.latency", memory.latency, "60 ns", 0,
		"time from a request of a line to its first word",
		"assumed: half of a fill of QSN-G16"),
	RATE("memory.rate", memory.rate, "2.656 GB/s",
		"rate of the card's own memory", "QSN-N16"),
	{ .name = "cache.on",
		.type = PARAM_FLAG,
		.offset = AT(cache.on),
		.def = "yes",
		.help = "whether the card's data cache is modelled; if not, "
			"all accesses are hits",
		.source = "QSN-N13" },
	BYTES("cache.size", cache.size, "32 KiB", 64, 1 << 20,
		"size of the card's data cache", "QSN-N13"),
	COUNT("cache.ways", cache.ways, "4", 1, 64,
		"number of lines of a set of the cache", "QSN-N13"),
	BYTES("cache.line", cache.line, "64 B", 8, 256,
		"length of a line of the cache",
		"assumed: a descriptor, and a burst of stores"),
	RATE("cache.port", cache.port, "1.6 GB/s",
		"rate of each port of the cache: two for reads, one for "
		"writes, one for fills",
		"QSN-N14"),
	COUNT("cache.fills", cache.fills, "4", 1, ELAN_MOST_FILLS,
		"largest number of lines that are fetched at a time",
		"QSN-N15"),
	{ .name = "mmu.on",
		.type = PARAM_FLAG,
		.offset = AT(mmu.on),
		.def = "yes",
		.help = "whether translation of addresses takes time; if not, "
			"all pages are in the TLBs",
		.source = "QSN-F54" },
	COUNT("mmu.entries", mmu.entries, "64", 4, 1024,
		"number of entries of each of the two TLBs, in sets of four: a "
		"power of two",
		"QSN-G14"),
	{ .name = "mmu.sizes",
		.type = PARAM_WORDS,
		.offset = AT(mmu.sizes),
		.def = "8KiB, 2MiB",
		.words = "4KiB|8KiB|64KiB|128KiB|512KiB|2MiB|4MiB|32MiB",
		.help = "the two active page sizes, each with a TLB",
		.source = "QSN-G15" },
	STEP("mmu.fill", mmu.fill, "120 ns", 0,
		"time to find a page in the tables in card memory", "QSN-G16"),
	STEP("mmu.link", mmu.link, "60 ns", 0,
		"additional time for each further block of a chain", "QSN-G16"),
	TIME("mmu.fault", mmu.fault, "15 us", 1,
		"time of a page that the tables lack: from the interrupt until "
		"the driver has added it",
		"QSN-G16"),
	{ .name = "mmu.demand",
		.type = PARAM_FLAG,
		.offset = AT(mmu.demand),
		.def = "no",
		.help = "whether the tables are empty at first, so that every "
			"page is missing once",
		.source = "QSN-F57" },
	COUNT("queue.resident", resident, "8192", 1, ELAN_QUEUES,
		"number of command queues that are active; the driver "
		"exchanges them for others",
		"QSN-N25"),
	COUNT("queue.cached", cached, "32", 1, 1024,
		"number of command queues whose pointers and heads are on chip",
		"assumed: QSN-F22 gives no number"),
	TIME("interrupt", interrupt, "5 us", 1,
		"time of an interrupt, until the driver has handled it",
		"assumed: a third of QSN-G16's fault"),
	BYTES("merge", merge, "512 B", ELAN_BLOCK, ELAN_PACKET,
		"largest burst that adjacent writes are merged into",
		"QSN-F45"),
	STEP("merge-wait", merge_wait, "150 ns", 0,
		"time that a write waits for another one to merge with",
		"assumed: a block at link rate takes 110 ns"),
	RESEND_ROWS(AT(retry), "20 us", "16",
		"assumed: four packets from each node on one link", "QSN-G4",
		"QSN-G4"),
	PARAM_ROW(PARAM_TIME, "get.timeout", AT(get_timeout), "20 ms", 1000000,
		PS_PER_S,
		"time-out of an unanswered get, which is then repeated",
		"assumed: longer than all tries of the answer"),
	COUNT("get.limit", get_retries, "2", 0, 255,
		"largest number of repetitions of a get",
		"assumed: the limit of QSN-G4"),
	STEP("event.slot", event_slot, "200 ns", 1,
		"time that the event processor takes for each copy of an event "
		"that fires",
		"calibrated: QSN-N38"),
	RATE("event.rate", event_rate, "1.6 GB/s",
		"rate at which the event processor copies data, in addition to "
		"nic.event.slot",
		"QSN-N14"),
	TIME("software.command", software, "20 ns", 0,
		"time that a core takes to issue a short packet, in addition "
		"to its stores",
		"assumed: a few tens of instructions"),
	TIME("software.dma", dma_software, "0 ns", 0,
		"additional time that a core takes to issue a DMA, before its "
		"stores",
		"calibrated: QSN-N77"),
	TIME("software.dma-after", dma_after, "300 ns", 0,
		"additional time that a core takes to issue a DMA, after its "
		"stores",
		"assumed: QSN-N79 without the stores"),
	TIME("software.poll-period", poll_period, "10 ns", 1,
		"period of a poll loop", "assumed: a loop over a cached word"),
	TIME("software.poll-load", poll_load, "5 ns", 0,
		"latency of a poll loop's load",
		"assumed: a loop over a cached word"),
	TIME_TO(MOST_STEP / 10, "bus.clock", bus.clock, "7.5 ns", 1,
		"clock cycle of the host's bus", "QSN-N22"),
	COUNT("bus.reads", bus_reads, "0", 0, 99,
		"share of the bus, in per cent, for the card's reads while "
		"writes wait; 0: first come, first served",
		"assumed: QSN-F16 gives no number"),
	BYTES("bus.width", bus.width, "8 B", 1, 64, "width of the host's bus",
		"QSN-N22"),
	STEP("bus.turn", bus.turn, "6.8 ns", 0,
		"time of a change of direction on the bus",
		"calibrated: QSN-N53"),
	HOST("opteron", ELAN_OPTERON, "200 ns", "76 ns", "64 B", "82.5 ns",
		"100.9 ns", "50 ns", "130 ns", "calibrated: QSN-N71",
		"calibrated: QSN-N30", "calibrated: QSN-N71", "QSN-N83"),
	HOST("xeon", ELAN_XEON, "200 ns", "395 ns", "64 B", "82.5 ns",
		"81.3 ns", "0 ns", "250 ns", "calibrated: QSN-N72",
		"assumed: the Opteron's value", "calibrated: QSN-N72",
		"assumed: CPUs share a bus"),
	HOST("itanium2", ELAN_ITANIUM2, "200 ns", "845 ns", "128 B", "93 ns",
		"82.05 ns", "0 ns", "820 ns", "calibrated: QSN-N73",
		"calibrated: QSN-N29", "calibrated: QSN-N73",
		"assumed: CPUs share a bus"),
};

#endif
