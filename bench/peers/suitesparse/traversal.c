// traversal.c: breadth-first search and shortest paths from one source.

#include "harness.h"

//----------------------------------------------------------------------------------------------------------------------
// breadth-first search
//----------------------------------------------------------------------------------------------------------------------

// direction decides between push and pull by the rule of Beamer, Asanović, Patterson
// ("Direction-optimizing breadth-first search", SC 2012, doi:10.1109/SC.2012.50), with the
// constants LAGraph uses: pull once a growing frontier holds more than 1/8 of the unexplored edges;
// push again once a shrinking one holds less than 1/512 of the vertices; after that, pull again
// only when a growing frontier exceeds 1/8 of the vertices.
typedef struct
{
    bool pull, ever_pulled, settled ;
    double unexplored ;
} direction ;

static GrB_Info decide (run *r, direction *d, GrB_Vector q, GrB_Vector work, GrB_Index nq, GrB_Index last)
{
    GrB_Info info = GrB_SUCCESS ;
    const graph *g = r->g ;
    double n = (double) g->nrows ;
    if (d->settled) return info ;
    if (d->pull)
    {
        if (nq < last && (double) nq <= n / 512) d->pull = false ;
    }
    else if (d->unexplored < n)
    {
        d->settled = true ; // little is left: push to the end
    }
    else if (d->ever_pulled)
    {
        d->pull = nq > last && (double) nq > n / 8 ;
    }
    else
    {
        double edges = 0 ; // that leave the frontier
        TRY (GrB_Vector_assign (work, q, NULL, g->degree, GrB_ALL, g->nrows, GrB_DESC_RS)) ;
        TRY (GrB_Vector_reduce_FP64 (&edges, NULL, GrB_PLUS_MONOID_INT64, work, NULL)) ;
        d->unexplored -= edges ;
        d->pull = nq > last && edges > d->unexplored / 8 ;
    }
    d->ever_pulled |= d->pull ;
done:
    return info ;
}

// depths follows each vertex's parents up to the root and writes its distance, NaN where it has no
// parent. It returns false when the parents do not form a tree.
static bool depths (double *depth, const int64_t *parent, GrB_Index n)
{
    for (GrB_Index i = 0 ; i < n ; i++) depth [i] = parent [i] == (int64_t) i ? 0 : -1 ;
    for (GrB_Index i = 0 ; i < n ; i++)
    {
        if (parent [i] < 0)
        {
            depth [i] = NAN ;
            continue ;
        }
        GrB_Index up = i, steps = 0 ;
        while (depth [up] == -1)
        {
            if (parent [up] < 0 || ++steps > n) return false ;
            up = (GrB_Index) parent [up] ;
        }
        double deepest = depth [up] + (double) steps ;
        for (GrB_Index v = i ; depth [v] == -1 ; v = (GrB_Index) parent [v]) depth [v] = deepest-- ;
    }
    return true ;
}

