/*
 * A node's memory: real bytes at physical addresses.  It is a plain store,
 * without time, caches, or notices to programs that poll; host/host.h adds
 * these.
 *
 * The address space consists of ranges that do not overlap.  The first is the
 * host's own memory, from 0 to its size, which is open to all.  Others are the
 * memory of a device, or addresses to which something outside of the simulation
 * is mapped; each range has its rights to read and write.  An access lies in
 * one range.  An access outside of all ranges, or without the right, is
 * refused; the caller does what the machine would do then.
 *
 * A page is created when it is first written; unwritten bytes read as zero and
 * cost nothing.  A part of a range may be a region, whose bytes are elsewhere:
 * - the bytes of a synthetic region come from streams, which are functions of
 *   the offset.  Reads return them; writes are compared with them and counted,
 *   and nothing is stored, so gigabytes need no memory.  Code that only moves
 *   bytes may pass their names instead;
 * - the bytes of a foreign region belong to another owner, which is called for
 *   them, such as the memory of a process outside.
 * A mapped range has only the bytes of its regions.
 *
 * Words are in the byte order of the host, as programs that run on it see
 * them.  One thread at a time may use a memory; reading it counts as use.
 */
#ifndef HOST_MEMORY_H
#define HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MEMORY_PAGE = 4096 };

/* Who reads or writes: a core of the node, its network interface, or another
 * device. */
enum memory_by { MEMORY_CORE, MEMORY_NIC, MEMORY_DEVICE };

/* A right: of one of them, to read or to write. */
#define MEMORY_MAY_READ(by)  (1u << (by))
#define MEMORY_MAY_WRITE(by) (8u << (by))
enum { MEMORY_MAY_ALL = 63 };

/* Addresses from 2^MEMORY_DEVICE_SHIFT on are devices': their upper bits are 1
 * + the number of the device. */
enum { MEMORY_DEVICE_SHIFT = 44 };

/* The owner of an address: 0 is the host, 1 + n is device n. */
static inline uint32_t memory_device_of(uint64_t at)
{
	return (uint32_t)(at >> MEMORY_DEVICE_SHIFT);
}

enum memory_kind {
	MEMORY_OF_HOST,
	MEMORY_OF_DEVICE,
	MEMORY_MAPPED, /* from outside */
};

struct memory_range {
	uint64_t at, bytes;
	enum memory_kind kind;
	uint32_t rights; /* MEMORY_MAY_... */
};

enum memory_answer {
	MEMORY_OPEN,
	MEMORY_OUTSIDE, /* there is nothing, or no one range has all of it */
	MEMORY_FORBIDDEN, /* not for whoever asks */
};

/* Of a number: some of the page is in a region, or not open to all. */
#define MEMORY_MIXED (UINT64_C(1) << 63)

struct memory_page {
	uint64_t number; /* all ones: a free place in the table */
	uint8_t *bytes;
};

/* Pages that lie next to each other, and stay where they are. */
struct memory_span {
	uint64_t first, n_pages;
	uint8_t *bytes;
};

struct memory_chunk {
	uint8_t *bytes;
	uint32_t n_pages;
};

/* A place in the stream of an owner: see memory_fill_by(). */
struct memory_name {
	uint64_t seed, owner, offset;
};

/* Names the bytes of a region from an offset on by stream and position; returns
 * their number, at least one. */
typedef uint64_t (*memory_naming)(
	void *arg, uint64_t offset, struct memory_name *name);

/* Whose bytes those of a foreign region are.  False: they cannot be had. */
struct memory_foreign {
	bool (*read)(void *arg, uint64_t offset, void *out, size_t n);
	/* NULL: nobody may */
	bool (*write)(void *arg, uint64_t offset, const void *in, size_t n);
	void *arg;
};

struct memory_region {
	uint64_t at, bytes; /* 0 bytes: it has been dropped */
	memory_naming name; /* NULL: it is foreign */
	void *arg; /* of name */
	struct memory_foreign foreign;

	/* of what was written */
	uint64_t written; /* bytes */
	uint64_t where; /* a sum over their offsets */
	uint64_t wrong; /* bytes that differed */
	uint64_t first_wrong; /* the least offset of these */
};

/* Where a region ends, and its number. */
struct memory_place {
	uint64_t end;
	uint32_t number;
};

