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
	"strconv"
	"strings"
	"sync"
)

// EnvPeers names the environment variable that says where the built suitesparse binary is: its directory, or the file.
const EnvPeers = "HIVEBLAS_PEERS"

const remedy = `run "make bench-peers" (or bench/peers/build.sh)`

//go:embed scipy_peer.py
var scipyProgram string

// coprocess is a peer that answers one line for each line it is sent.
type coprocess struct {
	kind    Kind
	name    string
	threads int
	cases   map[string]bool
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  tail
	broken  error // once set, the process no longer answers
}

func startSuiteSparse(ctx context.Context) (Peer, error) {
	path, err := findSuiteSparse()
	if err != nil {
		return nil, err
	}
	return launch(ctx, SuiteSparse, path)
}

// findSuiteSparse looks where HIVEBLAS_PEERS points, then in bench/peers/bin of this directory and of those above it.
func findSuiteSparse() (string, error) {
	const binary = "suitesparse"
	isFile := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	}
	if where := os.Getenv(EnvPeers); where != "" {
		for _, path := range []string{where, filepath.Join(where, binary)} {
			if isFile(path) {
				return path, nil
			}
		}
		return "", &MissingError{SuiteSparse, fmt.Sprintf("%s=%s holds no %s", EnvPeers, where, binary), remedy}
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
			return "", &MissingError{SuiteSparse, "bench/peers/bin/" + binary + " is not built", remedy}
		}
		dir = up
	}
}

func startSciPy(ctx context.Context) (Peer, error) {
	return startPython(ctx, SciPy, "import scipy.sparse, scipy.io", remedy)
}

func startNetworkX(ctx context.Context) (Peer, error) {
	return startPython(ctx, NetworkX, "import networkx, scipy.sparse", "install Debian's python3-networkx and python3-scipy", "networkx")
}

// startPython starts the Python program by the first python3 that has the
// modules it imports.
func startPython(ctx context.Context, kind Kind, imports, remedy string, args ...string) (Peer, error) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(ctx, python, "-c", imports).Run() == nil {
			return launch(ctx, kind, python, append([]string{"-c", scipyProgram}, args...)...)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, &MissingError{kind, "no python3 here can " + imports, remedy}
}

// launch starts the program and asks for its name and cases.
func launch(ctx context.Context, kind Kind, program string, args ...string) (Peer, error) {
	p := &coprocess{kind: kind, threads: 1, cases: map[string]bool{}}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Stderr = &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, &MissingError{kind, err.Error(), remedy}
	}
	if p.name, err = p.ok("version"); err == nil {
		var cases string
		cases, err = p.ok("cases")
		for _, name := range strings.Fields(cases) {
			p.cases[name] = true
		}
	}
	if err == nil && kind == SuiteSparse {
		err = p.setThreads(2)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
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
	_, err = p.ok("load " + name + " " + full)
	return err
}

func (p *coprocess) Free(name string) error {
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

// Close asks the process to quit and waits for it.
func (p *coprocess) Close() error {
	if p.broken == nil {
		io.WriteString(p.in, "quit\n") // a process that is gone already fails in Wait
	}
	p.in.Close()
	if err := p.cmd.Wait(); err != nil && p.broken == nil {
		return fmt.Errorf("peers: %s: %w: %s", p.kind, err, p.stderr.String())
	}
	return nil
}

// ok sends a command whose answer is "ok TEXT" and returns the text.
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
	if p.broken != nil {
		return "", p.broken
	}
	if strings.ContainsAny(command, "\r\n") {
		return "", fmt.Errorf("peers: %q holds a line break", command)
	}
	_, err := io.WriteString(p.in, command+"\n")
	var answer string
	if err == nil {
		answer, err = p.out.ReadString('\n')
	}
	if err != nil {
		p.broken = fmt.Errorf("peers: %s died on %q: %w: %s", p.kind, command, err, p.stderr.String())
		return "", p.broken
	}
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
