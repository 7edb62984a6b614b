// main.c: the line protocol.
//
//   load NAME PATH           ok NAME            read a raw graph or raw tuples file (graph.c)
//   free NAME                ok NAME
//   threads N                ok N
//   cases                    ok CASE CASE …
//   version                  ok TEXT
//   run CASE NAME [ARG …]    ms F check F [KEY F …]
//   quit
//
// Whatever goes wrong is answered by "err REASON", and the harness goes on.

#include "harness.h"

int threads = 2 ;

static const named_case *all_cases [] =
    {operation_cases, triangle_cases, traversal_cases, fixpoint_cases, standard_cases} ;
enum { TABLES = sizeof (all_cases) / sizeof (all_cases [0]) } ;

static const named_case *find_case (const char *name)
{
    for (int t = 0 ; t < TABLES ; t++)
    {
        for (const named_case *c = all_cases [t] ; c->name ; c++)
        {
            if (strcmp (c->name, name) == 0) return c ;
        }
    }
    return NULL ;
}

static void list_cases (void)
{
    printf ("ok") ;
    for (int t = 0 ; t < TABLES ; t++)
    {
        for (const named_case *c = all_cases [t] ; c->name ; c++) printf (" %s", c->name) ;
    }
    printf ("\n") ;
}

static void do_run (char *words)
{
    enum { MAX_ARGS = 16 } ;
    char *argv [MAX_ARGS], *name = strtok (words, " "), *graph_name = strtok (NULL, " ") ;
    run r = {.check = NAN} ;
    r.argv = argv ;
    if (!name || !graph_name)
    {
        printf ("err usage: run CASE NAME [ARG …]\n") ;
        return ;
    }
    for (char *word ; r.argc < MAX_ARGS && (word = strtok (NULL, " ")) ; ) argv [r.argc++] = word ;
    const named_case *c = find_case (name) ;
    if (!c)
    {
        printf ("err no case is called %s\n", name) ;
        return ;
    }
    r.g = graph_find (graph_name) ;
    if (!r.g)
    {
        printf ("err no graph is called %s: load it first\n", graph_name) ;
        return ;
    }
    if (r.g->is_tuples != (strcmp (name, "build") == 0))
    {
        printf ("err %s is a %s file, which %s cannot use\n", graph_name, r.g->is_tuples ? "tuples" : "graph", name) ;
        return ;
    }
    GrB_Info info = c->function (&r) ;
    if (info < GrB_SUCCESS) printf ("err %s (GrB_Info %d)\n", r.failed ? r.failed : "unknown", (int) info) ;
    else printf ("ms %.6f check %.17g%s\n", r.ms, r.check, r.extra) ;
}

static void do_load (char *words)
{
    char *name = strtok (words, " "), *path = strtok (NULL, "") ;
    const char *reason = name && path ? graph_load (name, path) : "usage: load NAME PATH" ;
    if (reason) printf ("err %s\n", reason) ;
    else printf ("ok %s\n", name) ;
}

static void do_threads (const char *word)
{
    int n = word ? atoi (word) : 0 ;
    if (n < 1 || GxB_Global_Option_set (GxB_GLOBAL_NTHREADS, n) != GrB_SUCCESS)
    {
        printf ("err usage: threads N, N at least 1\n") ;
        return ;
    }
    threads = n ;
    printf ("ok %d\n", n) ;
}

int main (void)
{
    char *line = NULL ;
    size_t size = 0 ;
    if (GrB_init (GrB_NONBLOCKING) != GrB_SUCCESS || GxB_Global_Option_set (GxB_GLOBAL_NTHREADS, threads) != GrB_SUCCESS)
    {
        printf ("err SuiteSparse:GraphBLAS does not start\n") ;
        return 1 ;
    }
    while (getline (&line, &size, stdin) > 0)
    {
        line [strcspn (line, "\r\n")] = 0 ;
        char *rest = strchr (line, ' ') ;
        if (rest) *rest++ = 0 ;
        char empty [1] = "" ;
        if (!rest) rest = empty ;
        if (strcmp (line, "quit") == 0) break ;
        else if (strcmp (line, "load") == 0) do_load (rest) ;
        else if (strcmp (line, "run") == 0) do_run (rest) ;
        else if (strcmp (line, "threads") == 0) do_threads (rest) ;
        else if (strcmp (line, "cases") == 0) list_cases () ;
        else if (strcmp (line, "free") == 0) printf (graph_free (rest) ? "ok %s\n" : "err no graph is called %s\n", rest) ;
        else if (strcmp (line, "version") == 0)
            printf ("ok SuiteSparse:GraphBLAS %d.%d.%d\n", GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR,
                GxB_IMPLEMENTATION_SUB) ;
        else printf ("err no command is called \"%s\"\n", line) ;
        fflush (stdout) ;
    }
    free (line) ;
    graph_free_all () ;
    GrB_finalize () ;
    return 0 ;
}
