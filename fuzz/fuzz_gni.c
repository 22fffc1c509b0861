/*
 * Random programs on weft/gni.h: its calls in any order, with any handles and
 * descriptors, of which many are right.
 *
 *	fuzz_gni [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_gni"

#include "weft/gni.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENDS = 4, POSTS = 32, SEGMENT = 1 << 16 };

struct process {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq[2];
	gni_mem_handle_t mem;
	gni_ep_handle_t ep[ENDS];
	gni_post_descriptor_t post[POSTS]; /* must stay until their events */
	uint8_t data[SEGMENT]; /* that messages are given */
};

/* Nodes' handles are equal where they have registered the same. */
static void open_all(struct process *x)
{
	uint32_t node, i;
	gni_return_t code;

	GNI_CdmCreate(weft_node(), 1, 1, 0, &x->cdm);
	GNI_CdmAttach(x->cdm, 0, &node, &x->nic);
	for (i = 0; i < 2; i++)
		GNI_CqCreate(
			x->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &x->cq[i]);
	code = GNI_MemRegister(x->nic, SEGMENT, SEGMENT, x->cq[1],
		GNI_MEM_READWRITE, UINT32_MAX, &x->mem);
	check(code == GNI_RC_SUCCESS, "no segment");
	for (i = 0; i < ENDS; i++) {
		GNI_EpCreate(x->nic, x->cq[0], &x->ep[i]);
		GNI_EpBind(x->ep[i], i, i);
	}
}

/* Mostly one that was made; else any number. */
static void *handle(struct program_at *p, void *made)
{
	return take(p) % 8 ? made : (void *)(uintptr_t)number(p);
}

static gni_ep_handle_t end(struct process *x, struct program_at *p)
{
	return handle(p, x->ep[take(p) % ENDS]);
}

static gni_cq_handle_t queue(struct process *x, struct program_at *p)
{
	return handle(p, x->cq[take(p) % 2]);
}

static gni_mem_handle_t segment(struct process *x, struct program_at *p)
{
	gni_mem_handle_t mem = x->mem;

	if (!(take(p) % 4))
		mem.qword1 = number(p);
	if (!(take(p) % 4))
		mem.qword2 = number(p);
	return mem;
}

static uint64_t address(struct program_at *p)
{
	return take(p) % 4 ? SEGMENT + number(p) : number(p);
}

static void post(struct process *x, struct program_at *p, uint32_t i)
{
	gni_post_descriptor_t *d = &x->post[i % POSTS];
	uint8_t kind = take(p);

	d->type = (gni_post_type_t)(take(p) % 9);
	d->cq_mode = take(p) % 20;
	d->dlvr_mode = take(p) % 10;
	d->rdma_mode = take(p) % 3;
	d->local_addr = address(p);
	d->remote_addr = address(p);
	d->length = number(p);
	d->local_mem_hndl = segment(x, p);
	d->remote_mem_hndl = segment(x, p);
	d->src_cq_hndl = take(p) % 4 ? NULL : queue(x, p);
	d->sync_flag_addr = address(p);
	d->amo_cmd = (gni_fma_cmd_type_t)(take(p) % 26);
	d->first_operand = number(p);
	d->second_operand = number(p);
	d->cqwrite_value = number(p);
	if (kind < 150)
		GNI_PostFma(end(x, p), d);
	else if (kind < 220)
		GNI_PostRdma(end(x, p), d);
	else
		GNI_PostCqWrite(end(x, p), d);
}

static void look(struct process *x, struct program_at *p)
{
	gni_cq_handle_t cq = queue(x, p);
	gni_post_descriptor_t *d;
	gni_cq_entry_t entry = 0;
	char text[64];
	uint32_t is_recoverable;

	if (take(p) % 2)
		GNI_CqGetEvent(cq, &entry);
	else
		GNI_CqWaitEvent(cq, narrow(p) % 3, &entry);
	entry = take(p) % 8 ? entry : number(p);
	GNI_GetCompleted(cq, entry, &d);
	GNI_CqErrorStr(entry, text, narrow(p) % 65);
	GNI_CqErrorRecoverable(entry, &is_recoverable);
}

static void message(struct process *x, struct program_at *p)
{
	gni_ep_handle_t ep = end(x, p);
	gni_smsg_attr_t attr = { .msg_type = (gni_smsg_type_t)(take(p) % 4) };
	uint8_t kind = take(p) % 8, tag = take(p);
	uint32_t bytes = narrow(p) % SEGMENT;
	unsigned int size;
	void *header;

	attr.msg_buffer = address(p);
	attr.buff_size = narrow(p);
	attr.mem_hndl = segment(x, p);
	attr.mbox_offset = narrow(p);
	attr.mbox_maxcredit = (uint16_t)number(p);
	attr.msg_maxsize = narrow(p);
	GNI_SmsgBufferSizeNeeded(&attr, &size);
	if (kind < 2)
		GNI_SmsgInit(ep, &attr, &attr);
	else if (kind < 5)
		GNI_SmsgSendWTag(
			ep, x->data, bytes / 2, x->data, bytes / 2, 1, tag);
	else if (kind < 7)
		GNI_SmsgGetNextWTag(ep, &header, &tag);
	else
		GNI_SmsgRelease(ep);
}

/* Handles go, and others come. */
static void change(struct process *x, struct program_at *p)
{
	uint32_t i = take(p) % ENDS;
	gni_ep_handle_t ep = end(x, p);
	gni_mem_handle_t mem = segment(x, p);

	switch (take(p) % 8) {
	case 0:
		GNI_EpDestroy(ep);
		GNI_EpCreate(x->nic, queue(x, p), &x->ep[i]);
		break;
	case 1:
		GNI_EpUnbind(ep);
		break;
	case 2:
		GNI_EpBind(ep, narrow(p), i);
		break;
	case 3:
		GNI_EpSetEventData(ep, narrow(p), i);
		break;
	case 4:
		GNI_MemDeregister(x->nic, &mem);
		break;
	case 5: {
		uint64_t at = address(p), bytes = number(p);

		GNI_MemRegister(x->nic, at, bytes, queue(x, p), take(p) % 8,
			UINT32_MAX, &x->mem);
		break;
	}
	case 6:
		GNI_CqDestroy(queue(x, p));
		GNI_CqCreate(x->nic, narrow(p), 0, GNI_CQ_BLOCKING, NULL, NULL,
			&x->cq[i % 2]);
		break;
	default:
		if (!(take(p) % 8))
			GNI_CdmDestroy(x->cdm);
	}
}

static void run_program(void *mine)
{
	struct program_at p = program_begin();
	struct process *x = mine;

	open_all(x);
	for (uint32_t i = 0; i < PROGRAM_CALLS; i++) {
		uint8_t what = take(&p) % 16;

		if (what < 7)
			post(x, &p, i);
		else if (what < 11)
			look(x, &p);
		else if (what < 13)
			message(x, &p);
		else if (what < 15)
			change(x, &p);
		else
			weft_compute(1000 * (narrow(&p) % 1000));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const args[] = { "gemini", "--shape=2x1x1",
		"--set=host.memory=4MiB", NULL };
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.interface = "gni",
		.run = run_program,
		.node_bytes = sizeof(struct process),
	};

	program_run(&app, args, data, size);
	return 0;
}

#include "program_driver.h"
