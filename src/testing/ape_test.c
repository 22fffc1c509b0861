/* APEnet+'s interface: puts and gets between any two memories, by every way,
 * and what its parts do when they are there and when they are not. */
#include <errno.h>
#include <string.h>

#include "parts/gpus/gpus.h"
#include "nic/apenet/frame.h"
#include "testing/ape_testing.h"

enum { HOST, GPU0, GPU1 };

static uint64_t count(const struct ape_world *w, uint32_t node, const char *key)
{
	return nic_count(w->kit.nic, node, key);
}

/* --- any two memories --- */

enum { BYTES = 100000 };

static void no_write(void *arg, sim_time t, uint64_t at, size_t n)
{
	(void)t;
	*(uint64_t *)arg += n;
}

/* Node 0 puts from each memory into each of node 1, whose program only waits
 * for events; payload never passes through host memory on its way to GPUs. */
static void put_all(struct ape_world *w, uint32_t node)
{
	uint32_t from;
	uint64_t written = 0;

	for (from = 0; from < APE_MEMORIES; from++)
		for (uint32_t to = 0; to < APE_MEMORIES; to++) {
			struct weft_ape_transfer t =
				ape_transfer(w, from, to, BYTES);
			uint32_t number = 1 + from * APE_MEMORIES + to;

			t.tag = number;
			t.way = WEFT_APE_P2P;
			if (node == 0) {
				ape_fill(w, from, 0, BYTES, number);
				assert_int_equal(weft_ape_put(&t), 0);
				assert_int_equal(
					ape_await(WEFT_APE_DONE).tag, number);
				program_charge(SIM_NS * 200000);
				continue;
			}
			program_watch(APE_HOST, UINT64_C(1) << 30, no_write,
				&written);
			assert_int_equal(
				ape_await(WEFT_APE_ARRIVED).tag, number);
			assert_true(ape_is(w, to, 0, BYTES, number));
			assert_int_equal(written, to ? 0 : BYTES);
			written = 0;
		}
	program_watch(0, 0, NULL, NULL);
}

/* APE-F3, APE-F4, APE-F5. */
static void puts_go_between_any_two_memories(void **state)
{
	struct ape_world w = { .run = put_all };
	const struct nic *nic;
	site_id i;

	ape_world_run(&w, NULL, NULL, false);
	/* six of nine are from a GPU, six to one, of 25 packets each */
	assert_int_equal(count(&w, 0, "gpu_reads"), 6 * 25);
	assert_int_equal(count(&w, 1, "gpu_writes"), 6 * 25);
	/* a card that was hardly used takes little of the simulating host */
	for (i = 0, nic = w.kit.nic; i < 2; i++)
		assert_in_range(nic->ops->node_size + nic_node_memory(nic, i),
			1024, 12 * 1024);
	kit_close(&w.kit);
}

/* --- gets --- */

static void get_all(struct ape_world *w, uint32_t node)
{
	uint32_t from;

	if (node == 1) {
		for (from = 0; from < APE_MEMORIES; from++)
			ape_fill(w, from, 0, APE_BUFFER, 1 + from);
		return; /* its card needs no program */
	}
	for (from = 0; from < APE_MEMORIES; from++)
		for (uint32_t to = 0; to < APE_MEMORIES; to++) {
			struct weft_ape_transfer t =
				ape_transfer(w, to, from, BYTES);
			struct weft_ape_event e;

			t.own_offset = 77;
			t.tag = 9;
			assert_int_equal(weft_ape_get(&t), 0);
			e = ape_await(WEFT_APE_GOT);
			assert_int_equal(e.tag, 9);
			assert_int_equal(e.bytes, BYTES);
			assert_int_equal(e.offset, 77);
			assert_true(ape_is(w, to, 77, BYTES, 1 + from));
		}
}

/* APE-F3. */
static void gets_need_no_program_at_the_other_end(void **state)
{
	struct ape_world w = { .run = get_all };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
}

/* --- ways --- */

struct ways {
	uint64_t bytes;
	uint32_t way;
	sim_time took;
};

#define AGAIN (2 * APE_START)

