// CUDA C++ as C++: this text precedes every kernel. It includes no headers, because they would take
// most of the compile time of a small kernel. Functions that wait for other threads are in
// runtime.cpp, called through hb_emu.

#define HB_EMULATED 1

typedef unsigned long size_t;
typedef unsigned int hb_emu_u32;
typedef unsigned long long hb_emu_u64;

#include "state.h"

static hb_emu_state *hb_emu; // set by the loader
extern "C" __attribute__((visibility("default"))) void hb_emu_bind(hb_emu_state *s) { hb_emu = s; }
extern "C" {
int printf(const char *, ...);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
}

// ---- Words of the language ----

#define __global__ /* hidden: libc may have a function of that name */
#define __device__
#define __host__
#define __constant__ static
#define __managed__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#if defined(__ELF__) && !defined(HB_EMU_PLAIN_SHARED)
// A separate section, filled with 0xA5 for every block.
#define __shared__ static __attribute__((section("hb_shared")))
extern "C" __attribute__((weak, visibility("hidden"))) char __start_hb_shared[], __stop_hb_shared[];
#else
#define __shared__ static
#endif
#define HB_DYNAMIC_SHARED(type, name) type *name = (type *)hb_emu->shared

// ---- Vector types ----

#define HB_EMU_VECTOR2(v, t) \
	struct __align__(2 * sizeof(t)) v##2 { t x, y; }; \
	static inline v##2 make_##v##2(t x, t y) { return {x, y}; }
#define HB_EMU_VECTOR4(v, t) \
	struct __align__(4 * sizeof(t) > 16 ? 16 : 4 * sizeof(t)) v##4 { t x, y, z, w; }; \
	static inline v##4 make_##v##4(t x, t y, t z, t w) { return {x, y, z, w}; }
#define HB_EMU_VECTORS(v, t) HB_EMU_VECTOR2(v, t) HB_EMU_VECTOR4(v, t)
HB_EMU_VECTORS(char, signed char)
HB_EMU_VECTORS(uchar, unsigned char)
HB_EMU_VECTORS(short, short)
HB_EMU_VECTORS(ushort, unsigned short)
HB_EMU_VECTORS(int, int)
HB_EMU_VECTORS(uint, unsigned int)
HB_EMU_VECTORS(longlong, long long)
HB_EMU_VECTORS(ulonglong, unsigned long long)
HB_EMU_VECTORS(float, float)
HB_EMU_VECTORS(double, double)
struct int3 { int x, y, z; };
struct float3 { float x, y, z; };
typedef hb_emu_uint3 uint3;
struct dim3 {
	unsigned x, y, z;
	dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
	dim3(uint3 u) : x(u.x), y(u.y), z(u.z) {}
};

#define threadIdx (hb_emu->thread)
#define blockIdx (hb_emu->block)
#define blockDim (hb_emu->block_dim)
#define gridDim (hb_emu->grid_dim)
static const int warpSize = 32;

// ---- Waiting ----

#define HB_EMU_WARP(op, mask, value, lane) hb_emu->warp(op, mask, value, lane)
static inline void __syncthreads() { hb_emu->barrier(HB_EMU_SYNC, 0); }
static inline int __syncthreads_count(int p) { return hb_emu->barrier(HB_EMU_COUNT, p != 0); }
static inline int __syncthreads_or(int p) { return hb_emu->barrier(HB_EMU_OR, p != 0); }
static inline int __syncthreads_and(int p) { return hb_emu->barrier(HB_EMU_AND, p != 0); }
static inline void __syncwarp(unsigned mask = ~0u) { hb_emu->warp(HB_EMU_SYNCWARP, mask, 0, 0); }
static inline unsigned __ballot_sync(unsigned mask, int p) { return (unsigned)hb_emu->warp(HB_EMU_BALLOT, mask, p != 0, 0); }
static inline int __any_sync(unsigned mask, int p) { return (int)hb_emu->warp(HB_EMU_ANY, mask, p != 0, 0); }
static inline int __all_sync(unsigned mask, int p) { return (int)hb_emu->warp(HB_EMU_ALL, mask, p != 0, 0); }
// A program must not depend on which lanes run together. Here each runs alone.
static inline unsigned __activemask() { return 1u << hb_emu->lane; }

