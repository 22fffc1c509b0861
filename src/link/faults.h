/*
 * Faults: a plan of failures, and its effect on each directed link.
 *
 * Bit errors are random and independent.  For each link the number of good bits
 * until the next bad one is drawn, as a function of (seed, link, count), and
 * the bits of each packet are subtracted from it.  So an undamaged frame costs
 * one comparison, and the result does not depend on threads.
 *
 * Failures of links are known before the run, so they need no events: a link
 * has a list of outages, and a packet that would not arrive before the next one
 * is lost.  A link that has lines (training.h) and comes up carries nothing
 * before both its directions are trained; a link that cannot be trained never
 * comes up.
 *
 * The actions of a management are known, too (reloads.c): some time after links
 * die or return it stops injection, and some time later it loads new tables.  A
 * part that leaves is announced: injection stops at once, and it leaves when
 * the tables are loaded.
 */
#ifndef LINK_FAULTS_H
#define LINK_FAULTS_H

#include <stdbool.h>

#include "base/param.h"
#include "link/link.h"
#include "link/memories.h"
#include "link/ras.h"
#include "link/training.h"
#include "sim/sim.h"
#include "topo/parts.h"

/* The section "faults" of a machine file, or of a separate file. */
struct fault_params {
	/* "1e-9" of all bits, "node up 2.5e-7" of those on a class of wires */
	struct param_lines bit_errors;
	/* "1e-10 40": how many bits begin a burst, and its length in bits; or
	 * "node up 1e-10 40" */
	struct param_lines bursts;
	/* "30 us switch 2.5 dies", "1 ms link 1.0 up 2 returns" */
	struct param_lines events;
	/* "link 1.0 up 2 line 3 skew 900 ps", "link 7 line clock closed" */
	struct param_lines lines;
	int64_t cold_start; /* all links are trained at the start of the run */
	/* "1e-9" of all packets that pass a chip; of all words read from
	 * memories, and with two bad bits "double 1e-12" */
	struct param_lines chips, memories;
	struct param_lines fast_lanes; /* as bit_errors */
};

/* For all machines; for those with links whose lines are known; for those whose
 * chips or memories are checked; for those whose lanes are transceivers;
 * for those whose links send blocks of 66 bits. */
extern const struct param fault_params_table[], fault_lines_table[],
	fault_chips_table[], fault_memories_table[], fault_lanes_table[],
	fault_bursts_table[];

enum { FAULT_SITE = PART_SITE, FAULT_LACKS = 8 };

/* A lane of a link; its unit is its number.  A buffer, which is its own unit
 * (memories.h). */
extern const struct part_kind fault_lane, fault_buffer;

struct fault_event {
	sim_time at;
	union {
		struct part part;
		struct { /* the same */
			const struct part_kind *kind;
			router_id site;
			port_id port; /* or FAULT_SITE */
			uint32_t unit;
		};
	};
	bool returns; /* it dies otherwise */
	bool is_announced; /* it leaves, or returns after it has left */
	bool is_sick; /* it does not die */
	bool fails; /* a fibre, for good */
	bool escapes; /* the link stays up: see struct fault_escape */
	uint32_t flips; /* bits of a buffer's word; 0: none */
	const char *place, *text; /* borrowed from the parameters */
	char name[48]; /* of the part: "card 1.2"; truncated if it is longer */
};

/* A defective line of a directed link. */
struct fault_line {
	uint32_t link; /* see struct topo_links */
	uint32_t line;
	bool is_closed;
	int64_t skew; /* ps, unless it is closed */
	const char *place, *text;
};

/* The next packet of a link gets errors that the hop does not detect. */
struct fault_escape {
	uint32_t link; /* as above */
	uint32_t unit; /* for fibres that fail: its number */
	sim_time at;
};

extern const char *const fault_line_names[]; /* [TRAINING_LINES] */

enum { FAULT_MOST_BURST = 256 }; /* bits */

/* Bursts of errors: the first bit of one is wrong, and the last, and half of
 * those between them. */
struct fault_burst {
	uint64_t rate; /* of bits that begin one, in 10^18 */
	uint32_t length; /* bits */
};

