#include "report/pack.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum pack_type { U8, U16, U32, F64, F32 };

static const struct {
	const char *name;
	size_t bytes;
	double most;
} types[] = {
	[U8] = { "u8", 1, UINT8_MAX },
	[U16] = { "u16", 2, UINT16_MAX },
	[U32] = { "u32", 4, UINT32_MAX },
	[F64] = { "f64", 8, DBL_MAX },
	[F32] = { "f32", 4, FLT_MAX },
};

void pack_add(struct pack *p, double value)
{
	p->value = mem_more(p->value, p->n, sizeof(*p->value));
	p->value[p->n++] = fmax(-DBL_MAX, fmin(value, DBL_MAX));
}

static enum pack_type choose_type(const struct pack *p)
{
	enum pack_type type = U8;

	for (size_t i = 0; i < p->n && type < F32; i++) {
		double v = p->value[i];

		while (type < F64 && (v < 0 || v > types[type].most))
			type++;
		if (v != floor(v))
			type = F32;
	}
	return type;
}

static uint64_t bits_of(enum pack_type type, double value)
{
	float small = (float)fmax(-FLT_MAX, fmin(value, FLT_MAX));
	uint32_t bits32;
	uint64_t bits64;

	memcpy(&bits32, &small, sizeof(bits32));
	memcpy(&bits64, &value, sizeof(bits64));
	return type == F32 ? bits32 : type == F64 ? bits64 : (uint64_t)value;
}

static void write_base64(const uint8_t *byte, size_t n, struct json *j)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = mem_alloc((n + 2) / 3 * 4 + 1, 1), *to = text;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < n ? byte[i + k] : 0u);
		for (size_t k = 0; k < 4; k++)
			*to++ = i + k > n ? '='
					  : digit[bits >> (18 - 6 * k) & 63];
	}
	json_text(j, NULL, text);
	mem_free(text);
}

static bool is_constant(const struct pack *p)
{
	size_t i = 1;

	while (i < p->n && p->value[i] == p->value[0])
		i++;
	return p->n > 1 && i == p->n;
}

void pack_write(struct pack *p, struct json *j, const char *key)
{
	enum pack_type type = choose_type(p);
	size_t n = is_constant(p) ? 1 : p->n, size = types[type].bytes, i;
	uint8_t *byte = mem_alloc(n + 1, size);

	for (i = 0; i < n * size; i++)
		byte[i] = (uint8_t)(bits_of(type, p->value[i / size]) >>
				    8 * (i % size));
	json_array(j, key);
	json_text(j, NULL, types[type].name);
	write_base64(byte, n * size, j);
	if (n < p->n)
		json_count(j, NULL, p->n);
	json_end(j, ']');
	mem_free(byte);
	mem_free(p->value);
	*p = (struct pack){ 0 };
}
