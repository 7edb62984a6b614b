// operations.c: the cases that are one GraphBLAS operation each. All include making the result
// object and GrB_wait, which in SuiteSparse also sorts a result that was left jumbled.

#include "harness.h"

// TIMED runs the statements between two readings of the clock.
#define TIMED(statements)                                                                                             \
    do                                                                                                                \
    {                                                                                                                 \
        double start = now () ;                                                                                       \
        statements ;                                                                                                  \
        r->ms = now () - start ;                                                                                      \
    } while (0)

// MATRIX_RESULT times the making of an nrows×ncols result of a type by one call on C, and checks
// it.
#define MATRIX_RESULT(type, nrows, ncols, call)                                                                       \
    do                                                                                                                \
    {                                                                                                                 \
        TIMED (TRY (GrB_Matrix_new (&C, type, nrows, ncols)) ; TRY (call) ;                                           \
            TRY (GrB_Matrix_wait (C, GrB_MATERIALIZE))) ;                                                             \
        TRY (check_matrix (r, C)) ;                                                                                   \
    } while (0)

// VECTOR_RESULT is the same for a vector w of n.
#define VECTOR_RESULT(type, n, call)                                                                                  \
    do                                                                                                                \
    {                                                                                                                 \
        TIMED (TRY (GrB_Vector_new (&w, type, n)) ; TRY (call) ; TRY (GrB_Vector_wait (w, GrB_MATERIALIZE))) ;        \
        TRY (check_vector (r, w)) ;                                                                                   \
    } while (0)

//----------------------------------------------------------------------------------------------------------------------
// products with a vector
//----------------------------------------------------------------------------------------------------------------------

// spmv: w = A·x for the shared full x.
static GrB_Info spmv (run *r, GrB_Type type, GrB_Semiring semiring)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector w = NULL ;
    TRY (need_dense (r)) ;
    if (type == GrB_FP32) TRY (need_fp32 (r)) ;
    GrB_Matrix A = type == GrB_FP32 ? r->g->fp32 : r->g->fp64 ;
    GrB_Vector x = type == GrB_FP32 ? r->g->dense32 : r->g->dense64 ;
    VECTOR_RESULT (type, r->g->nrows, GrB_mxv (w, NULL, NULL, semiring, A, x, NULL)) ;
done:
    GrB_free (&w) ;
    return info ;
}

static GrB_Info spmv_f64 (run *r) { return spmv (r, GrB_FP64, GrB_PLUS_TIMES_SEMIRING_FP64) ; }
static GrB_Info spmv_f32 (run *r) { return spmv (r, GrB_FP32, GrB_PLUS_TIMES_SEMIRING_FP32) ; }
static GrB_Info spmv_minplus_f64 (run *r) { return spmv (r, GrB_FP64, GrB_MIN_PLUS_SEMIRING_FP64) ; }

// spmv_accum_f64: w += A·x into a full w of zeros made inside the timing, the form SuiteSparse
// likes best.
static GrB_Info spmv_accum_f64 (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector w = NULL ;
    TRY (need_dense (r)) ;
    TIMED (TRY (GrB_Vector_new (&w, GrB_FP64, r->g->nrows)) ;
        TRY (GrB_Vector_assign_FP64 (w, NULL, NULL, 0, GrB_ALL, r->g->nrows, NULL)) ;
        TRY (GrB_mxv (w, NULL, GrB_PLUS_FP64, GrB_PLUS_TIMES_SEMIRING_FP64, r->g->fp64, r->g->dense64, NULL)) ;
        TRY (GrB_Vector_wait (w, GrB_MATERIALIZE))) ;
    TRY (check_vector (r, w)) ;
done:
    GrB_free (&w) ;
    return info ;
}

