package peers

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// EnvPeers names the environment variable that says where the built binaries suitesparse and flows
// are: their directory, or the file of one.
const EnvPeers = "HIVEBLAS_PEERS"

const remedy = `run "make bench-peers" (or bench/peers/build.sh)`

//go:embed scipy_peer.py
var scipyProgram string

//go:embed torch_peer.py
var torchProgram string

// coprocess is a peer that answers one line for each line it is sent. Its process is paused unless
// it has a command to answer, so that its threads do not compete with whoever is measured.
type coprocess struct {
	kind    Kind
	name    string
	threads int
	cases   map[string]bool

	ctx     context.Context
	program string
	args    []string
	loaded  [][2]string // name and path of the inputs, in the order of loading

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tail
	broken error // the process has ended; the next command starts it again
	lost   error // it could not be started again
}

// waiting makes the threads of OpenMP programs sleep between parallel regions instead of spinning:
// they took apply of R-MAT 18 from 1.6 to 11.9 ms on 16 cores.
var waiting = []string{"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=0"}

func startSuiteSparse(ctx context.Context) (Peer, error) {
	path, err := findBuilt(SuiteSparse)
	if err != nil {
		return nil, err
	}
	return launch(ctx, SuiteSparse, path)
}

func startFlows(ctx context.Context) (Peer, error) {
	path, err := findBuilt(Flows)
	if err != nil {
		return nil, err
	}
	return launch(ctx, Flows, path)
}

// findBuilt looks for the program of a peer where HIVEBLAS_PEERS points, then in bench/peers/bin of
// this directory and of those above it.
func findBuilt(kind Kind) (string, error) {
	binary := string(kind)
	isFile := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}
	if where := os.Getenv(EnvPeers); where != "" {
		if filepath.Base(where) == binary && isFile(where) {
			return where, nil
		}
		if path := filepath.Join(where, binary); isFile(path) {
			return path, nil
		}
		return "", &MissingError{kind, fmt.Sprintf("%s=%s holds no %s", EnvPeers, where, binary), remedy}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if path := filepath.Join(dir, "bench", "peers", "bin", binary); isFile(path) {
			return path, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", &MissingError{kind, "bench/peers/bin/" + binary + " is not built", remedy}
		}
		dir = up
	}
}

func startSciPy(ctx context.Context) (Peer, error) {
	return startPython(ctx, SciPy, scipyProgram, "import scipy.sparse, scipy.io", remedy)
}

func startNetworkX(ctx context.Context) (Peer, error) {
	return startPython(ctx, NetworkX, scipyProgram, "import networkx, scipy.sparse", "install Debian's python3-networkx and python3-scipy", "networkx")
}

func startIGraph(ctx context.Context) (Peer, error) {
	return startPython(ctx, IGraph, scipyProgram, "import igraph, scipy.sparse", "install Debian's python3-igraph and python3-scipy, and python3-leidenalg for leiden", "igraph")
}

func startTorch(ctx context.Context) (Peer, error) {
	return startPython(ctx, Torch, torchProgram, "import torch", "install Debian's python3-torch")
}

// startPython starts a Python program by the first python3 that has the
// modules it imports.
func startPython(ctx context.Context, kind Kind, program, imports, remedy string, args ...string) (Peer, error) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(ctx, python, "-c", imports).Run() == nil {
			return launch(ctx, kind, python, append([]string{"-c", program}, args...)...)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, &MissingError{kind, "no python3 here can " + imports, remedy}
}

