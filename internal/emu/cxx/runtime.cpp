// The scheduler of the emulator. The threads of a block are fibers, and each runs until it waits. A
// kernel that never waits runs its threads one after another on one stack. It serves one launch at a
// time; Go holds the lock.

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef unsigned int hb_emu_u32;
typedef unsigned long long hb_emu_u64;
#include "state.h"

namespace {

enum { MAX_THREADS = 1024, STACK = 256 << 10, SHIFTS = 16 << 10, GUARD = 16 << 10 };
enum State : unsigned char { NEW, RUNS, READY, AT_WARP, AT_BARRIER, EXITED };

struct Thread {
	void *sp; // stack pointer while it waits
	State state;
	unsigned char op;
	unsigned mask;
	hb_emu_u64 value, result;
	int lane; // the argument of a shuffle
	int stack;
};

struct Warp {
	unsigned alive;   // lanes that have not exited
	unsigned waiting; // lanes at a warp operation
	unsigned mask;    // of the first lane that waits
	unsigned char op; // of the first lane that waits
	bool alike;       // all lanes that wait have this mask and this operation
};

hb_emu_state state;
Thread threads[MAX_THREADS];
Warp warps[MAX_THREADS / 32];
hb_emu_uint3 indices[MAX_THREADS]; // for blocks of the size of shape
hb_emu_uint3 shape;
int size, started, exited, current;
bool reversed;
void (*kernel)(void **);
void **arguments;

// Runnable threads, a ring.
unsigned ready[MAX_THREADS], ready_head, ready_count;

// Barrier of the block.
int barrier_waiting, barrier_count;

char *stacks[MAX_THREADS];
int free_stacks[MAX_THREADS], free_count, stack_count;

void *scheduler; // stack pointer of hb_emu_launch during a block
char failure[1024];

// hb_emu_switch saves the callee-saved registers on the stack and the stack pointer at *save, and
// continues at the saved stack pointer to.
extern "C" void hb_emu_switch(void **save, void *to);
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl hb_emu_switch\n"
        "hb_emu_switch:\n"
        "	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
        "	movq %rsp, (%rdi)\n"
        "	movq %rsi, %rsp\n"
        "	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n"
        "	ret\n");
void *prepare(char *top, void (*entry)()) {
	void **sp = (void **)top; // aligned to 16; entry finds it as after a call
	*--sp = 0;
	*--sp = (void *)entry;
	for (int i = 0; i < 6; i++) *--sp = 0;
	return sp;
}
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl hb_emu_switch\n"
        "hb_emu_switch:\n"
        "	sub sp, sp, #160\n"
        "	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
        "	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
        "	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
        "	mov x9, sp\n"
        "	str x9, [x0]\n"
        "	mov sp, x1\n"
        "	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
        "	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
        "	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n	ldp d12, d13, [sp, #128]\n	ldp d14, d15, [sp, #144]\n"
        "	add sp, sp, #160\n"
        "	ret\n");
void *prepare(char *top, void (*entry)()) {
	char *sp = top - 160;
	memset(sp, 0, 160);
	*(void **)(sp + 88) = (void *)entry; // x30
	return sp;
}
#else
#include <ucontext.h>
#include <stdlib.h>
extern "C" void hb_emu_switch(void **save, void *to) {
	ucontext_t here;
	*save = &here;
	swapcontext(&here, (ucontext_t *)to);
}
void *prepare(char *top, void (*entry)()) {
	ucontext_t *u = (ucontext_t *)(top - STACK);
	getcontext(u);
	u->uc_stack.ss_sp = (char *)u + sizeof *u;
	u->uc_stack.ss_size = STACK - sizeof *u;
	u->uc_link = 0;
	makecontext(u, entry, 0);
	return u;
}
#endif

[[noreturn]] void leave() { // ends the block and abandons waiting threads
	void *forgotten;
	hb_emu_switch(&forgotten, scheduler);
	__builtin_unreachable();
}

const char *op_name(int op) {
	static const char *const names[] = {
		"__syncwarp", "a shuffle", "__ballot_sync", "__any_sync", "__all_sync", "__match_any_sync", "__match_all_sync",
		"__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync"};
	return names[op];
}

void describe_thread(int t, char *out, size_t room) {
	hb_emu_uint3 i = indices[t], b = state.block;
	snprintf(out, room, "thread (%u,%u,%u) of block (%u,%u,%u)", i.x, i.y, i.z, b.x, b.y, b.z);
}

[[noreturn]] void deadlock() {
	char who[96];
	int n = snprintf(failure, sizeof failure, "deadlock: every thread waits; ");
	int shown = 0;
	if (barrier_waiting > 0)
		n += snprintf(failure + n, sizeof failure - n, "%d at __syncthreads; ", barrier_waiting);
	for (int t = 0; t < size && shown < 3; t++) {
		if (threads[t].state != AT_WARP) continue;
		describe_thread(t, who, sizeof who);
		n += snprintf(failure + n, sizeof failure - n, "%s at %s of mask 0x%08x; ", who, op_name(threads[t].op), threads[t].mask);
		shown++;
	}
	failure[n - 2] = 0;
	leave();
}