// search is the search from the first argument, default vertex 0. With parents it computes the
// parent of each vertex over any_secondi, without it the level over any_pair. The check figure is
// of the levels either way (those of the parents are found after the clock has stopped), the source
// having level 0.
static GrB_Info search (run *r, bool parents)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector seen = NULL, q = NULL, work = NULL ;
    GrB_Index *index = NULL, nq = 1, last = 0 ;
    int64_t *value = NULL, *parent = NULL ;
    double *depth = NULL ;
    graph *g = r->g ;
    GrB_Index n = g->nrows, source = arg_vertex (r, 0, n), count = n ;
    DEMAND (g->nrows == g->ncols, "the graph must be square") ;
    DEMAND (source < n, "the source is not a vertex") ;
    TRY (need_degree (r)) ;
    TRY (need_patternT (r)) ;

    double start = now () ;
    GrB_Type type = n > INT32_MAX ? GrB_INT64 : GrB_INT32 ;
    GrB_Semiring semiring = !parents ? GxB_ANY_PAIR_BOOL : n > INT32_MAX ? GxB_ANY_SECONDI_INT64 : GxB_ANY_SECONDI_INT32 ;
    TRY (GrB_Vector_new (&seen, type, n)) ;
    TRY (GxB_Vector_Option_set (seen, GxB_SPARSITY_CONTROL, GxB_BITMAP + GxB_FULL)) ;
    TRY (GrB_Vector_setElement_INT64 (seen, parents ? (int64_t) source : 0, source)) ;
    TRY (GrB_Vector_new (&q, parents ? type : GrB_BOOL, n)) ;
    TRY (GrB_Vector_setElement_INT64 (q, parents ? (int64_t) source : 1, source)) ;
    TRY (GrB_Vector_new (&work, GrB_INT64, n)) ;
    direction d = {.unexplored = (double) g->nvals} ;
    GrB_Index visited = 1 ;
    for (int64_t level = 1 ; visited < n ; level++)
    {
        TRY (decide (r, &d, q, work, nq, last)) ;
        TRY (GxB_Vector_Option_set (q, GxB_SPARSITY_CONTROL, d.pull ? GxB_BITMAP : GxB_SPARSE)) ;
        if (d.pull) TRY (GrB_mxv (q, seen, NULL, semiring, g->patternT, q, GrB_DESC_RSC)) ;
        else TRY (GrB_vxm (q, seen, NULL, semiring, q, g->pattern, GrB_DESC_RSC)) ;
        last = nq ;
        TRY (GrB_Vector_nvals (&nq, q)) ;
        if (nq == 0) break ;
        visited += nq ;
        if (parents) TRY (GrB_Vector_assign (seen, q, NULL, q, GrB_ALL, n, GrB_DESC_S)) ;
        else TRY (GrB_Vector_assign_INT64 (seen, q, NULL, level, GrB_ALL, n, GrB_DESC_S)) ;
    }
    TRY (GrB_Vector_wait (seen, GrB_MATERIALIZE)) ;
    r->ms = now () - start ;

    index = malloc (n * sizeof (GrB_Index)) ;
    value = malloc (n * sizeof (int64_t)) ;
    parent = malloc (n * sizeof (int64_t)) ;
    depth = malloc (n * sizeof (double)) ;
    DEMAND (index && value && parent && depth, "out of memory") ;
    TRY (GrB_Vector_extractTuples_INT64 (index, value, &count, seen)) ;
    for (GrB_Index i = 0 ; i < n ; i++)
    {
        depth [i] = NAN ;
        parent [i] = -1 ;
    }
    for (GrB_Index k = 0 ; k < count ; k++)
    {
        if (parents) parent [index [k]] = value [k] ;
        else depth [index [k]] = (double) value [k] ;
    }
    if (parents) DEMAND (depths (depth, parent, n), "the parents do not form a tree") ;
    check_array (r, depth, n) ;
done:
    GrB_free (&seen) ;
    GrB_free (&q) ;
    GrB_free (&work) ;
    free (index) ;
    free (value) ;
    free (parent) ;
    free (depth) ;
    return info ;
}

static GrB_Info bfs (run *r) { return search (r, true) ; }
static GrB_Info bfs_level (run *r) { return search (r, false) ; }

//----------------------------------------------------------------------------------------------------------------------
// shortest paths
//----------------------------------------------------------------------------------------------------------------------

// paths holds what delta-stepping works on; operators are of the chosen type.
typedef struct
{
    GrB_Index n ;
    GrB_Semiring min_plus ;
    GrB_BinaryOp less ;
    GrB_IndexUnaryOp below ;    // value < scalar
    GrB_Vector distance, bucket, reach, done, request, better ;
} paths ;

// relax finds what the bucket reaches through edges: request = bucket min.+ edges, and better =
// where request improves on the distance (only true entries are kept, so it can serve as a
// structural mask). It notes the improved vertices in reach and returns their number.
static GrB_Info relax (run *r, paths *p, GrB_Matrix edges, GrB_Index *improved)
{
    GrB_Info info = GrB_SUCCESS ;
    TRY (GrB_vxm (p->request, NULL, NULL, p->min_plus, p->bucket, edges, NULL)) ;
    TRY (GrB_Vector_eWiseMult_BinaryOp (p->better, NULL, NULL, p->less, p->request, p->distance, NULL)) ;
    TRY (GrB_Vector_select_BOOL (p->better, NULL, NULL, GrB_VALUEEQ_BOOL, p->better, true, NULL)) ;
    TRY (GrB_Vector_nvals (improved, p->better)) ;
    if (*improved > 0)
        TRY (GrB_Vector_assign_BOOL (p->reach, p->better, NULL, true, GrB_ALL, p->n, GrB_DESC_S)) ;
done:
    return info ;
}

