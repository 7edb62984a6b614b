// shared.c: inputs that every contender makes for itself by the same definition, and the check
// figures by which their results are compared. Package peers (shared.go) holds the same definitions
// in Go, scipy_peer.py in Python.

#include "harness.h"

// hash64 is number x of the splitmix64 stream called seed: mix(mix(seed) + (x+1)·golden).
static uint64_t mix (uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C (0xBF58476D1CE4E5B9) ;
    z = (z ^ (z >> 27)) * UINT64_C (0x94D049BB133111EB) ;
    return z ^ (z >> 31) ;
}

uint64_t hash64 (uint64_t x, uint64_t seed)
{
    return mix (mix (seed) + (x + 1) * UINT64_C (0x9E3779B97F4A7C15)) ;
}

// full_vector makes a full FP64 vector of a malloced array, which it takes over, also when it
// fails.
GrB_Info full_vector (run *r, GrB_Vector *v, double *values, GrB_Index n)
{
    GrB_Info info = GrB_SUCCESS ;
    void *x = values ;
    DEMAND (values, "out of memory") ;
    TRY (GrB_Vector_new (v, GrB_FP64, n)) ;
    if (n > 0) TRY (GxB_Vector_pack_Full (*v, &x, n * sizeof (double), false, NULL)) ;
done:
    free (x) ;
    return info ;
}

// frontier: vertex i takes part when hash(i, SEED_FRONTIER) mod 100 < percent, with the value
// hash(i, SEED_FRONTIER_VALUE) mod 1024.
GrB_Info frontier (run *r, GrB_Vector *f, GrB_Index n, int percent)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Index *index = malloc ((n + 1) * sizeof (GrB_Index)), count = 0 ;
    double *value = malloc ((n + 1) * sizeof (double)) ;
    DEMAND (index && value, "out of memory") ;
    for (GrB_Index i = 0 ; i < n ; i++)
    {
        if (hash64 (i, SEED_FRONTIER) % 100 < (uint64_t) percent)
        {
            index [count] = i ;
            value [count++] = (double) (hash64 (i, SEED_FRONTIER_VALUE) % 1024) ;
        }
    }
    TRY (GrB_Vector_new (f, GrB_FP64, n)) ;
    TRY (GxB_Vector_Option_set (*f, GxB_SPARSITY_CONTROL, GxB_SPARSE)) ;
    TRY (GrB_Vector_build_FP64 (*f, index, value, count, GrB_PLUS_FP64)) ;
    TRY (GrB_Vector_wait (*f, GrB_MATERIALIZE)) ;
done:
    free (index) ;
    free (value) ;
    return info ;
}

// half_mask: vertex i is in the mask when hash(i, SEED_MASK) is odd.
GrB_Info half_mask (run *r, GrB_Vector *m, GrB_Index n)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Index *index = malloc ((n + 1) * sizeof (GrB_Index)), count = 0 ;
    bool *value = malloc (n + 1) ;
    DEMAND (index && value, "out of memory") ;
    for (GrB_Index i = 0 ; i < n ; i++)
    {
        if (hash64 (i, SEED_MASK) & 1)
        {
            index [count] = i ;
            value [count++] = true ;
        }
    }
    TRY (GrB_Vector_new (m, GrB_BOOL, n)) ;
    TRY (GrB_Vector_build_BOOL (*m, index, value, count, GrB_LOR)) ;
    TRY (GrB_Vector_wait (*m, GrB_MATERIALIZE)) ;
done:
    free (index) ;
    free (value) ;
    return info ;
}

// check_matrix: the sum of C(i,j)·(1 + i mod 7)·(1 + j mod 5), so that an entry in a wrong place
// shows, and the number of entries as the extra figure "nvals".
GrB_Info check_matrix (run *r, GrB_Matrix C)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector right = NULL, sums = NULL ;
    GrB_Index nrows, ncols, nvals ;
    TRY (GrB_Matrix_nvals (&nvals, C)) ;
    TRY (GrB_Matrix_nrows (&nrows, C)) ;
    TRY (GrB_Matrix_ncols (&ncols, C)) ;
    double *weight = malloc ((ncols + 1) * sizeof (double)) ;
    for (GrB_Index j = 0 ; weight && j < ncols ; j++) weight [j] = 1 + (double) (j % 5) ;
    TRY (full_vector (r, &right, weight, ncols)) ;
    TRY (GrB_Vector_new (&sums, GrB_FP64, nrows)) ;
    TRY (GrB_mxv (sums, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, C, right, NULL)) ;
    TRY (check_vector (r, sums)) ;
    r->extra [0] = 0 ;
    add_extra (r, "nvals", (double) nvals) ;
done:
    GrB_free (&right) ;
    GrB_free (&sums) ;
    return info ;
}

// check_vector: the sum of v(i)·(1 + i mod 7), and the number of entries as "nvals".
GrB_Info check_vector (run *r, GrB_Vector v)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector left = NULL, product = NULL ;
    GrB_Index n, nvals ;
    TRY (GrB_Vector_nvals (&nvals, v)) ;
    TRY (GrB_Vector_size (&n, v)) ;
    double *weight = malloc ((n + 1) * sizeof (double)) ;
    for (GrB_Index i = 0 ; weight && i < n ; i++) weight [i] = 1 + (double) (i % 7) ;
    TRY (full_vector (r, &left, weight, n)) ;
    TRY (GrB_Vector_new (&product, GrB_FP64, n)) ;
    TRY (GrB_Vector_eWiseMult_BinaryOp (product, NULL, NULL, GrB_TIMES_FP64, v, left, NULL)) ;
    TRY (GrB_Vector_reduce_FP64 (&r->check, NULL, GrB_PLUS_MONOID_FP64, product, NULL)) ;
    add_extra (r, "nvals", (double) nvals) ;
done:
    GrB_free (&left) ;
    GrB_free (&product) ;
    return info ;
}

// check_array is check_vector for a plain array, in which NaN stands for no entry.
void check_array (run *r, const double *values, GrB_Index n)
{
    GrB_Index nvals = 0 ;
    r->check = 0 ;
    for (GrB_Index i = 0 ; i < n ; i++)
    {
        if (isnan (values [i])) continue ;
        nvals++ ;
        r->check += values [i] * (1 + (double) (i % 7)) ;
    }
    add_extra (r, "nvals", (double) nvals) ;
}

void add_extra (run *r, const char *key, double value)
{
    size_t used = strlen (r->extra) ;
    snprintf (r->extra + used, sizeof (r->extra) - used, " %s %.17g", key, value) ;
}

double arg_double (const run *r, int k, double otherwise)
{
    return k < r->argc ? strtod (r->argv [k], NULL) : otherwise ;
}

const char *arg_text (const run *r, int k, const char *otherwise)
{
    return k < r->argc ? r->argv [k] : otherwise ;
}

// arg_vertex is an argument that names a vertex, default 0; n, which is none, when it is not a
// number in 0…n-1.
GrB_Index arg_vertex (const run *r, int k, GrB_Index n)
{
    double v = arg_double (r, k, 0) ;
    return v >= 0 && v < (double) n ? (GrB_Index) v : n ;
}
