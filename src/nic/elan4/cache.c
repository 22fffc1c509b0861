/*
 * The card's data cache (QSN-F14), through which all units access card memory.
 * It has tags and times only: the bytes are in card memory.
 *
 *	units --- two read ports, one for writes
 *	            |
 *	          the cache: sets of ways, the least recently used goes
 *	            |
 *	          a port for fills --- read buffer, two lines
 *	            |                  write buffer, two lines
 *	          SDRAM: a latency, then a line at its rate
 *
 * A few fills are under way at a time.  A line that is asked for while it comes
 * is waited for.  A line is free to leave the read buffer when the port for
 * fills has taken it; one that was changed and has to go waits in the write
 * buffer until the SDRAM is free.
 *
 * The fixed times of units are for hits.  So functions return when an access
 * that begins at t would have begun if it were a hit that nothing delays.  If
 * nic.cache.on is no, all accesses are hits, and no port is ever in use.
 */
#include "nic/elan4/units.h"

#include "base/bits.h"
#include "base/mem.h"

/* --- set-up --- */

int elan_cache_set_up(
	struct elan_cache_how *how, const struct elan_params *p, struct err *e)
{
	const struct elan_cache_params *c = &p->cache;
	uint64_t set = (uint64_t)(c->ways * c->line);
	uint64_t sets = (uint64_t)c->size / set;

	if (!bits_is_power(c->line) || (uint64_t)c->size % set ||
		!bits_is_power((int64_t)sets))
		return err_set(e,
			"nic.cache.size: %lld bytes are not a power of two "
			"times %lld ways of %lld bytes",
			(long long)c->size, (long long)c->ways,
			(long long)c->line);
	*how = (struct elan_cache_how){
		.line = (uint32_t)c->line,
		.bits = (uint32_t)__builtin_ctzll((uint64_t)c->line),
		.sets = (uint32_t)sets,
		.ways = (uint32_t)c->ways,
		.fills = (uint32_t)c->fills,
		.latency = p->memory.latency,
		.sdram = c->line * PS_PER_S / p->memory.rate,
		.port = c->line * PS_PER_S / c->port,
		.word = 8 * PS_PER_S / c->port,
		.is_on = c->on,
	};
	return 0;
}

static void elan_cache_fini(struct elan_cache *c)
{
	mem_free(c->tag);
}

static uint64_t elan_cache_memory(const struct elan_cache *c)
{
	return c->n_tags * sizeof(*c->tag);
}

NIC_MEMBER_OPS(elan_cache, NULL);

static const struct elan_cache_how *how_of(const struct nic_at *a)
{
	return &elan_of(a)->cache;
}

static struct elan_cache *cache_of(const struct nic_at *a)
{
	return &elan_here(a)->cache;
}

