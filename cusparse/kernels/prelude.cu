// What every kernel of hiveblas begins with. Composed source is: this file,
// the element types, the operators, the body of a kernel.

typedef signed char hb_i8;
typedef short hb_i16;
typedef int hb_i32;
typedef long long hb_i64;
typedef unsigned char hb_u8;
typedef unsigned short hb_u16;
typedef unsigned int hb_u32;
typedef unsigned long long hb_u64;

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif

// The limits of types, which texts of programs use; NVRTC has no headers.
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif

#define HB_DEVICE static __device__ __forceinline__
#define HB_KERNEL extern "C" __global__ void
#ifndef HB_DYNAMIC_SHARED // the emulator has its own
#define HB_DYNAMIC_SHARED(type, name) \
	extern __shared__ __align__(16) unsigned char hb_shared_bytes[]; \
	type *name = (type *)hb_shared_bytes
#endif

#define HB_WARP 32
#define HB_FULL 0xffffffffu

// HB_EACH loops over the items 0 … n−1 that are this thread's.
#define HB_EACH(item, n) for (hb_i64 item = (hb_i64)blockIdx.x * blockDim.x + threadIdx.x, hb_end_##item = (n); item < hb_end_##item; item += (hb_i64)gridDim.x * blockDim.x)

// Division as in Go, and of an integer by zero the largest value of x's sign.
#define HB_DIV_INT(T, most, least) \
	HB_DEVICE T hb_div(T x, T y) { \
		if (y == 0) return x > 0 ? (T)(most) : x < 0 ? (T)(least) : (T)0; \
		if ((T)-1 < (T)0 && y == (T)-1) return (T)(0 - (hb_u64)x); \
		return (T)(x / y); \
	}
HB_DIV_INT(hb_i8, 127, -128)
HB_DIV_INT(hb_i16, 32767, -32768)
HB_DIV_INT(hb_i32, 2147483647, -2147483647 - 1)
HB_DIV_INT(hb_i64, 9223372036854775807LL, -9223372036854775807LL - 1)
HB_DIV_INT(hb_u8, 255, 0)
HB_DIV_INT(hb_u16, 65535, 0)
HB_DIV_INT(hb_u32, 4294967295u, 0)
HB_DIV_INT(hb_u64, 18446744073709551615ULL, 0)
HB_DEVICE float hb_div(float x, float y) { return x / y; }
HB_DEVICE double hb_div(double x, double y) { return x / y; }

// hb_limited sets p to x to the power n, and returns false if that is above limit.
HB_DEVICE bool hb_limited(hb_u64 x, hb_u64 n, hb_u64 limit, hb_u64 &p) {
	for (p = 1; n > 0;) {
		if (n & 1) {
			if (x != 0 && p > limit / x) return false;
			p *= x;
		}
		if ((n >>= 1) > 0) {
			if (x > 0xffffffffull) return false; // a further factor is at least x * x
			x *= x;
		}
	}
	return true;
}

// A power of integers, and a float as an integer: the largest or smallest value where it is beyond.
// NaN is 0. The first argument of hb_convert gives the type alone.
#define HB_SATURATE(T, most, least) \
	HB_DEVICE T hb_pow(T x, T y) { \
		bool odd = (y & 1) != 0, negative = x < (T)0 && odd; \
		hb_u64 size = x < (T)0 ? 0 - (hb_u64)x : (hb_u64)x, n = (hb_u64)y, p; \
		if (y < (T)0) { \
			if (x == 0) return (T)(most); \
			if (size != 1) return (T)0; \
			n &= 1; \
		} \
		if (!hb_limited(size, n, negative ? 0 - (hb_u64)(T)(least) : (hb_u64)(T)(most), p)) \
			return negative ? (T)(least) : (T)(most); \
		return (T)(negative ? 0 - p : p); \
	} \
	HB_DEVICE T hb_convert(T, double x) { \
		if (x >= (double)(T)(most)) return (T)(most); \
		if (x <= (double)(T)(least)) return (T)(least); \
		return x != x ? (T)0 : (T)x; \
	}
HB_SATURATE(hb_i8, 127, -128)
HB_SATURATE(hb_i16, 32767, -32768)
HB_SATURATE(hb_i32, 2147483647, -2147483647 - 1)
HB_SATURATE(hb_i64, 9223372036854775807LL, -9223372036854775807LL - 1)
HB_SATURATE(hb_u8, 255, 0)
HB_SATURATE(hb_u16, 65535, 0)
HB_SATURATE(hb_u32, 4294967295u, 0)
HB_SATURATE(hb_u64, 18446744073709551615ULL, 0)
