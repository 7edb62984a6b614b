package mapped

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A mapping has the bytes of the file, before and after it is read ahead, and memory outside it is
// left alone.
func TestMap(t *testing.T) {
	want := bytes.Repeat([]byte("abcdefg"), 5000)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := Map(path)
	if err != nil || !bytes.Equal(data, want) {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	Scattered(data)
	for _, part := range [][]byte{data, data[5000:5001], data[34999:], data[:0], want, nil} {
		Ahead(part)
	}
	if !bytes.Equal(data, want) {
		t.Error("the bytes have changed")
	}
	if err := Unmap(data); err != nil || len(scattered.list) != 0 {
		t.Errorf("%v, %d mappings are left", err, len(scattered.list))
	}
	Ahead(want)
	if _, err := Map(path + "x"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Map(path); err != nil || len(data) != 0 {
		t.Errorf("an empty file: %d bytes, %v", len(data), err)
	}
	if err := Unmap(nil); err != nil {
		t.Error(err)
	}
}
