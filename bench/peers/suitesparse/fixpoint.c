// fixpoint.c: the algorithms that iterate to a fixed point: connected components and PageRank.

#include "harness.h"

//----------------------------------------------------------------------------------------------------------------------
// connected components
//----------------------------------------------------------------------------------------------------------------------

// forest is the state of FastSV. All vectors are full, INT32, of n; the arrays start and up take
// turns between this struct and the matrix hook, whose entry in column j is in row up[j] =
// parent(j).
typedef struct
{
    GrB_Index n ;
    GrB_Vector parent, grand, grand_new, least, same ;
    GrB_Matrix hook ;
    GrB_Index *start, *up ;
    bool *one ;
} forest ;

// fastsv hooks and shortcuts until no grandparent changes.
//
// Source: Zhang, Azad, Hu, "FastSV: a distributed-memory connected component algorithm with fast
// convergence", PP 2020,
// doi:10.1137/1.9781611976137.5.
static GrB_Info fastsv (run *r, forest *f, GrB_Matrix A)
{
    GrB_Info info = GrB_SUCCESS ;
    const GrB_BinaryOp min = GrB_MIN_INT32 ;
    const GrB_Semiring min_second = GrB_MIN_SECOND_SEMIRING_INT32 ;
    GrB_Index start_size = (f->n + 1) * sizeof (GrB_Index), up_size = f->n * sizeof (GrB_Index), one_size = 1 ;
    bool iso = true, jumbled = false, settled = false ;
    while (!settled)
    {
        // least = the least grandparent among a vertex and its neighbours
        TRY (GrB_mxv (f->least, NULL, min, min_second, A, f->grand, NULL)) ;
        // stochastic hooking: parent(parent(j)) = min (itself, least(j)), by a matrix that costs
        // nothing to make
        TRY (GxB_Matrix_pack_CSC (f->hook, &f->start, &f->up, (void **) &f->one, start_size, up_size, one_size, true,
            false, NULL)) ;
        TRY (GrB_mxv (f->parent, NULL, min, min_second, f->hook, f->least, NULL)) ;
        TRY (GxB_Matrix_unpack_CSC (f->hook, &f->start, &f->up, (void **) &f->one, &start_size, &up_size, &one_size,
            &iso, &jumbled, NULL)) ;
        // aggressive hooking and shortcutting: parent = min (parent, least, grand)
        TRY (GrB_Vector_eWiseAdd_BinaryOp (f->parent, NULL, min, min, f->least, f->grand, NULL)) ;
        // grand = parent (parent)
        TRY (GrB_Vector_extractTuples_UINT64 (NULL, f->up, &f->n, f->parent)) ;
        TRY (GrB_Vector_extract (f->grand_new, NULL, NULL, f->parent, f->up, f->n, NULL)) ;
        TRY (GrB_Vector_eWiseMult_BinaryOp (f->same, NULL, NULL, GrB_EQ_INT32, f->grand_new, f->grand, NULL)) ;
        TRY (GrB_Vector_reduce_BOOL (&settled, NULL, GrB_LAND_MONOID_BOOL, f->same, NULL)) ;
        GrB_Vector swapped = f->grand ;
        f->grand = f->grand_new ;
        f->grand_new = swapped ;
    }
done:
    return info ;
}

