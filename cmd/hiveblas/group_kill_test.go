//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// groupRun is a command that four processes of mpirun run. The folder notes has for each rank its
// process when it has joined, its exit code and its messages.
type groupRun struct {
	t     *testing.T
	cmd   *exec.Cmd
	notes string
	pids  [4]int
}

// eachRank runs the program, keeps its exit code and messages, and waits for the others up to ten
// seconds, so that mpirun ends no rank before it has ended by itself.
const eachRank = `"$0" "$@" 2>"$NOTES/err.$OMPI_COMM_WORLD_RANK"
echo $? >"$NOTES/part.$OMPI_COMM_WORLD_RANK"
mv "$NOTES/part.$OMPI_COMM_WORLD_RANK" "$NOTES/code.$OMPI_COMM_WORLD_RANK"
for i in 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9; do
	[ -e "$NOTES/code.0" ] && [ -e "$NOTES/code.1" ] && [ -e "$NOTES/code.2" ] && [ -e "$NOTES/code.3" ] && exit 0
	sleep 0.25
done`

// startRanks starts a command as four processes and waits until all have joined the group.
func startRanks(t *testing.T, args ...string) *groupRun {
	t.Helper()
	all := cli.MPICommand(args...)
	if all == nil {
		t.Skip("no mpirun")
	}
	r := &groupRun{t: t, notes: t.TempDir()}
	at := len(all) - len(args) - 1 // the program
	all = slices.Concat(all[:at], []string{"sh", "-c", eachRank}, all[at:])
	r.cmd = exec.Command(all[0], all[1:]...)
	r.cmd.Env = append(os.Environ(), joinedIn+"="+r.notes, "NOTES="+r.notes)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	})
	r.await("joined", func(rank int, text string) { r.pids[rank], _ = strconv.Atoi(text) })
	return r
}

// await reads a file of each rank when it exists.
func (r *groupRun) await(name string, read func(rank int, text string)) {
	r.t.Helper()
	for rank := range r.pids {
		path := filepath.Join(r.notes, fmt.Sprint(name, ".", rank))
		for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			if text, err := os.ReadFile(path); err == nil {
				read(rank, strings.TrimSpace(string(text)))
				break
			}
			if time.Since(begun) > time.Minute {
				r.t.Fatalf("rank %d has no %s after a minute", rank, name)
			}
		}
	}
}

// send sends a signal to the process of a rank.
func (r *groupRun) send(rank int, sig os.Signal) {
	if p, err := os.FindProcess(r.pids[rank]); err == nil {
		_ = p.Signal(sig) // it may have ended
	}
}

// ended waits for all ranks and returns their exit codes and messages.
func (r *groupRun) ended() (codes [4]int, messages [4]string) {
	r.t.Helper()
	r.await("code", func(rank int, text string) { codes[rank], _ = strconv.Atoi(text) })
	for rank := range messages {
		text, _ := os.ReadFile(filepath.Join(r.notes, fmt.Sprint("err.", rank)))
		messages[rank] = string(text)
	}
	_ = r.cmd.Wait() // its own exit code tells nothing about the ranks
	return codes, messages
}

// groupCommands are the commands that run on a group, with G for a graph, D for one without cycles,
// Y for values of its vertices and L for places of some. PageRank converges slowly on S.
var groupCommands = []string{
	"bfs G --source 0", "cc G", "sssp G --source 0", "pagerank S --damping 0.99 --tolerance 1e-9 --max-iterations 5000", "tc G", "ktruss G -k 3",
	"scc G", "kcore G", "betweenness G --samples 4", "closeness G --samples 4", "clustering G", "cdlp G", "mis G", "colour G",
	"hits G", "eigenvector G", "katz G", "similar G", "nominate G --seeds 1,2", "msf G --undirected", "matching G", "diameter G",
	"toposort D", "scan G", "louvain G --deterministic --undirected", "lgc G --seeds 0 --undirected", "vn G --seeds 0", "project G",
	"maxflow G --source 0 --sink 5", "lsap G --default 3", "search G --length 5", "sgm G G --seeds 5",
	"embed G --length 10 --dimensions 8 --links .1", "features G --samples 4 --columns degree,indegree,triangles,core,pagerank,closeness",
	"lasso G --lambda1 1 --values Y --undirected", "geo G --locations L", "run sssp G --source 0", "run hcc G --undirected --hops 3",
}

// notOnGroups are the commands with --device that the tests of groups leave out.
var notOnGroups = map[string]string{
	"ac": "wants four files", "demo": "has graphs of its own", "report": "measures",
	"solve": "wants a positive definite matrix; see TestSolve", "eigs": "wants a symmetric matrix of few products",
	"sage": "wants features", "train": "wants features", "predict": "wants a model",
}

// groupInputs writes the inputs of groupCommands, on which commands take long enough to be killed.
func groupInputs(t *testing.T) func(command string) []string {
	t.Helper()
	return groupInputsOf(t, 6000)
}