/* Between GPUs, twice: the second time all pages are in the TLB. */
static void put_by(struct ape_world *w, uint32_t node)
{
	struct ways *x = w->arg;
	struct weft_ape_transfer t = ape_transfer(w, GPU0, GPU1, x->bytes);

	t.way = x->way;
	for (uint32_t i = 1; i < 3; i++) {
		program_wait(i * AGAIN);
		if (node == 0) {
			ape_fill(w, GPU0, 0, x->bytes, i);
			assert_int_equal(weft_ape_put(&t), 0);
			ape_await(WEFT_APE_DONE);
			continue;
		}
		ape_await(WEFT_APE_ARRIVED);
		x->took = program_now() - i * AGAIN;
		assert_true(ape_is(w, GPU1, 0, x->bytes, i));
	}
}

static sim_time time_of(uint32_t way, uint64_t bytes, const char *const *sets,
	uint64_t *gpu_reads)
{
	struct ways x = { .bytes = bytes, .way = way };
	struct ape_world w = { .run = put_by, .arg = &x };

	ape_world_run(&w, sets, NULL, false);
	*gpu_reads = count(&w, 0, "gpu_reads") / 2;
	kit_close(&w.kit);
	return x.took;
}

static void gpu_bytes_arrive_by_every_way(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 4096, 40000, 200001 };
	uint64_t reads;

	for (uint32_t i = 0; i < 5; i++) {
		sim_time staged =
			time_of(WEFT_APE_STAGED, sizes[i], NULL, &reads);

		assert_int_equal(reads, 0);
		assert_true(time_of(WEFT_APE_COPIED, sizes[i], NULL, &reads) >=
			    staged + (sizes[i] > 0));
		assert_int_equal(reads, 0);
		time_of(WEFT_APE_P2P, sizes[i], NULL, &reads);
		assert_int_equal(reads, (sizes[i] + 4095) / 4096);
	}
}

/* APE-F40.  Pipelined copies win for long transfers, and those in one piece
 * never do. */
static void staging_wins_only_because_it_is_pipelined(void **state)
{
	static const char *const whole[] = { "nic.software.chunk=1MiB", NULL };
	uint64_t reads;

	assert_true(time_of(WEFT_APE_STAGED, 8192, NULL, &reads) >
		    time_of(WEFT_APE_P2P, 8192, NULL, &reads));
	assert_true(time_of(WEFT_APE_STAGED, 260000, NULL, &reads) <
		    time_of(WEFT_APE_P2P, 260000, NULL, &reads));
	assert_true(time_of(WEFT_APE_STAGED, 260000, whole, &reads) >
		    time_of(WEFT_APE_P2P, 260000, NULL, &reads));
}

/* APE-F6, APE-F40. */
static void the_library_chooses_by_size(void **state)
{
	static const char *const longer[] = { "nic.software.p2p-until=128KiB",
		NULL };
	static const char *const off[] = { "nic.software.p2p=no", NULL };
	uint64_t reads;

	time_of(WEFT_APE_AUTO, 104 << 10, NULL, &reads);
	assert_int_equal(reads, 26);
	time_of(WEFT_APE_AUTO, (104 << 10) + 1, NULL, &reads);
	assert_int_equal(reads, 0);
	time_of(WEFT_APE_AUTO, (104 << 10) + 1, longer, &reads);
	assert_int_equal(reads, 27);
	time_of(WEFT_APE_AUTO, 8, off, &reads);
	assert_int_equal(reads, 0);
}

/* --- the TLB --- */

/* The same pages again and again, n of them, one put after the other. */
static void put_pages(struct ape_world *w, uint32_t node)
{
	uint32_t to = w->n >> 16, pages = w->n & 0xffff;
	struct weft_ape_transfer t = ape_transfer(w, HOST, to, 8);

	for (uint32_t i = 0; i < 3 * pages; i++) {
		t.offset = i % pages * 4096;
		if (node == 0) {
			assert_int_equal(weft_ape_put(&t), 0);
			ape_await(WEFT_APE_DONE);
		} else {
			ape_await(WEFT_APE_ARRIVED);
		}
	}
}

static uint64_t misses_of(uint32_t memory, uint32_t pages,
	const char *const *sets, uint64_t *nios)
{
	struct ape_world w = { .run = put_pages, .n = memory << 16 | pages };
	uint64_t n;

	ape_world_run(&w, sets, NULL, false);
	n = count(&w, 1, "tlb_misses");
	*nios = count(&w, 1, "nios_busy");
	kit_close(&w.kit);
	return n;
}

