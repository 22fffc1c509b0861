/*
 * Gemini's interface for one-sided programming, with the names of the real
 * machine: puts, gets and atomic operations between the processes of a job,
 * over fast memory access (FMA).  The man page is weft-gni(7).
 *
 * PEs.  A process is a PE.  Its number is its rank in weft/msg.h: its node
 * times the number of processes per node, plus its own number there.  All PEs
 * must call dmapp_init() before any of them is the target of a call.
 *
 * Memory.  Addresses are those of weft/msg.h: in a process's memory, from 0,
 * which weft_msg_load() and weft_msg_store() read and write.  The segment of
 * dmapp_get_jobinfo() is all of that memory, on every PE; a segment that a PE
 * has registered is on that PE only.  The interface checks each request: an
 * access outside of its segment ends with DMAPP_RC_TRANSACTION_ERROR and has no
 * other effect.
 *
 * Completion.  A call without a suffix returns when it is complete: bytes that
 * were put or changed are in the target's memory, bytes of a get have arrived.
 * With _nb it returns at once, and *syncid must be waited for, or tested until
 * it is complete, once.  With _nbi only dmapp_gsync_wait() and
 * dmapp_gsync_test() report the completion, of all such calls of the process
 * together.  Until then the source must not change.  Calls are not ordered.
 *
 * Time.  A line of up to 64 bytes takes nic.software.store.  Transfers of
 * nic.software.bte-from or more use the block transfer engine, whose descriptor
 * takes nic.software.kernel. dmapp_init() and registration take
 * nic.software.kernel.  A test takes nic.software.poll-period.  A process has
 * at most 512 transfers in flight: further calls wait.
 *
 * Return codes.  DMAPP_RC_INVALID_PARAM: an invalid PE, type, segment or
 * syncid, a NULL pointer, memory outside of the process, or dmapp_init() was
 * not called; then nothing was done.  DMAPP_RC_ALIGNMENT_ERROR: an address is
 * not a multiple of the size of its type, up to 8 B.
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
	DMAPP_RC_NOT_DONE, /* dmapp_finalize(): transfers are in flight */
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

/* Owned by the caller; may be passed to other PEs. */
typedef struct dmapp_seg_desc {
	uint64_t addr, len;
	uint32_t handle; /* 0: valid on every PE */
} dmapp_seg_desc_t;

typedef struct dmapp_jobinfo {
	int version;
	uint32_t npes;
	dmapp_pe_t pe; /* the caller's */
	dmapp_seg_desc_t data_seg, sheap_seg; /* the same one */
} dmapp_jobinfo_t;

/* Must be called once, by one thread of the process.  DMAPP_RC_RESOURCE_ERROR:
 * its node has no completion queue left.  Attributes are not supported: pass
 * NULL for both. */
dmapp_return_t dmapp_init(const void *requested, void *actual);
/* Call it when all transfers are complete.  It ends the segments and the access
 * of other PEs to them. */
dmapp_return_t dmapp_finalize(void);
dmapp_return_t dmapp_get_jobinfo(dmapp_jobinfo_t *info);
/* Registers bytes of the process's memory; a node can have some thousand
 * segments. */
dmapp_return_t dmapp_mem_register(
	uint64_t addr, uint64_t length, dmapp_seg_desc_t *seg);
dmapp_return_t dmapp_mem_unregister(dmapp_seg_desc_t *seg);

/* --- puts and gets --- */

/* Moves elements from the process's memory to a PE's, or from there. */
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

/* Puts every sst-th element to every tst-th position, counted in elements. */
dmapp_return_t dmapp_iput(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, ptrdiff_t tst, ptrdiff_t sst,
	uint64_t nelems, dmapp_type_t type);
dmapp_return_t dmapp_iput_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, ptrdiff_t tst, ptrdiff_t sst,
	uint64_t nelems, dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_iput_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, ptrdiff_t tst, ptrdiff_t sst,
	uint64_t nelems, dmapp_type_t type);

/* Puts the i-th element to position tidx[i], counted in elements. */
dmapp_return_t dmapp_ixput(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, const ptrdiff_t *tidx, uint64_t nelems,
	dmapp_type_t type);
dmapp_return_t dmapp_ixput_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, const ptrdiff_t *tidx, uint64_t nelems,
	dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_ixput_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	dmapp_pe_t pe, uint64_t source, const ptrdiff_t *tidx, uint64_t nelems,
	dmapp_type_t type);

/* Puts the same elements to one address of several PEs. */
dmapp_return_t dmapp_put_ixpe(uint64_t target, const dmapp_seg_desc_t *seg,
	const dmapp_pe_t *pes, uint32_t n_pes, uint64_t source, uint64_t nelems,
	dmapp_type_t type);
dmapp_return_t dmapp_put_ixpe_nb(uint64_t target, const dmapp_seg_desc_t *seg,
	const dmapp_pe_t *pes, uint32_t n_pes, uint64_t source, uint64_t nelems,
	dmapp_type_t type, dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_put_ixpe_nbi(uint64_t target, const dmapp_seg_desc_t *seg,
	const dmapp_pe_t *pes, uint32_t n_pes, uint64_t source, uint64_t nelems,
	dmapp_type_t type);

/* Puts the i-th nelems elements to the i-th PE.  Lines of 64 B for consecutive
 * PEs, one on each node, are a single stream of stores. */
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
 * Atomic operations on a word of 8 bytes at a PE, which its interface may keep
 * in its cache: do not mix them with the PE's own stores to the word.  The new
 * value of a word w: aadd w + operand, aand w & operand, aor w | operand, axor
 * w ^ operand, aax (w & and_mask) ^ xor_mask.  The calls with af also store the
 * old value at target, an address in the process's own memory. acswap stores
 * swap into the word if the word equals comparand, and its old value at target.
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

/* Wait until a call with _nb is complete; test whether it is, in *flag.  When
 * it is complete, they return its result, and the syncid ends. */
dmapp_return_t dmapp_syncid_wait(dmapp_syncid_handle_t *syncid);
dmapp_return_t dmapp_syncid_test(dmapp_syncid_handle_t *syncid, int *flag);
/* The same for all calls with _nbi; DMAPP_RC_TRANSACTION_ERROR if any of them
 * has failed since all were last complete. */
dmapp_return_t dmapp_gsync_wait(void);
dmapp_return_t dmapp_gsync_test(int *flag);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
