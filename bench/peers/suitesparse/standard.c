// standard.c: workflows of the standard set: label propagation, maximal independent sets,
// colouring, Katz centrality.

#include "harness.h"

//----------------------------------------------------------------------------------------------------------------------
// label propagation
//----------------------------------------------------------------------------------------------------------------------

// sort_labels sorts x [0 … n-1] by a quicksort that puts equal labels together: rows hold few
// different ones.
static void sort_labels (int32_t *x, int64_t n)
{
    while (n > 16)
    {
        int32_t a = x [0], b = x [n / 2], c = x [n - 1] ;
        int32_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b) ;
        int64_t less = 0, k = 0, more = n ; // x [0 … less-1] < pivot, x [less … k-1] = pivot, x [more … n-1] > pivot
        while (k < more)
        {
            int32_t v = x [k] ;
            if (v < pivot)
            {
                x [k++] = x [less] ;
                x [less++] = v ;
            }
            else if (v > pivot)
            {
                x [k] = x [--more] ;
                x [more] = v ;
            }
            else k++ ;
        }
        if (less < n - more) // recursion on the shorter part
        {
            sort_labels (x, less) ;
            x += more ;
            n -= more ;
        }
        else
        {
            sort_labels (x + more, n - more) ;
            n = less ;
        }
    }
    for (int64_t k = 1 ; k < n ; k++)
    {
        int32_t v = x [k] ;
        int64_t j = k ;
        for ( ; j > 0 && x [j - 1] > v ; j--) x [j] = x [j - 1] ;
        x [j] = v ;
    }
}

// cdlp: synchronous label propagation, with the argument iterations (10): every vertex takes the
// label that most of its neighbours have, the least of several. The labels of the neighbours are A
// min.second diag (label), sorted within each row. The graph is symmetric. It stops when no label
// changes.
//
// Source: Iosup and others, "LDBC Graphalytics", PVLDB 9, 2016, doi:10.14778/3007263.3007270: CDLP.
static GrB_Info cdlp (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix D = NULL, L = NULL ;
    GrB_Vector label = NULL, zero = NULL ;
    GrB_Index n = r->g->nrows, *ptr = NULL, *index = NULL, ptr_size = 0, index_size = 0, value_size = 0 ;
    int32_t *near = NULL, *own = NULL ;
    int most = (int) arg_double (r, 0, 10), iterations = 0 ;
    bool iso = false, moved = true ;
    DEMAND (r->g->nrows == r->g->ncols, "the graph must be square") ;
    DEMAND (n <= INT32_MAX, "the graph has too many vertices") ;
    TRY (need_patternT (r)) ;
    DEMAND (r->g->patternT == r->g->pattern, "cdlp needs a symmetric graph") ;

    double start = now () ;
    TRY (GrB_Vector_new (&label, GrB_INT32, n)) ;
    TRY (GrB_Vector_new (&zero, GrB_INT32, n)) ;
    TRY (GrB_Vector_assign_INT32 (zero, NULL, NULL, 0, GrB_ALL, n, NULL)) ;
    TRY (GrB_Vector_apply_IndexOp_INT32 (label, NULL, NULL, GrB_ROWINDEX_INT32, zero, 0, NULL)) ;
    for ( ; moved && iterations < most && r->g->nvals > 0 ; iterations++)
    {
        GrB_free (&D) ;
        GrB_free (&L) ;
        TRY (GrB_Matrix_diag (&D, label, 0)) ;
        TRY (GrB_Matrix_new (&L, GrB_INT32, n, n)) ;
        TRY (GxB_Matrix_Option_set (L, GxB_SPARSITY_CONTROL, GxB_SPARSE)) ;
        TRY (GrB_mxm (L, NULL, NULL, GrB_MIN_SECOND_SEMIRING_INT32, r->g->pattern, D, NULL)) ;
        TRY (GxB_Matrix_unpack_CSR (L, &ptr, &index, (void **) &near, &ptr_size, &index_size, &value_size, &iso, NULL,
            NULL)) ;
        GrB_Index own_size = n * sizeof (int32_t) ;
        bool own_iso = false ;
        TRY (GxB_Vector_unpack_Full (label, (void **) &own, &own_size, &own_iso, NULL)) ;
        DEMAND (!own_iso || n == 1, "all labels are one") ;
        moved = false ;
        #pragma omp parallel for num_threads(threads) schedule(dynamic, 256) reduction(|| : moved)
        for (GrB_Index i = 0 ; i < n ; i++)
        {
            int64_t degree = (int64_t) (ptr [i + 1] - ptr [i]) ;
            int32_t *x = near + ptr [i] ;
            if (degree == 0) continue ;
            if (iso)
            {
                x = near ;
                degree = 1 ;
            }
            sort_labels (x, degree) ;
            int32_t best = x [0] ;
            int64_t longest = 0 ;
            for (int64_t k = 0, j ; k < degree ; k = j)
            {
                for (j = k + 1 ; j < degree && x [j] == x [k] ; j++) ;
                if (j - k > longest)
                {
                    longest = j - k ;
                    best = x [k] ;
                }
            }
            moved = moved || best != own [i] ;
            own [i] = best ;
        }
        TRY (GxB_Vector_pack_Full (label, (void **) &own, own_size, false, NULL)) ;
        free (ptr) ;
        free (index) ;
        free (near) ;
        ptr = index = NULL, near = NULL ;
    }
    TRY (GrB_Vector_wait (label, GrB_MATERIALIZE)) ;
    r->ms = now () - start ;

    TRY (check_vector (r, label)) ;
    add_extra (r, "iterations", iterations) ;
done:
    GrB_free (&D) ;
    GrB_free (&L) ;
    GrB_free (&label) ;
    GrB_free (&zero) ;
    free (ptr) ;
    free (index) ;
    free (near) ;
    free (own) ;
    return info ;
}