// groupInputsOf writes the inputs of groupCommands, with graphs of n vertices.
func groupInputsOf(t *testing.T, n int) func(command string) []string {
	t.Helper()
	few := n / 4
	var g, d, y, l, slow strings.Builder
	seen := map[[2]int]bool{}
	for v := range n {
		for k := range 9 {
			to := (v*31 + k*k*17 + k*k*k + 1) % n
			if k < 2 { // triangles
				to = (v + k + 1) % n
			}
			if to == v || seen[[2]int{v, to}] {
				continue
			}
			seen[[2]int{v, to}] = true
			fmt.Fprintf(&g, "%d\t%d\t%d\n", v, to, (v*7+k)%9+1)
			if v < to {
				fmt.Fprintf(&d, "%d\t%d\n", v, to)
			}
		}
		fmt.Fprintln(&y, v*37%11)
		for k := range 9 { // between the vertices below few and the others
			to := (v*31 + k*k*17 + k) % few
			if v < few {
				to = few + (v*31+k*k*17+k)%(n-few)
			}
			fmt.Fprintf(&slow, "%d\t%d\n", v, to)
		}
		if v%10 == 0 {
			fmt.Fprintln(&l, v, v%80, v%170)
		}
	}
	paths := strings.NewReplacer(" G", " "+write(t, "g.tsv", g.String()), " D", " "+write(t, "d.tsv", d.String()),
		" S", " "+write(t, "s.tsv", slow.String()), " Y", " "+write(t, "y.txt", y.String()), " L", " "+write(t, "l.txt", l.String()))
	return func(command string) []string {
		return append(strings.Fields(paths.Replace(command)), "--duplicates", "max")
	}
}

// writesFile reports whether a command of groupCommands has -o.
func writesFile(command string) bool {
	return !strings.HasPrefix(command, "tc ") && !strings.HasPrefix(command, "diameter ")
}

// Every command with --device is tested on groups, or is known to be left out.
func TestGroupCommandsAreAll(t *testing.T) {
	s := &job.Session{Machine: testMachine}
	known := map[string]bool{}
	for _, c := range groupCommands {
		known[strings.Fields(c)[0]] = true
	}
	list := rootCommand(s).Commands()
	for len(list) > 0 {
		cmd := list[0]
		list = append(list[1:], cmd.Commands()...)
		has, left := cmd.Flags().Lookup("device") != nil, notOnGroups[cmd.Name()] != ""
		if has && known[cmd.Name()] == left {
			t.Errorf("%s: tested %v, left out %v", cmd.CommandPath(), known[cmd.Name()], left)
		}
	}
}

// A rank of a command is killed at some moment: the others succeed if they need it no more, or end
// with the error that names it; the file of results is whole or is not there, under its name. The
// quick form kills three, the long form 12 of a turn, HIVEBLAS_KILLS=30 so many, HIVEBLAS_KILLS=all
// eight of each command.
func TestKilledRank(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes for seconds")
	}
	if cli.MPICommand() == nil {
		t.Skip("no mpirun")
	}
	args := groupInputs(t)
	rng := rand.New(rand.NewPCG(uint64(longtest.Turn()), 7))
	commands := make([]string, 0, 30)
	for len(commands) < 30 {
		for _, k := range rng.Perm(len(groupCommands)) {
			commands = append(commands, groupCommands[k])
		}
	}
	switch kills := os.Getenv("HIVEBLAS_KILLS"); {
	case kills == "all":
		commands = slices.Repeat(groupCommands, 8)
	case kills == "30":
	case longtest.Enabled():
		commands = commands[:12]
	default:
		commands = commands[:3]
	}
	want := map[string]string{}
	failed := 0
	for moment, command := range commands {
		dir := t.TempDir()
		out := filepath.Join(dir, "out.tsv")
		if _, ok := want[command]; !ok && writesFile(command) {
			runInProcess(t, append(args(command), "--device", "ranks:4", "-o", out)...)
			want[command] = contents(t, out)
			sure.Do(os.Remove(out))
		}
		line := args(command)
		if writesFile(command) {
			line = append(line, "-o", out)
		}
		r := startRanks(t, line...)
		rank := rng.IntN(4)
		after := time.Duration(rng.Int64N(int64(60 * time.Millisecond)))
		where := fmt.Sprintf("moment %d: %s, rank %d killed after %v", moment, command, rank, after)
		time.Sleep(after)
		r.send(rank, os.Kill)
		codes, messages := r.ended()
		if codes[rank] != 137 && codes[rank] != 0 {
			t.Errorf("%s: it ends with %d, %q", where, codes[rank], messages[rank])
		}
		named := fmt.Sprintf("rank %d on ", rank)
		for k, code := range codes {
			switch {
			case k == rank || code == 0:
			case codes[rank] == 137 && code == cli.ExitFailure && strings.Contains(messages[k], named) && strings.Contains(messages[k], comm.ErrRankDied.Error()):
				failed++
			default:
				t.Errorf("%s: rank %d ends with %d, %q", where, k, code, messages[k])
			}
		}
		left := slices.DeleteFunc(files(t, dir), func(name string) bool { // of rank 0, killed while it writes
			return codes[0] == 137 && strings.HasPrefix(name, ".out.tsv.") && strings.HasSuffix(name, ".tmp")
		})
		if len(left) > 1 || len(left) == 1 && (left[0] != "out.tsv" || contents(t, out) != want[command]) {
			t.Errorf("%s: files are left, or a part of one: %v, codes %v", where, left, codes)
		}
		if codes[0] == 0 && writesFile(command) && len(left) == 0 {
			t.Errorf("%s: rank 0 succeeds without a file", where)
		}
	}
	if failed == 0 {
		t.Error("no rank failed because another was killed")
	}
	t.Logf("%d kills: %d ranks ended with the error", len(commands), failed)
}

