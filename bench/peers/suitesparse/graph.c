// graph.c: the loaded graphs, the reader of the raw files and the converted forms of a graph.
//
// A graph file is little-endian: the 8 bytes "HBCSR01\n"; int64 nrows, ncols, nvals, kind (0 no
// values, 1 float64); int64 ptr[nrows+1]; int32 idx[nvals], ascending within a row; float64
// values[nvals] when kind is 1. A tuples file: "HBTUP01\n"; int64 nrows, ncols, count; int32
// rows[count]; int32 cols[count]; float64 values[count].

#include "harness.h"

static graph *loaded = NULL ;

graph *graph_find (const char *name)
{
    for (graph *g = loaded ; g ; g = g->next)
    {
        if (strcmp (g->name, name) == 0) return g ;
    }
    return NULL ;
}

static void destroy (graph *g)
{
    GrB_free (&g->fp64) ;
    GrB_free (&g->fp32) ;
    GrB_free (&g->int32) ;
    if (g->patternT == g->pattern) g->patternT = NULL ;
    GrB_free (&g->pattern) ;
    GrB_free (&g->patternT) ;
    GrB_free (&g->degree) ;
    GrB_free (&g->dense64) ;
    GrB_free (&g->dense32) ;
    free (g->degrees) ;
    free (g->permutation) ;
    free (g->rows) ;
    free (g->cols) ;
    free (g->values) ;
    free (g->name) ;
    free (g) ;
}

bool graph_free (const char *name)
{
    for (graph **link = &loaded ; *link ; link = &(*link)->next)
    {
        graph *g = *link ;
        if (strcmp (g->name, name) != 0) continue ;
        *link = g->next ;
        destroy (g) ;
        return true ;
    }
    return false ;
}

void graph_free_all (void)
{
    while (loaded) graph_free (loaded->name) ;
}

static bool read_all (FILE *f, void *into, size_t size, size_t count)
{
    return fread (into, size, count, f) == count ;
}

// read_indices reads 32-bit indices into the 64-bit ones of the GraphBLAS API; NULL when the file
// is short, memory is out, or an index is not below bound.
static GrB_Index *read_indices (FILE *f, GrB_Index count, GrB_Index bound)
{
    enum { CHUNK = 1 << 16 } ;
    static int32_t chunk [CHUNK] ;
    GrB_Index *index = malloc ((count + 1) * sizeof (GrB_Index)) ;
    for (GrB_Index done = 0 ; index && done < count ; )
    {
        size_t want = count - done < CHUNK ? count - done : CHUNK ;
        bool good = read_all (f, chunk, sizeof (int32_t), want) ;
        for (size_t k = 0 ; good && k < want ; k++)
        {
            good = chunk [k] >= 0 && (GrB_Index) chunk [k] < bound ;
            index [done + k] = (GrB_Index) chunk [k] ;
        }
        if (!good)
        {
            free (index) ;
            return NULL ;
        }
        done += want ;
    }
    return index ;
}

static const char *read_csr (graph *g, FILE *f)
{
    int64_t head [4] ;
    if (!read_all (f, head, sizeof (int64_t), 4)) return "the header is cut short" ;
    if (head [0] < 0 || head [1] < 0 || head [2] < 0 || head [3] < 0 || head [3] > 1) return "the header is not valid" ;
    g->nrows = (GrB_Index) head [0], g->ncols = (GrB_Index) head [1], g->nvals = (GrB_Index) head [2] ;

    const char *reason = "the file is cut short, an index is out of range, or memory is out" ;
    GrB_Index *ptr = malloc ((g->nrows + 1) * sizeof (GrB_Index)), *index = NULL ;
    double *value = malloc ((g->nvals + 1) * sizeof (double)) ;
    if (!ptr || !value || !read_all (f, ptr, sizeof (int64_t), g->nrows + 1)) goto done ;
    for (GrB_Index i = 0 ; i < g->nrows ; i++)
    {
        if (ptr [i] > ptr [i + 1]) goto done ;
    }
    if (ptr [0] != 0 || ptr [g->nrows] != g->nvals) goto done ;
    index = read_indices (f, g->nvals, g->ncols) ;
    if (!index) goto done ;
    for (GrB_Index p = 0 ; p < g->nvals ; p++) value [p] = 1 ;
    if (head [3] == 1 && !read_all (f, value, sizeof (double), g->nvals)) goto done ;

    reason = "SuiteSparse refused the matrix" ;
    if (GrB_Matrix_new (&g->fp64, GrB_FP64, g->nrows, g->ncols) != GrB_SUCCESS) goto done ;
    if (GxB_Matrix_pack_CSR (g->fp64, &ptr, &index, (void **) &value, (g->nrows + 1) * sizeof (GrB_Index),
        (g->nvals + 1) * sizeof (GrB_Index), (g->nvals + 1) * sizeof (double), false, false, NULL) != GrB_SUCCESS)
        goto done ;
    reason = NULL ;
done:
    free (ptr) ;
    free (index) ;
    free (value) ;
    return reason ;
}