/* All zero is a plan of no faults. */
struct fault_plan {
	/* bit errors in 10^18 bits, at most a hundredth of them, by class */
	uint64_t rate[TOPO_MAX_WIRES];
	struct fault_burst burst[TOPO_MAX_WIRES];
	/* the same for packets in a chip, and for words with one bad bit, with
	 * two */
	uint64_t chips, memories[2];
	struct fault_event *event; /* by site, port and time */
	size_t n_events;
	struct fault_line *line; /* by link and line */
	size_t n_lines;
	struct fault_escape *escape; /* by link and time */
	struct fault_escape *fibre; /* that fails; the same */
	struct fault_flip *flip; /* by site and time */
	size_t n_escapes, n_fibres, n_flips;
	bool cold_start;
	/* From here on set before the plan is read, all but the last by
	 * fault_plan_set_links(): */
	struct training_params training;
	int64_t bit; /* duration on a line, ps */
	int64_t lanes, least_lanes; /* of a link; with fewer it is dead */
	bool is_fast; /* lanes have errors because of their rate */
	bool is_checked; /* links have codes */
	bool has_buffers; /* buffers of routers have codes */
	sim_time retrain; /* outage of a link that loses or gets a lane */
	/* For a machine with a management (struct route): it ignores outages no
	 * longer than notice. */
	bool is_managed;
	sim_time notice, reload, drain;
	/* Routers choose other ways at once when a link dies: packets wait only
	 * for links that train. */
	bool heals;
	const struct part_kind *const *parts; /* the machine's own, up to a
					       * NULL; or NULL */
	/* Kinds in parts that the machine has no piece of, up to a NULL: a list
	 * of parts that may fail leaves them out. */
	const struct part_kind *lacks[FAULT_LACKS + 1];
};

/* The machine has no piece of a kind of plan.parts. */
void fault_plan_lacks(struct fault_plan *p, const struct part_kind *kind);

void fault_plan_set_links(struct fault_plan *p, const struct link_params *l,
	const struct training_params *t);
/* The parameters must outlive the plan.  The plan must be freed even after an
 * error. */
int fault_plan_read(struct fault_plan *p, const struct fault_params *text,
	const struct topo *t, struct err *e);
void fault_plan_free(struct fault_plan *p);
/* For the reader: sorts events, and checks that dying parts are alive. */
int fault_plan_order(struct fault_plan *p, const struct topo *t, struct err *e);
int fault_refuse(
	const char *place, const char *text, const char *why, struct err *e);
bool fault_plan_is_empty(const struct fault_plan *p);
/* Whether no packet is lost: links retry, at least one in three full packets is
 * undamaged, and failed parts return, or links never give up. */
bool fault_plan_passes(
	const struct fault_plan *p, const struct link_params *l, bool gives_up);

/* --- in a run --- */

/* A link is dead in [from, until), and trains in [trains, until).  A link
 * that leaves is announced; known is the time of the announcement, or of the
 * death. */
struct fault_outage {
	uint32_t link;
	bool is_announced;
	bool is_death; /* not only training, because of a lane */
	sim_time from, trains, until, known;
};

/* Injection is stopped from one time until new tables are loaded, which avoid
 * the parts known to be dead at the first. */
struct fault_reload {
	sim_time stop, load;
};

enum fault_state { FAULT_DOWN, FAULT_TRAINING, FAULT_UP };

/* A directed link with lines that cannot be trained, a bit each. */
struct fault_untrained {
	uint32_t link, lines;
};

/* From some time on a link lacks some lanes. */
struct fault_width {
	uint32_t link, dead;
	sim_time from;
};

/* Results of training in the whole run. */
struct fault_trainings {
	uint64_t n; /* number of trained wires */
	sim_time time; /* that each took */
	int64_t margin; /* smallest, ps; 0: none was trained */
	struct fault_untrained *untrained; /* by link */
	size_t n_untrained;
	uint32_t n_blind; /* links with lines sampled outside of their eyes */
};

struct fault_link {
	uint64_t left; /* good bits until the next bad one */
	uint32_t draws;
	uint32_t outage; /* the first that is not over */
	uint32_t escape; /* the first that has not happened */
	uint32_t fibre; /* the first that has not failed */
	uint32_t width; /* its first */
	uint32_t lost; /* packets, while it was dead */
};

