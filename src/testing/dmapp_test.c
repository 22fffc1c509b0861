/* Gemini's interface for one-sided programming: four PEs. */
#include "testing/gemini_testing.h"
#include "weft/dmapp.h"

enum { PES = 4 };

#define HERE  UINT64_C(0x100000)
#define THERE UINT64_C(0x200000)

static uint64_t word(struct world *x, site_id node, uint64_t at)
{
	uint64_t w = 0;

	host_read(x->kit.host, node, at, &w, 8);
	return w;
}

/* Starts, and returns the segment that all have. */
static dmapp_seg_desc_t start(void)
{
	dmapp_jobinfo_t job;

	assert_int_equal(dmapp_init(NULL, NULL), DMAPP_RC_SUCCESS);
	assert_int_equal(dmapp_get_jobinfo(&job), DMAPP_RC_SUCCESS);
	assert_int_equal(job.npes, PES);
	assert_int_equal(job.pe, program_node());
	for (uint32_t i = 0; i < 64; i++)
		program_write(HERE + 8 * i, &(uint64_t){ 100 + i }, 8);
	program_wait(10000 * SIM_NS);
	return job.sheap_seg;
}

/* --- puts and gets --- */

static void move_elements(void *arg)
{
	const ptrdiff_t places[] = { 9, 2, 5 };
	dmapp_syncid_handle_t sync = 0;
	dmapp_seg_desc_t seg = start();
	struct world *x = arg;
	int flag = 0;

	if (program_node())
		return;
	assert_int_equal(dmapp_put(THERE, &seg, 2, HERE, 20, DMAPP_QW), 0);
	assert_int_equal(word(x, 2, THERE + 152), 119);
	assert_int_equal(word(x, 2, THERE + 160), 0);
	assert_int_equal(
		dmapp_iput(THERE + 512, &seg, 3, HERE, 2, 3, 4, DMAPP_QW), 0);
	assert_int_equal(word(x, 3, THERE + 512 + 48), 109);
	assert_int_equal(word(x, 3, THERE + 512 + 40), 0);
	assert_int_equal(dmapp_ixput_nb(THERE + 1024, &seg, 1, HERE, places, 3,
				 DMAPP_QW, &sync),
		0);
	assert_int_equal(word(x, 1, THERE + 1024 + 72), 0);
	assert_int_equal(dmapp_syncid_test(&sync, &flag), 0);
	assert_int_equal(flag, 0);
	assert_int_equal(dmapp_syncid_wait(&sync), 0);
	assert_int_equal(word(x, 1, THERE + 1024 + 72), 100);
	assert_int_equal(word(x, 1, THERE + 1024 + 40), 102);
	assert_int_equal(dmapp_syncid_wait(&sync), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(
		dmapp_get_nbi(HERE + 4096, THERE, &seg, 2, 40, DMAPP_DW), 0);
	assert_int_equal(
		dmapp_put_nbi(THERE, &seg, 1, HERE, 4096, DMAPP_DQW), 0);
	assert_int_equal(dmapp_gsync_test(&flag), 0);
	assert_int_equal(flag, 0);
	assert_int_equal(dmapp_finalize(), DMAPP_RC_NOT_DONE);
	assert_int_equal(dmapp_gsync_wait(), 0);
	assert_int_equal(word(x, 0, HERE + 4096 + 152), 119);
	assert_int_equal(word(x, 1, THERE + 504), 163);
	assert_int_equal(dmapp_finalize(), 0);
	assert_int_equal(dmapp_gsync_wait(), DMAPP_RC_INVALID_PARAM);
}

/* GEM-F60. */
static void elements_are_there_when_calls_are_complete(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, move_elements);
	assert_int_equal(nic_count(x.kit.nic, 0, "blocks"), 1);
	kit_close(&x.kit);
}

static void move_to_all(void *arg)
{
	static const dmapp_pe_t all[PES] = { 0, 1, 2, 3 };
	static const dmapp_pe_t some[2] = { 3, 1 };
	dmapp_seg_desc_t seg = start();
	struct world *x = arg;

	if (program_node())
		return;
	assert_int_equal(
		dmapp_put_ixpe(THERE, &seg, some, 2, HERE, 3, DMAPP_QW), 0);
	assert_int_equal(word(x, 3, THERE + 16), 102);
	assert_int_equal(word(x, 1, THERE + 16), 102);
	assert_int_equal(word(x, 2, THERE), 0);
	assert_int_equal(dmapp_scatter_ixpe(
				 THERE + 64, &seg, some, 2, HERE, 3, DMAPP_QW),
		0);
	assert_int_equal(word(x, 3, THERE + 64), 100);
	assert_int_equal(word(x, 1, THERE + 64), 103);
	x->took = program_now();
	assert_int_equal(dmapp_scatter_ixpe(THERE + 128, &seg, all, PES, HERE,
				 8, DMAPP_QW),
		0);
	for (uint32_t i = 0; i < PES; i++)
		assert_int_equal(word(x, i, THERE + 128 + 56), 100 + 8 * i + 7);
}

static void elements_reach_several_pes(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, move_to_all);
	kit_close(&x.kit);
}

/* --- atomics --- */

