package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/solve"
)

// solveFlags are the flags of solve.
type solveFlags struct {
	method, precondition string
	shift                float64
	unit                 bool
	o                    solve.Options[float64]
}

// systemSolvers are the values of --method of solve that iterate; lower and upper substitute.
var systemSolvers = map[string]func(matrix.Source[float64], *matrix.Vector[float64], ...solve.Options[float64]) (*solve.Result[float64], error){
	"cg": solve.CG[float64], "minres": solve.MINRES[float64], "gmres": solve.GMRES[float64], "bicgstab": solve.BiCGSTAB[float64], "lsqr": solve.LSQR[float64],
}

func (f *solveFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.method, "method", "cg", "`M`: cg, minres, gmres, bicgstab or lsqr, or lower or upper for a triangular matrix")
	fs.StringVar(&f.precondition, "precondition", "none", "`P`: none, jacobi, ic0 or ilu0, which are for the host and one GPU")
	fs.BoolVar(&f.unit, "unit-diagonal", false, "lower and upper take the diagonal for 1 and do not read it")
	fs.Float64Var(&f.shift, "shift", 0, "factor A + `S`·diag(A) by ic0 or ilu0")
	fs.Float64Var(&f.o.Tolerance, "tolerance", 1e-8, "stop when the residual is at most `T` times the norm of the right side")
	fs.IntVar(&f.o.MaxIterations, "max-iterations", 0, "fail after `N` iterations (0: 10 for each unknown)")
	fs.IntVar(&f.o.Restart, "restart", 30, "restart gmres after `N` products")
	fs.Float64Var(&f.o.Damping, "damping", 0, "lsqr minimises ‖b − A·x‖² + `D`²·‖x‖²")
	fs.BoolVar(&f.o.CheckSymmetry, "check-symmetry", false, "fail if the matrix of cg or minres is not symmetric")
}

func (f *solveFlags) check(_ *job.Job, _ string, bad func(format string, args ...any) error) error {
	switch o := f.o; {
	case systemSolvers[f.method] == nil && !f.triangular():
		return bad("--method is %q, want cg, minres, gmres, bicgstab, lsqr, lower or upper", f.method)
	case !slices.Contains([]string{"none", "jacobi", "ic0", "ilu0"}, f.precondition):
		return bad("--precondition is %q, want none, jacobi, ic0 or ilu0", f.precondition)
	case (f.method == "lsqr" || f.triangular()) && f.precondition != "none":
		return bad("--method %s takes no --precondition", f.method)
	case f.unit && !f.triangular():
		return bad("--unit-diagonal is for --method lower or upper")
	case !(o.Tolerance > 0) || math.IsInf(o.Tolerance, 1):
		return bad("--tolerance is %v, want a positive number", o.Tolerance)
	case o.MaxIterations < 0:
		return bad("--max-iterations is %d, want 0 or more", o.MaxIterations)
	case o.Restart < 1:
		return bad("--restart is %d, want 1 or more", o.Restart)
	case !(o.Damping >= 0) || math.IsInf(o.Damping, 1):
		return bad("--damping is %v, want 0 or a positive number", o.Damping)
	case !(f.shift >= 0) || math.IsInf(f.shift, 1):
		return bad("--shift is %v, want 0 or a positive number", f.shift)
	}
	return nil
}

func (f *solveFlags) triangular() bool { return f.method == "lower" || f.method == "upper" }

// substitute solves a triangular system.
func (f *solveFlags) substitute(j *job.Job, b *matrix.Vector[float64], threads int) (*standardResult, error) {
	t, err := solve.NewTriangle(j.Graph.Matrix, solve.TriangleOptions{Upper: f.method == "upper", Unit: f.unit, Threads: threads})
	if err != nil {
		return nil, unsolved(j, err)
	}
	if err := b.Move(j.Graph.Matrix.Place()); err != nil {
		return nil, err
	}
	x, err := t.Apply(b)
	if err != nil {
		return nil, unsolved(j, err)
	}
	return &standardResult{figures: []job.Field{{Key: "levels", Label: "levels", Value: t.Levels()}},
		write: func() error { return j.WriteVectorAs(x.Inside()) }}, x.Move(nil)
}

// preconditioner makes the preconditioner of a matrix.
func (f *solveFlags) preconditioner(a *matrix.Matrix[float64], run apps.Run) (solve.Preconditioner[float64], error) {
	o := solve.IncompleteOptions{Shift: f.shift}
	switch f.precondition {
	case "jacobi":
		return solve.Jacobi(a, ops.WithContext(run.Context), ops.WithThreads(run.Threads))
	case "ic0":
		return solve.IncompleteCholesky(a, o)
	case "ilu0":
		return solve.IncompleteLU(a, o)
	}
	return nil, nil
}

