#define _GNU_SOURCE
#include "base/plain.h"

#include <locale.h>

#include "base/mem.h"

void *plain_begin(void)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	if (!plain)
		mem_give_up();
	return uselocale(plain);
}

void plain_end(void *before)
{
	locale_t plain = uselocale(before);

	if (plain != LC_GLOBAL_LOCALE)
		freelocale(plain);
}
