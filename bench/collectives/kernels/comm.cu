// Accesses to a table in the memory of this device, of a peer or of the host, for the communication
// benchmark. Defines: GRAIN (bytes of a random access: 4, 8, 16, 32, 128 or 256); the operations
// READ, WRITE, UPDATE (read and write), ADD, MIN and CAS (atomics).
//
// Tables: one or more pieces of equal size, a power of two in bytes, all bits 0 at first.
// Launch shape: any grid of blocks of a multiple of 32 threads; one thread for hb_chase.
// Bound by the memory that holds the table, or by the link to it.

typedef unsigned int u32;
typedef unsigned long long u64;

struct hb_tables { u64 at[16]; };

// The finaliser of splitmix64.
__device__ inline u64 hb_mix(u64 z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

#if GRAIN == 4
typedef u32 hb_word;
#elif GRAIN == 8
typedef u64 hb_word;
#else
typedef uint4 hb_word;
#endif

#if GRAIN > 16
#define LANES (GRAIN / 16) // threads that share an access, of one word each
#else
#define LANES 1
#endif

__device__ inline u32 hb_fold(u32 w) { return w; }
__device__ inline u32 hb_fold(u64 w) { return (u32)(w ^ w >> 32); }
__device__ inline u32 hb_fold(uint4 w) { return w.x ^ w.y ^ w.z ^ w.w; }
__device__ inline void hb_set(u32 &w, u32 v) { w = v; }
__device__ inline void hb_set(u64 &w, u32 v) { w = v; }
__device__ inline void hb_set(uint4 &w, u32 v) { w = make_uint4(v, v, v, v); }
__device__ inline void hb_inc(u32 &w) { w += 1; }
__device__ inline void hb_inc(u64 &w) { w += 1; }
__device__ inline void hb_inc(uint4 &w) { w.x += 1; w.y += 1; w.z += 1; w.w += 1; }

// One access. u is what writes write.
template <int OP>
__device__ inline u32 hb_access(hb_word *p, u32 u)
{
    u32 sum = 0;
    if (OP == ADD)
        return atomicAdd((u32 *)p, 1u);
    if (OP == MIN)
        return atomicMin((u32 *)p, u);
    if (OP == CAS)
        return (u32)atomicCAS((u64 *)p, (u64)u, (u64)u + 1);
    hb_word w;
    if (OP != WRITE) {
        w = *p;
        sum = hb_fold(w);
    }
    if (OP == WRITE)
        hb_set(w, u);
    if (OP == UPDATE)
        hb_inc(w);
    if (OP != READ)
        *p = w;
    return sum;
}

// Random accesses: access i of the launch goes to a hash of i and turn. log is the logarithm of the
// accesses that a piece holds, pieces a power of two.
template <int OP>
__device__ inline void hb_random(hb_tables t, u32 pieces, u32 log, u64 count, u64 turn, u32 *sink)
{
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 threads = (u64)gridDim.x * blockDim.x;
    u32 lane = (u32)(thread % LANES);
    u32 sum = 0;
    u64 i = thread / LANES, step = threads / LANES;
    // Four accesses in flight.
    for (; i + 3 * step < count; i += 4 * step) {
        hb_word *p[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u64 h = hb_mix(i + k * step + (turn << 40));
            p[k] = (hb_word *)t.at[(h >> 48) & (pieces - 1)] + (h & (((u64)1 << log) - 1)) * LANES + lane;
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum ^= hb_access<OP>(p[k], (u32)i);
    }
    for (; i < count; i += step) {
        u64 h = hb_mix(i + (turn << 40));
        sum ^= hb_access<OP>((hb_word *)t.at[(h >> 48) & (pieces - 1)] + (h & (((u64)1 << log) - 1)) * LANES + lane, (u32)i);
    }
    if (sum == 0x9E3779B9u)
        *sink = sum; // keeps the reads
}

// Regular accesses: 16 bytes a thread (atomics 4, CAS 8), grid-stride over the first `bytes` bytes,
// in stripes of 64 KiB dealt to the pieces.
template <int OP>
__device__ inline void hb_regular(hb_tables t, u32 pieces, u64 bytes, u32 *sink)
{
    const u64 width = OP == ADD || OP == MIN ? 4 : OP == CAS ? 8 : 16;
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 threads = (u64)gridDim.x * blockDim.x;
    u32 sum = 0;
    u64 at = thread * width, step = threads * width;
#define HB_PLACE(x) (t.at[(x >> 16) & (pieces - 1)] + ((x >> 16) / pieces << 16) + (x & 0xFFFF))
    if (width == 16) {
        for (; at + 3 * step < bytes; at += 4 * step) {
            uint4 w[4];
            if (OP != WRITE) {
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    u64 x = at + k * step;
                    w[k] = *(uint4 *)HB_PLACE(x);
                    sum ^= hb_fold(w[k]);
                }
            }
            if (OP != READ) {
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    u64 x = at + k * step;
                    if (OP == WRITE)
                        hb_set(w[k], (u32)at);
                    else
                        hb_inc(w[k]);
                    *(uint4 *)HB_PLACE(x) = w[k];
                }
            }
        }
    }
    for (; at < bytes; at += step) {
        if (OP == ADD)
            sum ^= atomicAdd((u32 *)HB_PLACE(at), 1u);
        else if (OP == MIN)
            sum ^= atomicMin((u32 *)HB_PLACE(at), (u32)at);
        else if (OP == CAS)
            sum ^= (u32)atomicCAS((u64 *)HB_PLACE(at), (u64)0, (u64)1);
        else {
            uint4 w;
            if (OP != WRITE) {
                w = *(uint4 *)HB_PLACE(at);
                sum ^= hb_fold(w);
            }
            if (OP == WRITE)
                hb_set(w, (u32)at);
            if (OP == UPDATE)
                hb_inc(w);
            if (OP != READ)
                *(uint4 *)HB_PLACE(at) = w;
        }
    }
    if (sum == 0x9E3779B9u)
        *sink = sum;
}

// Package bench adds the kernels hb_random_NAME and hb_regular_NAME of each operation here.

// A chain of dependent accesses of one thread: the address of each follows from the value of the
// one before, in a table of zeros. Another turn visits other addresses. op is READ, WRITE (a store,
// then a fence of the system), ADD or CAS.
extern "C" __global__ void hb_chase(hb_tables t, u32 pieces, u32 log, u32 steps, u32 op, u64 turn, u32 *sink)
{
    u64 v = 0;
    for (u32 i = 0; i < steps; i++) {
        u64 h = hb_mix(v + i + (turn << 40));
        u64 *p = (u64 *)t.at[(h >> 48) & (pieces - 1)] + (h & (((u64)1 << log) - 1));
        if (op == READ)
            v = *(volatile u64 *)p;
        else if (op == ADD)
            v = atomicAdd(p, (u64)0);
        else if (op == CAS)
            v = atomicCAS(p, (u64)0, (u64)0);
        else {
            *(volatile u64 *)p = 0;
            __threadfence_system();
        }
    }
    if (v)
        *sink = (u32)v;
}