// endless is a PageRank that goes on for long.
func endless(args func(string) []string, out string) []string {
	return append(args("pagerank S --damping 0.99999 --tolerance 1e-300 --max-iterations 100000000"), "-o", out)
}

// An interrupt of one rank ends all: the others name it.
func TestInterruptedRank(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes for seconds")
	}
	dir := t.TempDir()
	r := startRanks(t, endless(groupInputs(t), filepath.Join(dir, "out.tsv"))...)
	time.Sleep(200 * time.Millisecond)
	r.send(2, os.Interrupt)
	codes, messages := r.ended()
	if codes[2] != cli.ExitInterrupted {
		t.Errorf("the rank ends with %d, %q, want %d", codes[2], messages[2], cli.ExitInterrupted)
	}
	for _, k := range []int{0, 1, 3} {
		if codes[k] != cli.ExitFailure || !strings.Contains(messages[k], "rank 2 on ") || !strings.Contains(messages[k], "interrupted") {
			t.Errorf("rank %d ends with %d, %q", k, codes[k], messages[k])
		}
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// A rank that stands still ends the others after --comm-timeout.
func TestCommTimeout(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes for seconds")
	}
	dir := t.TempDir()
	r := startRanks(t, append(endless(groupInputs(t), filepath.Join(dir, "out.tsv")), "--comm-timeout", "1s", "--comm-check")...)
	time.Sleep(200 * time.Millisecond)
	stopped := 3
	r.send(stopped, syscall.SIGSTOP)
	for _, k := range []int{0, 1, 2} { // these end while it stands still
		path := filepath.Join(r.notes, fmt.Sprint("code.", k))
		for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(path); err == nil {
				break
			}
			if time.Since(begun) > 9*time.Second { // before it counts as dead
				t.Fatalf("rank %d waits for longer than --comm-timeout", k)
			}
		}
	}
	r.send(stopped, syscall.SIGCONT)
	codes, messages := r.ended()
	for _, k := range []int{0, 1, 2} {
		if codes[k] != cli.ExitFailure || !strings.Contains(messages[k], comm.ErrTimeout.Error()) || !strings.Contains(messages[k], "rank ") {
			t.Errorf("rank %d ends with %d, %q", k, codes[k], messages[k])
		}
	}
	if codes[stopped] == 0 || len(files(t, dir)) > 0 {
		t.Errorf("the rank that stood still ends with %d, and left are %v", codes[stopped], files(t, dir))
	}
}

// --comm-timeout wants a duration.
func TestCommTimeoutFlag(t *testing.T) {
	for _, bad := range []string{"x", "-1s"} {
		if got := hiveblas(t, "cc", karate, "--comm-timeout", bad); got.code != cli.ExitUsage || !strings.Contains(got.stderr, "--comm-timeout") {
			t.Errorf("%s: exit %d, %s", bad, got.code, got.stderr)
		}
	}
	if got := hiveblas(t, "cc", karate, "--device", "ranks:2", "--comm-timeout", "5", "--comm-check"); got.code != 0 {
		t.Errorf("exit %d, %s", got.code, got.stderr)
	}
}

// The commands write the same bytes on ranks, as threads and as processes of mpirun: other ones a
// turn. The order of the sums of betweenness depends on the threads of a rank.
func TestGroupCommands(t *testing.T) {
	n := 1000
	if longtest.Enabled() {
		n = 4000
	}
	args := groupInputsOf(t, n)
	processes := cli.MPICommand() != nil && !testing.Short()
	for k, command := range groupCommands {
		if !writesFile(command) || k%5 != longtest.Turn()%5 {
			continue
		}
		var outputs []string
		for ranks := 1; ranks <= 3; ranks++ {
			out := filepath.Join(t.TempDir(), "out.tsv")
			runInProcess(t, append(args(command), "--device", fmt.Sprint("ranks:", ranks), "-o", out)...)
			outputs = append(outputs, contents(t, out))
		}
		if processes && (longtest.Enabled() || k < 5) {
			out := filepath.Join(t.TempDir(), "out.tsv")
			line := cli.MPICommand(append(args(command), "-o", out)...)
			if text, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, text)
			}
			outputs = append(outputs, contents(t, out))
		}
		for q, got := range outputs {
			same := got == outputs[0] || strings.HasPrefix(command, "betweenness") && sameTable(got, outputs[0])
			if !same || len(got) == 0 {
				t.Errorf("%s: output %d of %d differs", command, q, len(outputs))
			}
		}
	}
}