// forest_new starts each vertex at the least of itself and its neighbours. A's rows are sorted, and
// min_secondi looks at the first entry of each only.
static GrB_Info forest_new (run *r, forest *f, GrB_Matrix A)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector zero = NULL ;
    f->start = malloc ((f->n + 1) * sizeof (GrB_Index)) ;
    f->up = malloc (f->n * sizeof (GrB_Index)) ;
    f->one = calloc (1, sizeof (bool)) ;
    DEMAND (f->start && f->up && f->one, "out of memory") ;
    for (GrB_Index j = 0 ; j <= f->n ; j++) f->start [j] = j ;
    TRY (GrB_Matrix_new (&f->hook, GrB_BOOL, f->n, f->n)) ;
    TRY (GrB_Vector_new (&f->parent, GrB_INT32, f->n)) ;
    TRY (GrB_Vector_new (&f->grand_new, GrB_INT32, f->n)) ;
    TRY (GrB_Vector_new (&f->same, GrB_BOOL, f->n)) ;
    TRY (GrB_Vector_new (&zero, GrB_INT32, f->n)) ;
    TRY (GrB_Vector_assign_INT32 (zero, NULL, NULL, 0, GrB_ALL, f->n, NULL)) ;
    TRY (GrB_Vector_apply_IndexOp_INT32 (f->parent, NULL, NULL, GrB_ROWINDEX_INT32, zero, 0, NULL)) ;
    TRY (GrB_mxv (f->parent, NULL, GrB_MIN_INT32, GxB_MIN_SECONDI_INT32, A, zero, NULL)) ;
    TRY (GrB_Vector_extractTuples_UINT64 (NULL, f->up, &f->n, f->parent)) ;
    TRY (GrB_Vector_dup (&f->grand, f->parent)) ;
    TRY (GrB_Vector_dup (&f->least, f->parent)) ;
done:
    GrB_free (&zero) ;
    return info ;
}

static void forest_free (forest *f)
{
    GrB_free (&f->parent) ;
    GrB_free (&f->grand) ;
    GrB_free (&f->grand_new) ;
    GrB_free (&f->least) ;
    GrB_free (&f->same) ;
    GrB_free (&f->hook) ;
    free (f->start) ;
    free (f->up) ;
    free (f->one) ;
}

enum { SAMPLED = 4 } ; // entries of each row that the first phase looks at

// csr is the pattern of A, borrowed from it while it is unpacked.
typedef struct
{
    GrB_Index n, *ptr, *index, ptr_size, index_size, value_size ;
    void *value ;
    bool iso, jumbled ;
} csr ;

// pack_pattern makes T of ptr and index, which it takes over.
static GrB_Info pack_pattern (run *r, GrB_Matrix *T, GrB_Index n, GrB_Index *ptr, GrB_Index *index, bool jumbled)
{
    GrB_Info info = GrB_SUCCESS ;
    void *one = calloc (1, sizeof (bool)) ;
    DEMAND (one, "out of memory") ;
    GrB_Index nvals = ptr [n] ;
    TRY (GrB_Matrix_new (T, GrB_BOOL, n, n)) ;
    TRY (GxB_Matrix_pack_CSR (*T, &ptr, &index, &one, (n + 1) * sizeof (GrB_Index), (nvals + 1) * sizeof (GrB_Index),
        sizeof (bool), true, jumbled, NULL)) ;
done:
    free (ptr) ;
    free (index) ;
    free (one) ;
    return info ;
}

// sample makes T of the first SAMPLED entries of each row.
static GrB_Info sample (run *r, GrB_Matrix *T, const csr *A)
{
    GrB_Index *ptr = malloc ((A->n + 1) * sizeof (GrB_Index)), *index = NULL ;
    if (ptr)
    {
        ptr [0] = 0 ;
        for (GrB_Index i = 0 ; i < A->n ; i++)
        {
            GrB_Index length = A->ptr [i + 1] - A->ptr [i] ;
            ptr [i + 1] = ptr [i] + (length < SAMPLED ? length : SAMPLED) ;
        }
        index = malloc ((ptr [A->n] + 1) * sizeof (GrB_Index)) ;
    }
    if (!index)
    {
        free (ptr) ;
        r->failed = "out of memory" ;
        return GrB_OUT_OF_MEMORY ;
    }
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (GrB_Index i = 0 ; i < A->n ; i++)
        memcpy (index + ptr [i], A->index + A->ptr [i], (ptr [i + 1] - ptr [i]) * sizeof (GrB_Index)) ;
    return pack_pattern (r, T, A->n, ptr, index, false) ;
}

