#include "report/pack.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

static void put(struct pack *p, uint64_t value, size_t bytes)
{
	size_t i;

	if (p->n + bytes > p->room) {
		p->room = 2 * p->room + 64;
		p->byte = mem_grow(p->byte, p->room, 1);
	}
	for (i = 0; i < bytes; i++)
		p->byte[p->n++] = (uint8_t)(value >> 8 * i);
}

void pack_u8(struct pack *p, uint32_t value)
{
	put(p, value, 1);
}

void pack_u16(struct pack *p, uint32_t value)
{
	put(p, value, 2);
}

void pack_u32(struct pack *p, uint32_t value)
{
	put(p, value, 4);
}

void pack_f32(struct pack *p, double value)
{
	float f = (float)fmax(-FLT_MAX, fmin(value, FLT_MAX));
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	put(p, bits, 4);
}

void pack_f64(struct pack *p, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put(p, bits, 8);
}

void pack_write_column(
	struct pack *p, size_t size, struct json *j, const char *key)
{
	size_t n = p->n / size;

	if (n < 2 || memcmp(p->byte, p->byte + size, p->n - size) != 0) {
		pack_write(p, j, key);
		return;
	}
	json_object(j, key);
	json_count(j, "n", n);
	p->n = size;
	pack_write(p, j, "of");
	json_end(j, '}');
}

void pack_write(struct pack *p, struct json *j, const char *key)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = mem_alloc((p->n + 2) / 3 * 4 + 1, 1), *to = text;
	size_t i, k;

	for (i = 0; i < p->n; i += 3) {
		uint32_t bits = 0;

		for (k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < p->n ? p->byte[i + k] : 0u);
		for (k = 0; k < 4; k++)
			*to++ = i + k > p->n ? '='
					     : digit[bits >> (18 - 6 * k) & 63];
	}
	json_text(j, key, text);
	mem_free(text);
	mem_free(p->byte);
	*p = (struct pack){ 0 };
}
