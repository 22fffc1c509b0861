/*
 * Gemini's interface for one-sided programming, by the names that programs for
 * it use: puts, gets and atomic operations between the processes of a job, over
 * fast memory access (FMA).  The man page is weft-gni(7).
 *
 * PEs.  A process is a PE, whose number is its rank of weft/msg.h: its node
 * times the processes of a node, plus its own number there.  All PEs call
 * dmapp_init() before any of them is the target of another one's call.
 *
 * Memory.  Addresses are those of weft/msg.h: of a process's memory, from 0 on,
 * which weft_msg_load() and weft_msg_store() read and write.  The segment of
 * dmapp_get_jobinfo() is all of that memory, of every PE; one that a PE has
 * registered itself is that PE's alone.  The interface looks at each request:
 * what is outside of its segment ends with DMAPP_RC_TRANSACTION_ERROR, and
 * harms nobody.
 *
 * Completion.  A call without a suffix returns when it is complete: what was
 * put, or changed, is in the target's memory, what was got is here.  With _nb
 * it returns at once, and *syncid is to be waited for, or tested until it is
 * complete, once.  With _nbi nothing tells of it but dmapp_gsync_wait() and
 * dmapp_gsync_test(), which are for all such calls of the process together.
 * Until then the source must not change.  There is no order between calls.
 *
 * Time.  A line of up to 64 bytes takes nic.software.store; what is as long as
 * nic.software.bte-from is left to the block transfer engine, whose descriptor
 * takes nic.software.kernel.  dmapp_init(), and to register, takes
 * nic.software.kernel.  A test takes nic.software.poll-period.  At most 512
 * transfers of a process are under way: a call waits for a place.
 *
 * Return codes.  DMAPP_RC_INVALID_PARAM: a PE, type, segment or syncid that
 * there is not, a NULL pointer, memory that the process does not have, no call
 * of dmapp_init(); then nothing was done.  DMAPP_RC_ALIGNMENT_ERROR: an address
 * that is no multiple of its type's size, up to 8 B.
 */
#ifndef WEFT_DMAPP_H
#define WEFT_DMAPP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum dmapp_return {
	DMAPP_RC_SUCCESS,
	DMAPP_RC_INVALID_PARAM,
	DMAPP_RC_ALIGNMENT_ERROR,
	DMAPP_RC_TRANSACTION_ERROR, /* refused by the target, or unanswered */
	DMAPP_RC_RESOURCE_ERROR, /* no more of these */
	DMAPP_RC_NOT_DONE, /* dmapp_finalize(): transfers are under way */
} dmapp_return_t;

/* Bytes, and words of 4, 8 and 16 bytes. */
typedef enum dmapp_type {
	DMAPP_BYTE,
	DMAPP_DW,
	DMAPP_QW,
	DMAPP_DQW,
} dmapp_type_t;

typedef uint32_t dmapp_pe_t;
typedef uint64_t dmapp_syncid_handle_t;

/* The caller's, to be handed to others as it is. */
typedef struct dmapp_seg_desc {
	uint64_t addr, len;
	uint32_t handle; /* 0: it is every PE's */
} dmapp_seg_desc_t;

typedef struct dmapp_jobinfo {
	int version;
	uint32_t npes;
	dmapp_pe_t pe; /* the caller's */
	dmapp_seg_desc_t data_seg, sheap_seg; /* the same one */
} dmapp_jobinfo_t;

/* Once, by one thread of the process.  DMAPP_RC_RESOURCE_ERROR: its node has no
 * completion queue left.  Attributes of either kind are not supported: NULL. */
dmapp_return_t dmapp_init(const void *requested, void *actual);
/* When all is complete.  Segments end, and others' access to them. */
dmapp_return_t dmapp_finalize(void);
dmapp_return_t dmapp_get_jobinfo(dmapp_jobinfo_t *info);
/* Bytes of the process's memory; a node registers some thousand segments. */
dmapp_return_t dmapp_mem_register(
	uint64_t addr, uint64_t length, dmapp_seg_desc_t *seg);
dmapp_return_t dmapp_mem_unregister(dmapp_seg_desc_t *seg);

/* --- puts and gets --- */