static const char *read_tuples (graph *g, FILE *f)
{
    int64_t head [3] ;
    if (!read_all (f, head, sizeof (int64_t), 3)) return "the header is cut short" ;
    if (head [0] < 0 || head [1] < 0 || head [2] < 0) return "the header is not valid" ;
    g->is_tuples = true ;
    g->nrows = (GrB_Index) head [0], g->ncols = (GrB_Index) head [1], g->nvals = (GrB_Index) head [2] ;
    g->rows = read_indices (f, g->nvals, g->nrows) ;
    g->cols = g->rows ? read_indices (f, g->nvals, g->ncols) : NULL ;
    g->values = malloc ((g->nvals + 1) * sizeof (double)) ;
    if (!g->cols || !g->values || !read_all (f, g->values, sizeof (double), g->nvals))
        return "the file is cut short, an index is out of range, or memory is out" ;
    return NULL ;
}

const char *graph_load (const char *name, const char *path)
{
    char magic [8] ;
    FILE *f = fopen (path, "rb") ;
    if (!f) return "the file cannot be opened" ;
    graph *g = calloc (1, sizeof (graph)) ;
    const char *reason = g && (g->name = strdup (name)) ? NULL : "out of memory" ;
    if (!reason)
    {
        if (!read_all (f, magic, 1, 8)) reason = "the header is cut short" ;
        else if (memcmp (magic, "HBCSR01\n", 8) == 0) reason = read_csr (g, f) ;
        else if (memcmp (magic, "HBTUP01\n", 8) == 0) reason = read_tuples (g, f) ;
        else reason = "the file is neither a raw graph nor raw tuples" ;
    }
    fclose (f) ;
    if (reason)
    {
        if (g) destroy (g) ;
        return reason ;
    }
    graph_free (name) ;
    g->next = loaded ;
    loaded = g ;
    return NULL ;
}

// converted makes *C the copy of the graph in another type.
static GrB_Info converted (run *r, GrB_Matrix *C, GrB_Type type, GrB_UnaryOp identity)
{
    GrB_Info info = GrB_SUCCESS ;
    if (*C) return info ;
    TRY (GrB_Matrix_new (C, type, r->g->nrows, r->g->ncols)) ;
    TRY (GrB_Matrix_apply (*C, NULL, NULL, identity, r->g->fp64, NULL)) ;
    TRY (GrB_Matrix_wait (*C, GrB_MATERIALIZE)) ;
done:
    return info ;
}

GrB_Info need_fp32 (run *r) { return converted (r, &r->g->fp32, GrB_FP32, GrB_IDENTITY_FP32) ; }
GrB_Info need_int32 (run *r) { return converted (r, &r->g->int32, GrB_INT32, GrB_IDENTITY_INT32) ; }
GrB_Info need_pattern (run *r) { return converted (r, &r->g->pattern, GrB_BOOL, GxB_ONE_BOOL) ; }