struct fault_counts {
	uint64_t bit_errors;
	uint64_t hurt; /* packets that were first damaged on such a wire */
	uint64_t lost; /* by a dead link */
	uint64_t headless; /* dropped because of damaged headers */
	/* by links that retry (retry.h) */
	uint64_t resent; /* wasted copies */
	uint64_t echoes; /* duplicates */
	uint64_t shorts; /* of short packets: tokens, barriers */
	uint64_t reported; /* times that a link seemed dead */
	uint64_t escaped; /* damaged copies that were not detected */
	uint64_t rebuilt; /* words on fibres (chips.h) */
	uint64_t headers; /* copies dropped because of their header */
	/* codewords of link.fec: corrected, found to be bad, and turned into
	 * others */
	uint64_t corrected, failed, wrong;
};

/* Adds counts to a sum. */
void fault_counts_add(struct fault_counts *sum, const struct fault_counts *c);

/* Per worker. */
struct fault_tally {
	_Alignas(64) struct fault_counts wire[TOPO_MAX_WIRES];
	uint64_t marked; /* packets that a chip damaged */
	uint64_t mended; /* words of buffers with one bad bit */
	struct ras_event *ras;
	size_t n_ras;
};

/* The first death of a site. */
struct fault_death {
	router_id site;
	sim_time at;
};

/* A part without links or programs of its own dies, "domain 3", or one that
 * forgets its work: "card 3.1". */
struct fault_loss {
	const char *name; /* borrowed from the plan */
	sim_time from, until; /* of its effects */
};

struct faults {
	struct topo_links links; /* their numbers */
	struct fault_link *link; /* [link] */
	struct fault_link *bursts; /* the same, in bits; NULL: there are none */
	/* in order; the last one is of no link */
	struct fault_outage *outage;
	struct fault_escape *escape; /* the same */
	struct fault_escape *fibre; /* the same */
	struct link_chips **fibres; /* [link], NULL until there are errors */
	/* by link and time, the last one of no link; NULL: all have all */
	struct fault_width *width;
	uint32_t n_narrow; /* links that lack lanes at some time */
	struct fault_tally *tally; /* [worker] */
	struct fault_death *death; /* by site */
	struct fault_loss *loss; /* in the order of the plan */
	struct fault_reload *reload; /* in order */
	size_t n_outages, n_widths, n_deaths, n_reloads, n_chips;
	size_t n_memories, n_losses;
	/* Packets wait for their link to return, unless its outage is longer
	 * than this, or a death that routers heal. */
	sim_time patience;
	bool heals;
	uint64_t rate[TOPO_MAX_WIRES];
	struct fault_burst burst[TOPO_MAX_WIRES];
	uint64_t chips, memories[2]; /* as in the plan */
	struct fault_memory *memory; /* [site], or NULL: all words are good */
	struct fault_flip *flip; /* by site and time, the last one of none */
	bool has_buffers;
	/* Bytes at the address in a packet's load; NULL: loads are no
	 * addresses */
	size_t (*load_bytes)(const struct packet *p);
	struct fault_link
		*chip; /* [site], in packets instead of bits; or NULL */
	struct fault_trainings trainings;
	/* [link] lines sampled outside of their eyes; or NULL */
	uint16_t *blind;
	uint64_t seed;
	uint32_t n_workers;
	/* Of several processes, whose counts are summed up; or NULL. */
	const struct sim *sim;
};

struct faults *faults_new(const struct fault_plan *p, const struct topo *t,
	uint64_t seed, uint32_t n_workers);
void faults_free(struct faults *f);

#define NO_LINK UINT32_MAX

/* What random numbers of a link are drawn by. */
static inline uint32_t faults_key(const struct faults *f, uint32_t link)
{
	return topo_link_key(&f->links, link);
}

bool faults_has_fibres(const struct topo *t);

/* --- memories.c --- */

void faults_set_memories(
	struct faults *f, const struct fault_plan *p, const struct topo *t);
void faults_free_memories(struct faults *f);

/* Reads words of a site's memories, one of which is word: returns how many had
 * one bad bit, which was corrected, or two.  Only if f->memory is set. */
struct fault_words faults_words(
	struct faults *f, router_id site, uint32_t n, uint64_t word);
/* A packet reaches the head of a buffer and is read: false if the buffer has
 * stopped. */
bool faults_read_buffer(struct faults *f, uint32_t worker, router_id site,
	uint32_t buffer, const struct packet *p, uint32_t bytes, sim_time t);
/* Corrected words; stopped units, and the first of them.  Only while nothing
 * runs. */
uint64_t faults_mended(const struct faults *f);
uint64_t faults_stopped(const struct faults *f, struct ras_event *first);