// bucket_of makes bucket the entries of v under mask that are below a bound.
static GrB_Info bucket_of (run *r, paths *p, GrB_Vector v, GrB_Vector mask, double bound, GrB_Index *size)
{
    GrB_Info info = GrB_SUCCESS ;
    TRY (GrB_Vector_clear (p->bucket)) ;
    TRY (GrB_Vector_assign (p->bucket, mask, NULL, v, GrB_ALL, p->n, GrB_DESC_S)) ;
    TRY (GrB_Vector_select_FP64 (p->bucket, NULL, NULL, p->below, p->bucket, bound, NULL)) ;
    TRY (GrB_Vector_nvals (size, p->bucket)) ;
done:
    return info ;
}

static GrB_Info paths_new (run *r, paths *p, GrB_Type type)
{
    GrB_Info info = GrB_SUCCESS ;
    TRY (GrB_Vector_new (&p->distance, type, p->n)) ;
    TRY (GrB_Vector_new (&p->bucket, type, p->n)) ;
    TRY (GrB_Vector_new (&p->request, type, p->n)) ;
    TRY (GrB_Vector_new (&p->reach, GrB_BOOL, p->n)) ;
    TRY (GrB_Vector_new (&p->done, GrB_BOOL, p->n)) ;
    TRY (GrB_Vector_new (&p->better, GrB_BOOL, p->n)) ;
    TRY (GxB_Vector_Option_set (p->distance, GxB_SPARSITY_CONTROL, GxB_BITMAP)) ;
    TRY (GxB_Vector_Option_set (p->reach, GxB_SPARSITY_CONTROL, GxB_BITMAP)) ;
    TRY (GxB_Vector_Option_set (p->bucket, GxB_SPARSITY_CONTROL, GxB_SPARSE)) ;
    TRY (GxB_Vector_Option_set (p->request, GxB_SPARSITY_CONTROL, GxB_SPARSE)) ;
    TRY (GxB_Vector_Option_set (p->done, GxB_SPARSITY_CONTROL, GxB_SPARSE)) ;
    TRY (GxB_Vector_Option_set (p->better, GxB_SPARSITY_CONTROL, GxB_SPARSE)) ;
done:
    return info ;
}

