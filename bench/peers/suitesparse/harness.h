// harness.h: what the files of the SuiteSparse:GraphBLAS harness share.
//
// The harness is a co-process: it reads one command a line from stdin and answers one line on
// stdout (main.c has the protocol). Each case is a function that prepares its input outside the
// timing, does one timed run into a fresh result, finishes all pending work and sorting of the
// result inside the timing, and computes a check figure after it.

#ifndef HARNESS_H
#define HARNESS_H

#include <GraphBLAS.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Seeds of the shared random streams; package peers (shared.go) has the same.
#define SEED_FRONTIER 1
#define SEED_FRONTIER_VALUE 2
#define SEED_MASK 3
#define SEED_DENSE 4
#define SEED_PERMUTATION 5

// graph is a loaded file with the converted forms that cases have asked for. Conversions are made
// once, on first use, outside any timing, and kept until the graph is freed.
typedef struct graph
{
    char *name ;
    struct graph *next ;
    GrB_Index nrows, ncols, nvals ;
    GrB_Matrix fp64 ;        // the file itself; all ones, stored one by one, when the file has no values
    GrB_Matrix fp32, int32 ; // values converted
    GrB_Matrix pattern ;     // BOOL, iso: structure only
    GrB_Matrix patternT ;    // its transpose; the same object as pattern when the structure is symmetric
    GrB_Vector degree ;      // INT64, entries in each row, none where a row is empty
    int64_t *degrees ;       // the same as an array, 0 where a row is empty
    GrB_Vector dense64, dense32 ; // the shared full vector, of ncols
    GrB_Index *permutation ; // the shared permutation of nrows

    // Tuple files have these only.
    bool is_tuples ;
    GrB_Index *rows, *cols ;
    double *values ;
} graph ;

graph *graph_find (const char *name) ;
const char *graph_load (const char *name, const char *path) ; // NULL, or the reason it failed
bool graph_free (const char *name) ;
void graph_free_all (void) ;

// run is one timed run: its input, and what the answer line will say.
typedef struct
{
    graph *g ;
    int argc ;
    char **argv ; // what follows the graph's name
    double ms, check ;
    char extra [256] ;   // further "key value" pairs
    const char *failed ; // the call or the demand that failed
} run ;

// TRY makes the enclosing function leave through its label "done" with info set when a GraphBLAS
// call fails.
#define TRY(call)                                                                                                     \
    do                                                                                                                \
    {                                                                                                                 \
        info = (call) ;                                                                                               \
        if (info < GrB_SUCCESS)                                                                                       \
        {                                                                                                             \
            if (!r->failed) r->failed = #call ;                                                                       \
            goto done ;                                                                                               \
        }                                                                                                             \
    } while (0)

// DEMAND does the same when a condition on the input does not hold; the reason is what the user is
// told.
#define DEMAND(condition, reason)                                                                                     \
    do                                                                                                                \
    {                                                                                                                 \
        if (!(condition))                                                                                             \
        {                                                                                                             \
            r->failed = (reason) ;                                                                                    \
            info = GrB_INVALID_VALUE ;                                                                                \
            goto done ;                                                                                               \
        }                                                                                                             \
    } while (0)

// now is a monotonic clock in milliseconds.
static inline double now (void)
{
    struct timespec t ;
    clock_gettime (CLOCK_MONOTONIC, &t) ;
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6 ;
}

// Converted forms of the graph, made on first use. Call them before the clock starts.
GrB_Info need_fp32 (run *r) ;
GrB_Info need_int32 (run *r) ;
GrB_Info need_pattern (run *r) ;
GrB_Info need_patternT (run *r) ;
GrB_Info need_degree (run *r) ;
GrB_Info need_dense (run *r) ;
GrB_Info need_permutation (run *r) ;

// Shared inputs and check figures: shared.c.
uint64_t hash64 (uint64_t x, uint64_t seed) ;
GrB_Info full_vector (run *r, GrB_Vector *v, double *values, GrB_Index n) ; // takes over values
GrB_Info frontier (run *r, GrB_Vector *f, GrB_Index n, int percent) ;
GrB_Info half_mask (run *r, GrB_Vector *m, GrB_Index n) ;
GrB_Info check_matrix (run *r, GrB_Matrix C) ;
GrB_Info check_vector (run *r, GrB_Vector v) ;
void check_array (run *r, const double *values, GrB_Index n) ; // NaN: no entry
void add_extra (run *r, const char *key, double value) ;

// Arguments of a run, with a default for those left out.
double arg_double (const run *r, int k, double otherwise) ;
GrB_Index arg_vertex (const run *r, int k, GrB_Index n) ;
const char *arg_text (const run *r, int k, const char *otherwise) ;

// named_case is a row of a file's table of cases, which ends with a NULL name.
typedef struct
{
    const char *name ;
    GrB_Info (*function) (run *) ;
} named_case ;

extern const named_case operation_cases [], triangle_cases [], traversal_cases [], fixpoint_cases [],
    standard_cases [] ;

// The number of threads set by the last "threads" command.
extern int threads ;

#endif
