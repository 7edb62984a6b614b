// A stand-in for NCCL whose ranks are threads and whose device memory is host memory, to test the
// calls of package comm. A communicator has a worker thread that runs groups of operations one
// after the other; until it is done ncclCommGetAsyncError says "in progress", as NCCL may. It
// checks the config, the nesting of groups, and that ranks make the same collectives: otherwise it
// hangs, as NCCL does, until ncclCommAbort.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 22809
#endif

enum { SUCCESS = 0, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, IN_PROGRESS = 7 };
enum { ALLGATHER, ALLREDUCE, REDUCESCATTER, BROADCAST, SEND, RECV };

typedef struct { int kind, dt, op, peer; char *src, *dst; size_t n; } op_t;
typedef struct { op_t ops[4096]; int n; } list_t;

typedef struct world {
	char id[128];
	int size, joined, waiting, aborted;
	unsigned long turn;
	pthread_mutex_t mu;
	pthread_cond_t cond;
	list_t *lists[4096];
	int colors[4096], keys[4096], left;
	struct world *children[4096], *next;
} world_t;

typedef struct {
	world_t *w;
	int rank, busy, stop, error, finalized;
	list_t queue, running;
	pthread_t worker;
	pthread_mutex_t mu;
	pthread_cond_t cond;
} comm_t;

static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static world_t *worlds;
static __thread int depth;
static __thread comm_t *grouped;
static __thread char last[200];

static world_t *new_world(int size) {
	world_t *w = calloc(1, sizeof *w);
	w->size = size;
	pthread_mutex_init(&w->mu, 0);
	pthread_cond_init(&w->cond, 0);
	return w;
}

// meet waits for all ranks; 0 if the world was aborted.
static int meet(world_t *w) {
	pthread_mutex_lock(&w->mu);
	unsigned long turn = w->turn;
	if (++w->waiting == w->size) {
		w->waiting = 0;
		w->turn++;
		pthread_cond_broadcast(&w->cond);
	}
	while (turn == w->turn && !w->aborted) pthread_cond_wait(&w->cond, &w->mu);
	int ok = turn != w->turn;
	pthread_mutex_unlock(&w->mu);
	return ok;
}

static size_t size_of(int dt) {
	static const size_t s[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
	return s[dt];
}

#define FOLD(T) { T *a = (T *)acc, *b = (T *)x; for (size_t i = 0; i < n; i++) \
	a[i] = op == 0 ? a[i] + b[i] : op == 1 ? a[i] * b[i] : op == 2 ? (a[i] > b[i] ? a[i] : b[i]) : (a[i] < b[i] ? a[i] : b[i]); }

static void fold(char *acc, const char *x, size_t n, int dt, int op) {
	switch (dt) {
	case 0: FOLD(int8_t) break;
	case 1: FOLD(uint8_t) break;
	case 2: FOLD(int32_t) break;
	case 3: FOLD(uint32_t) break;
	case 4: FOLD(int64_t) break;
	case 5: FOLD(uint64_t) break;
	case 7: FOLD(float) break;
	case 8: FOLD(double) break;
	}
}

// result computes an operation of a rank into fresh memory; 0 if the ranks do not agree.
static char *result(comm_t *c, int k, size_t *bytes) {
	world_t *w = c->w;
	op_t *o = &c->running.ops[k];
	size_t s = size_of(o->dt);
	*bytes = 0;
	if (o->kind == SEND) return malloc(1);
	if (o->kind == RECV) { // the same number among the messages between the two
		int nth = 0;
		for (int i = 0; i < k; i++) nth += c->running.ops[i].kind == RECV && c->running.ops[i].peer == o->peer;
		list_t *l = w->lists[o->peer];
		for (int i = 0; i < l->n; i++) {
			op_t *q = &l->ops[i];
			if (q->kind == SEND && q->peer == c->rank && nth-- == 0) {
				if (q->n != o->n || q->dt != o->dt) return 0;
				char *out = malloc(o->n * s + 1);
				memcpy(out, q->src, *bytes = o->n * s);
				return out;
			}
		}
		return 0;
	}
	for (int r = 0; r < w->size; r++) {
		op_t *q = &w->lists[r]->ops[k];
		if (k >= w->lists[r]->n || q->kind != o->kind || q->n != o->n || q->dt != o->dt || q->op != o->op || (o->kind == BROADCAST && q->peer != o->peer)) return 0;
	}
	char *out;
	switch (o->kind) {
	case ALLGATHER:
		out = malloc((*bytes = o->n * s * w->size) + 1);
		for (int r = 0; r < w->size; r++) memcpy(out + r * o->n * s, w->lists[r]->ops[k].src, o->n * s);
		return out;
	case BROADCAST:
		out = malloc((*bytes = o->n * s) + 1);
		memcpy(out, w->lists[o->peer]->ops[k].src, o->n * s);
		return out;
	}
	size_t from = o->kind == REDUCESCATTER ? c->rank * o->n * s : 0;
	out = malloc((*bytes = o->n * s) + 1);
	memcpy(out, w->lists[0]->ops[k].src + from, o->n * s);
	for (int r = 1; r < w->size; r++) fold(out, w->lists[r]->ops[k].src + from, o->n, o->dt, o->op);
	return out;
}