/* APE-F15, APE-F16, APE-F17, APE-F18. */
static void the_nios_is_idle_while_the_tlb_hits(void **state)
{
	static const char *const none[] = { "nic.tlb.entries=0", NULL };
	static const char *const few[] = { "nic.tlb.entries=8", NULL };
	uint64_t nios, nios_few, idle;

	/* three buffers were registered, 2 us each */
	idle = 3 * 2000 * (uint64_t)SIM_NS;
	assert_int_equal(misses_of(HOST, 8, few, &nios), 8);
	assert_int_equal(nios, idle + 8 * 3020 * (uint64_t)SIM_NS);
	/* nine pages in eight places: the set that two of them share... */
	assert_true(misses_of(HOST, 16, few, &nios_few) == 48);
	assert_int_equal(misses_of(HOST, 8, none, &nios), 24);
	assert_int_equal(nios, idle + 24 * 3020 * (uint64_t)SIM_NS);
	/* 64 KiB pages of a GPU: sixteen pages of 4 KiB are one */
	assert_int_equal(misses_of(GPU0, 16, few, &nios), 1);
	assert_int_equal(misses_of(GPU0, 64, NULL, &nios), 4);
}

/* --- misuse --- */

static void misuse(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 8), bad;
	struct weft_ape_event e;
	uint32_t key;

	if (node)
		return;
#define BAD(field_, value_, code_)                                             \
	do {                                                                   \
		bad = t;                                                       \
		bad.field_ = (value_);                                         \
		assert_int_equal(weft_ape_put(&bad), code_);                   \
		assert_int_equal(weft_ape_get(&bad), code_);                   \
	} while (0)
	BAD(node, 2, EINVAL);
	BAD(bytes, UINT64_C(1) << 31, EINVAL);
	BAD(bytes, APE_BUFFER + 1, EFAULT);
	BAD(own_offset, APE_BUFFER - 7, EFAULT);
	BAD(own_offset, UINT64_MAX, EFAULT);
	BAD(own_key, 0, EFAULT);
	BAD(own_key, 1, EFAULT); /* the library's own */
	BAD(way, 4, EINVAL);
	BAD(offset, UINT64_MAX - 6, EINVAL);
	BAD(tag, 1 << 19, EINVAL);
	assert_int_equal(weft_ape_put(NULL), EINVAL);
	assert_int_equal(weft_ape_poll(&e), EAGAIN);
	assert_int_equal(weft_ape_poll(NULL), EINVAL);
	assert_int_equal(weft_ape_open(1), EINVAL);
	assert_int_equal(weft_ape_open(0), EBUSY);
	assert_int_equal(weft_ape_register(0, 0, &key), EINVAL);
	assert_int_equal(weft_ape_register(UINT64_C(1) << 40, 8, &key), EFAULT);
	assert_int_equal(
		weft_ape_register(w->at[GPU0] + (UINT64_C(7) << 30), 8, &key),
		EFAULT);
	assert_int_equal(weft_ape_deregister(12345), EINVAL);
	/* twice is two keys, and either may end */
	assert_int_equal(weft_ape_register(w->at[HOST], 64, &key), 0);
	assert_int_equal(weft_ape_deregister(key), 0);
	assert_int_equal(weft_ape_deregister(key), EINVAL);
	BAD(own_key, key, EFAULT);
	assert_int_equal(weft_gpu_copy(0, 64, 8), EINVAL);
	assert_int_equal(
		weft_gpu_copy(w->at[GPU0], UINT64_C(1) << 40, 8), EFAULT);
	assert_int_equal(weft_gpu_wait(99), EINVAL);
	assert_false(weft_gpu_load(w->at[GPU0], &e, 8));
	assert_false(program_read(w->at[GPU0], &e, 8));
	assert_int_equal(weft_gpu_allocate(2, 8), 0);
	assert_int_equal(weft_ape_close(), 0);
	assert_int_equal(weft_ape_close(), EBADF);
	assert_int_equal(weft_ape_put(&t), EBADF);
	assert_int_equal(weft_ape_open(0), 0);
}

static void what_cannot_be_is_refused_at_once(void **state)
{
	struct ape_world w = { .run = misuse };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
}

/* What only the target knows to be wrong: dropped as a whole, and its owner
 * hears of it; so does the one who asked for bytes. */
