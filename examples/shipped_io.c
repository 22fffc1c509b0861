/*
 * Every node writes a record into its own file and one into a file that all
 * nodes of an IO node share, reads the shared file back, and finds the records
 * of the others.  Compute nodes have no file system: the calls are shipped to
 * IO nodes.
 */
#include <errno.h>

#include "setup.h"
#include <weft/cnk.h>

enum {
	RECORD = 4096,
	SHARED = 4 /* nodes that read each other's records */
};

struct node {
	weft_time took; /* by the write */
	uint32_t n_read, n_wrong; /* records of the shared file; bytes */
};

static uint8_t byte_of(uint32_t node, uint32_t i)
{
	return (uint8_t)(node * 31 + i * 7 + i / 256);
}

/* A call must return this number of bytes. */
static void is(const char *what, int64_t got, int64_t want)
{
	must(what, got == want ? 0 : got < 0 ? (int32_t)-got : EIO);
}

static int32_t open_file(const char *name)
{
	int32_t file = cnk_open(name, CNK_CREATE);

	must(name, file < 0 ? -file : 0);
	return file;
}

static void write_own(struct node *mine)
{
	weft_time begin = weft_now();
	char name[CNK_NAME];
	int32_t file;

	snprintf(name, sizeof(name), "/home/node%u", weft_node());
	file = open_file(name);
	is("write", cnk_write(file, SOURCE_AT, RECORD, 0), RECORD);
	must("sync", cnk_sync(file));
	/* a read that begins beyond the end finds nothing */
	is("end", cnk_read(file, TARGET_AT, RECORD, RECORD), 0);
	must("close", cnk_close(file));
	mine->took = weft_now() - begin;
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t first = weft_node() - weft_node() % SHARED, k, i;
	uint8_t *source = weft_map(SOURCE_AT, RECORD);
	uint8_t *target = weft_map(TARGET_AT, SHARED * RECORD);
	char name[CNK_NAME];
	int32_t file;

	for (i = 0; i < RECORD; i++)
		source[i] = byte_of(weft_node(), i);
	write_own(mine);
	snprintf(name, sizeof(name), "/home/shared%u", first);
	file = open_file(name);
	is("write",
		cnk_write(file, SOURCE_AT, RECORD,
			(weft_node() - first) * (uint64_t)RECORD),
		RECORD);
	weft_wait_until(2000000 * WEFT_NS); /* the other nodes have, too */
	is("read", cnk_read(file, TARGET_AT, SHARED * RECORD, 0),
		SHARED * RECORD);
	for (k = 0; k < SHARED; k++)
		for (i = 0; i < RECORD; i++)
			mine->n_wrong +=
				target[k * RECORD + i] != byte_of(first + k, i);
	mine->n_read = SHARED;
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t i, read = 0, wrong = 0;

	for (i = 0; i < r->n_nodes; read += n[i].n_read, i++)
		wrong += n[i].n_wrong;
	snprintf(text, size,
		"%u records are in their files, the first after "
		"%.1f us",
		read, (double)n[0].took / 1e6);
	return read == SHARED * r->n_nodes && !wrong;
}

int main(int argc, char **argv)
{
	static const struct weft_app app = {
		.name = "shipped_io",
		.help = "Nodes write files through their IO nodes.",
		.run = run,
		.node_bytes = sizeof(struct node),
		.interface = "spi",
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
