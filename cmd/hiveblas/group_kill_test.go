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
	r.await("joined", -1, func(rank int, text string) { r.pids[rank], _ = strconv.Atoi(text) })
	return r
}

// await reads a file of each rank, but of rank besides, when it exists.
func (r *groupRun) await(name string, besides int, read func(rank int, text string)) {
	r.t.Helper()
	for rank := range r.pids {
		path := filepath.Join(r.notes, fmt.Sprint(name, ".", rank))
		for begun := time.Now(); rank != besides; time.Sleep(5 * time.Millisecond) {
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
	r.await("code", -1, func(rank int, text string) { codes[rank], _ = strconv.Atoi(text) })
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

// A rankFault is what happens to one rank of a command, by a signal.
type rankFault struct {
	name  string
	sig   os.Signal
	code  int    // exit code of the rank, unless it has ended before; −1: any but 0
	cause string // in the messages of the others
	flags string
}

var rankFaults = []rankFault{
	{"killed", os.Kill, 137, comm.ErrRankDied.Error(), ""},
	{"interrupted", os.Interrupt, cli.ExitInterrupted, "interrupted", ""},
	{"stopped", syscall.SIGSTOP, -1, comm.ErrTimeout.Error(), "--comm-timeout 1s --comm-check"},
}

// endless is a PageRank that goes on for long.
const endless = "pagerank S --damping 0.99999 --tolerance 1e-300 --max-iterations 100000000"

// A rank of a command is killed, interrupted or stopped at some moment: the others succeed if they
// need it no more, or end with the error that names it, within --comm-timeout if it stands still;
// the file of results is whole or is not there, under its name. The quick form kills three ranks,
// the long form 12 of a turn, HIVEBLAS_KILLS=30 so many, HIVEBLAS_KILLS=all eight of each command;
// both interrupt and stop one rank of a command that never ends, the long form of others too.
func TestFaultsOfCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes for seconds")
	}
	if cli.MPICommand() == nil {
		t.Skip("no mpirun")
	}
	args := groupInputs(t)
	rng := rand.New(rand.NewPCG(uint64(longtest.Turn()), 7))
	drawn := func(n int) (commands []string) {
		for len(commands) < n {
			for _, k := range rng.Perm(len(groupCommands)) {
				commands = append(commands, groupCommands[k])
			}
		}
		return commands[:n]
	}
	lists := [3][]string{drawn(3), {endless}, {endless}}
	switch kills := os.Getenv("HIVEBLAS_KILLS"); {
	case kills == "all":
		lists[0] = slices.Repeat(groupCommands, 8)
	case kills == "30":
		lists[0] = drawn(30)
	case longtest.Enabled():
		lists = [3][]string{drawn(12), append(drawn(4), endless), append(drawn(2), endless)}
	}
	want := map[string]string{}
	for k, f := range rankFaults {
		failed := 0
		for moment, command := range lists[k] {
			out := filepath.Join(t.TempDir(), "out.tsv")
			if _, ok := want[command]; !ok && writesFile(command) && command != endless {
				runInProcess(t, append(args(command), "--device", "ranks:4", "-o", out)...)
				want[command] = contents(t, out)
				sure.Do(os.Remove(out))
			}
			rank, after := rng.IntN(4), time.Duration(rng.Int64N(int64(60*time.Millisecond)))
			where := fmt.Sprintf("%d: %s, rank %d is %s after %v", moment, command, rank, f.name, after)
			failed += f.happens(t, where, append(args(command), strings.Fields(f.flags)...), rank, after, out, writesFile(command), want[command])
		}
		if failed == 0 {
			t.Errorf("no rank failed because another was %s", f.name)
		}
		t.Logf("%s: %d ranks, %d others ended with the error", f.name, len(lists[k]), failed)
	}
}

// happens runs a command with the fault on one rank, and returns how many other ranks end with the
// error of the fault. want are the contents of the file that the command writes.
func (f rankFault) happens(t *testing.T, where string, line []string, rank int, after time.Duration, out string, writes bool, want string) (failed int) {
	t.Helper()
	if writes {
		line = append(line, "-o", out)
	}
	r := startRanks(t, line...)
	time.Sleep(after)
	r.send(rank, f.sig)
	if f.sig == syscall.SIGSTOP { // the others end while it stands still
		r.await("code", rank, func(int, string) {})
		r.send(rank, syscall.SIGCONT)
	}
	codes, messages := r.ended()
	if codes[rank] != f.code && codes[rank] != 0 && f.code >= 0 {
		t.Errorf("%s: it ends with %d, %q", where, codes[rank], messages[rank])
	}
	named := fmt.Sprintf("rank %d on ", rank)
	for k, code := range codes {
		switch {
		case k == rank || code == 0:
		case code == cli.ExitFailure && strings.Contains(messages[k], f.cause) && (strings.Contains(messages[k], named) || f.code < 0):
			failed++
		default:
			t.Errorf("%s: rank %d ends with %d, %q", where, k, code, messages[k])
		}
	}
	left := slices.DeleteFunc(files(t, filepath.Dir(out)), func(name string) bool { // of rank 0, killed while it writes
		return codes[0] == 137 && strings.HasPrefix(name, ".out.tsv.") && strings.HasSuffix(name, ".tmp")
	})
	if len(left) > 1 || len(left) == 1 && (left[0] != "out.tsv" || contents(t, out) != want) {
		t.Errorf("%s: files are left, or a part of one: %v, codes %v", where, left, codes)
	}
	if codes[0] == 0 && writes && len(left) == 0 {
		t.Errorf("%s: rank 0 succeeds without a file", where)
	}
	return failed
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

// likeOnePlace are the commands that write on ranks the bytes of one place; the others take another
// form there, which may round in another way.
var likeOnePlace = []string{"pagerank", "bfs", "scc", "scan", "search", "project", "closeness"}

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
		like := slices.Contains(likeOnePlace, strings.Fields(command)[0])
		if !writesFile(command) || k%5 != longtest.Turn()%5 && !like {
			continue
		}
		devices := []string{"ranks:1", "ranks:2", "ranks:3"}
		if like {
			devices[0] = "cpu"
		}
		if processes && (longtest.Enabled() || k < 5 || like && k%2 == longtest.Turn()%2) {
			devices = append(devices, "processes")
		}
		var first string
		for _, device := range devices {
			out := filepath.Join(t.TempDir(), "out.tsv")
			if device == "processes" {
				line := cli.MPICommand(append(args(command), "-o", out)...)
				if text, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, text)
				}
			} else if text := runInProcess(t, append(args(command), "--device", device, "-o", out)...); device == "ranks:3" && !strings.Contains(text, "3 ranks on the host") {
				t.Errorf("%s: the place is not in\n%s", command, text)
			}
			got := contents(t, out)
			if first == "" {
				first = got
			}
			if same := got == first || strings.HasPrefix(command, "betweenness") && sameTable(got, first); !same || len(got) == 0 {
				t.Errorf("%s: the output of %s differs from that of %s", command, device, devices[0])
			}
		}
	}
}