GrB_Info need_patternT (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    graph *g = r->g ;
    GrB_Matrix T = NULL, both = NULL ;
    GrB_Index common = 0 ;
    if (g->patternT) return info ;
    TRY (need_pattern (r)) ;
    TRY (GrB_Matrix_new (&T, GrB_BOOL, g->ncols, g->nrows)) ;
    TRY (GrB_transpose (T, NULL, NULL, g->pattern, NULL)) ;
    TRY (GrB_Matrix_wait (T, GrB_MATERIALIZE)) ;
    if (g->nrows == g->ncols)
    {
        TRY (GrB_Matrix_new (&both, GrB_BOOL, g->nrows, g->ncols)) ;
        TRY (GrB_Matrix_eWiseMult_BinaryOp (both, NULL, NULL, GrB_ONEB_BOOL, g->pattern, T, NULL)) ;
        TRY (GrB_Matrix_nvals (&common, both)) ;
    }
    if (g->nrows == g->ncols && common == g->nvals)
    {
        g->patternT = g->pattern ;
    }
    else
    {
        g->patternT = T ;
        T = NULL ;
    }
done:
    GrB_free (&T) ;
    GrB_free (&both) ;
    return info ;
}

GrB_Info need_degree (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    graph *g = r->g ;
    GrB_Vector ones = NULL ;
    GrB_Index *index = NULL, count = g->nrows ;
    int64_t *value = NULL ;
    if (g->degrees) return info ;
    TRY (need_pattern (r)) ;
    TRY (GrB_Vector_new (&ones, GrB_BOOL, g->ncols)) ;
    TRY (GrB_Vector_assign_BOOL (ones, NULL, NULL, true, GrB_ALL, g->ncols, NULL)) ;
    GrB_free (&g->degree) ;
    TRY (GrB_Vector_new (&g->degree, GrB_INT64, g->nrows)) ;
    TRY (GrB_mxv (g->degree, NULL, NULL, GxB_PLUS_PAIR_INT64, g->pattern, ones, NULL)) ;
    TRY (GrB_Vector_wait (g->degree, GrB_MATERIALIZE)) ;
    index = malloc ((count + 1) * sizeof (GrB_Index)) ;
    value = malloc ((count + 1) * sizeof (int64_t)) ;
    DEMAND (index && value, "out of memory") ;
    TRY (GrB_Vector_extractTuples_INT64 (index, value, &count, g->degree)) ;
    g->degrees = calloc (g->nrows + 1, sizeof (int64_t)) ;
    DEMAND (g->degrees, "out of memory") ;
    for (GrB_Index k = 0 ; k < count ; k++) g->degrees [index [k]] = value [k] ;
done:
    GrB_free (&ones) ;
    free (index) ;
    free (value) ;
    return info ;
}

// need_dense makes the shared full vector: x(i) = 1 + (hash(i, SEED_DENSE) mod 16)/16, exact in
// FP32 too.
GrB_Info need_dense (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    graph *g = r->g ;
    if (g->dense32) return info ;
    double *x = malloc ((g->ncols + 1) * sizeof (double)) ;
    for (GrB_Index j = 0 ; x && j < g->ncols ; j++) x [j] = 1 + (double) (hash64 (j, SEED_DENSE) % 16) / 16 ;
    GrB_free (&g->dense64) ;
    TRY (full_vector (r, &g->dense64, x, g->ncols)) ;
    TRY (GrB_Vector_new (&g->dense32, GrB_FP32, g->ncols)) ;
    TRY (GrB_Vector_apply (g->dense32, NULL, NULL, GrB_IDENTITY_FP32, g->dense64, NULL)) ;
    TRY (GrB_Vector_wait (g->dense32, GrB_MATERIALIZE)) ;
done:
    return info ;
}

// need_permutation makes the shared permutation: p = 0, 1, …; for i from n-1 down to 1, swap p[i]
// with p[hash(i, SEED_PERMUTATION) mod (i+1)].
GrB_Info need_permutation (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    graph *g = r->g ;
    DEMAND (g->nrows == g->ncols, "the graph must be square") ;
    if (g->permutation) return info ;
    g->permutation = malloc ((g->nrows + 1) * sizeof (GrB_Index)) ;
    DEMAND (g->permutation, "out of memory") ;
    for (GrB_Index i = 0 ; i < g->nrows ; i++) g->permutation [i] = i ;
    for (GrB_Index i = g->nrows ; i-- > 1 ; )
    {
        GrB_Index j = hash64 (i, SEED_PERMUTATION) % (i + 1), swapped = g->permutation [i] ;
        g->permutation [i] = g->permutation [j] ;
        g->permutation [j] = swapped ;
    }
done:
    return info ;
}
