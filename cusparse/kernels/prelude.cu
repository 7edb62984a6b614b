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

#define HB_DEVICE static __device__ __forceinline__
#define HB_KERNEL extern "C" __global__ void
#ifndef HB_DYNAMIC_SHARED // the emulator has its own
#define HB_DYNAMIC_SHARED(type, name) \
	extern __shared__ __align__(16) unsigned char hb_shared_bytes[]; \
	type *name = (type *)hb_shared_bytes
#endif

#define HB_WARP 32
#define HB_FULL 0xffffffffu