// vxm_push: w = f·A over min_plus, for a frontier f of percent of the vertices; by the saxpy
// method. When masked, only where the shared half mask has no entry.
static GrB_Info vxm_push (run *r, int percent, bool masked)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector w = NULL, f = NULL, mask = NULL ;
    GrB_Descriptor desc = NULL ;
    TRY (frontier (r, &f, r->g->nrows, percent)) ;
    TRY (GrB_Descriptor_new (&desc)) ;
    TRY (GxB_Desc_set (desc, GxB_AxB_METHOD, GxB_AxB_SAXPY)) ;
    if (masked)
    {
        TRY (half_mask (r, &mask, r->g->ncols)) ;
        TRY (GrB_Descriptor_set (desc, GrB_MASK, GrB_COMP + GrB_STRUCTURE)) ;
        TRY (GrB_Descriptor_set (desc, GrB_OUTP, GrB_REPLACE)) ;
    }
    VECTOR_RESULT (GrB_FP64, r->g->ncols, GrB_vxm (w, mask, NULL, GrB_MIN_PLUS_SEMIRING_FP64, f, r->g->fp64, desc)) ;
done:
    GrB_free (&w) ;
    GrB_free (&f) ;
    GrB_free (&mask) ;
    GrB_free (&desc) ;
    return info ;
}

static GrB_Info vxm_push_1 (run *r) { return vxm_push (r, 1, false) ; }
static GrB_Info vxm_push_10 (run *r) { return vxm_push (r, 10, false) ; }
static GrB_Info vxm_push_1_masked (run *r) { return vxm_push (r, 1, true) ; }
static GrB_Info vxm_push_10_masked (run *r) { return vxm_push (r, 10, true) ; }

//----------------------------------------------------------------------------------------------------------------------
// products of matrices
//----------------------------------------------------------------------------------------------------------------------