// most_frequent estimates the largest tree: the root met most often among up to 1024 sampled
// vertices.
static int by_index (const void *a, const void *b)
{
    GrB_Index x = *(const GrB_Index *) a, y = *(const GrB_Index *) b ;
    return (x > y) - (x < y) ;
}

static GrB_Index most_frequent (const GrB_Index *up, GrB_Index n)
{
    enum { SAMPLES = 1024 } ;
    GrB_Index met [SAMPLES], best = 0 ;
    int best_count = 0, count = 0 ;
    for (uint64_t k = 0 ; k < SAMPLES ; k++) met [k] = up [hash64 (k, 0) % n] ;
    qsort (met, SAMPLES, sizeof (GrB_Index), by_index) ;
    for (int k = 0 ; k < SAMPLES ; k++)
    {
        count = k > 0 && met [k] == met [k - 1] ? count + 1 : 1 ;
        if (count > best_count) best = met [k], best_count = count ;
    }
    return best ;
}

// prune makes T of what is left to do once the tree of root key is taken as one vertex: rows inside
// the tree are empty, rows outside keep their entries outside, and where a row outside has an entry
// inside, T joins it with key, both ways.
static GrB_Info prune (run *r, GrB_Matrix *T, const csr *A, const GrB_Index *up, GrB_Index key)
{
    GrB_Index n = A->n, joined = 0 ;
    GrB_Index *ptr = malloc ((n + 1) * sizeof (GrB_Index)), *index = NULL ;
    bool *joins = calloc (n, sizeof (bool)) ;
    if (ptr && joins)
    {
        #pragma omp parallel for num_threads(threads) schedule(dynamic, 4096) reduction(+ : joined)
        for (GrB_Index i = 0 ; i < n ; i++)
        {
            GrB_Index kept = 0 ;
            if (up [i] != key)
            {
                for (GrB_Index p = A->ptr [i] ; p < A->ptr [i + 1] ; p++) kept += up [A->index [p]] != key ;
                joins [i] = kept < A->ptr [i + 1] - A->ptr [i] ;
            }
            ptr [i + 1] = kept + joins [i] ;
            joined += joins [i] ;
        }
        ptr [0] = 0 ;
        ptr [key + 1] = joined ; // key is its own root, so its row was empty
        for (GrB_Index i = 0 ; i < n ; i++) ptr [i + 1] += ptr [i] ;
        index = malloc ((ptr [n] + 1) * sizeof (GrB_Index)) ;
    }
    if (!index)
    {
        free (ptr) ;
        free (joins) ;
        r->failed = "out of memory" ;
        return GrB_OUT_OF_MEMORY ;
    }
    #pragma omp parallel for num_threads(threads) schedule(dynamic, 4096)
    for (GrB_Index i = 0 ; i < n ; i++)
    {
        if (up [i] == key) continue ;
        GrB_Index q = ptr [i] ;
        for (GrB_Index p = A->ptr [i] ; p < A->ptr [i + 1] ; p++)
        {
            if (up [A->index [p]] != key) index [q++] = A->index [p] ;
        }
        if (joins [i]) index [q] = key ;
    }
    for (GrB_Index i = 0, q = ptr [key] ; joined > 0 && i < n ; i++)
    {
        if (joins [i]) index [q++] = i ;
    }
    free (joins) ;
    return pack_pattern (r, T, n, ptr, index, true) ;
}