//----------------------------------------------------------------------------------------------------------------------
// maximal independent sets and colouring
//----------------------------------------------------------------------------------------------------------------------

// luby is the state of Luby's method on a graph without loops: candidates hold scores.
typedef struct
{
    GrB_Index n ;
    GrB_Matrix A ;
    GrB_Vector candidate, score, above, winner, removed ;
} luby ;

// scores draws a score for each candidate, less where the degree is large, so that more vertices
// join.
//
// Source: Luby, "A simple parallel algorithm for the maximal independent set problem", SIAM Journal
// on Computing 15, 1986, doi:10.1137/0215074.
static GrB_Info scores (run *r, luby *l, uint64_t seed)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector all = NULL ;
    double *x = malloc ((l->n + 1) * sizeof (double)) ;
    DEMAND (x, "out of memory") ;
    #pragma omp parallel for num_threads(threads)
    for (GrB_Index i = 0 ; i < l->n ; i++)
    {
        x [i] = (double) ((hash64 (i, seed) >> 11) + 1) / (double) (1 + 2 * r->g->degrees [i]) ;
    }
    TRY (full_vector (r, &all, x, l->n)) ;
    x = NULL ;
    TRY (GrB_Vector_clear (l->score)) ;
    TRY (GrB_Vector_assign (l->score, l->candidate, NULL, all, GrB_ALL, l->n, GrB_DESC_RS)) ;
done:
    GrB_free (&all) ;
    return info ;
}

// independent adds a maximal independent set of the candidates to the vector set, as the value x.
// It leaves no candidates.
static GrB_Info independent (run *r, luby *l, GrB_Vector set, int32_t x, uint64_t *round)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Index left ;
    TRY (GrB_Vector_nvals (&left, l->candidate)) ;
    while (left > 0)
    {
        TRY (scores (r, l, 100 + (*round)++)) ;
        // above = the highest score around a candidate, winner = candidates above it, or without
        // candidates around
        TRY (GrB_vxm (l->above, l->candidate, NULL, GrB_MAX_FIRST_SEMIRING_FP64, l->score, l->A, GrB_DESC_RS)) ;
        TRY (GrB_Vector_eWiseAdd_BinaryOp (l->winner, NULL, NULL, GrB_GT_FP64, l->score, l->above, NULL)) ;
        TRY (GrB_Vector_select_BOOL (l->winner, NULL, NULL, GrB_VALUEEQ_BOOL, l->winner, true, NULL)) ;
        TRY (GrB_Vector_assign_INT32 (set, l->winner, NULL, x, GrB_ALL, l->n, GrB_DESC_S)) ;
        // candidates without the winners and what is around them
        TRY (GrB_Vector_assign (l->candidate, l->winner, NULL, l->candidate, GrB_ALL, l->n, GrB_DESC_RSC)) ;
        TRY (GrB_vxm (l->removed, l->candidate, NULL, GxB_ANY_PAIR_BOOL, l->winner, l->A, GrB_DESC_RS)) ;
        TRY (GrB_Vector_assign (l->candidate, l->removed, NULL, l->candidate, GrB_ALL, l->n, GrB_DESC_RSC)) ;
        TRY (GrB_Vector_nvals (&left, l->candidate)) ;
    }
done:
    return info ;
}