void trap(const char *why) {
	char who[96];
	describe_thread(current, who, sizeof who);
	snprintf(failure, sizeof failure, "%s: %s", who, why);
	leave();
}

void run(int t) {
	current = t;
	threads[t].state = RUNS;
	state.thread = indices[t];
	state.lane = t & 31;
}

void push(int t) {
	threads[t].state = READY;
	ready[(ready_head + ready_count++) % MAX_THREADS] = t;
}

int pop() {
	int t = ready[ready_head];
	ready_head = (ready_head + 1) % MAX_THREADS;
	ready_count--;
	// What the thread after t reads first, though it may be none that is ready.
	__builtin_prefetch(threads[ready[ready_head]].sp);
	return t;
}

// The starting order of threads is the only order that a kernel can depend on by mistake. It can be
// reversed.
int start_next() {
	int t = started++;
	if (reversed) t = size - 1 - t;
	return t;
}

void release_barrier() {
	for (int t = 0; t < size; t++) {
		if (threads[t].state != AT_BARRIER) continue;
		threads[t].result = barrier_count;
		threads[t].value = barrier_waiting;
		push(t);
	}
	barrier_waiting = barrier_count = 0;
}

// complete sets the results of the lanes of a group and makes them runnable.
void complete(int warp, unsigned group, int op) {
	Thread *w = threads + 32 * warp;
	int first = __builtin_ctz(group);
	hb_emu_u64 all = 0;
	switch (op) {
	case HB_EMU_BALLOT:
	case HB_EMU_ANY:
	case HB_EMU_ALL:
		for (unsigned g = group; g; g &= g - 1) all |= (w[__builtin_ctz(g)].value & 1) << __builtin_ctz(g);
		if (op == HB_EMU_ANY) all = all != 0;
		if (op == HB_EMU_ALL) all = all == group;
		break;
	case HB_EMU_MATCH_ALL:
		all = group;
		for (unsigned g = group; g; g &= g - 1)
			if (w[__builtin_ctz(g)].value != w[first].value) all = 0;
		break;
	default:
		if (op < HB_EMU_REDUCE_ADD) break;
		hb_emu_u32 r = (hb_emu_u32)w[first].value;
		for (unsigned g = group & (group - 1); g; g &= g - 1) {
			hb_emu_u32 v = (hb_emu_u32)w[__builtin_ctz(g)].value;
			switch (op) {
			case HB_EMU_REDUCE_ADD: r += v; break;
			case HB_EMU_REDUCE_MIN: r = v < r ? v : r; break;
			case HB_EMU_REDUCE_MAX: r = v > r ? v : r; break;
			case HB_EMU_REDUCE_AND: r &= v; break;
			case HB_EMU_REDUCE_OR: r |= v; break;
			case HB_EMU_REDUCE_XOR: r ^= v; break;
			}
		}
		all = r;
	}
	for (unsigned g = group; g; g &= g - 1) {
		int lane = __builtin_ctz(g);
		Thread *t = w + lane;
		t->result = all;
		if (op == HB_EMU_SHUFFLE) // a lane outside the mask has no value
			t->result = group >> (t->lane & 31) & 1 ? w[t->lane & 31].value : 0xA5A5A5A5A5A5A5A5ull;
		if (op == HB_EMU_MATCH) {
			t->result = 0;
			for (unsigned h = group; h; h &= h - 1)
				if (w[__builtin_ctz(h)].value == t->value) t->result |= 1u << __builtin_ctz(h);
		}
	}
	warps[warp].waiting &= ~group;
	for (unsigned g = group; g; g &= g - 1) {
		int t = 32 * warp + __builtin_ctz(g);
		if (t != current) push(t);
	}
}

// arrived completes the operation of thread t if all live lanes of its mask wait at the same one.
bool arrived(int t) {
	Warp *w = warps + t / 32;
	unsigned group = threads[t].mask & w->alive;
	if (group & ~w->waiting) return false;
	for (unsigned g = w->alike ? 0 : group; g; g &= g - 1) {
		Thread *o = threads + (t & ~31) + __builtin_ctz(g);
		if (o->mask != threads[t].mask || o->op != threads[t].op) return false;
	}
	complete(t / 32, group, threads[t].op);
	return true;
}

void fiber();