static void change_words(void *arg)
{
	dmapp_seg_desc_t seg = start();
	struct world *x = arg;
	uint64_t at = THERE;

	if (program_node())
		return;
	assert_int_equal(dmapp_aadd_qw(at, &seg, 2, 12), 0);
	assert_int_equal(dmapp_aor_qw(at, &seg, 2, 3), 0);
	assert_int_equal(dmapp_axor_qw(at, &seg, 2, 6), 0);
	assert_int_equal(dmapp_aand_qw(at, &seg, 2, 11), 0);
	assert_int_equal(dmapp_aax_qw(at, &seg, 2, 8, 5), 0);
	assert_int_equal(dmapp_afadd_qw(HERE, at, &seg, 2, -1), 0);
	assert_int_equal(word(x, 0, HERE), 13);
	assert_int_equal(dmapp_afor_qw(HERE, at, &seg, 2, 1), 0);
	assert_int_equal(word(x, 0, HERE), 12);
	assert_int_equal(dmapp_afxor_qw(HERE, at, &seg, 2, 15), 0);
	assert_int_equal(word(x, 0, HERE), 13);
	assert_int_equal(dmapp_afand_qw(HERE, at, &seg, 2, 6), 0);
	assert_int_equal(word(x, 0, HERE), 2);
	assert_int_equal(dmapp_afax_qw(HERE, at, &seg, 2, 0, 7), 0);
	assert_int_equal(word(x, 0, HERE), 2);
	assert_int_equal(dmapp_acswap_qw(HERE, at, &seg, 2, 5, 9), 0);
	assert_int_equal(word(x, 0, HERE), 7);
	assert_int_equal(dmapp_acswap_qw_nbi(HERE + 8, at, &seg, 2, 7, 9), 0);
	assert_int_equal(dmapp_gsync_wait(), 0);
	assert_int_equal(word(x, 0, HERE + 8), 7);
	assert_int_equal(word(x, 2, at), 9);
}

/* GEM-F60. */
static void atomics_change_words_of_pes(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, change_words);
	kit_close(&x.kit);
}

/* --- segments, and what is wrong --- */

static dmapp_return_t put_word(
	uint64_t at, const dmapp_seg_desc_t *seg, dmapp_pe_t pe)
{
	return dmapp_put(at, seg, pe, HERE, 1, DMAPP_QW);
}

static void misuse(void *arg)
{
	static const dmapp_pe_t far = PES;
	dmapp_syncid_handle_t sync = 77;
	dmapp_seg_desc_t seg, mine;
	int flag;

	assert_int_equal(dmapp_get_jobinfo(NULL), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(dmapp_gsync_wait(), DMAPP_RC_INVALID_PARAM);
	seg = start();
	assert_int_equal(dmapp_init(NULL, NULL), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(dmapp_mem_register(THERE, 64, &mine), 0);
	if (program_node())
		return;
	assert_int_equal(mine.handle, GEMINI_HANDLES - 1);
	assert_int_equal(put_word(THERE + 56, &mine, 2), 0);
	assert_int_equal(
		put_word(THERE + 64, &mine, 2), DMAPP_RC_TRANSACTION_ERROR);
	assert_int_equal(
		put_word(THERE - 8, &mine, 2), DMAPP_RC_TRANSACTION_ERROR);
	assert_int_equal(put_word(THERE, &seg, PES), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(put_word(THERE, NULL, 2), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(
		put_word(THERE + 4, &seg, 2), DMAPP_RC_ALIGNMENT_ERROR);
	assert_int_equal(dmapp_put(THERE, &seg, 2, UINT64_MAX - 7, 1, DMAPP_QW),
		DMAPP_RC_INVALID_PARAM);
	assert_int_equal(
		dmapp_put(THERE, &seg, 2, HERE, 1, 9), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(dmapp_iput(THERE, &seg, 2, HERE, 0, 1, 1, DMAPP_QW),
		DMAPP_RC_INVALID_PARAM);
	assert_int_equal(dmapp_ixput(THERE, &seg, 2, HERE, NULL, 1, DMAPP_QW),
		DMAPP_RC_INVALID_PARAM);
	assert_int_equal(
		dmapp_put_ixpe(THERE, &seg, &far, 1, HERE, 1, DMAPP_QW),
		DMAPP_RC_INVALID_PARAM);
	assert_int_equal(dmapp_put_nb(THERE, &seg, 2, HERE, 1, DMAPP_QW, NULL),
		DMAPP_RC_INVALID_PARAM);
	assert_int_equal(
		dmapp_syncid_test(&sync, &flag), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(dmapp_aadd_qw_nbi(THERE + 64, &mine, 2, 1), 0);
	assert_int_equal(dmapp_gsync_wait(), DMAPP_RC_TRANSACTION_ERROR);
	assert_int_equal(dmapp_gsync_wait(), 0);
	assert_int_equal(dmapp_mem_unregister(&mine), 0);
	assert_int_equal(dmapp_mem_unregister(&mine), DMAPP_RC_INVALID_PARAM);
	assert_int_equal(dmapp_put(THERE, &seg, 2, HERE, 0, DMAPP_QW), 0);
}

static void misuse_gives_the_code_that_is_documented(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, misuse);
	assert_int_equal(word(&x, 2, THERE + 56), 100);
	assert_int_equal(word(&x, 2, THERE + 64), 0);
	kit_close(&x.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_are_there_when_calls_are_complete),
		cmocka_unit_test(elements_reach_several_pes),
		cmocka_unit_test(atomics_change_words_of_pes),
		cmocka_unit_test(misuse_gives_the_code_that_is_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
