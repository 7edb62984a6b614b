// A libcusparse that computes nothing: every call succeeds, but for the first
// algorithm of SpGEMM, which lacks memory.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef void *P;

static P object(void) { return malloc(1); }

int cusparseCreate(P *h) { *h = object(); return 0; }
int cusparseDestroy(P h) { free(h); return 0; }
int cusparseSetStream(P h, P s) { return 0; }
int cusparseGetVersion(P h, int *v) { *v = 12603; return 0; }
const char *cusparseGetErrorName(int e) { return "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"; }
const char *cusparseGetErrorString(int e) { return "insufficient resources"; }
int cusparseCreateCsr(P *d, int64_t m, int64_t n, int64_t z, P o, P c, P v, int ot, int ct, int base, int t) { *d = object(); return ot != 2 || ct != 2; }
int cusparseDestroySpMat(P d) { free(d); return 0; }
int cusparseSpMatGetSize(P d, int64_t *m, int64_t *n, int64_t *z) { *m = *n = 9; *z = 10; return 0; }
int cusparseCsrSetPointers(P d, P o, P c, P v) { return !o || !c || !v; }
int cusparseCreateDnVec(P *d, int64_t n, P v, int t) { *d = object(); return 0; }
int cusparseDestroyDnVec(P d) { free(d); return 0; }
int cusparseCreateDnMat(P *d, int64_t m, int64_t n, int64_t ld, P v, int t, int o) { *d = object(); return ld < (o == 1 ? m : n); }
int cusparseDestroyDnMat(P d) { free(d); return 0; }
int cusparseSpMV_bufferSize(P h, int op, const P a, P A, P x, const P b, P y, int t, int alg, size_t *n) { *n = 100; return 0; }
int cusparseSpMV_preprocess(P h, int op, const P a, P A, P x, const P b, P y, int t, int alg, P buf) { return !buf; }
int cusparseSpMV(P h, int op, const P a, P A, P x, const P b, P y, int t, int alg, P buf) { return !buf; }
int cusparseSpMatSetAttribute(P m, int attribute, const void *value, size_t n) { return n == 4 ? 0 : 3; }
#define SOLVE(name, right) \
	int cusparse##name##_createDescr(P *d) { *d = (P)1; return 0; } \
	int cusparse##name##_destroyDescr(P d) { return 0; } \
	int cusparse##name##_bufferSize(P h, int op right, const P a, P A, P x, P y, int t, int alg, P d, size_t *n) { *n = 64; return d ? 0 : 3; } \
	int cusparse##name##_analysis(P h, int op right, const P a, P A, P x, P y, int t, int alg, P d, P buf) { return buf ? 0 : 3; } \
	int cusparse##name##_solve(P h, int op right, const P a, P A, P x, P y, int t, int alg, P d) { return 0; }
#define ONE_MORE , int ob
SOLVE(SpSV, )
SOLVE(SpSM, ONE_MORE)
int cusparseSpMM_bufferSize(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, size_t *n) { *n = 0; return 0; }
int cusparseSpMM(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P buf) { return 0; }
int cusparseSpGEMM_createDescr(P *d) { *d = object(); return 0; }
int cusparseSpGEMM_destroyDescr(P d) { free(d); return 0; }
int cusparseSpGEMM_workEstimation(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d, size_t *n, P buf) { *n = 64; return 0; }
int cusparseSpGEMM_estimateMemory(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d, float f, size_t *n3, P buf, size_t *n2) {
	*n3 = 64;
	if (n2) *n2 = 128;
	return alg == 3 || (buf && !n2);
}
int cusparseSpGEMM_compute(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d, size_t *n, P buf) { return alg == 3 ? 11 : !buf; }
int cusparseSpGEMM_copy(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d) { return 0; }