template <class T> static inline T hb_emu_shuffle(unsigned mask, T v, int lane) {
	static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
	hb_emu_u64 w = 0;
	__builtin_memcpy(&w, &v, sizeof v);
	w = hb_emu->warp(HB_EMU_SHUFFLE, mask, w, lane);
	__builtin_memcpy(&v, &w, sizeof v);
	return v;
}
template <class T> static inline T __shfl_sync(unsigned mask, T v, int source, int width = 32) {
	return hb_emu_shuffle(mask, v, (hb_emu->lane & ~(width - 1)) + (source & (width - 1)));
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
	int lane = hb_emu->lane;
	return hb_emu_shuffle(mask, v, (lane & (width - 1)) < (int)delta ? lane : lane - (int)delta);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
	int lane = hb_emu->lane;
	return hb_emu_shuffle(mask, v, (lane & (width - 1)) + (int)delta >= width ? lane : lane + (int)delta);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int x, int width = 32) {
	int lane = hb_emu->lane, source = lane ^ x;
	return hb_emu_shuffle(mask, v, source > (lane | (width - 1)) ? lane : source);
}
template <class T> static inline unsigned __match_any_sync(unsigned mask, T v) {
	hb_emu_u64 w = 0;
	__builtin_memcpy(&w, &v, sizeof v);
	return (unsigned)hb_emu->warp(HB_EMU_MATCH, mask, w, 0);
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T v, int *all) {
	hb_emu_u64 w = 0;
	__builtin_memcpy(&w, &v, sizeof v);
	unsigned m = (unsigned)hb_emu->warp(HB_EMU_MATCH_ALL, mask, w, 0);
	*all = m != 0;
	return m;
}
static inline unsigned __reduce_add_sync(unsigned m, unsigned v) { return (unsigned)hb_emu->warp(HB_EMU_REDUCE_ADD, m, v, 0); }
static inline unsigned __reduce_min_sync(unsigned m, unsigned v) { return (unsigned)hb_emu->warp(HB_EMU_REDUCE_MIN, m, v, 0); }
static inline unsigned __reduce_max_sync(unsigned m, unsigned v) { return (unsigned)hb_emu->warp(HB_EMU_REDUCE_MAX, m, v, 0); }
static inline unsigned __reduce_and_sync(unsigned m, unsigned v) { return (unsigned)hb_emu->warp(HB_EMU_REDUCE_AND, m, v, 0); }
static inline unsigned __reduce_or_sync(unsigned m, unsigned v) { return (unsigned)hb_emu->warp(HB_EMU_REDUCE_OR, m, v, 0); }
static inline unsigned __reduce_xor_sync(unsigned m, unsigned v) { return (unsigned)hb_emu->warp(HB_EMU_REDUCE_XOR, m, v, 0); }
// With the sign bit flipped, signed order is unsigned order.
static inline int __reduce_add_sync(unsigned m, int v) { return (int)__reduce_add_sync(m, (unsigned)v); }
static inline int __reduce_min_sync(unsigned m, int v) { return (int)(__reduce_min_sync(m, (unsigned)v ^ 0x80000000u) ^ 0x80000000u); }
static inline int __reduce_max_sync(unsigned m, int v) { return (int)(__reduce_max_sync(m, (unsigned)v ^ 0x80000000u) ^ 0x80000000u); }

static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) {}
static inline void __trap() { hb_emu->trap("__trap was called"); }
#define assert(x) ((x) ? (void)0 : hb_emu->trap("assertion failed: " #x))
static inline long long clock64() { return (long long)hb_emu->clock(); }
static inline int clock() { return (int)hb_emu->clock(); }

// ---- Bits ----

