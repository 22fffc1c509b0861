/* What becomes of the interface where the network fails. */
#include "base/secded.h"
#include "nic/gemini/card.h"
#include "sim/random.h"

/* Time-outs stand still while management has stopped the network. */
void gem_harm_on_quiesce(struct net *net, struct sim_worker *w, site_id s,
	bool is_stopped, sim_time t)
{
	struct nic *nic = net->client_state;
	struct gem_node *n = nic->nodes[s];
	struct nic_at a;

	if (!n && !is_stopped)
		return;
	a = nic_at(nic, w, s, t);
	n = gem_here(&a);
	if (is_stopped) {
		n->quiet_since = t;
		n->is_quiet = true;
	} else if (n->is_quiet) {
		n->is_quiet = false;
		gem_fma_extend(&a, n->quiet_since);
		gem_target_extend(&a);
	}
}

/* --- what chips and memories do --- */

void gem_harm_drop(const struct nic_at *a, packet_id id)
{
	struct net *net = a->nic->net;

	gem_here(a)->marked++;
	net_release(net, a->w, a->s, gem_load(a, id)->fifo,
		net->packets[id].chunks, a->t);
	nic_on_lost(net, a->w, id);
}

static void draw(const struct nic *nic, struct fault_link *l, uint32_t doubles,
	site_id s)
{
	const struct faults *f = nic->net->faults;

	l->left = faults_distance(f, f->memories[doubles], RANDOM_MEMORY,
		2 * s + doubles, l->draws++);
}

void gem_harm_init(const struct nic *nic, struct gem_node *n, site_id s)
{
	uint32_t i;

	n->is_faulty = nic->net->faults != NULL;
	for (i = 0; n->is_faulty && i < 2; i++)
		draw(nic, &n->bad_words[i], i, s);
}

/* Reads a word of which some bits are bad through its code. */
static bool decode(struct gem_node *n, uint64_t word, uint32_t bits)
{
	uint64_t read = word;
	uint32_t i;

	for (i = 0; i < bits; i++)
		read ^= UINT64_C(1) << (word + 23 * i) % 64;
	if (secded_decode(&read, secded_encode(word)) == SECDED_BAD) {
		n->uncorrectable++;
		return false;
	}
	BUG_IF(read != word);
	n->corrected++;
	return true;
}

bool gem_harm_read(const struct nic_at *a, uint64_t word)
{
	struct gem_node *n = a->node;
	bool is_good = true;
	uint32_t i;

	for (i = 0; n->is_faulty && i < 2; i++) {
		if (n->bad_words[i].left--)
			continue;
		draw(a->nic, &n->bad_words[i], i, a->s);
		is_good &= decode(n, word, i + 1);
	}
	return is_good;
}
