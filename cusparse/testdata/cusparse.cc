// A stand-in for cuSPARSE on emulated devices, whose memory is memory of the host: matrices by rows
// with 32-bit offsets, full vectors, full matrices by rows.
#include <cstdint>

struct matrix {
	int64_t m, n, entries;
	const int32_t *ptr, *idx;
	void *val;
};

extern "C" {
int cusparseCreate(void **h) {
	*h = new int;
	return 0;
}
int cusparseDestroy(void *h) {
	delete (int *)h;
	return 0;
}
int cusparseSetStream(void *, void *) { return 0; }
int cusparseGetVersion(void *, int *v) {
	*v = 12000;
	return 0;
}
const char *cusparseGetErrorName(int) { return "CUSPARSE_STATUS_OF_TEST"; }
const char *cusparseGetErrorString(int) { return "an error of the stand-in"; }
int cusparseCreateCsr(matrix **d, int64_t m, int64_t n, int64_t entries, void *ptr, void *idx, void *val, int, int, int, int) {
	*d = new matrix{m, n, entries, (int32_t *)ptr, (int32_t *)idx, val};
	return 0;
}
int cusparseDestroySpMat(matrix *d) {
	delete d;
	return 0;
}
int cusparseSpMatGetSize(matrix *d, int64_t *m, int64_t *n, int64_t *entries) {
	*m = d->m, *n = d->n, *entries = d->entries;
	return 0;
}
int cusparseCreateDnVec(matrix **d, int64_t n, void *val, int) {
	*d = new matrix{n, 1, n, nullptr, nullptr, val};
	return 0;
}
int cusparseDestroyDnVec(matrix *d) { return cusparseDestroySpMat(d); }
int cusparseCreateDnMat(matrix **d, int64_t m, int64_t n, int64_t, void *val, int, int) {
	*d = new matrix{m, n, m * n, nullptr, nullptr, val};
	return 0;
}
int cusparseDestroyDnMat(matrix *d) { return cusparseDestroySpMat(d); }

// Operations that the stand-in does not have.
int cusparseCsrSetPointers() { return 10; }
int cusparseSpGEMM_createDescr() { return 10; }
int cusparseSpGEMM_destroyDescr() { return 10; }
int cusparseSpGEMM_workEstimation() { return 10; }
int cusparseSpGEMM_compute() { return 10; }
int cusparseSpGEMM_copy() { return 10; }

int cusparseSpMV_bufferSize(void *, int, void *, matrix *, matrix *, void *, matrix *, int, int, uint64_t *size) {
	*size = 64;
	return 0;
}
int cusparseSpMM_bufferSize(void *, int, int, void *, matrix *, matrix *, void *, matrix *, int, int, uint64_t *size) {
	*size = 64;
	return 0;
}
}

template <typename T> static void multiply(const matrix *a, const matrix *b, const matrix *c) {
	for (int64_t i = 0; i < a->m; i++) {
		for (int64_t j = 0; j < b->n; j++) {
			T sum = 0;
			for (int32_t e = a->ptr[i]; e < a->ptr[i + 1]; e++) sum += ((T *)a->val)[e] * ((T *)b->val)[a->idx[e] * b->n + j];
			((T *)c->val)[i * b->n + j] = sum;
		}
	}
}

static int product(const matrix *a, const matrix *b, const matrix *c, int type) {
	if (type == 1) multiply<double>(a, b, c);
	else multiply<float>(a, b, c);
	return 0;
}

extern "C" {
int cusparseSpMV(void *, int, void *, matrix *a, matrix *x, void *, matrix *y, int type, int, void *) { return product(a, x, y, type); }
int cusparseSpMM(void *, int, int, void *, matrix *a, matrix *b, void *, matrix *c, int type, int, void *) {
	return product(a, b, c, type);
}
}