func solveCommand(s *job.Session) *cobra.Command {
	var f solveFlags
	var b *matrix.Vector[float64]
	cmd := standardCommand{
		use: "solve A B", short: "Solve a sparse linear system A·x = b",
		long: `solve finds x with A·x = b by iterations: --method cg for symmetric positive definite
matrices, minres for symmetric ones, gmres and bicgstab for square ones, lsqr for
least squares with a matrix of any shape. For a triangular matrix --method lower or
upper substitutes, and prints the levels: the length of the longest chain of rows.

B is a matrix of one column (.mtx, .hgb, .npz, .npy), or a list of numbers, one a line
or lines “row value”. -o writes x. The command fails if the residual does not reach
--tolerance; minres and lsqr accept a system without a solution, and say so.`,
		example: `  hiveblas solve A.mtx b.mtx -o x.mtx
  hiveblas solve A.mtx b.txt --precondition ic0 --tolerance 1e-10 --json
  hiveblas solve rows.mtx y.txt --method lsqr --damping 0.1 -o x.tsv
  hiveblas solve L.mtx b.mtx --method lower -o x.mtx`,
		threshold: thresholdSolve, writes: "the solution", files: job.MatrixFiles, reads: job.Weighted, rectangular: true,
		inputs: []string{"A", "B"}, flags: f.add, check: f.check,
		prepare: func(j *job.Job, args []string) (err error) {
			m, n := j.Graph.Dims()
			if m != n && f.method != "lsqr" {
				return cli.Fail(j.Graph.File, fmt.Sprintf("the matrix is %d×%d, and --method %s wants a square one", m, n, f.method), "--method lsqr", nil)
			}
			b, err = rightSide(j, args[0], m)
			return err
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			if f.triangular() {
				return f.substitute(j, b, run.Threads)
			}
			p, err := f.preconditioner(j.Graph.Matrix, run)
			if err != nil {
				return nil, unsolved(j, err)
			}
			o := f.o
			o.Context, o.Threads, o.Trace, o.Preconditioner = run.Context, run.Threads, run.Trace, p
			o.Progress = func(k int, residual float64) {
				j.Progress.Update(fmt.Sprintf("%s, iteration %d, residual %.3g", f.method, k, residual), 0, 0)
			}
			res, err := systemSolvers[f.method](j.Graph.Matrix, b, o)
			if err != nil {
				return nil, unsolved(j, err)
			}
			return &standardResult{figures: []job.Field{
				{Key: "iterations", Label: "iterations", Value: res.Iterations},
				{Key: "residual", Label: "residual", Value: res.Residual},
				{Key: "stopped", Label: "stopped", Value: res.Stopped.String()},
			}, write: func() error { return j.WriteVectorAs(res.X.Inside()) }}, res.X.Move(nil)
		},
	}.command(s)
	cli.Complete(cmd, "method", "cg", "minres", "gmres", "bicgstab", "lsqr", "lower", "upper")
	cli.Complete(cmd, "precondition", "none", "jacobi", "ic0", "ilu0")
	return cmd
}

// unsolved returns an error of package solve with a remedy for users of the commands.
func unsolved(j *job.Job, err error) error {
	if j.Ctx.Err() != nil {
		return err
	}
	remedy, triangle := "try another --method", strings.HasPrefix(err.Error(), "NewTriangle")
	switch eigs := j.Cmd.Name() == "eigs"; {
	case errors.As(err, new(*solve.NotConvergedError)) && eigs:
		remedy = "raise --max-products, --basis or --tolerance"
	case errors.As(err, new(*solve.NotConvergedError)):
		remedy = "raise --max-iterations or --tolerance, or give a --precondition"
	case errors.As(err, new(*solve.PivotError)) && triangle:
		remedy = "give a diagonal without zeros, or --unit-diagonal"
	case errors.As(err, new(*solve.PlaceError)) && triangle:
		remedy = "--device cpu"
	case errors.As(err, new(*solve.PivotError)):
		remedy = "--shift 0.01, or --precondition jacobi"
	case errors.As(err, new(*solve.PlaceError)):
		remedy = "--precondition jacobi, or --device cpu"
	case eigs:
		remedy = "give a symmetric matrix of finite numbers"
	}
	what, _, _ := strings.Cut(err.Error(), "; ") // the remedy of the library
	return cli.Fail(j.Graph.File, what, remedy, err)
}

// rightSide reads a vector of m numbers: a matrix of one column or row, or a list.
func rightSide(j *job.Job, file string, m int) (*matrix.Vector[float64], error) {
	ext := filepath.Ext(strings.TrimSuffix(file, ".gz"))
	if !slices.Contains([]string{".mtx", ".hgb", ".npz", ".npy"}, ext) {
		return readValues(j, file, m)
	}
	a := j.Graph
	err := j.Load(file, job.Weighted)
	b := j.Graph
	if j.Graph = a; err != nil {
		return nil, err
	}
	rows, cols := b.Dims()
	column := b.T()
	switch {
	case cols == 1 && rows == m:
	case rows == 1 && cols == m:
		column = matrix.AsView[float64](b.Matrix)
	default:
		return nil, cli.Fail(b.File, fmt.Sprintf("the right side is %d×%d, and the matrix has %d rows", rows, cols, m), fmt.Sprintf("give a column of %d numbers", m), nil)
	}
	v := matrix.NewVector[float64](m, matrix.On(b.Place()))
	return v, ops.ExtractRow(v, column, 0, ops.All(), ops.WithContext(j.Ctx))
}