struct memory {
	uint64_t bytes; /* of host memory */
	struct memory_page *table; /* hashed, open addressing */
	struct memory_page none; /* which it is at first */
	uint32_t shift; /* of a hash, to where its page is looked for first */
	uint32_t room, n_pages;
	uint32_t n_fresh, n_chunks;
	uint8_t *fresh; /* what the last chunk has left */
	struct memory_chunk *chunks; /* that pages are cut from */
	uint64_t low, high; /* all regions lie between them; 0, 0: none */
	struct memory_region *regions; /* by number */
	struct memory_place *order; /* of those in use, by address */
	uint32_t n_regions, n_in_use;
	struct memory_range *ranges; /* beside host memory */
	uint32_t n_ranges, n_spans;
	struct memory_span *spans; /* that memory_map() has given away */
	uint8_t *spare; /* a page that was forgotten, and by it the next */
};

/* It must stay where it is. */
void memory_init(struct memory *m, uint64_t bytes);
void memory_fini(struct memory *m);

/*
 * Adds a range.  Returns false and does nothing if it is empty, overlaps with
 * another range or host memory, or goes beyond the last address.
 */
bool memory_add_range(struct memory *m, const struct memory_range *r);

/* Whether one range has all of [at, at + n). */
bool memory_is_in_range(const struct memory *m, uint64_t at, uint64_t n);

/* Whether an access with a right would be refused, and why. */
enum memory_answer memory_ask(
	const struct memory *m, uint32_t right, uint64_t at, uint64_t n);

/* Whether [at, at + n) lies in host memory. */
static inline bool memory_has(const struct memory *m, uint64_t at, uint64_t n)
{
	return at <= m->bytes && n <= m->bytes - at;
}

/* Where a page is looked for first. */
static inline struct memory_page *memory_first(
	const struct memory *m, uint64_t number)
{
	uint32_t hash = (uint32_t)number * UINT32_C(0x9e3779b1);

	return &m->table[(uint64_t)hash >> m->shift];
}

/* What memory_stored() does for pages that are mixed, or elsewhere. */
uint8_t *memory_stored_elsewhere(const struct memory *m, uint64_t at, size_t n);

/* Where bytes are that lie in one page, if that is the first that is looked at
 * for its number; else NULL, and memory_stored() says more. */
static inline uint8_t *memory_at_first(
	const struct memory *m, uint64_t at, size_t n)
{
	const struct memory_page *p = memory_first(m, at / MEMORY_PAGE);

	if (__builtin_expect(p->number != at / MEMORY_PAGE ||
				     n > MEMORY_PAGE - at % MEMORY_PAGE,
		    0))
		return NULL;
	return p->bytes + at % MEMORY_PAGE;
}

/*
 * Where bytes are stored, until memory_map(), that lie in one page of host
 * memory that has been written; else NULL.  About 15 instructions.  Ranges of
 * the host's that are open to all are as host memory here.
 */
static inline uint8_t *memory_stored(
	const struct memory *m, uint64_t at, size_t n)
{
	uint8_t *bytes = memory_at_first(m, at, n);

	return __builtin_expect(bytes != NULL, 1)
		       ? bytes
		       : memory_stored_elsewhere(m, at, n);
}

/*
 * The same for bytes that are to be written: creates the page.  NULL if they
 * are not in host memory, in two pages, or in a region.
 */
uint8_t *memory_place(struct memory *m, uint64_t at, size_t n);

/*
 * The page of an address in a device's range, created; it stays where it is.
 * NULL if it is in no such range.
 */
uint8_t *memory_device_page(struct memory *m, uint64_t at);
/* Whether the page of an address has been created. */
bool memory_has_page(const struct memory *m, uint64_t at);

/*
 * Stores bytes of any number of pages in one piece from now on, until
 * memory_fini(), and returns their place.  Stored bytes are moved there once,
 * which takes as long as writing them; bytes that are mapped already cost
 * nothing.  NULL if they are not in host memory, some are in a region, or some
 * but not all are mapped.
 */
uint8_t *memory_map(struct memory *m, uint64_t at, uint64_t n);

/* Memory in use on the simulating host, bytes. */
uint64_t memory_held(const struct memory *m);

/* What was written to a page is not needed any more: it is all zeros again, and
 * takes no memory.  Does nothing to pages that are mapped or have regions. */
void memory_forget(struct memory *m, uint64_t at);