// components is FastSV with LAGraph's sampling: where rows are long, find most of the largest
// component from the first entries of each row, then go on without it.
static GrB_Info components (run *r, forest *f, GrB_Matrix A, GrB_Index nvals)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix few = NULL, rest = NULL ;
    csr c = {.n = f->n} ;
    TRY (forest_new (r, f, A)) ;
    if (nvals > 2 * SAMPLED * f->n && f->n > 1024)
    {
        TRY (GxB_Matrix_unpack_CSR (A, &c.ptr, &c.index, &c.value, &c.ptr_size, &c.index_size, &c.value_size, &c.iso,
            NULL, NULL)) ;
        TRY (sample (r, &few, &c)) ;
        TRY (fastsv (r, f, few)) ;
        TRY (prune (r, &rest, &c, f->up, most_frequent (f->up, f->n))) ;
        TRY (GrB_Matrix_nvals (&nvals, rest)) ;
    }
    if (c.ptr)
    {
        TRY (GxB_Matrix_pack_CSR (A, &c.ptr, &c.index, &c.value, c.ptr_size, c.index_size, c.value_size, c.iso, false,
            NULL)) ;
    }
    if (nvals > 0) TRY (fastsv (r, f, rest ? rest : A)) ;
done:
    if (c.ptr) // after a failure in between
        GxB_Matrix_pack_CSR (A, &c.ptr, &c.index, &c.value, c.ptr_size, c.index_size, c.value_size, c.iso, false, NULL) ;
    GrB_free (&few) ;
    GrB_free (&rest) ;
    return info ;
}

// cc: the check figure is that of the vector of least vertex numbers, one for each vertex's
// component; the number of components is the extra figure "components".
static GrB_Info cc (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    forest f = {.n = r->g->nrows} ;
    double *label = NULL, *least = NULL, found = 0 ;
    DEMAND (r->g->nrows == r->g->ncols, "the graph must be square") ;
    DEMAND (f.n <= INT32_MAX, "the graph has too many vertices") ;
    TRY (need_patternT (r)) ;
    DEMAND (r->g->patternT == r->g->pattern, "connected components need a symmetric graph") ;

    double start = now () ;
    if (f.n > 0) TRY (components (r, &f, r->g->pattern, r->g->nvals)) ;
    r->ms = now () - start ;

    label = malloc ((f.n + 1) * sizeof (double)) ;
    least = malloc ((f.n + 1) * sizeof (double)) ;
    DEMAND (label && least, "out of memory") ;
    for (GrB_Index i = 0 ; i < f.n ; i++) least [i] = NAN ;
    for (GrB_Index i = 0 ; i < f.n ; i++)
    {
        GrB_Index root = f.up [i] ;
        if (isnan (least [root]))
        {
            least [root] = (double) i ;
            found++ ;
        }
        label [i] = least [root] ;
    }
    check_array (r, label, f.n) ;
    add_extra (r, "components", found) ;
done:
    forest_free (&f) ;
    free (label) ;
    free (least) ;
    return info ;
}

//----------------------------------------------------------------------------------------------------------------------
// PageRank
//----------------------------------------------------------------------------------------------------------------------

// precision is the set of operators of one floating type.
typedef struct
{
    GrB_Type type ;
    GrB_BinaryOp plus, minus, divide ;
    GrB_UnaryOp abs ;
    GrB_Monoid sum ;
    GrB_Semiring plus_second ;
} precision ;

