#include "out/facts_json.h"

static void bracket(struct json *j, const struct fact *x)
{
	bool is_list = x->type == FACT_LIST;
	const struct fact *c = x->first;

	if (is_list)
		json_array(j, x->key);
	else
		json_object(j, x->key);
	for (; c; c = c->next)
		facts_json(j, c);
	json_end(j, is_list ? ']' : '}');
}

void facts_json(struct json *j, const struct fact *x)
{
	if (x->is_hidden)
		return;
	switch (x->type) {
	case FACT_GROUP:
	case FACT_LIST:
	case FACT_HIST:
		bracket(j, x);
		break;
	case FACT_NULL:
		json_null(j, x->key);
		break;
	case FACT_FLAG:
		json_flag(j, x->key, x->is.flag);
		break;
	case FACT_COUNT:
		json_count(j, x->key, x->is.count);
		break;
	case FACT_INT:
		json_int(j, x->key, x->is.integer);
		break;
	case FACT_REAL:
		json_real(j, x->key, x->is.real);
		break;
	case FACT_TEXT:
		json_text(j, x->key, x->is.text);
		break;
	case FACT_LINE:
	case FACT_TABLE:
		break;
	}
}