/* Makes room for a number of bytes that will be written soon. */
void memory_reserve(struct memory *m, uint64_t bytes);

/* What is not in one page that has been written, and is looked for first. */
bool memory_read_parts(
	struct memory *m, enum memory_by by, uint64_t at, void *to, size_t n);
bool memory_write_parts(struct memory *m, enum memory_by by, uint64_t at,
	const void *from, size_t n);

/*
 * Both return false and do nothing if the access is refused; also if foreign
 * bytes are not available.
 */
static inline bool memory_read(
	struct memory *m, enum memory_by by, uint64_t at, void *to, size_t n)
{
	const uint8_t *from = memory_at_first(m, at, n);

	if (!from)
		return memory_read_parts(m, by, at, to, n);
	if (n) /* nothing may be at NULL */
		memcpy(to, from, n);
	return true;
}

static inline bool memory_write(struct memory *m, enum memory_by by,
	uint64_t at, const void *from, size_t n)
{
	uint8_t *to = memory_at_first(m, at, n);

	if (!to)
		return memory_write_parts(m, by, at, from, n);
	if (n)
		memcpy(to, from, n);
	return true;
}

/* Eight bytes; false, too, where at is not a multiple of eight. */
static inline bool memory_load(
	struct memory *m, enum memory_by by, uint64_t at, uint64_t *word)
{
	return at % sizeof(*word) == 0 &&
	       memory_read(m, by, at, word, sizeof(*word));
}

static inline bool memory_store(
	struct memory *m, enum memory_by by, uint64_t at, uint64_t word)
{
	return at % sizeof(word) == 0 &&
	       memory_write(m, by, at, &word, sizeof(word));
}

/* --- regions.c --- */

/*
 * Makes [at, at + bytes) synthetic, or foreign; what was stored there cannot
 * be seen while it is.  arg is borrowed.  Returns the region's number, from 0
 * on, or -1: not in one range, empty, or over another region.
 */
int memory_add_synthetic(struct memory *m, uint64_t at, uint64_t bytes,
	memory_naming name, void *arg);
int memory_add_foreign(struct memory *m, uint64_t at, uint64_t bytes,
	const struct memory_foreign *f);

/* Ends a region; its number may be given to another one. */
void memory_drop_region(struct memory *m, int i);

/*
 * In place of reading and writing: the name of n bytes that are all in one
 * synthetic region and of one stream; false where they are not, or may not be
 * read.  What is written by name is as if its bytes were.
 */
bool memory_find_name(struct memory *m, enum memory_by by, uint64_t at,
	size_t n, struct memory_name *name);
bool memory_write_named(struct memory *m, enum memory_by by, uint64_t at,
	const struct memory_name *name, size_t n);

/* Its bytes. */
void memory_fill(const struct memory_name *name, uint8_t *out, size_t n);

/* A region, or NULL; until the next one is added. */
const struct memory_region *memory_region(const struct memory *m, int i);

/* Whether some of [at, at + n) is in a region. */
bool memory_has_region(const struct memory *m, uint64_t at, uint64_t n);

/*
 * The region of at, or NULL; *n becomes the part of [at, at + n) up to that
 * region's end, or up to where the next one begins.
 */
struct memory_region *memory_region_at(
	const struct memory *m, uint64_t at, size_t *n);
bool memory_region_read(
	const struct memory_region *r, uint64_t at, uint8_t *out, size_t n);
bool memory_region_write(
	struct memory_region *r, uint64_t at, const uint8_t *in, size_t n);

/* Pages of [at, at + n) that have been written are looked at again: whether
 * they are mixed. */
void memory_mix(struct memory *m, uint64_t at, uint64_t n);

/*
 * Whether every byte of it was written a number of times, correctly each time,
 * in any pieces and order.  Surplus bytes that hide missing ones go unnoticed
 * once in 2^64.
 */
bool memory_region_is_whole(const struct memory_region *s, uint64_t times);

/*
 * The n bytes from an offset of an owner's stream.  Any bytes of it can be had
 * by themselves; about one instruction per four bytes.
 */
void memory_fill_by(
	uint64_t seed, uint64_t owner, uint64_t offset, uint8_t *out, size_t n);

/* Whether n bytes are what memory_fill_by() would put there. */
bool memory_is_by(uint64_t seed, uint64_t owner, uint64_t offset,
	const uint8_t *in, size_t n);

#endif