// sssp: delta-stepping from the first argument (default 0) with bucket width delta (default 2), in
// f64 (default) or i32. Weights must not be negative. As in LAGraph, splitting the edges into light
// and heavy is part of the time.
//
// Source: Sridhar, Blanco, Mayuranath, Spampinato, Low, McMillan, "Delta-stepping SSSP: from
// vertices and edges to GraphBLAS implementations", IPDPSW 2019, arXiv:1911.06895.
static GrB_Info sssp (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    paths p = {.n = r->g->nrows} ;
    GrB_Matrix light = NULL, heavy = NULL ;
    GrB_Vector nothing = NULL ;
    GrB_Index *index = NULL, count = p.n, size = 0, improved = 0, reached = 1 ;
    double *value = NULL, least = 0 ;
    GrB_Index source = arg_vertex (r, 0, p.n) ;
    double delta = arg_double (r, 1, 2) ;
    const char *type_name = arg_text (r, 2, "f64") ;
    bool real = strcmp (type_name, "f64") == 0 ;
    DEMAND (r->g->nrows == r->g->ncols, "the graph must be square") ;
    DEMAND (source < p.n, "the source is not a vertex") ;
    DEMAND (delta > 0, "delta must be positive") ;
    DEMAND (real || (strcmp (type_name, "i32") == 0 && delta >= 1), "sssp: the type must be f64, or i32 with delta ≥ 1") ;
    TRY (GrB_Matrix_reduce_FP64 (&least, NULL, GrB_MIN_MONOID_FP64, r->g->fp64, NULL)) ;
    DEMAND (least >= 0 || r->g->nvals == 0, "sssp: a weight is negative") ;
    if (!real) TRY (need_int32 (r)) ;
    if (!real) delta = floor (delta) ;
    GrB_Matrix A = real ? r->g->fp64 : r->g->int32 ;
    GrB_Type type = real ? GrB_FP64 : GrB_INT32 ;
    double infinity = real ? (double) INFINITY : (double) INT32_MAX ; // not by way of float
    p.min_plus = real ? GrB_MIN_PLUS_SEMIRING_FP64 : GrB_MIN_PLUS_SEMIRING_INT32 ;
    p.less = real ? GrB_LT_FP64 : GrB_LT_INT32 ;
    p.below = real ? GrB_VALUELT_FP64 : GrB_VALUELT_INT32 ;

    double start = now () ;
    TRY (paths_new (r, &p, type)) ;
    TRY (GrB_Vector_new (&nothing, GrB_BOOL, p.n)) ;
    TRY (GrB_Vector_assign_FP64 (p.distance, NULL, NULL, infinity, GrB_ALL, p.n, NULL)) ;
    TRY (GrB_Vector_setElement_FP64 (p.distance, 0, source)) ;
    TRY (GrB_Vector_setElement_BOOL (p.reach, true, source)) ;
    TRY (GrB_Matrix_new (&light, type, p.n, p.n)) ;
    TRY (GrB_Matrix_new (&heavy, type, p.n, p.n)) ;
    TRY (GrB_Matrix_select_FP64 (light, NULL, NULL, real ? GrB_VALUELE_FP64 : GrB_VALUELE_INT32, A, delta, NULL)) ;
    TRY (GrB_Matrix_select_FP64 (heavy, NULL, NULL, real ? GrB_VALUEGT_FP64 : GrB_VALUEGT_INT32, A, delta, NULL)) ;
    TRY (GrB_Matrix_wait (light, GrB_MATERIALIZE)) ;
    TRY (GrB_Matrix_wait (heavy, GrB_MATERIALIZE)) ;

    // reach holds the vertices with a tentative distance that are not yet done.
    for (int64_t step = 1 ; reached > 0 ; step++)
    {
        double bound = (double) step * delta ;
        if (bound > infinity) bound = infinity ;
        TRY (GrB_Vector_clear (p.done)) ;
        TRY (bucket_of (r, &p, p.distance, p.reach, bound, &size)) ;
        while (size > 0)
        {
            TRY (GrB_Vector_assign_BOOL (p.done, p.bucket, NULL, true, GrB_ALL, p.n, GrB_DESC_S)) ;
            TRY (relax (r, &p, light, &improved)) ;
            if (improved == 0) break ;
            TRY (GrB_Vector_assign (p.distance, p.better, NULL, p.request, GrB_ALL, p.n, GrB_DESC_S)) ;
            TRY (bucket_of (r, &p, p.request, p.better, bound, &size)) ;
        }
        // All vertices done in this step relax their heavy edges once.
        TRY (GrB_Vector_clear (p.bucket)) ;
        TRY (GrB_Vector_assign (p.bucket, p.done, NULL, p.distance, GrB_ALL, p.n, GrB_DESC_S)) ;
        TRY (relax (r, &p, heavy, &improved)) ;
        if (improved > 0)
            TRY (GrB_Vector_assign (p.distance, p.better, NULL, p.request, GrB_ALL, p.n, GrB_DESC_S)) ;
        TRY (GrB_Vector_assign (p.reach, p.done, NULL, nothing, GrB_ALL, p.n, GrB_DESC_S)) ;
        TRY (GrB_Vector_nvals (&reached, p.reach)) ;
    }
    TRY (GrB_Vector_wait (p.distance, GrB_MATERIALIZE)) ;
    r->ms = now () - start ;

    index = malloc (p.n * sizeof (GrB_Index)) ;
    value = malloc (p.n * sizeof (double)) ;
    DEMAND (index && value, "out of memory") ;
    TRY (GrB_Vector_extractTuples_FP64 (index, value, &count, p.distance)) ; // all n, in order
    for (GrB_Index i = 0 ; i < p.n ; i++)
    {
        if (value [i] == infinity) value [i] = NAN ;
    }
    check_array (r, value, p.n) ;
done:
    GrB_free (&p.distance) ;
    GrB_free (&p.bucket) ;
    GrB_free (&p.reach) ;
    GrB_free (&p.done) ;
    GrB_free (&p.request) ;
    GrB_free (&p.better) ;
    GrB_free (&light) ;
    GrB_free (&heavy) ;
    GrB_free (&nothing) ;
    free (index) ;
    free (value) ;
    return info ;
}

const named_case traversal_cases [] =
{
    {"bfs", bfs},
    {"bfs_level", bfs_level},
    {"sssp", sssp},
    {NULL, NULL},
} ;
