package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestService: answers, errors of the caller, and a deadline that has passed.
func TestService(t *testing.T) {
	t.Parallel()
	g, err := made(500)
	if err != nil {
		t.Fatal(err)
	}
	neighbours := 0
	for range g.Row(5) {
		neighbours++
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	done := make(chan error, 1)
	var out bytes.Buffer
	go func() { done <- run(&out, listener, g) }()
	for _, c := range []struct {
		path   string
		status int
		says   string
	}{
		{"/near?from=5", http.StatusOK, fmt.Sprintf(`"0":1,"1":%d,`, neighbours)},
		{"/near?from=5&timeout=1ns", http.StatusGatewayTimeout, "deadline"},
		{"/near?from=500", http.StatusBadRequest, "500"},
		{"/near?from=x", http.StatusBadRequest, "x"},
		{"/important?top=2", http.StatusOK, `"vertices":[`},
		{"/important?timeout=soon", http.StatusBadRequest, "soon"},
	} {
		res, err := http.Get("http://" + listener.Addr().String() + c.path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s: %d %s (%v), want %d %q", c.path, res.StatusCode, text, err, c.status, c.says)
		}
	}
	listener.Close()
	if err := <-done; err == nil || !strings.HasPrefix(out.String(), "serving on http://") {
		t.Errorf("%v: %s", err, &out)
	}
}