static GrB_Info spgemm_ss_f64 (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL, S = r->g->fp64 ;
    DEMAND (r->g->nrows == r->g->ncols, "the graph must be square") ;
    MATRIX_RESULT (GrB_FP64, r->g->nrows, r->g->ncols,
        GrB_mxm (C, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, S, S, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

// ata_plus_pair: C = AᵀA over plus_pair; argument: the type of the sums, i64 (default) or f64.
static GrB_Info ata_plus_pair (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    const char *type = arg_text (r, 0, "i64") ;
    DEMAND (strcmp (type, "i64") == 0 || strcmp (type, "f64") == 0, "ata_plus_pair: the type must be i64 or f64") ;
    bool real = strcmp (type, "f64") == 0 ;
    TRY (need_pattern (r)) ;
    GrB_Matrix A = r->g->pattern ;
    MATRIX_RESULT (real ? GrB_FP64 : GrB_INT64, r->g->ncols, r->g->ncols,
        GrB_mxm (C, NULL, NULL, real ? GxB_PLUS_PAIR_FP64 : GxB_PLUS_PAIR_INT64, A, A, GrB_DESC_T0)) ;
done:
    GrB_free (&C) ;
    return info ;
}

//----------------------------------------------------------------------------------------------------------------------
// building and moving
//----------------------------------------------------------------------------------------------------------------------

static GrB_Info build (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    const graph *g = r->g ;
    MATRIX_RESULT (GrB_FP64, g->nrows, g->ncols,
        GrB_Matrix_build_FP64 (C, g->rows, g->cols, g->values, g->nvals, GrB_PLUS_FP64)) ;
done:
    GrB_free (&C) ;
    return info ;
}

static GrB_Info transpose (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    MATRIX_RESULT (GrB_FP64, r->g->ncols, r->g->nrows, GrB_transpose (C, NULL, NULL, r->g->fp64, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

// extract_pp: C = A(p, p) for the shared permutation p, that is C(i, j) = A(p[i], p[j]).
static GrB_Info extract_pp (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    TRY (need_permutation (r)) ;
    const graph *g = r->g ;
    MATRIX_RESULT (GrB_FP64, g->nrows, g->ncols,
        GrB_Matrix_extract (C, NULL, NULL, g->fp64, g->permutation, g->nrows, g->permutation, g->ncols, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

//----------------------------------------------------------------------------------------------------------------------
// element-wise
//----------------------------------------------------------------------------------------------------------------------

// ewise: C = A ⊕ B on the union, or A ⊗ B on the intersection; argument: the name of B.
static GrB_Info ewise (run *r, bool add)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    const graph *g = r->g, *h = graph_find (arg_text (r, 0, "")) ;
    DEMAND (h && !h->is_tuples, "the second graph is not loaded") ;
    DEMAND (g->nrows == h->nrows && g->ncols == h->ncols, "the graphs differ in shape") ;
    if (add)
        MATRIX_RESULT (GrB_FP64, g->nrows, g->ncols,
            GrB_Matrix_eWiseAdd_BinaryOp (C, NULL, NULL, GrB_PLUS_FP64, g->fp64, h->fp64, NULL)) ;
    else
        MATRIX_RESULT (GrB_FP64, g->nrows, g->ncols,
            GrB_Matrix_eWiseMult_BinaryOp (C, NULL, NULL, GrB_TIMES_FP64, g->fp64, h->fp64, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

static GrB_Info ewiseadd (run *r) { return ewise (r, true) ; }
static GrB_Info ewisemult (run *r) { return ewise (r, false) ; }

// select_tril: the entries strictly below the diagonal.
static GrB_Info select_tril (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    MATRIX_RESULT (GrB_FP64, r->g->nrows, r->g->ncols,
        GrB_Matrix_select_INT64 (C, NULL, NULL, GrB_TRIL, r->g->fp64, -1, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

// select_value: the entries greater than the argument, default 0.5.
static GrB_Info select_value (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    double least = arg_double (r, 0, 0.5) ;
    MATRIX_RESULT (GrB_FP64, r->g->nrows, r->g->ncols,
        GrB_Matrix_select_FP64 (C, NULL, NULL, GrB_VALUEGT_FP64, r->g->fp64, least, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

// apply: C = -A.
static GrB_Info apply (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    MATRIX_RESULT (GrB_FP64, r->g->nrows, r->g->ncols,
        GrB_Matrix_apply (C, NULL, NULL, GrB_AINV_FP64, r->g->fp64, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

// apply_bind2: C = A · s for the argument s, default 2.5.
static GrB_Info apply_bind2 (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Matrix C = NULL ;
    double factor = arg_double (r, 0, 2.5) ;
    MATRIX_RESULT (GrB_FP64, r->g->nrows, r->g->ncols,
        GrB_Matrix_apply_BinaryOp2nd_FP64 (C, NULL, NULL, GrB_TIMES_FP64, r->g->fp64, factor, NULL)) ;
done:
    GrB_free (&C) ;
    return info ;
}

//----------------------------------------------------------------------------------------------------------------------
// reductions
//----------------------------------------------------------------------------------------------------------------------

static GrB_Info reduce_vector (run *r, GrB_Index n, GrB_Descriptor desc)
{
    GrB_Info info = GrB_SUCCESS ;
    GrB_Vector w = NULL ;
    VECTOR_RESULT (GrB_FP64, n,
        GrB_Matrix_reduce_Monoid (w, NULL, NULL, GrB_PLUS_MONOID_FP64, r->g->fp64, desc)) ;
done:
    GrB_free (&w) ;
    return info ;
}

static GrB_Info reduce_rows (run *r) { return reduce_vector (r, r->g->nrows, NULL) ; }
static GrB_Info reduce_cols (run *r) { return reduce_vector (r, r->g->ncols, GrB_DESC_T0) ; }

static GrB_Info reduce_scalar (run *r)
{
    GrB_Info info = GrB_SUCCESS ;
    TIMED (TRY (GrB_Matrix_reduce_FP64 (&r->check, NULL, GrB_PLUS_MONOID_FP64, r->g->fp64, NULL))) ;
done:
    return info ;
}

const named_case operation_cases [] =
{
    {"spmv_f64", spmv_f64},
    {"spmv_f32", spmv_f32},
    {"spmv_minplus_f64", spmv_minplus_f64},
    {"spmv_accum_f64", spmv_accum_f64},
    {"vxm_push_1", vxm_push_1},
    {"vxm_push_10", vxm_push_10},
    {"vxm_push_1_masked", vxm_push_1_masked},
    {"vxm_push_10_masked", vxm_push_10_masked},
    {"spgemm_ss_f64", spgemm_ss_f64},
    {"ata_plus_pair", ata_plus_pair},
    {"build", build},
    {"transpose", transpose},
    {"extract_pp", extract_pp},
    {"ewiseadd", ewiseadd},
    {"ewisemult", ewisemult},
    {"select_tril", select_tril},
    {"select_value", select_value},
    {"apply", apply},
    {"apply_bind2", apply_bind2},
    {"reduce_rows", reduce_rows},
    {"reduce_cols", reduce_cols},
    {"reduce_scalar", reduce_scalar},
    {NULL, NULL},
} ;