// pagerank with the arguments damping (0.85), tolerance (1e-4), most iterations (100), type (f64 or
// f32): until the 1-norm of the change is at most the tolerance; tolerance 0 runs all iterations.
// Rank held by vertices without out-edges is spread over all, so ranks sum to 1. The transpose and
// the out-degrees are known beforehand, as LAGraph's cached properties. Extra figure: "iterations".
static GrB_Info pagerank (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector rank = NULL, old = NULL, share = NULL, scaled = NULL, sink = NULL, lost = NULL ;
    graph *g = r->g ;
    GrB_Index n = g->nrows, linked = 0 ;
    double damping = arg_double (r, 0, 0.85), tolerance = arg_double (r, 1, 1e-4), change = INFINITY ;
    int most = (int) arg_double (r, 2, 100), iterations = 0 ;
    const char *type = arg_text (r, 3, "f64") ;
    DEMAND (strcmp (type, "f64") == 0 || strcmp (type, "f32") == 0, "pagerank: the type must be f64 or f32") ;
    DEMAND (g->nrows == g->ncols, "the graph must be square") ;
    TRY (need_degree (r)) ;
    TRY (need_patternT (r)) ;
    precision p = {GrB_FP64, GrB_PLUS_FP64, GrB_MINUS_FP64, GrB_DIV_FP64, GrB_ABS_FP64, GrB_PLUS_MONOID_FP64,
        GxB_PLUS_SECOND_FP64} ;
    if (strcmp (type, "f32") == 0)
        p = (precision) {GrB_FP32, GrB_PLUS_FP32, GrB_MINUS_FP32, GrB_DIV_FP32, GrB_ABS_FP32, GrB_PLUS_MONOID_FP32,
            GxB_PLUS_SECOND_FP32} ;

    double start = now () ;
    TRY (GrB_Vector_new (&rank, p.type, n)) ;
    TRY (GrB_Vector_new (&old, p.type, n)) ;
    TRY (GrB_Vector_new (&share, p.type, n)) ;
    TRY (GrB_Vector_new (&scaled, p.type, n)) ;
    TRY (GrB_Vector_assign_FP64 (rank, NULL, NULL, 1 / (double) n, GrB_ALL, n, NULL)) ;
    // scaled = out-degree / damping, and 1 where there are no out-edges, which no product reads
    TRY (GrB_Vector_assign_FP64 (scaled, NULL, NULL, 1, GrB_ALL, n, NULL)) ;
    TRY (GrB_Vector_apply_BinaryOp2nd_FP64 (scaled, g->degree, NULL, p.divide, g->degree, damping, GrB_DESC_S)) ;
    TRY (GrB_Vector_nvals (&linked, g->degree)) ;
    if (linked < n)
    {
        TRY (GrB_Vector_new (&sink, GrB_BOOL, n)) ;
        TRY (GrB_Vector_new (&lost, p.type, n)) ;
        TRY (GrB_Vector_assign_BOOL (sink, g->degree, NULL, true, GrB_ALL, n, GrB_DESC_SC)) ;
    }
    for ( ; iterations < most && change > tolerance ; iterations++)
    {
        double held = 0 ; // by the sinks
        if (linked < n)
        {
            TRY (GrB_Vector_clear (lost)) ;
            TRY (GrB_Vector_assign (lost, sink, NULL, rank, GrB_ALL, n, GrB_DESC_S)) ;
            TRY (GrB_Vector_reduce_FP64 (&held, NULL, p.sum, lost, NULL)) ;
        }
        double teleport = ((1 - damping) + damping * held) / (double) n ;
        GrB_Vector swapped = old ;
        old = rank ;
        rank = swapped ;
        TRY (GrB_Vector_eWiseMult_BinaryOp (share, NULL, NULL, p.divide, old, scaled, NULL)) ;
        TRY (GrB_Vector_assign_FP64 (rank, NULL, NULL, teleport, GrB_ALL, n, NULL)) ;
        TRY (GrB_mxv (rank, NULL, p.plus, p.plus_second, g->patternT, share, NULL)) ;
        TRY (GrB_Vector_assign (old, NULL, p.minus, rank, GrB_ALL, n, NULL)) ;
        TRY (GrB_Vector_apply (old, NULL, NULL, p.abs, old, NULL)) ;
        TRY (GrB_Vector_reduce_FP64 (&change, NULL, p.sum, old, NULL)) ;
    }
    TRY (GrB_Vector_wait (rank, GrB_MATERIALIZE)) ;
    r->ms = now () - start ;

    TRY (check_vector (r, rank)) ;
    add_extra (r, "iterations", iterations) ;
done:
    GrB_free (&rank) ;
    GrB_free (&old) ;
    GrB_free (&share) ;
    GrB_free (&scaled) ;
    GrB_free (&sink) ;
    GrB_free (&lost) ;
    return info ;
}

const named_case fixpoint_cases [] =
{
    {"cc", cc},
    {"pagerank", pagerank},
    {NULL, NULL},
} ;