static sim_time later(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

/* --- lines --- */

/* The number of a set's first tag. */
static size_t first_way(const struct elan_cache_how *how, uint32_t line)
{
	return (size_t)(line & (how->sets - 1)) * how->ways;
}

static uint64_t *set_of(
	struct elan_cache *c, const struct elan_cache_how *how, uint32_t line)
{
	if (!c->tag) {
		c->n_tags = how->sets * how->ways;
		c->tag = mem_alloc(c->n_tags, sizeof(*c->tag));
	}
	return &c->tag[first_way(how, line)];
}

static uint64_t tag_of(uint32_t line)
{
	return (uint64_t)(line + 1) << 1;
}

/* Makes it the most recently used one of its set. */
static void put_first(uint64_t *set, uint32_t way, uint64_t tag)
{
	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = tag;
}

/* A hit, perhaps one that changes it. */
static inline void use(uint64_t *set, uint32_t way, bool is_changed)
{
	put_first(set, way, set[way] | is_changed);
}

/* Its way, or the number of ways. */
static uint32_t find(const uint64_t *set, uint32_t ways, uint32_t line)
{
	uint32_t way = 0;

	while (way < ways && (set[way] & ~UINT64_C(1)) != tag_of(line))
		way++;
	return way;
}

/* When a line that is being filled is there; t: it is. */
static sim_time when_here(const struct elan_cache *c,
	const struct elan_cache_how *how, uint32_t line, sim_time t)
{
	if (t >= c->filled)
		return t;
	for (uint32_t i = 0; i < how->fills; i++)
		if (c->fill[i].line == line)
			t = later(t, c->fill[i].ready);
	return t;
}

/* --- the SDRAM --- */

/* The fill that is over first. */
static struct elan_fill *next_fill(
	struct elan_cache *c, const struct elan_cache_how *how)
{
	struct elan_fill *f = c->fill;

	for (uint32_t i = 1; i < how->fills; i++)
		if (c->fill[i].ready < f->ready)
			f = &c->fill[i];
	return f;
}

/* Fetches a line, from t on; *taken is when the fill begins. */
static sim_time fetch(struct elan_cache *c, const struct elan_cache_how *how,
	uint32_t line, sim_time t, sim_time *taken)
{
	struct elan_fill *f = next_fill(c, how);
	sim_time *drained = &c->drained[c->next_drained++ % ELAN_BUFFERED];
	sim_time from;

	*taken = later(t, f->ready);
	from = later(*taken + how->latency, c->sdram);
	from = later(from, *drained);
	c->sdram = from + how->sdram;
	c->filling = later(from, c->filling) + how->port;
	c->filling = later(c->filling, c->sdram);
	*drained = c->filling;
	*f = (struct elan_fill){ line, c->sdram };
	c->filled = later(c->filled, c->sdram);
	return f->ready;
}

/* A changed line goes by the write buffer, when there is room for it. */
static sim_time room_for_old(const struct elan_cache *c, sim_time t)
{
	return later(t, c->cleaned[c->next_cleaned % ELAN_BUFFERED]);
}

static void write_back(
	struct elan_cache *c, const struct elan_cache_how *how, sim_time t)
{
	c->sdram = later(c->sdram, t) + how->sdram;
	c->cleaned[c->next_cleaned++ % ELAN_BUFFERED] = c->sdram;
}

/* --- accesses --- */

/* Of a part of a line: a write, or a read and then a write of what was read. */
enum { IS_WRITE = 1, IS_CHANGE = 2 };

/* That, and by which unit. */
struct access {
	uint8_t unit; /* an enum elan_unit */
	uint8_t kind;
	bool is_whole; /* all of the line */
	uint32_t line;
};

/* A line that is not there: when a read has it, or a write can be made.  One
 * that is written as a whole is not fetched. */
static __attribute__((noinline)) sim_time miss(
	const struct nic_at *a, struct access p, uint64_t *set, sim_time t)
{
	const struct elan_cache_how *how = how_of(a);
	struct elan_cache *c = cache_of(a);
	uint64_t old = set[how->ways - 1];
	sim_time taken = t, ready = t;

	elan_count(a)->misses[p.unit]++;
	elan_count(a)->all_misses++;
	if (old & 1)
		t = room_for_old(c, t);
	if (!(p.kind & IS_WRITE) || !p.is_whole)
		ready = fetch(c, how, p.line, t, &taken);
	if (old & 1) {
		write_back(c, how, later(t, taken));
		elan_count(a)->written_back++;
	}
	put_first(set, how->ways - 1, tag_of(p.line) | (p.kind != 0));
	return p.kind & IS_WRITE ? later(t, taken) : ready;
}

/* A line that is not the first of its set. */
static inline sim_time look_further(
	const struct nic_at *a, struct access p, uint64_t *set, sim_time t)
{
	const struct elan_cache_how *how = how_of(a);
	uint32_t way = find(set, how->ways, p.line);

	if (way == how->ways)
		return miss(a, p, set, t);
	elan_count(a)->hits[p.unit]++;
	elan_count(a)->all_hits++;
	use(set, way, p.kind != 0);
	return p.kind & IS_WRITE ? t : when_here(cache_of(a), how, p.line, t);
}

/* When it can pass its port. */
static sim_time look_up(const struct nic_at *a, struct access p, sim_time t)
{
	uint64_t *set = set_of(cache_of(a), how_of(a), p.line);

	return look_further(a, p, set, t);
}

/* It passes its port for some time, when it can; returns when it begins. */
static inline sim_time pass_port(
	const struct nic_at *a, uint8_t kind, sim_time *port, sim_time time)
{
	struct elan_cache *c = cache_of(a);
	sim_time t = *port;

	*port = t + time;
	if (kind & IS_CHANGE)
		c->write = later(c->write, t) + time;
	return t;
}

/* The same for any line, perhaps while others come. */
static __attribute__((noinline)) sim_time pass_any(const struct nic_at *a,
	struct access p, sim_time *port, sim_time t, sim_time time)
{
	t = look_up(a, p, t);
	*port = later(*port, t);
	return pass_port(a, p.kind, port, time);
}

/* For the second of a set, which two lines in turn are. */
static __attribute__((noinline)) sim_time pass_second(const struct nic_at *a,
	struct access p, sim_time *port, sim_time t, sim_time time)
{
	const struct elan_cache_how *how = how_of(a);
	struct elan_cache *c = cache_of(a);
	size_t set = first_way(how, p.line);

	if (__builtin_expect(!c->tag || how->ways < 2 ||
				     (c->tag[set + 1] ^ tag_of(p.line)) > 1 ||
				     (!(p.kind & IS_WRITE) && t < c->filled),
		    0))
		return pass_any(a, p, port, t, time);
	elan_count(a)->hits[p.unit]++;
	elan_count(a)->all_hits++;
	use(&c->tag[set], 1, p.kind != 0);
	*port = later(*port, t);
	return pass_port(a, p.kind, port, time);
}

/* Most lines are the first of their set: this is all that these take. */
static inline __attribute__((always_inline)) sim_time pass_line(
	const struct nic_at *a, struct access p, uint32_t bytes, sim_time *port,
	sim_time t)
{
	const struct elan_cache_how *how = how_of(a);
	struct elan_cache *c = cache_of(a);
	sim_time time = (bytes + 7) / 8 * how->word;
	size_t set = first_way(how, p.line);

	p.is_whole = bytes >= how->line;
	if (__builtin_expect(!c->tag || (c->tag[set] ^ tag_of(p.line)) > 1 ||
				     (!(p.kind & IS_WRITE) && t < c->filled),
		    0))
		return pass_second(a, p, port, t, time);
	elan_count(a)->hits[p.unit]++;
	elan_count(a)->all_hits++;
	if (p.kind)
		c->tag[set] |= 1;
	*port = later(*port, t);
	return pass_port(a, p.kind, port, time);
}

/* Passes the lines of an access through some ports in turn; returns when the
 * last byte has passed. */
static __attribute__((noinline)) sim_time pass(const struct nic_at *a,
	struct access p, uint64_t at, uint32_t bytes, sim_time *const *port,
	uint32_t ports, sim_time t)
{
	const struct elan_cache_how *how = how_of(a);
	uint64_t offset = at - ELAN_CARD_AT;
	sim_time end = t;

	for (uint32_t i = 0, n; bytes; i++) {
		sim_time *by = port[i % ports];

		p.line = (uint32_t)(offset >> how->bits);
		n = how->line - (uint32_t)(offset & (how->line - 1));
		n = n < bytes ? n : bytes;
		pass_line(a, p, n, by, t);
		end = later(end, *by);
		offset += n;
		bytes -= n;
	}
	return end;
}

/* The time of an access whose words all hit. */
static sim_time hit_time(
	const struct elan_cache_how *how, uint64_t at, uint32_t bytes)
{
	sim_time words = 0;

	if (!((at | bytes) % 8)) /* whole words */
		return bytes / 8 * how->word;

	for (uint32_t n; bytes; bytes -= n, at += n) {
		n = how->line - (uint32_t)(at % how->line);
		n = n < bytes ? n : bytes;
		words += (n + 7) / 8;
	}
	return words * how->word;
}

/* The port that is free first. */
static inline sim_time *read_port(const struct nic_at *a)
{
	struct elan_cache *c = cache_of(a);

	return &c->read[c->read[1] < c->read[0]];
}

static inline sim_time *write_port(const struct nic_at *a)
{
	return &cache_of(a)->write;
}

/* A part of one line. */
static inline struct access access_of(
	const struct nic_at *a, enum elan_unit unit, uint64_t at, uint8_t kind)
{
	return (struct access){ .unit = (uint8_t)unit,
		.kind = kind,
		.line = (uint32_t)(at - ELAN_CARD_AT) >> how_of(a)->bits };
}

static inline bool is_one_line(
	const struct nic_at *a, uint64_t at, uint32_t bytes)
{
	return (at & (how_of(a)->line - 1)) + bytes <= how_of(a)->line;
}

sim_time elan_cache_stream(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, enum elan_ports ports, sim_time t)
{
	struct elan_cache *c = cache_of(a);
	sim_time *first = ports == ELAN_ANY_PORT ? read_port(a) : c->read;
	sim_time *port[ELAN_READ_PORTS] = { first, &c->read[1] };
	uint32_t n = ports == ELAN_BOTH_PORTS ? 2 : 1;
	struct access p = access_of(a, unit, at, 0);

	if (!how_of(a)->is_on)
		return t + hit_time(how_of(a), at, bytes) / n;
	if (bytes && is_one_line(a, at, bytes)) {
		pass_line(a, p, bytes, port[0], t);
		return *port[0];
	}
	return pass(a, p, at, bytes, port, n, t);
}

static __attribute__((noinline)) sim_time read_lines(const struct nic_at *a,
	enum elan_unit unit, uint64_t at, uint32_t bytes, sim_time t)
{
	if (!how_of(a)->is_on)
		return t;
	return elan_cache_stream(a, unit, at, bytes, ELAN_ANY_PORT, t) -
	       hit_time(how_of(a), at, bytes);
}

sim_time elan_cache_read(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, sim_time t)
{
	if (!how_of(a)->is_on || !is_one_line(a, at, bytes))
		return read_lines(a, unit, at, bytes, t);
	return pass_line(a, access_of(a, unit, at, 0), bytes, read_port(a), t);
}

static __attribute__((noinline)) sim_time write_lines(const struct nic_at *a,
	enum elan_unit unit, uint64_t at, uint32_t bytes, sim_time t)
{
	sim_time *port = write_port(a);

	if (!how_of(a)->is_on)
		return t;
	return pass(a, access_of(a, unit, at, IS_WRITE), at, bytes, &port, 1,
		       t) -
	       hit_time(how_of(a), at, bytes);
}

sim_time elan_cache_write(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, sim_time t)
{
	if (!how_of(a)->is_on || !bytes || !is_one_line(a, at, bytes))
		return write_lines(a, unit, at, bytes, t);
	return pass_line(
		a, access_of(a, unit, at, IS_WRITE), bytes, write_port(a), t);
}

sim_time elan_cache_change(const struct nic_at *a, enum elan_unit unit,
	uint64_t at, uint32_t bytes, sim_time t)
{
	if (!how_of(a)->is_on)
		return t;
	return pass_line(
		a, access_of(a, unit, at, IS_CHANGE), bytes, read_port(a), t);
}

sim_time elan_cache_rest(const struct nic_at *a, uint32_t bytes)
{
	return bytes > 8 ? (bytes - 1) / 8 * how_of(a)->word : 0;
}