static void run(comm_t *c) {
	world_t *w = c->w;
	char *out[4096];
	size_t bytes[4096];
	w->lists[c->rank] = &c->running;
	if (!meet(w)) return;
	for (int k = 0; k < c->running.n; k++) {
		out[k] = result(c, k, &bytes[k]);
		if (!out[k]) { // a mismatch hangs
			pthread_mutex_lock(&w->mu);
			while (!w->aborted) pthread_cond_wait(&w->cond, &w->mu);
			pthread_mutex_unlock(&w->mu);
			return;
		}
	}
	if (!meet(w)) return;
	for (int k = 0; k < c->running.n; k++) {
		if (bytes[k]) memcpy(c->running.ops[k].dst, out[k], bytes[k]);
		free(out[k]);
	}
	meet(w);
}

static void *work(void *arg) {
	comm_t *c = arg;
	meet(c->w); // init ends when all have joined
	pthread_mutex_lock(&c->mu);
	for (;;) {
		c->busy = c->queue.n > 0;
		if (c->stop) break;
		if (!c->busy) {
			pthread_cond_wait(&c->cond, &c->mu);
			continue;
		}
		c->running = c->queue;
		c->queue.n = 0;
		pthread_mutex_unlock(&c->mu);
		run(c);
		pthread_mutex_lock(&c->mu);
	}
	pthread_mutex_unlock(&c->mu);
	return 0;
}

static comm_t *new_comm(world_t *w, int rank) {
	comm_t *c = calloc(1, sizeof *c);
	c->w = w;
	c->rank = rank;
	c->busy = 1;
	pthread_mutex_init(&c->mu, 0);
	pthread_cond_init(&c->cond, 0);
	pthread_create(&c->worker, 0, work, c);
	return c;
}

static int fail(int code, const char *why) {
	snprintf(last, sizeof last, "%s", why);
	return code;
}

int ncclGetVersion(int *v) { *v = VERSION; return SUCCESS; }
const char *ncclGetErrorString(int r) { return r == INVALID_USAGE ? "invalid usage" : r == INVALID_ARGUMENT ? "invalid argument" : "some error"; }
const char *ncclGetLastError(void *comm) { return last; }

int ncclGetUniqueId(char *id) {
	static int serial;
	memset(id, 0, 128);
	snprintf(id, 128, "world %d of %d", __atomic_fetch_add(&serial, 1, __ATOMIC_SEQ_CST), getpid());
	return SUCCESS;
}

typedef struct { uint64_t size; uint32_t magic, version; int blocking; } config_t;

#ifndef NO_SCALABLE
int ncclCommInitRankScalable(comm_t **out, int size, int rank, int n, const char *id, config_t *cfg) {
	if (n != 1 || rank < 0 || rank >= size || depth) return fail(INVALID_ARGUMENT, "rank, size or ids");
	if (!cfg || cfg->size != 24 || cfg->magic != 0xcafebeef || cfg->blocking) return fail(INVALID_ARGUMENT, "config");
	pthread_mutex_lock(&all);
	world_t *w = worlds;
	while (w && memcmp(w->id, id, 128)) w = w->next;
	if (!w) {
		w = new_world(size);
		memcpy(w->id, id, 128);
		w->next = worlds;
		worlds = w;
	}
	pthread_mutex_unlock(&all);
	if (w->size != size) return fail(INVALID_USAGE, "sizes differ");
	*out = new_comm(w, rank);
	return IN_PROGRESS;
}
#endif