static GrB_Info luby_new (run *r, luby *l)
{
    GrB_Info info = GrB_SUCCESS ;
    DEMAND (r->g->nrows == r->g->ncols, "the graph must be square") ;
    TRY (need_patternT (r)) ;
    TRY (need_degree (r)) ;
    DEMAND (r->g->patternT == r->g->pattern, "independent sets need a symmetric graph") ;
    l->n = r->g->nrows ;
    // without loops, as LAGraph demands of its caller
    TRY (GrB_Matrix_new (&l->A, GrB_BOOL, l->n, l->n)) ;
    TRY (GrB_Matrix_select_INT64 (l->A, NULL, NULL, GrB_OFFDIAG, r->g->pattern, 0, NULL)) ;
    TRY (GrB_Matrix_wait (l->A, GrB_MATERIALIZE)) ;
    TRY (GrB_Vector_new (&l->candidate, GrB_BOOL, l->n)) ;
    TRY (GrB_Vector_new (&l->score, GrB_FP64, l->n)) ;
    TRY (GrB_Vector_new (&l->above, GrB_FP64, l->n)) ;
    TRY (GrB_Vector_new (&l->winner, GrB_BOOL, l->n)) ;
    TRY (GrB_Vector_new (&l->removed, GrB_BOOL, l->n)) ;
done:
    return info ;
}

static void luby_free (luby *l)
{
    GrB_free (&l->A) ;
    GrB_free (&l->candidate) ;
    GrB_free (&l->score) ;
    GrB_free (&l->above) ;
    GrB_free (&l->winner) ;
    GrB_free (&l->removed) ;
}

// valid sets the check figure of a vector of colours: its entries, less 1,000,000 for each edge
// between vertices of one colour. With cover, an entry missing counts if a neighbour has one.
static GrB_Info valid (run *r, luby *l, GrB_Vector colour, bool cover)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Index k = 0, *at = NULL, *ptr = NULL, *index = NULL, ptr_size = 0, index_size = 0, value_size = 0 ;
    int32_t *x = NULL, *full = calloc (l->n + 1, sizeof (int32_t)) ;
    bool *value = NULL, iso = false ;
    TRY (GrB_Vector_nvals (&k, colour)) ;
    at = malloc ((k + 1) * sizeof (GrB_Index)) ;
    x = malloc ((k + 1) * sizeof (int32_t)) ;
    DEMAND (full && at && x, "out of memory") ;
    GrB_Index kept = k ;
    TRY (GrB_Vector_extractTuples_INT32 (at, x, &kept, colour)) ;
    int32_t colours = 0 ;
    for (GrB_Index j = 0 ; j < kept ; j++)
    {
        full [at [j]] = x [j] + 1 ;
        if (x [j] + 1 > colours) colours = x [j] + 1 ;
    }
    TRY (GxB_Matrix_unpack_CSR (l->A, &ptr, &index, (void **) &value, &ptr_size, &index_size, &value_size, &iso, NULL,
        NULL)) ;
    r->check = (double) k ;
    for (GrB_Index i = 0 ; ptr && i < l->n ; i++)
    {
        bool covered = false ;
        for (GrB_Index p = ptr [i] ; p < ptr [i + 1] ; p++)
        {
            if (full [i] && full [index [p]] == full [i]) r->check -= 1e6 ;
            covered |= full [index [p]] != 0 ;
        }
        if (cover && !full [i]) r->check += covered ;
    }
    add_extra (r, "nvals", (double) k) ;
    add_extra (r, "colours", (double) colours) ;
done:
    free (full) ;
    free (at) ;
    free (x) ;
    free (ptr) ;
    free (index) ;
    free (value) ;
    return info ;
}

// colours colours all vertices, the first independent set with 0, a set of those left with 1, …;
// with one, it stops after the first set.
static GrB_Info colours (run *r, bool one)
{
    GrB_Info info = GrB_SUCCESS ;
    luby l = {0} ;
    GrB_Vector colour = NULL ;
    GrB_Index done_count = 0 ;
    uint64_t round = 0 ;
    TRY (luby_new (r, &l)) ;

    double start = now () ;
    TRY (GrB_Vector_new (&colour, GrB_INT32, l.n)) ;
    for (int32_t k = 0 ; done_count < l.n && (k == 0 || !one) ; k++)
    {
        // candidates: the vertices without a colour
        TRY (GrB_Vector_clear (l.candidate)) ;
        TRY (GrB_Vector_assign_BOOL (l.candidate, colour, NULL, true, GrB_ALL, l.n, GrB_DESC_SC)) ;
        TRY (independent (r, &l, colour, k, &round)) ;
        TRY (GrB_Vector_nvals (&done_count, colour)) ;
    }
    TRY (GrB_Vector_wait (colour, GrB_MATERIALIZE)) ;
    r->ms = now () - start ;

    TRY (valid (r, &l, colour, one)) ;
done:
    luby_free (&l) ;
    GrB_free (&colour) ;
    return info ;
}

// independent_set: a maximal independent set. The check figure counts the vertices that are in it
// or beside it, less 1,000,000 for each edge in it: the number of vertices for every maximal
// independent set.
static GrB_Info independent_set (run *r) { return colours (r, true) ; }