/* As faults_read_buffer(), but cheap if buffers have no errors. */
static inline bool faults_reads(struct faults *f, uint32_t worker,
	router_id site, uint32_t buffer, const struct packet *p, uint32_t bytes,
	sim_time t)
{
	return !f || !f->memory || !f->has_buffers ||
	       faults_read_buffer(f, worker, site, buffer, p, bytes, t);
}

/* --- reloads.c --- */

/* Plans the actions of management, and when announced parts leave. */
void faults_plan_reloads(
	struct faults *f, const struct fault_plan *p, const struct topo *t);
/* Then finds the deaths of sites. */
void faults_note_deaths(
	struct faults *f, const struct fault_plan *p, const struct topo *t);
/* And those of parts that have neither links nor programs. */
void faults_note_losses(struct faults *f, const struct fault_plan *p);
/* The links that the tables of reload i avoid, a mask of ports per router.
 * Returns their number, both directions counted as one. */
uint32_t faults_avoided(const struct faults *f, const struct topo *t, size_t i,
	port_mask *dead);

/* Sums over the workers, for a class of wires; only while nothing runs. */
struct fault_counts faults_total(const struct faults *f, uint32_t wire);

/* The first link that is dead now and has lost packets, *lost of them, or NULL;
 * searches all outages, and so does the next one: not for use in a run. */
const struct fault_outage *faults_loser(
	const struct faults *f, sim_time now, uint64_t *lost);
/* State of a link at a time. */
enum fault_state faults_state(
	const struct faults *f, uint32_t link, sim_time t);

/*
 * The bit that error n of the link hits, if the count gives bit: a bit of a
 * line that is sampled outside of its eye, if the error belongs to such a line.
 */
uint32_t faults_place(const struct faults *f, uint32_t link, uint32_t wire,
	uint64_t n, uint32_t bit, uint32_t bits);

/* Good bits before error n of a link with a class of wire. */
uint64_t faults_gap(
	const struct faults *f, uint32_t link, uint32_t wire, uint64_t n);

/* Distance to error n for some rate of errors. */
uint64_t faults_distance(const struct faults *f, uint64_t rate,
	uint32_t purpose, uint32_t who, uint64_t n);
/* Numbers become the sums over all processes. */
void faults_share(const struct faults *f, uint64_t *x, size_t n);
/* A packet leaves a chip: whether it was damaged there. */
bool faults_is_marked(struct faults *f, uint32_t worker, router_id chip);
/* Total number of these packets; only while nothing runs. */
uint64_t faults_marked(const struct faults *f);

/* Records an event for the report at the end of a run. */
void faults_report(
	struct faults *f, uint32_t worker, const struct ras_event *e);
/* The chips of a link over fibres. */
struct link_chips *faults_chips(struct faults *f, uint32_t link);
/* All events in order; *n is their number.  Only while nothing runs. */
struct ras_event *faults_events(const struct faults *f, size_t *n);

/* --- faults_bursts.c --- */

/* Sets the first burst of each link. */
void faults_set_bursts(
	struct faults *f, const struct fault_plan *p, const struct topo *t);
/* Adds the flips of bursts among so many bits of a link to n others in
 * ascending order; returns the number of all, at most room.  Only if f->bursts
 * is set. */
uint32_t faults_add_bursts(struct faults *f, uint32_t link, uint32_t wire,
	uint32_t bits, uint32_t *bit, uint32_t n, uint32_t room);

/* The link is hit: draws the distance to the next error. */
static inline void faults_draw(struct faults *f, uint32_t link, uint32_t wire)
{
	struct fault_link *l = &f->link[link];

	l->left += 1 + faults_gap(f, link, wire, l->draws++);
}

/* Number of missing lanes of a link at a time; from either end. */
static inline uint32_t faults_dead_lanes(
	const struct faults *f, uint32_t link, sim_time t)
{
	uint32_t dead = 0;

	if (!f->width)
		return 0;
	for (const struct fault_width *x = &f->width[f->link[link].width];
		x->link == link && x->from <= t; x++)
		dead = x->dead;
	return dead;
}

/* Whether the link is dead at some time from t up to until. */
static inline bool faults_cut(
	struct faults *f, uint32_t link, sim_time t, sim_time until)
{
	const struct fault_outage *o = &f->outage[f->link[link].outage];

	while (o->link == link && o->until <= t) {
		f->link[link].outage++;
		o++;
	}
	return o->link == link && o->from < until;
}

#endif
