// triangles.c: triangle counting over plus_pair, by the two Sandia methods that SuiteSparse is
// fastest with:
//
//   ll   C⟨L⟩ = L·L by the saxpy method          lut  C⟨L⟩ = L·Uᵀ by the dot method
//
// and the sum of C, where L and U are the strict triangles. Both find each triangle once.
//
// Source: Wolf, Deveci, Berry, Hammond, Rajamanickam, "Fast linear algebra-based triangle counting
// with KokkosKernels", HPEC 2017, doi:10.1109/HPEC.2017.8091043. The rule by which "tricount"
// decides to sort is that of LAGraph's default: at least 1000 vertices, average degree at least 10,
// mean of 1000 sampled degrees above four times their median. Degrees are known beforehand, as
// LAGraph's cached property.
//
// The time includes all work from the adjacency matrix on: permuting, L and U, product, sum. What
// came before the product is also given apart, as the extra figure "prep".

#include "harness.h"

static int by_value (const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b ;
    return (x > y) - (x < y) ;
}

// skewed is the sampling rule.
static bool skewed (const graph *g)
{
    enum { SAMPLES = 1000 } ;
    int64_t sample [SAMPLES] ;
    double sum = 0 ;
    if (g->nrows <= SAMPLES || (double) g->nvals / (double) g->nrows < 10) return false ;
    for (uint64_t k = 0 ; k < SAMPLES ; k++)
    {
        sample [k] = g->degrees [hash64 (k, 0) % g->nrows] ;
        sum += (double) sample [k] ;
    }
    qsort (sample, SAMPLES, sizeof (int64_t), by_value) ;
    return sum / SAMPLES > 4 * (double) sample [SAMPLES / 2] ;
}

// by_degree makes the permutation that orders the vertices by ascending degree, ties by number: a
// counting sort.
static GrB_Index *by_degree (const graph *g)
{
    int64_t most = 0 ;
    for (GrB_Index i = 0 ; i < g->nrows ; i++) most = g->degrees [i] > most ? g->degrees [i] : most ;
    GrB_Index *next = calloc ((size_t) most + 2, sizeof (GrB_Index)) ;
    GrB_Index *order = malloc ((g->nrows + 1) * sizeof (GrB_Index)) ;
    if (next && order)
    {
        for (GrB_Index i = 0 ; i < g->nrows ; i++) next [g->degrees [i] + 1]++ ;
        for (int64_t d = 0 ; d <= most ; d++) next [d + 1] += next [d] ;
        for (GrB_Index i = 0 ; i < g->nrows ; i++) order [next [g->degrees [i]]++] = i ;
    }
    else
    {
        free (order) ;
        order = NULL ;
    }
    free (next) ;
    return order ;
}

typedef enum { UNSORTED, SORTED, AUTO } presort ;

static GrB_Info count (run *r, bool dot, presort sort)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix L = NULL, U = NULL, C = NULL, sorted = NULL ;
    GrB_Descriptor desc = NULL ;
    GrB_Index *order = NULL ;
    int64_t triangles = 0 ;
    const graph *g = r->g ;
    DEMAND (g->nrows == g->ncols, "the graph must be square") ;
    TRY (need_degree (r)) ;
    TRY (need_patternT (r)) ;
    DEMAND (g->patternT == g->pattern, "triangle counting needs a symmetric graph") ;

    double start = now () ;
    bool permute = sort == SORTED || (sort == AUTO && skewed (g)) ;
    GrB_Matrix A = g->pattern ;
    if (permute)
    {
        order = by_degree (g) ;
        DEMAND (order, "out of memory") ;
        TRY (GrB_Matrix_new (&sorted, GrB_BOOL, g->nrows, g->nrows)) ;
        TRY (GrB_Matrix_extract (sorted, NULL, NULL, A, order, g->nrows, order, g->nrows, NULL)) ;
        A = sorted ;
    }
    TRY (GrB_Matrix_new (&L, GrB_BOOL, g->nrows, g->nrows)) ;
    TRY (GrB_Matrix_select_INT64 (L, NULL, NULL, GrB_TRIL, A, -1, NULL)) ;
    TRY (GrB_Matrix_wait (L, GrB_MATERIALIZE)) ;
    TRY (GrB_Descriptor_new (&desc)) ;
    TRY (GrB_Descriptor_set (desc, GrB_MASK, GrB_STRUCTURE)) ;
    if (dot)
    {
        TRY (GrB_Matrix_new (&U, GrB_BOOL, g->nrows, g->nrows)) ;
        TRY (GrB_Matrix_select_INT64 (U, NULL, NULL, GrB_TRIU, A, 1, NULL)) ;
        TRY (GrB_Matrix_wait (U, GrB_MATERIALIZE)) ;
        TRY (GrB_Descriptor_set (desc, GrB_INP1, GrB_TRAN)) ;
    }
    else
    {
        TRY (GxB_Desc_set (desc, GxB_AxB_METHOD, GxB_AxB_SAXPY)) ;
    }
    double prepared = now () ;
    TRY (GrB_Matrix_new (&C, GrB_INT64, g->nrows, g->nrows)) ;
    TRY (GrB_mxm (C, L, NULL, GxB_PLUS_PAIR_INT64, L, dot ? U : L, desc)) ;
    TRY (GrB_Matrix_reduce_INT64 (&triangles, NULL, GrB_PLUS_MONOID_INT64, C, NULL)) ;
    r->ms = now () - start ;

    r->check = (double) triangles ;
    add_extra (r, "prep", prepared - start) ;
    add_extra (r, "sorted", permute) ;
done:
    GrB_free (&L) ;
    GrB_free (&U) ;
    GrB_free (&C) ;
    GrB_free (&sorted) ;
    GrB_free (&desc) ;
    free (order) ;
    return info ;
}

static GrB_Info tricount (run *r) { return count (r, true, AUTO) ; }
static GrB_Info tricount_ll (run *r) { return count (r, false, UNSORTED) ; }
static GrB_Info tricount_lut (run *r) { return count (r, true, UNSORTED) ; }
static GrB_Info tricount_ll_sorted (run *r) { return count (r, false, SORTED) ; }
static GrB_Info tricount_lut_sorted (run *r) { return count (r, true, SORTED) ; }

const named_case triangle_cases [] =
{
    {"tricount", tricount},
    {"tricount_ll", tricount_ll},
    {"tricount_lut", tricount_lut},
    {"tricount_ll_sorted", tricount_ll_sorted},
    {"tricount_lut_sorted", tricount_lut_sorted},
    {NULL, NULL},
} ;
