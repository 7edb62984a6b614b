// The reduction of package comm: dst[i] = srcs[0][i] ⊕ srcs[1][i] ⊕ …, from the left, for n
// elements. T is the element type. The text is repeated for each operator, with its name for OP.
// srcs are in the memory of this device or of peers; dst may be one of them. Where all begin at
// multiples of 16 bytes, so many are read at a time.
// Launch shape: any grid of any blocks. Bound by the links to the peers.

#ifndef HB_OPERANDS
#define HB_OPERANDS
struct hb_operands { const T *at[16]; };
union __align__(16) hb_pack { unsigned int w[4]; T at[16 / sizeof(T)]; };
#endif

extern "C" __global__ void hb_comm_fold_OP(hb_operands srcs, unsigned int operands, T *dst, unsigned long long n)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x, wide = 16 / sizeof(T);
    unsigned long long bits = (unsigned long long)dst;
    for (unsigned int r = 0; r < operands; r++) bits |= (unsigned long long)srcs.at[r];
    const unsigned long long packs = bits % 16 == 0 ? n / wide : 0;
    for (unsigned long long i = first; i < packs; i += step) {
        hb_pack acc = ((const hb_pack *)srcs.at[0])[i];
        for (unsigned int r = 1; r < operands; r++) {
            const hb_pack x = ((const hb_pack *)srcs.at[r])[i];
            for (unsigned int j = 0; j < 16 / sizeof(T); j++) acc.at[j] = hb_op_OP(acc.at[j], x.at[j]);
        }
        ((hb_pack *)dst)[i] = acc;
    }
    for (unsigned long long i = packs * wide + first; i < n; i += step) {
        T acc = srcs.at[0][i];
        for (unsigned int r = 1; r < operands; r++) {
            T x = srcs.at[r][i];
            acc = hb_op_OP(acc, x);
        }
        dst[i] = acc;
    }
}
