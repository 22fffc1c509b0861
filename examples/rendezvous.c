/*
 * Half of the nodes have data for the others, and announce it by a packet.  The
 * receiver pulls it: a remote get makes the sender's message unit put the data.
 */
#include "setup.h"

enum { BYTES = 10000, GET_AT = 0x5000 };

struct node {
	weft_time took;
	bool is_right;
};

static void fill(uint8_t *data, uint32_t sender)
{
	for (uint32_t i = 0; i < BYTES; i++)
		data[i] = (uint8_t)(sender * 13 + i * i);
}

/* Makes the sender's unit put its data into our memory. */
static void pull(MUSPI_InjFifo_t *fifo, uint32_t sender, uint64_t from)
{
	MUHWI_Descriptor_t put = make_put(weft_node(), from, BYTES, 0), d;
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t i = {
		.Base = { .Payload_Address = GET_AT,
			.Message_Length = sizeof(put),
			.Torus_FIFO_Map = MU_MAP_TORUS,
			.Dest = spi_destination(sender) },
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING },
		.RemoteGet = { .Rget_Inj_FIFO_Id = 8 }, /* of sub-group 1 */
	};

	spi_store(GET_AT, &put, sizeof(put));
	must("get", MUSPI_CreatePt2PtRemoteGetDescriptor(&d, &i));
	inject(fifo, &d);
}

static void receive(struct node *mine, MUSPI_InjFifo_t *fifo, uint32_t sender)
{
	uint8_t want[BYTES], got[BYTES];
	MUSPI_RecFifoSubGroup_t group;
	MUSPI_RecFifo_t *rec = open_reception(&group);
	spi_packet_t p;

	set_counter(BYTES);
	open_target();
	spi_wait_packet(rec);
	MUSPI_getNextPacket(rec, &p);
	mine->took = -weft_now();
	pull(fifo, sender, mu_get(spi_software_bytes(&p.Header), 8));
	spi_poll(COUNTER_AT, 0);
	mine->took += weft_now();
	fill(want, sender);
	spi_load(TARGET_AT, got, BYTES);
	mine->is_right = !memcmp(want, got, BYTES);
}

static void run(void *arg)
{
	uint32_t me = weft_node(), half = weft_nodes() / 2; /* even */
	MUSPI_InjFifoSubGroup_t group, gets;
	MUSPI_InjFifo_t *fifo = open_injection(&group, 0, false);
	MUHWI_Descriptor_t d = make_packet(me + half, SOURCE_AT, me);
	uint8_t data[BYTES];

	if (me >= half) {
		receive(arg, fifo, me - half);
		return;
	}
	open_injection(&gets, 1, true);
	fill(data, me);
	spi_store(SOURCE_AT, data, BYTES);
	weft_wait_until(START);
	inject(fifo, &d); /* "I have data there" */
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t half = r->n_nodes / 2, right = 0, i;
	weft_time sum = 0;

	for (i = half; i < 2 * half; i++) {
		sum += n[i].took;
		right += n[i].is_right;
	}
	snprintf(text, size, "%u of %u nodes pulled %d bytes, in %.1f us each",
		right, half, BYTES, (double)sum / half / WEFT_NS / 1e3);
	return right == half;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "rendezvous",
		.help = "Receivers pull data that senders announce.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