int ncclCommSplit(comm_t *c, int color, int key, comm_t **out, void *cfg) {
	world_t *w = c->w;
	w->colors[c->rank] = color;
	w->keys[c->rank] = key;
	*out = 0;
	if (!meet(w)) return fail(INVALID_USAGE, "aborted");
	int size = 0, rank = 0, first = -1;
	for (int r = 0; r < w->size; r++) {
		if (w->colors[r] != color) continue;
		if (first < 0) first = r;
		size++;
		rank += w->keys[r] < key || (w->keys[r] == key && r < c->rank);
	}
	if (color >= 0 && first == c->rank) w->children[first] = new_world(size);
	meet(w);
	if (color >= 0) *out = new_comm(w->children[first], rank);
	meet(w);
	return SUCCESS;
}

int ncclCommGetAsyncError(comm_t *c, int *state) {
	pthread_mutex_lock(&c->mu);
	*state = c->error ? c->error : c->busy || c->queue.n ? IN_PROGRESS : SUCCESS;
	pthread_mutex_unlock(&c->mu);
	return SUCCESS;
}

int ncclCommFinalize(comm_t *c) { c->finalized = 1; return IN_PROGRESS; }

static void end(comm_t *c) {
	pthread_mutex_lock(&c->mu);
	c->stop = 1;
	pthread_cond_broadcast(&c->cond);
	pthread_mutex_unlock(&c->mu);
	pthread_join(c->worker, 0);
	free(c);
}

int ncclCommDestroy(comm_t *c) {
	if (!c->finalized) return fail(INVALID_USAGE, "destroyed before ncclCommFinalize");
	end(c);
	return SUCCESS;
}

int ncclCommAbort(comm_t *c) {
	pthread_mutex_lock(&c->w->mu);
	c->w->aborted = 1;
	pthread_cond_broadcast(&c->w->cond);
	pthread_mutex_unlock(&c->w->mu);
	end(c);
	return SUCCESS;
}

static int submit(comm_t *c) {
	pthread_mutex_lock(&c->mu);
	pthread_cond_broadcast(&c->cond);
	pthread_mutex_unlock(&c->mu);
	return IN_PROGRESS;
}

int ncclGroupStart(void) { depth++; return SUCCESS; }

int ncclGroupEnd(void) {
	if (depth == 0) return fail(INVALID_USAGE, "ncclGroupEnd without ncclGroupStart on this thread");
	comm_t *c = grouped;
	if (--depth || !c) return SUCCESS;
	grouped = 0;
	pthread_mutex_unlock(&c->mu);
	return submit(c);
}

// add queues an operation. In a group the lock is held from the first operation to its end.
static int add(comm_t *c, op_t o) {
	if (!o.src && !o.dst) return fail(INVALID_ARGUMENT, "no buffer");
	if (o.dt < 0 || o.dt > 8 || o.dt == 6) return fail(INVALID_ARGUMENT, "data type");
	if (grouped != c) pthread_mutex_lock(&c->mu);
	c->queue.ops[c->queue.n++] = o;
	if (depth) {
		grouped = c;
		return SUCCESS;
	}
	pthread_mutex_unlock(&c->mu);
	return submit(c);
}

int ncclAllGather(char *s, char *d, size_t n, int dt, comm_t *c, void *st) { return add(c, (op_t){ALLGATHER, dt, 0, 0, s, d, n}); }
int ncclAllReduce(char *s, char *d, size_t n, int dt, int op, comm_t *c, void *st) { return add(c, (op_t){ALLREDUCE, dt, op, 0, s, d, n}); }
int ncclReduceScatter(char *s, char *d, size_t n, int dt, int op, comm_t *c, void *st) { return add(c, (op_t){REDUCESCATTER, dt, op, 0, s, d, n}); }
int ncclBroadcast(char *s, char *d, size_t n, int dt, int root, comm_t *c, void *st) { return add(c, (op_t){BROADCAST, dt, 0, root, s, d, n}); }
int ncclSend(char *s, size_t n, int dt, int peer, comm_t *c, void *st) { return add(c, (op_t){SEND, dt, 0, peer, s, 0, n}); }
int ncclRecv(char *d, size_t n, int dt, int peer, comm_t *c, void *st) { return add(c, (op_t){RECV, dt, 0, peer, 0, d, n}); }
