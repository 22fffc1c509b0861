/*
 * The channel between a rank and the simulator: what both sides share.  A rank
 * is a process outside; its proxy is a program of the simulated machine.  One
 * of them runs, never both: the word `turn` says which, and whoever has the
 * turn owns all else in the channel.  So a queue is an array and a count.
 *
 * A rank queues commands, and crosses, that is gives the turn to its proxy,
 * only where it must know something.  The proxy executes the commands in
 * simulated time, and gives the turn back with the completions that are there.
 *
 * The simulator trusts nothing in a channel: it copies each part once, and then
 * checks the copy.  This header includes nothing of the simulator.
 */
#ifndef OUTSIDE_CHANNEL_H
#define OUTSIDE_CHANNEL_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	CHANNEL_VERSION = 3,
	CHANNEL_BYTES = 128 << 10, /* of its file */
	CHANNEL_COMMANDS = 128,
	CHANNEL_COMPLETIONS = 128,
	CHANNEL_ROOM = 64 << 10, /* for the bytes of short messages */
	CHANNEL_SHORT = 4096, /* at most of one message */
	CHANNEL_VECTOR = 8, /* pieces of a buffer */
	CHANNEL_STEPS = 512,
	CHANNEL_NAMES = 512, /* calls of MPI, more than there are */
	CHANNEL_CALLED = 160, /* calls between two turns: each has a command */
	CHANNEL_LIBRARY = 64,
	CHANNEL_SPINS = 500, /* looks at the word, at most: some 20 us */
};

/* What ranks take for numbers of processes: their parent, and rank 0. */
enum { CHANNEL_PARENT_PID = 999, CHANNEL_FIRST_PID = 1000 };

#define CHANNEL_MAGIC UINT64_C(0x6e72617774666577)
#define CHANNEL_ANY   UINT32_MAX /* rank */
#define CHANNEL_NONE  UINT32_MAX
#define CHANNEL_LOOKS UINT32_MAX /* no call */

/* A test after many unsuccessful ones, ps. */
#define CHANNEL_LONG_TEST INT64_C(10000000)

enum channel_turn { CHANNEL_SIM, CHANNEL_RANK };

/* Why a rank gives the turn away. */
enum channel_why {
	CHANNEL_START, /* it is ready: all ranks go on at one instant */
	CHANNEL_FLUSH, /* executes commands, returns what is there */
	CHANNEL_LOOK, /* the same, and takes the time of a look */
	CHANNEL_WAIT, /* the same, and waits until something is there */
	CHANNEL_EXIT, /* it makes no more commands; others are served on */
	CHANNEL_ASTRAY, /* its calls are not those of the recording */
	CHANNEL_WHYS,
};

/* Kinds of commands; what fields mean beyond their names. */
enum channel_kind {
	CHANNEL_SEND,
	CHANNEL_RECEIVE,
	CHANNEL_PEEK, /* always completed at once: ENOMSG if there is none */
	/* Of the receive with this context, which is completed with ECANCELED
	 * if it has not been before; it has no completion of its own. */
	CHANNEL_CANCEL,
	CHANNEL_WRITE, /* tag: remote address; ignore: key */
	CHANNEL_READ,
	/* The same; op: 256 times the type, and the operation, as libfabric has
	 * them; followed by a CHANNEL_MORE. */
	CHANNEL_ATOMIC,
	CHANNEL_MORE, /* at: result; tag: where to compare; of the one before */
	/* tag: what others call its first byte; ignore: rights, as libfabric
	 * has them; data: the key that is asked for, if there is one.  Its
	 * completion's data is the key. */
	CHANNEL_REGISTER,
	CHANNEL_UNREGISTER, /* ignore: key */
	CHANNEL_VECTOR_OF, /* pieces of the next command's buffer, in the room
			    */
	/* at, bytes: registered memory that the MPI library does not poll while
	 * it waits: writes of others there do not end a wait without a
	 * deadline.  With CHANNEL_RELEASED, the library may poll it from now
	 * on.  No completion. */
	CHANNEL_UNPOLLED,
	/* Of a group of ranks, whose number is in data; ENOTSUP, the same for
	 * all, if the network cannot. */
	CHANNEL_BARRIER,
	CHANNEL_BROADCAST, /* rank: root */
	CHANNEL_REDUCE, /* rank: root or any; op; tag: where the result goes */
	/* Opens a group: its ranks, as words of four bytes.  Its completion's
	 * data is the group's number.  Closes one. */
	CHANNEL_GROUP,
	CHANNEL_UNGROUP,
	CHANNEL_KINDS,
};

/* Whether ranks execute it together. */
static inline int channel_is_collective(uint16_t kind)
{
	return kind >= CHANNEL_BARRIER && kind <= CHANNEL_UNGROUP;
}

