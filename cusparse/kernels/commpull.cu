// Copies of package comm: bytes[k] bytes from src[k] to dst[k] for k = 0 … count-1, from the memory
// of this device and of peers. No copy writes what another one reads or writes.
// Launch shape: blocks of any size, any multiple of count of them: block b has a part of copy b %
// count, so that all peers are read at once. Bound by the links to the peers. Addresses that are
// equal modulo 16 are copied by 16 bytes, others by the widest word that divides their difference.

typedef unsigned long long hb_u64;
struct __align__(16) hb_line { unsigned int w[4]; };
struct hb_ends { const unsigned char *at[16]; };
struct hb_goals { unsigned char *at[16]; };
struct hb_sizes { hb_u64 at[16]; };

template <class W> static __device__ __forceinline__ void hb_pull(const unsigned char *src, unsigned char *dst, hb_u64 bytes,
        hb_u64 first, hb_u64 step)
{
    hb_u64 head = (sizeof(W) - (hb_u64)dst % sizeof(W)) % sizeof(W);
    if (head > bytes) head = bytes;
    const hb_u64 words = (bytes - head) / sizeof(W), tail = head + words * sizeof(W);
    const W *from = (const W *)(src + head);
    W *to = (W *)(dst + head);
    hb_u64 i = first;
    for (; i + 3 * step < words; i += 4 * step) { // four loads are on their way
        W a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        to[i] = a;
        to[i + step] = b;
        to[i + 2 * step] = c;
        to[i + 3 * step] = d;
    }
    for (; i < words; i += step) to[i] = from[i];
    if (first < head) dst[first] = src[first];
    if (first < bytes - tail) dst[tail + first] = src[tail + first];
}

extern "C" __global__ void hb_comm_pull(hb_ends src, hb_goals dst, hb_sizes bytes, unsigned int count)
{
    const unsigned int k = blockIdx.x % count;
    const hb_u64 step = (hb_u64)(gridDim.x / count) * blockDim.x, first = (hb_u64)(blockIdx.x / count) * blockDim.x + threadIdx.x;
    const hb_u64 apart = (hb_u64)src.at[k] - (hb_u64)dst.at[k];
    if (apart % 16 == 0) hb_pull<hb_line>(src.at[k], dst.at[k], bytes.at[k], first, step);
    else if (apart % 8 == 0) hb_pull<hb_u64>(src.at[k], dst.at[k], bytes.at[k], first, step);
    else if (apart % 4 == 0) hb_pull<unsigned int>(src.at[k], dst.at[k], bytes.at[k], first, step);
    else hb_pull<unsigned char>(src.at[k], dst.at[k], bytes.at[k], first, step);
}
