// A libcuda, a libnvrtc and a libcusparse that only write down how they were
// called, for tests of the calling convention.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char log_text[65536];
static int fail_code, init_code, quiet, driver_version = 13000;

const char *fake_log(void) { return log_text; }
void fake_reset(void) { log_text[0] = 0; fail_code = 0; }
void fake_fail(int code) { fail_code = code; }
void fake_version(int v) { driver_version = v; }
void fake_init(int code) { init_code = code; }
void fake_quiet(int q) { quiet = q; }

#define LOG(...) \
	do { \
		size_t used = strlen(log_text); \
		snprintf(log_text + used, sizeof log_text - used, __VA_ARGS__); \
		if (fail_code) { int failed = fail_code; fail_code = 0; return failed; } \
	} while (0)
#define X(v) ((unsigned long long)(uintptr_t)(v))

// ---- libcuda ----

int cuInit(unsigned flags) { LOG("cuInit %u\n", flags); return init_code; }
int cuDriverGetVersion(int *v) { *v = driver_version; return 0; }
int cuGetErrorName(int e, const char **s) { if (e == 4242) return 1; *s = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OTHER"; return 0; }
int cuGetErrorString(int e, const char **s) { if (e == 4242) return 1; *s = e == 2 ? "out of memory" : "some other error"; return 0; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGet(int *d, int i) { LOG("cuDeviceGet %d\n", i); if (i > 1) return 101; *d = 70 + i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { snprintf(s, n, "Fake %d", d); return 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { *n = 150ull << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 115 ? 1 : 1000 * d + a; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { LOG("retain %d\n", d); *c = (void *)0xC0117E87; return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { LOG("release %d\n", d); return 0; }
int cuCtxSetCurrent(void *c) { LOG("current %llx\n", X(c)); return 0; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { *f = 5ull << 32; *t = 7ull << 32; return 0; }
int cuMemAlloc_v2(uint64_t *p, size_t n) { LOG("alloc %zu\n", n); *p = 0x7f0000001000ull; return 0; }
int cuMemFree_v2(uint64_t p) { LOG("free %llx\n", X(p)); return 0; }
int cuMemAllocAsync(uint64_t *p, size_t n, void *s) { LOG("allocasync %zu %llx\n", n, X(s)); *p = 0x7f0000002000ull; return 0; }
int cuMemFreeAsync(uint64_t p, void *s) { LOG("freeasync %llx %llx\n", X(p), X(s)); return 0; }
int cuMemHostAlloc(void **p, size_t n, unsigned f) { LOG("hostalloc %zu %u\n", n, f); *p = malloc(n); return 0; }
int cuMemFreeHost(void *p) { free(p); LOG("freehost\n"); return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t d, const void *h, size_t n, void *s) { LOG("htod %llx %zu %llx %d\n", X(d), n, X(s), *(const int *)h); return 0; }
int cuMemcpyDtoHAsync_v2(void *h, uint64_t d, size_t n, void *s) { LOG("dtoh %llx %zu %llx\n", X(d), n, X(s)); memset(h, 7, n); return 0; }
int cuMemcpyDtoDAsync_v2(uint64_t d, uint64_t e, size_t n, void *s) { LOG("dtod %llx %llx %zu %llx\n", X(d), X(e), n, X(s)); return 0; }
int cuMemsetD8Async(uint64_t d, unsigned char b, size_t n, void *s) { LOG("set8 %llx %x %zu %llx\n", X(d), b, n, X(s)); return 0; }
int cuMemsetD32Async(uint64_t d, unsigned w, size_t n, void *s) { LOG("set32 %llx %x %zu %llx\n", X(d), w, n, X(s)); return 0; }
int cuStreamCreate(void **s, unsigned f) { LOG("stream %u\n", f); *s = (void *)0x57; return 0; }
int cuStreamDestroy_v2(void *s) { LOG("closestream %llx\n", X(s)); return 0; }
int cuStreamSynchronize(void *s) { if (!quiet) LOG("sync %llx\n", X(s)); return 0; }
int cuStreamWaitEvent(void *s, void *e, unsigned f) { LOG("wait %llx %llx %u\n", X(s), X(e), f); return 0; }
int cuEventCreate(void **e, unsigned f) { LOG("event %u\n", f); *e = (void *)0xE7; return 0; }
int cuEventDestroy_v2(void *e) { LOG("closeevent %llx\n", X(e)); return 0; }
int cuEventRecord(void *e, void *s) { LOG("record %llx %llx\n", X(e), X(s)); return 0; }
int cuEventSynchronize(void *e) { LOG("syncevent %llx\n", X(e)); return 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) { LOG("elapsed %llx %llx\n", X(a), X(b)); *ms = 1.25f; return 0; }
int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *options, void **values) {
	if (*(const char *)image == '!') { strncpy((char *)values[0], "ptxas says no", X(values[1])); return 218; }
	LOG("load %s %u %d %d %llu\n", (const char *)image, n, options[0], options[1], X(values[1]));
	*m = (void *)0x30D; return 0;
}
int cuModuleLoadData(void **m, const void *image) { LOG("load %s\n", (const char *)image); *m = (void *)0x30D; return 0; }
int cuModuleUnload(void *m) { LOG("unload %llx\n", X(m)); return 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { LOG("function %llx %s\n", X(m), name); *f = (void *)0xF2; return 0; }
int cuFuncSetAttribute(void *f, int a, int v) { LOG("setattr %llx %d %d\n", X(f), a, v); return 0; }
int cuFuncGetAttribute(int *v, int a, void *f) { LOG("getattr %d %llx\n", a, X(f)); *v = 10 * a; return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared) { LOG("occupancy %llx %d %zu\n", X(f), threads, shared); *n = 3; return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **args, void **extra) {
	if (quiet) return 0;
	LOG("launch %llx %u %u %u %u %u %u %u %llx args %d %g %llx\n", X(f), gx, gy, gz, bx, by, bz, shared, X(s),
	    args ? *(int *)args[0] : 0, args ? *(double *)args[1] : 0, X(extra));
	return 0;
}
int cuStreamBeginCapture_v2(void *s, int mode) { LOG("begin %llx %d\n", X(s), mode); return 0; }
int cuStreamEndCapture(void *s, void **g) { LOG("end %llx\n", X(s)); *g = (void *)0x64; return 0; }
int cuGraphDestroy(void *g) { LOG("destroy %llx\n", X(g)); return 0; }
int cuGraphInstantiateWithFlags(void **e, void *g, unsigned long long f) { LOG("instantiate %llx %llu\n", X(g), f); *e = (void *)0x65; return 0; }
int cuGraphLaunch(void *e, void *s) { LOG("graph %llx %llx\n", X(e), X(s)); return 0; }
int cuGraphExecDestroy(void *e) { LOG("closegraph %llx\n", X(e)); return 0; }

// ---- libnvrtc ----

static int compiled_ptx;
int nvrtcVersion(int *a, int *b) { *a = 12; *b = 4; return 0; }
const char *nvrtcGetErrorString(int e) { return e == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER"; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
int nvrtcGetSupportedArchs(int *a) { a[0] = 70; a[1] = 80; a[2] = 90; return 0; }
int nvrtcCreateProgram(void **p, const char *source, const char *name, int n, const char *const *h, const char *const *i) {
	LOG("program %s %s %d\n", name, source, n); *p = (void *)source[0]; return 0;
}
int nvrtcDestroyProgram(void **p) { LOG("destroyprogram\n"); return 0; }
int nvrtcCompileProgram(void *p, int n, const char *const *o) {
	compiled_ptx = strstr(o[0], "compute_") != 0;
	for (int i = 0; i < n; i++) LOG("option %s\n", o[i]);
	return X(p) == '!' ? 6 : X(p) == '?' ? 7 : 0;
}
static const char message[] = "k.cu(3): error: zebra\n";
int nvrtcGetProgramLogSize(void *p, size_t *n) { *n = X(p) == '!' ? sizeof message : 1; return 0; }
int nvrtcGetProgramLog(void *p, char *s) { if (X(p) == '!') memcpy(s, message, sizeof message); else *s = 0; return 0; }
int nvrtcGetCUBINSize(void *p, size_t *n) { *n = compiled_ptx ? 0 : 5; return 0; }
int nvrtcGetCUBIN(void *p, char *s) { memcpy(s, "cubin", 5); return 0; }
int nvrtcGetPTXSize(void *p, size_t *n) { *n = 4; return 0; }
int nvrtcGetPTX(void *p, char *s) { memcpy(s, "ptx", 4); return 0; }

// ---- libcusparse ----

#define P void *
int cusparseCreate(P *h) { *h = (P)0x5; return 0; }
int cusparseDestroy(P h) { LOG("sdestroy %llx\n", X(h)); return 0; }
int cusparseSetStream(P h, P s) { LOG("sstream %llx %llx\n", X(h), X(s)); return 0; }
int cusparseGetVersion(P h, int *v) { *v = 12504; return 0; }
const char *cusparseGetErrorName(int e) { return "CUSPARSE_STATUS_FAKE"; }
const char *cusparseGetErrorString(int e) { return "fake trouble"; }
int cusparseCreateCsr(P *d, int64_t m, int64_t n, int64_t z, P o, P c, P v, int ot, int ct, int base, int t) {
	LOG("csr %lld %lld %lld %llx %llx %llx %d %d %d %d\n", (long long)m, (long long)n, (long long)z, X(o), X(c), X(v), ot, ct, base, t);
	*d = (P)0xA; return 0;
}
int cusparseDestroySpMat(P d) { LOG("sdmat %llx\n", X(d)); return 0; }
int cusparseSpMatGetSize(P d, int64_t *m, int64_t *n, int64_t *z) { *m = 1; *n = 2; *z = 3ll << 33; return 0; }
int cusparseCsrSetPointers(P d, P o, P c, P v) { LOG("pointers %llx %llx %llx %llx\n", X(d), X(o), X(c), X(v)); return 0; }
int cusparseCreateDnVec(P *d, int64_t n, P v, int t) { LOG("dnvec %lld %llx %d\n", (long long)n, X(v), t); *d = (P)0xB; return 0; }
int cusparseDestroyDnVec(P d) { return 0; }
int cusparseCreateDnMat(P *d, int64_t m, int64_t n, int64_t ld, P v, int t, int o) {
	LOG("dnmat %lld %lld %lld %llx %d %d\n", (long long)m, (long long)n, (long long)ld, X(v), t, o); *d = (P)0xD; return 0;
}
int cusparseDestroyDnMat(P d) { return 0; }
static double number(const void *p, int t) { return t ? *(const double *)p : *(const float *)p; }
int cusparseSpMV_bufferSize(P h, int op, const P a, P A, P x, const P b, P y, int t, int alg, size_t *n) {
	LOG("spmvsize %llx %d %g %llx %llx %g %llx %d %d\n", X(h), op, number(a, t), X(A), X(x), number(b, t), X(y), t, alg); *n = 1ull << 33; return 0;
}
int cusparseSpMV(P h, int op, const P a, P A, P x, const P b, P y, int t, int alg, P buf) {
	LOG("spmv %llx %d %g %llx %llx %g %llx %d %d %llx\n", X(h), op, number(a, t), X(A), X(x), number(b, t), X(y), t, alg, X(buf)); return 0;
}
int cusparseSpMatSetAttribute(P m, int attribute, const void *value, size_t n) { LOG("attribute %llx %d %d %zu\n", X(m), attribute, *(const int *)value, n); return 0; }
int cusparseSpSV_createDescr(P *d) { *d = (P)0x5e; return 0; }
int cusparseSpSV_destroyDescr(P d) { LOG("spsvdestroy %llx\n", X(d)); return 0; }
int cusparseSpSV_bufferSize(P h, int op, const P a, P A, P x, P y, int t, int alg, P d, size_t *n) {
	LOG("spsvsize %llx %d %g %llx %llx %llx %d %d %llx\n", X(h), op, number(a, t), X(A), X(x), X(y), t, alg, X(d)); *n = 3ull << 33; return 0;
}
int cusparseSpSV_analysis(P h, int op, const P a, P A, P x, P y, int t, int alg, P d, P buf) {
	LOG("spsvanalysis %llx %d %g %llx %llx %llx %d %d %llx %llx\n", X(h), op, number(a, t), X(A), X(x), X(y), t, alg, X(d), X(buf)); return 0;
}
int cusparseSpSV_solve(P h, int op, const P a, P A, P x, P y, int t, int alg, P d) {
	LOG("spsv %llx %d %g %llx %llx %llx %d %d %llx\n", X(h), op, number(a, t), X(A), X(x), X(y), t, alg, X(d)); return 0;
}
int cusparseSpSM_createDescr(P *d) { *d = (P)0x5f; return 0; }
int cusparseSpSM_bufferSize(P h, int oa, int ob, const P a, P A, P B, P C, int t, int alg, P d, size_t *n) { *n = 77; return 0; }
int cusparseSpSM_solve(P h, int oa, int ob, const P a, P A, P B, P C, int t, int alg, P d) {
	LOG("spsm %llx %d %d %g %llx %llx %llx %d %d %llx\n", X(h), oa, ob, number(a, t), X(A), X(B), X(C), t, alg, X(d)); return 0;
}
int cusparseSpMM_bufferSize(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, size_t *n) { *n = 99; return 0; }
int cusparseSpMM(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P buf) {
	LOG("spmm %llx %d %d %g %llx %llx %g %llx %d %d %llx\n", X(h), oa, ob, number(a, t), X(A), X(B), number(b, t), X(C), t, alg, X(buf)); return 0;
}
int cusparseSpGEMM_createDescr(P *d) { *d = (P)0x6E; return 0; }
int cusparseSpGEMM_destroyDescr(P d) { return 0; }
int cusparseSpGEMM_workEstimation(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d, size_t *n, P buf) {
	LOG("work %d %d %g %llx %llx %g %llx %d %d %llx %zu %llx\n", oa, ob, number(a, t), X(A), X(B), number(b, t), X(C), t, alg, X(d), *n, X(buf)); *n = 1111; return 0;
}
int cusparseSpGEMM_estimateMemory(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d, float f, size_t *n3, P buf, size_t *n2) {
	LOG("estimate %llx %d %d %g %llx %llx %g %llx %d %d %llx %g %zu %llx %d\n", X(h), oa, ob, number(a, t), X(A), X(B), number(b, t), X(C), t, alg, X(d), f, *n3, X(buf), n2 != 0);
	*n3 = 3333; if (n2) *n2 = 2222; return 0;
}
int cusparseSpGEMM_compute(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d, size_t *n, P buf) { LOG("compute %zu %llx\n", *n, X(buf)); return 0; }
int cusparseSpGEMM_copy(P h, int oa, int ob, const P a, P A, P B, const P b, P C, int t, int alg, P d) { LOG("copy %llx\n", X(d)); return 0; }

// ---- libcublas ----

int cublasCreate_v2(P *h) { *h = (P)0x7; return 0; }
int cublasDestroy_v2(P h) { LOG("bdestroy %llx\n", X(h)); return 0; }
int cublasSetStream_v2(P h, P s) { LOG("bstream %llx %llx\n", X(h), X(s)); return 0; }
int cublasSetWorkspace_v2(P h, P w, size_t n) { LOG("workspace %llx %llx %zu\n", X(h), X(w), n); return 0; }
int cublasGetVersion_v2(P h, int *v) { *v = 130100; return 0; }
const char *cublasGetStatusName(int e) { return "CUBLAS_STATUS_FAKE"; }
const char *cublasGetStatusString(int e) { return "fake trouble"; }
int cublasGemmEx(P h, int ta, int tb, int m, int n, int k, const float *alpha, P A, int at, int lda, P B, int bt, int ldb,
	const float *beta, P C, int ct, int ldc, int compute, int algo) {
	LOG("gemm %llx %d %d %d %d %d %g %llx %d %d %llx %d %d %g %llx %d %d %d %d\n", X(h), ta, tb, m, n, k, *alpha, X(A), at, lda, X(B), bt, ldb,
		*beta, X(C), ct, ldc, compute, algo);
	return k == 13 ? 13 : 0;
}