// launch starts the program and asks for its name and cases.
func launch(ctx context.Context, kind Kind, program string, args ...string) (Peer, error) {
	p := &coprocess{kind: kind, threads: 1, cases: map[string]bool{}, ctx: ctx, program: program, args: args}
	if err := p.start(); err != nil {
		return nil, &MissingError{kind, err.Error(), remedy}
	}
	var err error
	if p.name, err = p.ok("version"); err == nil {
		var cases string
		cases, err = p.ok("cases")
		for _, name := range strings.Fields(cases) {
			p.cases[name] = true
		}
	}
	if err == nil && (kind == SuiteSparse || kind == Torch) {
		err = p.setThreads(2)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// start starts the process.
func (p *coprocess) start() (err error) {
	p.cmd, p.stderr = exec.CommandContext(p.ctx, p.program, p.args...), &tail{}
	p.cmd.Stderr = p.stderr
	p.cmd.Env = append(os.Environ(), waiting...)
	ownGroup(p.cmd)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	return p.cmd.Start()
}

// revive starts the process again after it died, with the inputs it had.
func (p *coprocess) revive() error {
	if p.lost != nil {
		return p.lost
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.broken = nil
	if p.lost = p.start(); p.lost != nil {
		return p.lost
	}
	commands := []string{}
	if p.threads > 1 {
		commands = append(commands, "threads "+strconv.Itoa(p.threads))
	}
	for _, in := range p.loaded {
		commands = append(commands, "load "+in[0]+" "+in[1])
	}
	for _, c := range commands {
		if _, err := p.ok(c); err != nil {
			p.lost = fmt.Errorf("peers: %s does not start again: %w", p.kind, err)
			return p.lost
		}
	}
	return nil
}

// SetThreads sets the number of threads of a peer that has a choice; the others stay at one.
func SetThreads(p Peer, n int) error {
	if c, ok := p.(*coprocess); ok {
		return c.setThreads(n)
	}
	return nil
}

func (p *coprocess) setThreads(n int) error {
	got, err := p.ok("threads " + strconv.Itoa(n))
	if err != nil {
		return err
	}
	p.threads, err = strconv.Atoi(got)
	return err
}

func (p *coprocess) Name() string         { return p.name }
func (p *coprocess) Threads() int         { return p.threads }
func (p *coprocess) Has(name string) bool { return p.cases[name] }

func (p *coprocess) Load(name, path string) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	p.forget(name)
	if _, err = p.ok("load " + name + " " + full); err == nil {
		p.loaded = append(p.loaded, [2]string{name, full})
	}
	return err
}

func (p *coprocess) forget(name string) {
	p.loaded = slices.DeleteFunc(p.loaded, func(in [2]string) bool { return in[0] == name })
}

func (p *coprocess) Free(name string) error {
	p.forget(name)
	_, err := p.ok("free " + name)
	return err
}

func (p *coprocess) Run(name, on string, args ...string) (Result, error) {
	answer, err := p.ask(strings.Join(append([]string{"run", name, on}, args...), " "))
	if err != nil {
		return Result{}, err
	}
	result, err := parseResult(answer)
	if err != nil {
		return Result{}, fmt.Errorf("peers: %s %s: %w", p.kind, name, err)
	}
	return result, nil
}

// Close asks the process to quit and waits for it. One that died is no error.
func (p *coprocess) Close() error {
	if p.broken != nil || p.lost != nil {
		return nil // ask waited for it
	}
	resume(p.cmd)
	io.WriteString(p.in, "quit\n") // fails if the process has ended, as does Wait
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("peers: %s: %w: %s", p.kind, err, p.stderr.String())
	}
	return nil
}

// ok sends a command with the answer "ok TEXT" and returns the text.
func (p *coprocess) ok(command string) (string, error) {
	answer, err := p.ask(command)
	if err != nil {
		return "", err
	}
	word, text, _ := strings.Cut(answer, " ")
	if word != "ok" {
		return "", fmt.Errorf("peers: %s answered %q to %q", p.kind, answer, command)
	}
	return text, nil
}

// ask sends a command and returns its answer; "err …" is returned as an error.
func (p *coprocess) ask(command string) (string, error) {
	if strings.ContainsAny(command, "\r\n") {
		return "", fmt.Errorf("peers: %q holds a line break", command)
	}
	if p.broken != nil || p.lost != nil {
		if err := p.revive(); err != nil {
			return "", err
		}
	}
	resume(p.cmd)
	_, err := io.WriteString(p.in, command+"\n")
	var answer string
	if err == nil {
		answer, err = p.out.ReadString('\n')
	}
	if err != nil {
		p.in.Close()
		_ = p.cmd.Wait()                        // collects the rest of its messages
		if ended := p.ctx.Err(); ended != nil { // which killed it
			p.lost = ended
			return "", ended
		}
		p.broken = &DiedError{p.kind, command, err, p.stderr.String()}
		return "", p.broken
	}
	pause(p.cmd)
	answer = strings.TrimRight(answer, "\r\n")
	if reason, failed := strings.CutPrefix(answer, "err "); failed {
		return "", fmt.Errorf("peers: %s: %s: %s", p.kind, command, reason)
	}
	return answer, nil
}

// parseResult reads "ms F check F [KEY F …]".
func parseResult(answer string) (Result, error) {
	words := strings.Fields(answer)
	if len(words) < 4 || len(words)%2 != 0 || words[0] != "ms" || words[2] != "check" {
		return Result{}, fmt.Errorf("answer %q is not a result", answer)
	}
	r := Result{Extra: map[string]float64{}}
	for k := 0; k < len(words); k += 2 {
		v, err := strconv.ParseFloat(words[k+1], 64)
		if err != nil {
			return Result{}, fmt.Errorf("answer %q is not a result: %w", answer, err)
		}
		switch words[k] {
		case "ms":
			r.Ms = v
		case "check":
			r.Check = v
		default:
			r.Extra[words[k]] = v
		}
	}
	return r, nil
}

// tail keeps the last bytes written to it, for error messages.
type tail struct {
	mu  sync.Mutex // the process is read while it may still write
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 2000
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > most {
		t.buf = t.buf[len(t.buf)-most:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