enum channel_flag {
	CHANNEL_TAGGED = 1, /* one of two spaces of messages */
	CHANNEL_IN_ROOM = 2, /* its bytes are in the room, at an offset */
	CHANNEL_SYNC = 4, /* completed when matched */
	CHANNEL_DELIVERED = 8, /* completed when it is in the other's memory */
	CHANNEL_CLAIM = 16,
	CHANNEL_DISCARD = 32,
	CHANNEL_HAS_DATA = 64, /* the data word */
	CHANNEL_MULTI =
		128, /* a receive that stays until less than tag is left */
	CHANNEL_SILENT = 256, /* no completion but for errors */
	CHANNEL_RELEASED = 512, /* of a completion: the last of a MULTI */
	/* Of a completion: another rank's write with data.  Of a registration:
	 * every access of others to it is told so, with the key as tag. */
	CHANNEL_REMOTE = 1024,
	CHANNEL_LASTS = 2048, /* a peek that is completed when there is one */
};

struct channel_command {
	uint16_t kind, flags;
	uint16_t op; /* type and operation of an atomic or a reduction */
	uint16_t endpoint; /* number of the rank's own endpoint */
	uint32_t rank; /* the other one, or CHANNEL_ANY */
	uint16_t to; /* number of the other one's endpoint */
	uint16_t n; /* pieces of a vector */
	uint64_t tag, ignore, data;
	uint64_t at,
		bytes; /* in the rank's memory, or at an offset of the room */
	uint64_t context; /* returned as it is */
};

struct channel_completion {
	uint64_t context;
	uint16_t kind, flags; /* of the command */
	uint16_t endpoint, from_endpoint;
	uint32_t rank; /* the other one */
	int32_t error; /* an errno, or 0; EMSGSIZE: it did not fit */
	uint64_t bytes; /* of the message, also of one that did not fit */
	uint64_t tag, data;
	uint64_t at; /* where its bytes are */
	uint64_t stored; /* bytes that are there */
};

_Static_assert(sizeof(struct channel_command) == 64, "commands");
_Static_assert(sizeof(struct channel_completion) == 64, "completions");

/* Bytes for the rank's memory, which follow in the room: it copies them before
 * it looks at completions.  The next piece begins at a multiple of eight. */
struct channel_piece {
	uint64_t at, bytes;
};

/* Bytes that are copied by the rank, where the simulator may not: a turn that
 * is given for that alone.  The rank gives it back at once, and waits on.  What
 * was in the room is lost. */
enum channel_copy {
	CHANNEL_NO_COPY,
	CHANNEL_TO_ROOM, /* from the rank's memory */
	CHANNEL_FROM_ROOM,
	CHANNEL_NO_BYTES, /* in return: the rank does not have them */
};

/* What makes a rank another one in the next run. */
enum channel_reason {
	CHANNEL_THREADS = 1,
	CHANNEL_SOCKETS = 2,
	CHANNEL_CLOCKS = 4, /* it reads clocks of the host */
	CHANNEL_RANDOM = 8, /* it has random numbers of the host */
	CHANNEL_ADDRESSES = 16, /* the host cannot fix where its memory is */
	CHANNEL_SIGNAL = 32, /* it was ended from outside; set outside */
	CHANNEL_IDLE = 64, /* it has done nothing for too long; set outside */
};

/* Name of the thread of a child that a rank has forked, during a call of MPI:
 * the child has no channel, and hangs in the call. */
#define CHANNEL_FORKED "weft-mpi-forked"

/* How far a rank has come before it gives its turn away for the first time. */
enum channel_begun {
	CHANNEL_NOT_MPI, /* or not yet */
	CHANNEL_IN_INIT, /* MPI_Init() waits for all ranks */
	/* MPI_Init() has not opened the provider: it would talk by other ways,
	 * which would take no time */
	CHANNEL_ROUND,
};

/* Which call of MPI a rank is in: a number of inside/names.h, and what it waits
 * for. */
struct channel_call {
	uint32_t name; /* 0: none */
	uint32_t rank;
	uint64_t tag;
	uint64_t bytes; /* of the operations that it has asked for */
	int64_t since; /* by its own clock, ps */
};

/* One that has ended, and has crossed or asked for an operation: others take no
 * time and change nothing. */
struct channel_called {
	struct channel_call call;
	int64_t until;
};

/* How much time a rank's own computing takes. */
enum channel_computing {
	CHANNEL_FREE, /* none */
	CHANNEL_CPU, /* what it takes of the host's, times speed */
	CHANNEL_RECORD, /* the same; and the simulator is told */
	CHANNEL_REPLAY, /* what the simulator says */
};

/* Set by the simulator before a rank begins. */
struct channel_ways {
	uint32_t computing; /* an enum channel_computing */
	uint32_t is_trapped; /* instructions that read a clock are */
	uint32_t is_interrupted; /* it looks now and then while it computes */
	uint32_t unused;
	uint64_t speed; /* parts per million */
};

/* Computing up to a place in the program: a call of MPI, by its name's number,
 * 0: an operation outside of one, or some looks. */
