#include <string.h>

#include "base/mem.h"
#include "base/param.h"

struct param_lines *param_lines(
	const struct param_block *b, const struct param *row)
{
	BUG_IF(row->type != PARAM_LINES);
	return (struct param_lines *)((char *)b->values + row->offset);
}

void param_lines_add(struct param_lines *l, const char *text, const char *place)
{
	l->v = mem_more(l->v, l->n, sizeof(*l->v));
	l->v[l->n++] = (struct param_line){
		.text = mem_text(text),
		.place = mem_text(place),
	};
}

void param_lines_free(struct param_lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		mem_free(l->v[i].text);
		mem_free(l->v[i].place);
	}
	mem_free(l->v);
	*l = (struct param_lines){ 0 };
}

int param_lines_read(struct param_lines *l, const char *text)
{
	size_t n;

	param_lines_free(l);
	if (!strcmp(text, "none"))
		return 0;
	for (;; text += n + 1) {
		char *line;

		text += strspn(text, " ");
		n = strcspn(text, ";");
		line = mem_text(text);
		line[n] = '\0';
		param_lines_add(l, line, "");
		mem_free(line);
		if (!text[n])
			return 0;
	}
}