/* Elements from the process's memory to a PE's, or from there. */
dmapp_return_t dmapp_put(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_put_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, uint64_t nelems, dmapp_type_t type,
	dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_put_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_get(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, uint64_t nelems,
	dmapp_type_t type);
dmapp_return_t dmapp_get_nb(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, uint64_t nelems,
	dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_get_nbi(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, uint64_t nelems,
	dmapp_type_t type);

/* Every sst-th element to every tst-th place, counted in elements. */
dmapp_return_t dmapp_iput(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, ptrdiff_t tst, ptrdiff_t sst,
	uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_iput_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, ptrdiff_t tst, ptrdiff_t sst,
	uint64_t nelems, dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_iput_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, ptrdiff_t tst, ptrdiff_t sst,
	uint64_t nelems, dmapp_type_t type);

/* The i-th element to place tidx[i], counted in elements. */
dmapp_return_t dmapp_ixput(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, const ptrdiff_t *tidx, uint64_t nelems,
	dmapp_type_t type);
dmapp_return_t dmapp_ixput_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, const ptrdiff_t *tidx, uint64_t nelems,
	dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_ixput_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, const ptrdiff_t *tidx, uint64_t nelems,
	dmapp_type_t type);

/* The same elements to one address of several PEs. */
dmapp_return_t dmapp_put_ixpe(uint64_t target, const dmapp_seg_desc_t *seg,
	const dmapp_pe_t *pes, uint32_t n_pes, uint64_t source, uint64_t nelems,
	dmapp_type_t type);
dmapp_return_t dmapp_put_ixpe_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	const dmapp_pe_t *pes, uint32_t n_pes, uint64_t source, uint64_t nelems,
	dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_put_ixpe_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	const dmapp_pe_t *pes, uint32_t n_pes, uint64_t source, uint64_t nelems,
	dmapp_type_t type);

/* The i-th nelems elements to the i-th PE.  Lines of 64 B for PEs that follow
 * each other, one on each node, are one stream of stores. */
dmapp_return_t dmapp_scatter_ixpe(uint64_t target, const dmapp_seg_desc_t *seg,
	const dmapp_pe_t *pes, uint32_t n_pes, uint64_t source, uint64_t nelems,
	dmapp_type_t type);
dmapp_return_t dmapp_scatter_ixpe_nb(uint64_t target,
	const dmapp_seg_desc_t *seg, const dmapp_pe_t *pes, uint32_t n_pes,
	uint64_t source, uint64_t nelems, dmapp_type_t type,
	dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_scatter_ixpe_nbi(uint64_t target,
	const dmapp_seg_desc_t *seg, const dmapp_pe_t *pes, uint32_t n_pes,
	uint64_t source, uint64_t nelems, dmapp_type_t type);

/* --- atomic operations --- */

/*
 * On a word of 8 bytes at a PE, which its interface may keep in its cache: the
 * PE's own stores to a word do not mix with these.  What a word w becomes:
 * aadd w + operand, aand w & operand, aor w | operand, axor w ^ operand, aax
 * (w & and_mask) ^ xor_mask.  Those with af also store what it was at target,
 * an address of the process's own; acswap stores swap into the word where that
 * is comparand.
 */
dmapp_return_t dmapp_aadd_qw(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_aadd_qw_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_aadd_qw_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afadd_qw(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afadd_qw_nb(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand,
	dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afadd_qw_nbi(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_aand_qw(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_aand_qw_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_aand_qw_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afand_qw(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afand_qw_nb(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand,
	dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afand_qw_nbi(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_aor_qw(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_aor_qw_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_aor_qw_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afor_qw(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afor_qw_nb(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand,
	dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afor_qw_nbi(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_axor_qw(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_axor_qw_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_axor_qw_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afxor_qw(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_afxor_qw_nb(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand,
	dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afxor_qw_nbi(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t operand);
dmapp_return_t dmapp_aax_qw(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t and_mask, int64_t xor_mask);
dmapp_return_t dmapp_aax_qw_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t and_mask, int64_t xor_mask,
	dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_aax_qw_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, int64_t and_mask, int64_t xor_mask);
dmapp_return_t dmapp_afax_qw(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t and_mask,
	int64_t xor_mask);
dmapp_return_t dmapp_afax_qw_nb(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t and_mask,
	int64_t xor_mask, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_afax_qw_nbi(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t and_mask,
	int64_t xor_mask);
dmapp_return_t dmapp_acswap_qw(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t comparand,
	int64_t swap);
dmapp_return_t dmapp_acswap_qw_nb(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t comparand,
	int64_t swap, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_acswap_qw_nbi(uint64_t target, uint64_t source,
	const dmapp_seg_desc_t *seg, dmapp_pe_t pe, int64_t comparand,
	int64_t swap);

/* --- completion --- */

/* Until a call with _nb is complete; whether it is, in *flag.  Once it is, it
 * returns how that ended, and the syncid is no more. */
dmapp_return_t dmapp_syncid_wait(dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_syncid_test(dmapp_syncid_handle_t *syncid, int *flag);
/* The same of all calls with _nbi; DMAPP_RC_TRANSACTION_ERROR where any of them
 * failed since they were last complete. */
dmapp_return_t dmapp_gsync_wait(void);
dmapp_return_t dmapp_gsync_test(int *flag);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
