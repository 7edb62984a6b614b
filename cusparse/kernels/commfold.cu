// The reduction of package comm: dst[i] = srcs[0][i] ⊕ srcs[1][i] ⊕ …, from the left, for n
// elements. T is the element type. The text is repeated for each operator, with its name for OP.
// srcs are in the memory of this device or of peers; dst may be one of them.
// Launch shape: any grid of any blocks. Bound by the links to the peers.

#ifndef HB_OPERANDS
#define HB_OPERANDS
struct hb_operands { const T *at[16]; };
#endif

extern "C" __global__ void hb_comm_fold_OP(hb_operands srcs, unsigned int operands, T *dst, unsigned long long n)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        T acc = srcs.at[0][i];
        for (unsigned int r = 1; r < operands; r++) {
            T x = srcs.at[r][i];
            acc = hb_op_OP(acc, x);
        }
        dst[i] = acc;
    }
}
