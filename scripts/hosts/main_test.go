//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Three simulated hosts, which have names of their own, start a process each over a network that
// delays and loses frames, and none of them is left.
func TestHosts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	for _, program := range []string{"ip", "unshare", "mpirun"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	if out, err := exec.Command("ip", "netns", "add", prefix+"test").CombinedOutput(); err != nil {
		t.Skipf("no network namespaces here: %v: %s", err, out)
	}
	_ = exec.Command("ip", "netns", "del", prefix+"test").Run()
	if f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0); err != nil {
		t.Skip(err)
	} else {
		f.Close()
	}
	binary := filepath.Join(t.TempDir(), "hosts")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(binary, "-hosts", "3", "-delay", "1ms", "-loss", "1", "--", "hostname").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Fields(string(out))
	if len(lines) != 3 || !slices.Contains(lines, name(1)) || !slices.Contains(lines, name(2)) {
		t.Errorf("the processes print %q", lines)
	}
	if left, _ := exec.Command("ip", "netns", "list").CombinedOutput(); strings.Contains(string(left), prefix) {
		t.Errorf("namespaces are left: %s", left)
	}
	for _, args := range [][]string{{"-hosts", "1", "--", "true"}, {"-loss", "100", "--", "true"}, {"-hosts", "2"}} {
		if out, err := exec.Command(binary, args...).CombinedOutput(); err == nil {
			t.Errorf("%v is accepted: %s", args, out)
		}
	}
}