// eigenFlags are the flags of eigs.
type eigenFlags struct {
	k     int
	which string
	o     solve.EigenOptions[float64]
}

// spectrumEnds are the values of --which of eigs.
var spectrumEnds = []solve.Which{solve.Largest, solve.Smallest, solve.Magnitude}

func (f *eigenFlags) add(fs *pflag.FlagSet) {
	fs.IntVarP(&f.k, "number", "k", 6, "find `K` eigenvalues")
	fs.StringVar(&f.which, "which", "largest", "the eigenvalues at the `END` of the spectrum: largest, smallest or magnitude")
	fs.Float64Var(&f.o.Tolerance, "tolerance", 1e-8, "accept a pair with a residual of at most `T` times the eigenvalue")
	fs.IntVar(&f.o.MaxProducts, "max-products", 0, "fail after `N` products with the matrix (0: 100 for each row, at least 10000)")
	fs.IntVar(&f.o.Basis, "basis", 0, "keep `N` vectors (0: 2K + 10, at least 20)")
	fs.BoolVar(&f.o.SkipCopies, "skip-copies", false, "do not look for further copies of eigenvalues")
	fs.Uint64Var(&f.o.Seed, "random-seed", 0, "seed `N` of the first vector")
}

func (f *eigenFlags) check(_ *job.Job, _ string, bad func(format string, args ...any) error) error {
	at := slices.IndexFunc(spectrumEnds, func(w solve.Which) bool { return w.String() == f.which })
	switch {
	case at < 0:
		return bad("--which is %q, want largest, smallest or magnitude", f.which)
	case f.k < 1:
		return bad("--number is %d, want 1 or more", f.k)
	case !(f.o.Tolerance > 0) || math.IsInf(f.o.Tolerance, 1):
		return bad("--tolerance is %v, want a positive number", f.o.Tolerance)
	case f.o.MaxProducts < 0:
		return bad("--max-products is %d, want 0 or more", f.o.MaxProducts)
	case f.o.Basis != 0 && f.o.Basis < f.k+2:
		return bad("--basis is %d, want 0 or at least %d", f.o.Basis, f.k+2)
	}
	f.o.Which = spectrumEnds[at]
	return nil
}

func eigsCommand(s *job.Session) *cobra.Command {
	var f eigenFlags
	cmd := standardCommand{
		use: "eigs A", short: "Extreme eigenvalues and eigenvectors of a symmetric matrix",
		long: `eigs finds the largest or smallest eigenvalues of a symmetric matrix, or those of the
largest magnitude, by the Lanczos method with restarts. An eigenvalue of several
vectors is listed as often. The smallest eigenvalues of large meshes take many
products. -o writes the vectors as a matrix, one a column.`,
		example: `  hiveblas eigs A.mtx
  hiveblas eigs A.mtx -k 3 --which smallest -o vectors.mtx --json`,
		threshold: thresholdSolve, writes: "the eigenvectors", files: job.MatrixFiles, reads: job.Weighted,
		inputs: []string{"A"}, flags: f.add, check: f.check,
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			o := f.o
			o.Context, o.Threads, o.Trace, o.CheckSymmetry = run.Context, run.Threads, run.Trace, true
			o.Progress = func(products, found int) {
				j.Progress.Update(fmt.Sprintf("eigs, %d products", products), int64(found), int64(f.k))
			}
			if _, n := j.Graph.Dims(); f.k > n {
				return nil, cli.Fail(j.Graph.File, fmt.Sprintf("the matrix has %d rows, and %d eigenvalues are asked for", n, f.k), fmt.Sprintf("-k %d", n), nil)
			}
			res, err := solve.Eigen(j.Graph.Matrix, f.k, o)
			if err != nil {
				return nil, unsolved(j, err)
			}
			list := &job.Ranking{Key: "eigenvalues", Title: "eigenvalue", Unit: ""}
			for i, x := range res.Values {
				list.Rows = append(list.Rows, job.Ranked{Vertex: strconv.Itoa(i), Value: x})
			}
			return &standardResult{figures: []job.Field{
				{Key: "products", Label: "products", Value: res.Products}, {Key: "restarts", Label: "restarts", Value: res.Restarts},
				{Key: "residual", Label: "largest residual", Value: slices.Max(res.Residuals)},
			}, list: list, write: func() error { return writeColumns(j, res.Vectors) }}, nil
		},
	}.command(s)
	cli.Complete(cmd, "which", "largest", "smallest", "magnitude")
	return cmd
}

// writeColumns writes vectors as the columns of a matrix.
func writeColumns(j *job.Job, vectors []*matrix.Vector[float64]) error {
	n := vectors[0].Size()
	list := make([]float64, n*len(vectors))
	for c, v := range vectors {
		x, err := v.Dense(0)
		if err != nil {
			return err
		}
		for i := range x {
			list[i*len(vectors)+c] = x[i]
		}
	}
	a, err := matrix.FromDense(n, len(vectors), list)
	if err != nil {
		return err
	}
	return j.WriteMatrixAs(a.Inside(), j.Graph.Rows, nil)
}