// colour: a colour for each vertex, by maximal independent sets of what is left. The check figure
// counts the vertices with a colour, less 1,000,000 for each edge between equal colours. Extra
// figure: "colours".
//
// Source: Jones, Plassmann, "A parallel graph coloring heuristic", SIAM Journal on Scientific
// Computing 14, 1993,
// doi:10.1137/0914041.
static GrB_Info colour (run *r) { return colours (r, false) ; }

//----------------------------------------------------------------------------------------------------------------------
// Katz centrality
//----------------------------------------------------------------------------------------------------------------------

// katz with the arguments tolerance (1e-9) and most iterations (1000): x = 1 + α Aᵀ x with α = 0.85
// over the greatest in-degree, until the 1-norm of the change is at most the tolerance, then
// divided by its Euclidean norm. Extra figure: "iterations".
//
// Source: Katz, "A new status index derived from sociometric analysis", Psychometrika 18, 1953,
// doi:10.1007/BF02289026.
static GrB_Info katz (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector x = NULL, old = NULL, share = NULL, one = NULL, degree = NULL, square = NULL ;
    GrB_Index n = r->g->nrows ;
    double tolerance = arg_double (r, 0, 1e-9), change = INFINITY, most_edges = 0, length = 0 ;
    int most = (int) arg_double (r, 1, 1000), iterations = 0 ;
    DEMAND (r->g->nrows == r->g->ncols, "the graph must be square") ;
    TRY (need_patternT (r)) ;

    double start = now () ;
    TRY (GrB_Vector_new (&x, GrB_FP64, n)) ;
    TRY (GrB_Vector_new (&old, GrB_FP64, n)) ;
    TRY (GrB_Vector_new (&share, GrB_FP64, n)) ;
    TRY (GrB_Vector_new (&one, GrB_FP64, n)) ;
    TRY (GrB_Vector_new (&degree, GrB_FP64, n)) ;
    TRY (GrB_Vector_assign_FP64 (one, NULL, NULL, 1, GrB_ALL, n, NULL)) ;
    TRY (GrB_mxv (degree, NULL, NULL, GxB_PLUS_PAIR_FP64, r->g->patternT, one, NULL)) ;
    TRY (GrB_Vector_reduce_FP64 (&most_edges, NULL, GrB_MAX_MONOID_FP64, degree, NULL)) ;
    double alpha = most_edges > 0 ? 0.85 / most_edges : 0 ;
    TRY (GrB_Vector_assign_FP64 (x, NULL, NULL, 1, GrB_ALL, n, NULL)) ;
    for ( ; iterations < most && change > tolerance ; iterations++)
    {
        GrB_Vector swapped = old ;
        old = x ;
        x = swapped ;
        TRY (GrB_Vector_apply_BinaryOp2nd_FP64 (share, NULL, NULL, GrB_TIMES_FP64, old, alpha, NULL)) ;
        TRY (GrB_Vector_assign_FP64 (x, NULL, NULL, 1, GrB_ALL, n, NULL)) ;
        TRY (GrB_mxv (x, NULL, GrB_PLUS_FP64, GxB_PLUS_SECOND_FP64, r->g->patternT, share, NULL)) ;
        TRY (GrB_Vector_assign (old, NULL, GrB_MINUS_FP64, x, GrB_ALL, n, NULL)) ;
        TRY (GrB_Vector_apply (old, NULL, NULL, GrB_ABS_FP64, old, NULL)) ;
        TRY (GrB_Vector_reduce_FP64 (&change, NULL, GrB_PLUS_MONOID_FP64, old, NULL)) ;
    }
    // into a new vector: 7.4 writes past the single value of share, which may be iso
    TRY (GrB_Vector_new (&square, GrB_FP64, n)) ;
    TRY (GrB_Vector_eWiseMult_BinaryOp (square, NULL, NULL, GrB_TIMES_FP64, x, x, NULL)) ;
    TRY (GrB_Vector_reduce_FP64 (&length, NULL, GrB_PLUS_MONOID_FP64, square, NULL)) ;
    TRY (GrB_Vector_apply_BinaryOp2nd_FP64 (x, NULL, NULL, GrB_DIV_FP64, x, sqrt (length), NULL)) ;
    TRY (GrB_Vector_wait (x, GrB_MATERIALIZE)) ;
    r->ms = now () - start ;

    TRY (check_vector (r, x)) ;
    add_extra (r, "iterations", iterations) ;
done:
    GrB_free (&x) ;
    GrB_free (&old) ;
    GrB_free (&share) ;
    GrB_free (&one) ;
    GrB_free (&degree) ;
    GrB_free (&square) ;
    return info ;
}

const named_case standard_cases [] =
{
    {"cdlp", cdlp},
    {"independent_set", independent_set},
    {"colour", colour},
    {"katz", katz},
    {NULL, NULL},
} ;