// __builtin_popcount is a call into libgcc, which is not linked.
static inline int __popcll(unsigned long long x) {
	x -= x >> 1 & 0x5555555555555555ULL;
	x = (x & 0x3333333333333333ULL) + (x >> 2 & 0x3333333333333333ULL);
	return (int)((x + (x >> 4) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL >> 56);
}
static inline int __popc(unsigned x) { return __popcll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline unsigned __brev(unsigned x) {
	unsigned r = 0;
	for (int i = 0; i < 32; i++) r = r << 1 | (x >> i & 1);
	return r;
}
static inline unsigned long long __brevll(unsigned long long x) {
	return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
	hb_emu_u64 both = (hb_emu_u64)b << 32 | a;
	unsigned r = 0;
	for (int i = 0; i < 4; i++) {
		unsigned pick = s >> 4 * i, byte = (unsigned)(both >> 8 * (pick & 7)) & 255;
		if (pick & 8) byte = byte & 128 ? 255 : 0;
		r |= byte << 8 * i;
	}
	return r;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
	return (unsigned)((((hb_emu_u64)hi << 32 | lo) << (n & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
	return (unsigned)(((hb_emu_u64)hi << 32 | lo) >> (n & 31));
}
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((hb_emu_u64)a * b >> 32); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
	return (unsigned long long)((unsigned __int128)a * b >> 64);
}

#define HB_EMU_BITS(name, to, from) \
	static inline to name(from x) { to y; __builtin_memcpy(&y, &x, sizeof y); return y; }
HB_EMU_BITS(__float_as_int, int, float)
HB_EMU_BITS(__float_as_uint, unsigned, float)
HB_EMU_BITS(__int_as_float, float, int)
HB_EMU_BITS(__uint_as_float, float, unsigned)
HB_EMU_BITS(__double_as_longlong, long long, double)
HB_EMU_BITS(__longlong_as_double, double, long long)
static inline double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)hi << 32 | (unsigned)lo); }
static inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static inline int __double2loint(double x) { return (int)__double_as_longlong(x); }

template <class T> static inline T __ldg(const T *p) { return *p; }
template <class T> static inline T __ldca(const T *p) { return *p; }
template <class T> static inline T __ldcg(const T *p) { return *p; }
template <class T> static inline T __ldcs(const T *p) { return *p; }
template <class T> static inline T __ldlu(const T *p) { return *p; }
template <class T> static inline T __ldcv(const T *p) { return *(const volatile T *)p; }
template <class T> static inline void __stwb(T *p, T v) { *p = v; }
template <class T> static inline void __stcg(T *p, T v) { *p = v; }
template <class T> static inline void __stcs(T *p, T v) { *p = v; }
template <class T> static inline void __stwt(T *p, T v) { *p = v; }

// ---- Atomics: one thread runs at a time ----

#define HB_EMU_ATOMIC(name, t, result) \
	static inline t name(t *p, t v) { t old = *p; *p = result; return old; }
#define HB_EMU_ATOMICS(t) \
	HB_EMU_ATOMIC(atomicMin, t, v < old ? v : old) \
	HB_EMU_ATOMIC(atomicMax, t, old < v ? v : old) \
	HB_EMU_ATOMIC(atomicOr, t, old | v) \
	HB_EMU_ATOMIC(atomicAnd, t, old & v) \
	HB_EMU_ATOMIC(atomicXor, t, old ^ v)
#define HB_EMU_EXCHANGE(t) HB_EMU_ATOMIC(atomicExch, t, v)
#define HB_EMU_CAS(t) \
	static inline t atomicCAS(t *p, t expected, t v) { t old = *p; if (old == expected) *p = v; return old; }
HB_EMU_ATOMICS(int)
HB_EMU_ATOMICS(unsigned)
HB_EMU_ATOMICS(long long)
HB_EMU_ATOMICS(unsigned long long)
HB_EMU_ATOMIC(atomicAdd, int, old + v)
HB_EMU_ATOMIC(atomicAdd, unsigned, old + v)
HB_EMU_ATOMIC(atomicAdd, unsigned long long, old + v)
HB_EMU_ATOMIC(atomicAdd, float, old + v)
HB_EMU_ATOMIC(atomicAdd, double, old + v)
HB_EMU_ATOMIC(atomicSub, int, old - v)
HB_EMU_ATOMIC(atomicSub, unsigned, old - v)
HB_EMU_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
HB_EMU_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
HB_EMU_EXCHANGE(int)
HB_EMU_EXCHANGE(unsigned)
HB_EMU_EXCHANGE(unsigned long long)
HB_EMU_EXCHANGE(float)
HB_EMU_CAS(int)
HB_EMU_CAS(unsigned)
HB_EMU_CAS(unsigned long long)
HB_EMU_CAS(unsigned short)

// ---- Mathematics ----

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

#define HB_EMU_MIN_MAX(r, a, b) \
	static inline r min(a x, b y) { return (r)y < (r)x ? (r)y : (r)x; } \
	static inline r max(a x, b y) { return (r)x < (r)y ? (r)y : (r)x; }
HB_EMU_MIN_MAX(int, int, int)
HB_EMU_MIN_MAX(unsigned, unsigned, unsigned)
HB_EMU_MIN_MAX(unsigned, int, unsigned)
HB_EMU_MIN_MAX(unsigned, unsigned, int)
HB_EMU_MIN_MAX(long, long, long)
HB_EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
HB_EMU_MIN_MAX(long long, long long, long long)
HB_EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
HB_EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
HB_EMU_MIN_MAX(unsigned long long, unsigned long long, long long)
// For floats they return the operand that is not NaN.
#define HB_EMU_FMIN_FMAX(r, a, b) \
	static inline r min(a x, b y) { return __builtin_fmin(x, y); } \
	static inline r max(a x, b y) { return __builtin_fmax(x, y); }
HB_EMU_FMIN_FMAX(float, float, float)
HB_EMU_FMIN_FMAX(double, double, double)
HB_EMU_FMIN_FMAX(double, float, double)
HB_EMU_FMIN_FMAX(double, double, float)

#define HB_EMU_MATH1(name) \
	static inline double name(double x) { return __builtin_##name(x); } \
	static inline float name(float x) { return __builtin_##name##f(x); } \
	static inline float name##f(float x) { return __builtin_##name##f(x); }
#define HB_EMU_MATH2(name) \
	static inline double name(double x, double y) { return __builtin_##name(x, y); } \
	static inline float name(float x, float y) { return __builtin_##name##f(x, y); } \
	static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }
HB_EMU_MATH1(sqrt)
HB_EMU_MATH1(cbrt)
HB_EMU_MATH1(exp)
HB_EMU_MATH1(exp2)
HB_EMU_MATH1(expm1)
HB_EMU_MATH1(log)
HB_EMU_MATH1(log2)
HB_EMU_MATH1(log10)
HB_EMU_MATH1(log1p)
HB_EMU_MATH1(sin)
HB_EMU_MATH1(cos)
HB_EMU_MATH1(tan)
HB_EMU_MATH1(asin)
HB_EMU_MATH1(acos)
HB_EMU_MATH1(atan)
HB_EMU_MATH1(sinh)
HB_EMU_MATH1(cosh)
HB_EMU_MATH1(tanh)
HB_EMU_MATH1(asinh)
HB_EMU_MATH1(acosh)
HB_EMU_MATH1(atanh)
HB_EMU_MATH1(erf)
HB_EMU_MATH1(erfc)
HB_EMU_MATH1(lgamma)
HB_EMU_MATH1(tgamma)
HB_EMU_MATH1(floor)
HB_EMU_MATH1(ceil)
HB_EMU_MATH1(trunc)
HB_EMU_MATH1(round)
HB_EMU_MATH1(rint)
HB_EMU_MATH1(nearbyint)
HB_EMU_MATH1(fabs)
HB_EMU_MATH2(pow)
HB_EMU_MATH2(hypot)
HB_EMU_MATH2(atan2)
static inline void sincos(double x, double *s, double *c) { *s = __builtin_sin(x), *c = __builtin_cos(x); }
static inline void sincosf(float x, float *s, float *c) { *s = __builtin_sinf(x), *c = __builtin_cosf(x); }
HB_EMU_MATH2(fmod)
HB_EMU_MATH2(remainder)
HB_EMU_MATH2(fmin)
HB_EMU_MATH2(fmax)
HB_EMU_MATH2(copysign)
HB_EMU_MATH2(nextafter)
static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
static inline float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
static inline double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
static inline float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline double abs(double x) { return __builtin_fabs(x); }
static inline float abs(float x) { return __builtin_fabsf(x); }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
#define HB_EMU_TEST(f, expression) \
	static inline bool f(double x) { return expression; } \
	static inline bool f(float x) { return expression; }
HB_EMU_TEST(isnan, __builtin_isnan(x))
HB_EMU_TEST(isinf, __builtin_isinf(x))
HB_EMU_TEST(isfinite, __builtin_isfinite(x))
HB_EMU_TEST(signbit, __builtin_signbit(x))
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1 / x; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
static inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __powf(float x, float y) { return __builtin_powf(x, y); }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
static inline int __float2int_rn(float x) { return (int)__builtin_rintf(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline int __double2int_rz(double x) { return (int)x; }
static inline long long __double2ll_rz(double x) { return (long long)x; }

// ---- Launching: HB_EMU_ENTRY(kernel) unpacks its arguments ----

template <int... I> struct hb_emu_indices {};
template <int N, int... I> struct hb_emu_count : hb_emu_count<N - 1, N - 1, I...> {};
template <int... I> struct hb_emu_count<0, I...> { typedef hb_emu_indices<I...> type; };
template <class... P, int... I> static inline void hb_emu_call(void (*f)(P...), void **args, hb_emu_indices<I...>) {
	f(*(P *)args[I]...);
}
template <class... P> static inline void hb_emu_call(void (*f)(P...), void **args) {
	hb_emu_call(f, args, typename hb_emu_count<sizeof...(P)>::type());
}
template <class... P> static inline int hb_emu_sizes(void (*)(P...), hb_emu_u32 *out) {
	hb_emu_u32 sizes[] = {(hb_emu_u32)sizeof(P)..., 0};
	for (int i = 0; i < (int)sizeof...(P) && i < 64; i++) out[i] = sizes[i];
	return (int)sizeof...(P);
}
#define HB_EMU_EXPORT extern "C" __attribute__((visibility("default")))
#define HB_EMU_ENTRY(kernel) \
	HB_EMU_EXPORT void hb_emu_run_##kernel(void **args) { hb_emu_call(kernel, args); } \
	HB_EMU_EXPORT int hb_emu_sizes_##kernel(hb_emu_u32 *out) { return hb_emu_sizes(kernel, out); }
#if defined(__ELF__) && !defined(HB_EMU_PLAIN_SHARED)
HB_EMU_EXPORT void hb_emu_shared_range(char **from, char **to) { *from = __start_hb_shared; *to = __stop_hb_shared; }
#else
HB_EMU_EXPORT void hb_emu_shared_range(char **from, char **to) { *from = *to = 0; }
#endif