struct channel_step {
	uint32_t call, n;
	uint64_t ns; /* of CPU time; of all n looks */
};

struct channel {
	_Atomic uint32_t turn; /* the futex: an enum channel_turn */
	_Atomic uint32_t sleeps[2]; /* who waits in the kernel for its turn */
	uint32_t version;
	uint64_t magic;
	/* set by the simulator before the rank begins */
	uint32_t rank, n_ranks, node, process, n_processes;
	uint64_t seed; /* of random numbers that the rank asks for */
	struct channel_ways ways;

	/* to the rank */
	int64_t now; /* since when it runs, ps */
	uint32_t n_completions, has_more;
	uint32_t n_pieces; /* in the room */
	uint32_t is_ending; /* the run ends: it exits by itself */
	/* Tests that the rank may fail by itself, without a crossing; each
	 * takes CHANNEL_LONG_TEST.  The rank counts them down. */
	uint32_t own_tests;
	uint32_t is_logged; /* it says which calls have ended */
	/* what the network does by itself, 1 << kind; set before its first turn
	 * ends */
	uint32_t collectives;
	uint32_t copy; /* an enum channel_copy; the rank sets it to NO_COPY */
	uint32_t copy_bytes;
	uint64_t copy_at;

	/* to the simulator */
	int64_t clock; /* its own clock, ps: now or later */
	int64_t until; /* a wait ends then, with nothing; INT64_MAX: never */
	uint64_t n_calls; /* before it went astray */
	uint32_t why, n_commands;
	uint32_t reasons; /* all that there were so far */
	uint32_t is_busy; /* another of its threads computes: this one does not
			     wait in vain */
	_Atomic uint32_t begun; /* how far it has come before its first turn: an
				   enum channel_begun */
	uint32_t n_called;
	/* to both: looks at the word before one sleeps; set before the rank
	 * begins */
	uint32_t spins;
	uint32_t has_threads; /* that may be in MPI at once; as begun */
	uint32_t own_signal; /* the last that it has sent to itself */
	struct channel_call call;
	int64_t outside; /* of its clock since it has the turn: the program's */
	uint64_t cpu; /* of its process, when it leaves, ns */
	char library[CHANNEL_LIBRARY]; /* which MPI it is */
	uint64_t calls[CHANNEL_NAMES]; /* how often, by number */
	struct channel_called called[CHANNEL_CALLED];

	struct channel_command command[CHANNEL_COMMANDS];
	struct channel_completion completion[CHANNEL_COMPLETIONS];
	/* Of a recording: to the simulator; or to the rank, which sets the
	 * number to 0 when it has used them all. */
	uint32_t n_steps, unused_too;
	struct channel_step step[CHANNEL_STEPS];
	/* bytes of sends; or pieces: each turn begins with it empty */
	uint8_t room[CHANNEL_ROOM];
};

_Static_assert(sizeof(struct channel) <= CHANNEL_BYTES, "a channel's size");

/*
 * How ranks are started.  The helper weft-start inherits a socket of packets,
 * whose number is in WEFT_START, and gets one packet for each rank, with its
 * descriptors, then one with n_ranks as rank.  It answers by one for each thing
 * that happens.  Files that ranks of one node share are in a folder of /dev/shm
 * or /tmp; the helper makes it and reports its name.
 *
 * What all ranks have in common is in the helper's environment: WEFT_STACK, a
 * word of the key `stack`; WEFT_FOLDER, where ranks begin; WEFT_DEBUG, the rank
 * that waits for a debugger; WEFT_ISOLATION, `none` if ranks get no namespaces.
 *
 * If a helper was killed, another one cleans up after it: WEFT_CLEAN has its
 * number, and WEFT_SCRATCH its folder.  Every process that ranks have started
 * has WEFT_STARTER, with ten digits, in its environment.
 */
enum { CHANNEL_START_TEXT = 60 << 10 };

struct channel_rank {
	uint32_t rank, n_ranks;
	uint32_t node, n_nodes, process, n_processes; /* of its node */
	uint32_t program; /* which of several it runs */
	int32_t tracer; /* the process that reads and writes its memory */
	uint32_t n_arguments,
		n_variables; /* strings, with their ends, in text; variables
				are added to the helper's own */
	/* SCM_RIGHTS: channel, standard input, output, errors */
	char text[CHANNEL_START_TEXT];
};

enum channel_event {
	CHANNEL_BEGAN, /* value: its process's number */
	CHANNEL_ENDED, /* value: as wait() has it */
	CHANNEL_ABORTED, /* value: MPI_Abort's code */
	CHANNEL_FAILED, /* it could not be started; value: errno */
	CHANNEL_SCRATCH, /* text: the folder that the helper has made */
	CHANNEL_ISOLATED, /* ranks have a PID namespace; before the first one */
};

struct channel_news {
	uint32_t event, rank;
	int64_t value;
	char text[240]; /* why */
};

#endif