static void wrong_targets(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 5000);

	if (node == 1) {
		ape_fill(w, HOST, 0, APE_BUFFER, 3);
		weft_ape_deregister(w->key[GPU1]);
		/* of one packet, two, two, and one */
		for (uint32_t i = 0; i < 6; i++)
			ape_await(WEFT_APE_ERROR);
		assert_int_equal(ape_await(WEFT_APE_ARRIVED).bytes, 0);
		assert_true(ape_is(w, HOST, 0, APE_BUFFER - 4999, 3));
		return;
	}
	program_charge(100000 * SIM_NS);
	t.offset = APE_BUFFER - 4999;
	assert_int_equal(weft_ape_put(&t), 0); /* its second packet */
	t.offset = UINT64_MAX - 10000;
	assert_int_equal(weft_ape_put(&t), 0); /* both */
	t.key = w->key[GPU1];
	t.offset = 0;
	assert_int_equal(weft_ape_put(&t), 0); /* both */
	t.key = 99;
	t.bytes = 8;
	assert_int_equal(weft_ape_put(&t), 0);
	assert_int_equal(weft_ape_get(&t), 0);
	t.key = w->key[HOST];
	t.bytes = 0;
	assert_int_equal(weft_ape_put(&t), 0);
	for (uint32_t i = 0; i < 5; i++)
		ape_await(WEFT_APE_DONE);
	assert_int_equal(ape_await(WEFT_APE_ERROR).error, WEFT_APE_NO_BUFFER);
}

/* APE-F14. */
static void targets_that_are_wrong_are_reported(void **state)
{
	struct ape_world w = { .run = wrong_targets };
	char text[256];

	ape_world_run(&w, NULL, NULL, true);
	assert_true(nic_errors(w.kit.nic, 1, text, sizeof(text)) >= 6);
	kit_close(&w.kit);
}

/* --- rates --- */

static void stream_out(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 200000);
	sim_time start = program_now();

	t.own_key = w->key[w->n & 3];
	t.key = w->key[w->n >> 2];
	t.way = WEFT_APE_P2P;
	for (uint32_t i = 0; i < 8 && node == 0; i++)
		assert_int_equal(weft_ape_put(&t), 0);
	for (uint32_t i = 0; i < 8; i++)
		ape_await(node ? WEFT_APE_ARRIVED : WEFT_APE_DONE);
	if (node)
		*(sim_time *)w->arg = program_now() - start;
}

/* MB/s */
static double rate_of(uint32_t from, uint32_t to, const char *set)
{
	const char *const sets[] = { set, NULL };
	sim_time took;
	struct ape_world w = {
		.run = stream_out, .n = to << 2 | from, .arg = &took
	};

	ape_world_run(&w, set ? sets : NULL, NULL, false);
	kit_close(&w.kit);
	return 8 * 200000 * 1e6 / (double)took;
}

/* APE-F2, APE-F7, APE-F9, APE-F10, APE-F13, APE-F15. */
static void each_part_limits_a_stream_where_it_is_the_slowest(void **state)
{
	double host = rate_of(HOST, HOST, NULL);

	assert_true(host > 2000 && host < 2200); /* the link does */
	assert_true(rate_of(HOST, GPU0, NULL) > 0.99 * host);
	assert_true(rate_of(GPU0, HOST, NULL) < 1500);
	assert_true(rate_of(GPU0, HOST, "gpu.model=kepler") >
		    rate_of(GPU0, HOST, NULL) * 1.05);
	assert_true(rate_of(GPU0, HOST, "gpu.read-by=bar1") < 150);
	assert_true(rate_of(GPU0, HOST, "gpu.window=4KiB") < 1000);
	assert_true(rate_of(HOST, HOST, "nic.dma.engines=1") < 0.95 * host);
	assert_true(rate_of(HOST, HOST, "side.lanes=4") < 0.8 * host);
	assert_true(rate_of(HOST, HOST, "nic.path.width=4") < 1000);
	assert_true(rate_of(HOST, HOST, "nic.tlb.entries=0") < 0.7 * host);
	assert_true(rate_of(HOST, HOST, "side.payload=64") < host);
}

/* APE-F11. */
static void commands_are_fetched_ahead(void **state)
{
	static const char *const one[] = { "nic.dma.prefetch=1", NULL };
	sim_time took;

	/* eight puts of 49 commands each */
	for (uint32_t i = 0; i < 2; i++) {
		struct ape_world w = { .run = stream_out, .arg = &took };

		ape_world_run(&w, i ? one : NULL, NULL, false);
		if (i)
			assert_int_equal(count(&w, 0, "fetches"), 8 * 49);
		else
			assert_true(count(&w, 0, "fetches") < 8 * 20);
		kit_close(&w.kit);
	}
}

