#include "out/proto.h"

#include <string.h>

#include "base/mem.h"
#include "base/name.h"

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

static void put_byte(struct proto *p, uint32_t byte)
{
	p->byte = mem_more(p->byte, p->n, 1);
	p->byte[p->n++] = (uint8_t)byte;
}

static void put_varint(struct proto *p, uint64_t value)
{
	for (; value > 127; value >>= 7)
		put_byte(p, 128 | (value & 127));
	put_byte(p, (uint32_t)value);
}

static void put_tag(struct proto *p, uint32_t field, uint32_t type)
{
	put_varint(p, (uint64_t)field << 3 | type);
}

static void put_bytes(
	struct proto *p, uint32_t field, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	put_tag(p, field, LENGTH);
	put_varint(p, n);
	for (size_t i = 0; i < n; i++)
		put_byte(p, from[i]);
}

void proto_int(struct proto *p, uint32_t field, uint64_t value)
{
	put_tag(p, field, VARINT);
	put_varint(p, value);
}

void proto_fixed(struct proto *p, uint32_t field, uint64_t value)
{
	put_tag(p, field, FIXED64);
	for (uint32_t i = 0; i < 8; i++)
		put_byte(p, (uint32_t)(value >> 8 * i) & 255);
}

void proto_real(struct proto *p, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed(p, field, bits);
}

void proto_text(struct proto *p, uint32_t field, const char *text)
{
	char *own = mem_text(text);

	name_clean(own, ""); /* Perfetto wants UTF-8 */
	put_bytes(p, field, own, strlen(own));
	mem_free(own);
}

void proto_message(struct proto *p, uint32_t field, struct proto *inside)
{
	put_bytes(p, field, inside->byte, inside->n);
	inside->n = 0;
}

void proto_fini(struct proto *p)
{
	mem_free(p->byte);
	*p = (struct proto){ 0 };
}
