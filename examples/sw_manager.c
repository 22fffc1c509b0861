/*
 * A manager that repairs.  Node 0 explores the network by packets alone, writes
 * the tables of all switches, and asks them to report links that die.  While
 * the other nodes send messages to each other, it writes tables that avoid
 * failed links.  Try:
 *	sw_manager sunway-32 --set 'faults.events=100 us link 0:1.1 up 6 dies'
 */
#include <errno.h>

#include "sw_setup.h"
#include <weft/swnet.h>

enum { ROUNDS = 100, BYTES = 3000, FROM = 0x100000, TO = 0x200000 };
enum { US = 1000000 }; /* picoseconds */

struct node {
	uint32_t n_right; /* messages */
	uint32_t cables, written, repairs; /* of the manager */
};

static void map_and_write(struct weft_swnet *m, struct node *mine)
{
	struct weft_swnet_map *map;
	uint32_t n;
	int code;

	must("discover", weft_swnet_discover(m, &map));
	mine->cables = map->n_cables;
	must("watch", weft_swnet_watch(m, map));
	code = weft_swnet_set_tables(m, map, &n);
	must("tables", code == EHOSTDOWN ? 0 : code); /* some are cut off */
	mine->written += n;
	weft_swnet_map_free(map);
}

/* Until all others have said that they have ended. */
static void manage(struct weft_msg *msg, struct node *mine)
{
	struct weft_msg_request r;
	struct weft_swnet *m;
	struct weft_swnet_event e;

	must("open", weft_swnet_open(&m));
	map_and_write(m, mine);
	for (uint32_t left = weft_nodes() - 1; left; left--) {
		weft_msg_receive_start(msg, WEFT_MSG_ANY, 1, TO, 8, &r);
		while (!weft_msg_test(msg, &r, NULL)) {
			if (weft_swnet_get_event(m, &e, 20 * US))
				continue;
			map_and_write(m, mine);
			mine->repairs++;
		}
	}
	weft_swnet_close(m);
}

static void work(struct weft_msg *msg, struct node *mine)
{
	uint32_t me = weft_node() - 1, n = weft_nodes() - 1;
	uint8_t bytes[BYTES], want[BYTES];
	struct weft_msg_request r;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t to = (me + i) % n + 1, from = (me + n - i % n) % n + 1;

		fill(bytes, BYTES, me + 1, i);
		weft_msg_store(FROM, bytes, BYTES);
		weft_msg_send_start(msg, to, 0, FROM, BYTES, &r);
		weft_msg_receive(msg, from, 0, TO, BYTES, NULL);
		weft_msg_finish(msg, &r, NULL);
		weft_msg_load(TO, bytes, BYTES);
		fill(want, BYTES, from, i);
		mine->n_right += !memcmp(bytes, want, BYTES);
	}
	weft_msg_send(msg, 0, 1, FROM, 8);
}

static void run(void *arg)
{
	struct weft_msg msg;

	must("messages", weft_msg_init(&msg, NULL));
	(weft_node() ? work : manage)(&msg, arg);
	weft_msg_fini(&msg);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *x = nodes;
	uint32_t right = 0;

	for (uint32_t i = 1; i < r->n_nodes; i++)
		right += x[i].n_right;
	snprintf(text, size,
		"%u cables, %u commands for tables, %u repairs; %u messages",
		x->cables, x->written, x->repairs, right);
	return right == (r->n_nodes - 1) * ROUNDS;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_manager",
		.help = "A manager that repairs the network under traffic.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