/* --- kernels --- */

struct kernel {
	uint64_t at, value;
};

static void store(void *arg)
{
	const struct kernel *k = arg;

	assert_true(weft_gpu_store(k->at, &k->value, 8));
}

/* In each stream two of 10 us, one after the other; all streams at once. */
static void launch_all(struct ape_world *w, uint32_t node)
{
	struct kernel k[2 * WEFT_GPU_STREAMS];
	const sim_time each = 10000 * SIM_NS;
	sim_time t = program_now();
	uint64_t got[2 * WEFT_GPU_STREAMS];
	uint32_t n = 2 * WEFT_GPU_STREAMS;

	for (uint32_t i = 0; i < n; i++) {
		k[i] = (struct kernel){ w->at[GPU0] + 8 * (i % (n / 2)),
			1 + i + node };
		assert_int_equal(
			weft_gpu_launch(i % (n / 2), store, &k[i], each), 0);
	}
	for (uint32_t i = 0; i < n / 2; i++)
		assert_int_equal(weft_gpu_wait(i), 0);
	t = program_now() - t;
	assert_in_range(t, 2 * each, 2 * each + 11000 * SIM_NS);
	assert_int_equal(weft_gpu_copy(APE_HOST, w->at[GPU0], 4 * n), 0);
	assert_true(program_read(APE_HOST, got, 4 * n));
	for (uint32_t i = 0; i < n / 2; i++)
		assert_int_equal(got[i], 1 + n / 2 + i + node);
}

/* APE-F37. */
static void streams_are_queues_that_go_on_at_the_same_time(void **state)
{
	struct ape_world w = { .run = launch_all };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
}

/* --- words on the wire --- */

/* A packet of words, so many of which are the marker. */
static void put_markers(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 4096);
	uint8_t data[4096] = { 0 }, got[4096];

	for (uint32_t i = 0; i < w->n; i++)
		memcpy(data + 16 * i, ape_marker, 16);
	for (uint32_t round = 1; round < 3; round++) {
		program_wait(round * AGAIN);
		if (node == 0) {
			program_write(APE_HOST, data, sizeof(data));
			assert_int_equal(weft_ape_put(&t), 0);
			continue;
		}
		ape_await(WEFT_APE_ARRIVED);
		*(sim_time *)w->arg = program_now() - round * AGAIN;
		program_read(APE_HOST, got, sizeof(got));
		assert_memory_equal(got, data, sizeof(got));
	}
}

static sim_time time_of_markers(uint32_t n)
{
	sim_time took = 0;
	struct ape_world w = { .run = put_markers, .n = n, .arg = &took };

	ape_world_run(&w, NULL, NULL, false);
	kit_close(&w.kit);
	return took;
}

/* APE-F20: twice each, with the control words between them: 16 B * 10 / 8 at
 * 2.8 GB/s; software looks every 100 ns. */
static void ape_f20_markers_are_sent_twice(void **state)
{
	sim_time none = time_of_markers(0), more = 256 * SIM_NS * 50 / 7;

	assert_in_range(time_of_markers(256), none + more - 100 * SIM_NS,
		none + more + 100 * SIM_NS);
	assert_in_range(time_of_markers(70), none + 70 * more / 256 - 100000,
		none + 70 * more / 256 + 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_go_between_any_two_memories),
		cmocka_unit_test(gets_need_no_program_at_the_other_end),
		cmocka_unit_test(gpu_bytes_arrive_by_every_way),
		cmocka_unit_test(staging_wins_only_because_it_is_pipelined),
		cmocka_unit_test(the_library_chooses_by_size),
		cmocka_unit_test(the_nios_is_idle_while_the_tlb_hits),
		cmocka_unit_test(what_cannot_be_is_refused_at_once),
		cmocka_unit_test(targets_that_are_wrong_are_reported),
		cmocka_unit_test(
			each_part_limits_a_stream_where_it_is_the_slowest),
		cmocka_unit_test(commands_are_fetched_ahead),
		cmocka_unit_test(
			streams_are_queues_that_go_on_at_the_same_time),
		cmocka_unit_test(ape_f20_markers_are_sent_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