int take_stack() {
	if (free_count > 0) return free_stacks[--free_count];
	int i = stack_count++;
	if (!stacks[i]) {
		void *m = mmap(0, STACK + SHIFTS + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (m == MAP_FAILED) trap("no memory for the emulator's stacks");
		mprotect(m, GUARD, PROT_NONE);
		stacks[i] = (char *)m + GUARD;
	}
	return i;
}

// top is where a stack begins. Stacks are a multiple of the page size apart: if all began at the same
// place of their page, they would share a few sets of the cache.
char *top(int stack) { return stacks[stack] + STACK + stack * 37 % 128 * 128; }

// wait runs other threads until thread t is runnable.
void wait(int t) {
	if (ready_count > 0) {
		int next = pop();
		run(next);
		if (next != t) hb_emu_switch(&threads[t].sp, threads[next].sp);
	} else if (started < size) {
		int stack = take_stack();
		int next = start_next();
		threads[next].stack = stack;
		run(next);
		hb_emu_switch(&threads[t].sp, prepare(top(stack), fiber));
	} else {
		deadlock();
	}
	// The thread that switched back has made t current.
}

// fiber runs threads that have not started, one after another, until another one is runnable.
void fiber() {
	for (;;) {
		kernel(arguments);
		int t = current, stack = threads[t].stack;
		Warp *w = warps + t / 32;
		threads[t].state = EXITED;
		w->alive &= ~(1u << (t & 31));
		exited++;
		for (unsigned g = w->waiting; g; g &= g - 1) {
			int lane = __builtin_ctz(g);
			if (w->waiting >> lane & 1) arrived((t & ~31) + lane);
		}
		if (barrier_waiting > 0 && barrier_waiting == size - exited) release_barrier();
		if (ready_count > 0) {
			int next = pop();
			free_stacks[free_count++] = stack;
			run(next);
			void *forgotten;
			hb_emu_switch(&forgotten, threads[next].sp);
		}
		if (started == size) {
			if (exited == size) leave();
			deadlock();
		}
		int next = start_next();
		threads[next].stack = stack;
		run(next);
	}
}

hb_emu_u64 warp(int op, unsigned mask, hb_emu_u64 value, int lane) {
	int t = current;
	Thread *me = threads + t;
	if (!(mask >> (t & 31) & 1)) {
		char why[96];
		snprintf(why, sizeof why, "%s of mask 0x%08x, which has not the lane itself", op_name(op), mask);
		trap(why);
	}
	me->op = (unsigned char)op;
	me->mask = mask;
	me->value = value;
	me->lane = lane;
	Warp *w = warps + t / 32;
	if (w->waiting == 0) {
		w->mask = mask;
		w->op = (unsigned char)op;
		w->alike = true;
	} else if (w->mask != mask || w->op != op) {
		w->alike = false;
	}
	w->waiting |= 1u << (t & 31);
	if (arrived(t)) return me->result;
	me->state = AT_WARP;
	wait(t);
	return me->result;
}

int barrier(int op, int predicate) {
	int t = current;
	barrier_count += predicate;
	barrier_waiting++;
	threads[t].state = AT_BARRIER;
	if (barrier_waiting == size - exited) release_barrier();
	wait(t);
	int count = (int)threads[t].result, waited = (int)threads[t].value;
	return op == HB_EMU_OR ? count > 0 : op == HB_EMU_AND ? count == waited : count;
}

hb_emu_u64 ticks() {
	static hb_emu_u64 n;
	return n += 16;
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) hb_emu_state *hb_emu_init() {
	state.warp = warp;
	state.barrier = barrier;
	state.clock = ticks;
	state.trap = trap;
	return &state;
}

struct hb_emu_launch_args {
	void (*kernel)(void **);
	void **args;
	unsigned char *shared;
	char *static_from, *static_to; // static shared memory
	hb_emu_u64 shared_bytes;
	hb_emu_uint3 grid, block;
	hb_emu_u32 reversed;
	hb_emu_u32 first, stride; // of the order of blocks along x
};

// hb_emu_launch returns 0 or an error code.
__attribute__((visibility("default"))) const char *hb_emu_launch(const hb_emu_launch_args *l) {
	size = (int)(l->block.x * l->block.y * l->block.z);
	state.grid_dim = l->grid;
	state.block_dim = l->block;
	state.shared = l->shared;
	kernel = l->kernel;
	arguments = l->args;
	reversed = l->reversed;
	failure[0] = 0;
	bool same = shape.x == l->block.x && shape.y == l->block.y && shape.z == l->block.z;
	shape = l->block;
	for (int t = 0; t < size && !same; t++) {
		unsigned u = (unsigned)t;
		indices[t] = {u % l->block.x, u / l->block.x % l->block.y, u / l->block.x / l->block.y};
	}
	hb_emu_uint3 b;
	for (b.z = 0; b.z < l->grid.z; b.z++)
		for (b.y = 0; b.y < l->grid.y; b.y++)
			for (hb_emu_u64 k = 0; k < l->grid.x; k++) {
				b.x = (hb_emu_u32)((l->first + k * l->stride) % l->grid.x);
				state.block = b;
				if (l->shared_bytes) memset(l->shared, 0xA5, l->shared_bytes);
				if (l->static_to > l->static_from) memset(l->static_from, 0xA5, l->static_to - l->static_from);
				for (int t = 0; t < size; t++) threads[t].state = NEW;
				for (int w = 0; 32 * w < size; w++) {
					int lanes = size - 32 * w;
					warps[w] = {lanes >= 32 ? ~0u : (1u << lanes) - 1, 0};
				}
				started = exited = ready_head = ready_count = barrier_waiting = barrier_count = 0;
				free_count = stack_count = 0;
				int stack = take_stack(), first = start_next();
				threads[first].stack = stack;
				run(first);
				hb_emu_switch(&scheduler, prepare(top(stack), fiber));
				if (failure[0]) {
					fflush(stdout);
					return failure;
				}
			}
	fflush(stdout);
	return 0;
}

} // extern "C"
